// A sentence with its symbols in the colours of what they name, and under its name (model/links.js).

import { el } from "../lib/dom.js";

const SYMBOL = /(lse[₀-₉]*|[QKVO][₀-₉]+|(?<![\w(])[mℓα](?![\w])|▲)/u;
const INK = { ℓ: "l", "▲": "o" };

/** @param {string} text @returns nodes */
export const rich = (text) =>
  text.split(SYMBOL).filter(Boolean).map((part) => {
    if (!SYMBOL.test(part)) return document.createTextNode(part);
    const key = part.startsWith("lse") ? "lse" : INK[part[0]] ?? (part[0] === "α" ? "alpha" : part[0].toLowerCase());
    const [, tensor, block] = /^([QKVO])([₀-₉]+)$/u.exec(part) ?? [];
    const name = tensor ? `${tensor}.${[...block].map((digit) => "₀₁₂₃₄₅₆₇₈₉".indexOf(digit)).join("")}` : { m: "m", "ℓ": "l", "α": "alpha" }[part];
    return el("b", { class: `fa-ink-${key}`, text: part, "data-part": name });
  });
