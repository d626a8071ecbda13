// A sentence with its symbols in the colours of what they name.

import { el } from "../lib/dom.js";

const SYMBOL = /(lse[₀-₉]*|[QKVO][₀-₉]+|(?<![\w(])[mℓα](?![\w])|▲)/u;
const INK = { ℓ: "l", "▲": "o" };

/** @param {string} text @returns nodes */
export const rich = (text) =>
  text.split(SYMBOL).filter(Boolean).map((part) => {
    if (!SYMBOL.test(part)) return document.createTextNode(part);
    const key = part.startsWith("lse") ? "lse" : INK[part[0]] ?? (part[0] === "α" ? "alpha" : part[0].toLowerCase());
    return el("b", { class: `fa-ink-${key}`, text: part });
  });
