// Words whose symbols bear the colours of what they name, and its name (model/links.js).

import { hueOf } from "../lib/colors.js";
import { el } from "../lib/dom.js";
import { isPerRow } from "../model/tensors.js";

const SYMBOL =
  /(lse[₀-₉]*|(?<![\w])d[QKVOSP](?![\w])(?:[₀-₉]+(?:,[₀-₉]+)?)?|[QKVOD][₀-₉]+|(?<![\w(])[mℓα](?![\w])|▲)/u;
const TIED = / (·) /g; // no line ends beside it
const LOOSE = /(?<=\w)[&|](?=\w)/g; // of a mask: a line may end behind it
/** @type {Record<string, string>} */
const INK = { ℓ: "l", "▲": "o", α: "alpha", dS: "s", dP: "s" };

const POWER = /(?<=e)\^\(((?:\([^()]*\)|[^()])*)\)/; // with a number in brackets in it

/** A text whose exp(…) and e^(…) are powers. @param {string} text @param {(text: string) => (HTMLElement | Text)[]} nodesOf of what is no power */
export const powers = (text, nodesOf) =>
  text
    .replaceAll("exp(", "e^(")
    .split(POWER)
    .flatMap((part, k) => (k % 2 ? [el("sup", part)] : nodesOf(part)));

/** A text of which some places, in brackets, are nodes: "[K] stays". @param {string} text @param {Record<string, Node>} nodes by the names in brackets */
export const placed = (text, nodes) =>
  text
    .split(/\[(\w+)\]/)
    .map((part, k) => (k % 2 ? nodes[part] : part))
    .filter(Boolean);

/** @param {string} text @returns nodes */
export const rich = (text) =>
  text
    .split(SYMBOL)
    .filter(Boolean)
    .map((part) => {
      if (!SYMBOL.test(part))
        return document.createTextNode(
          part.replace(TIED, "\u00a0$1\u00a0").replace(LOOSE, "$&\u200b"),
        );
      const tensor = /^(?:lse|d?[A-Zℓ]|.)/u.exec(part)?.[0] ?? "";
      const block = [...part.slice(tensor.length)]
        .map((digit) => "₀₁₂₃₄₅₆₇₈₉".indexOf(digit))
        .join("");
      const key = INK[tensor] ?? hueOf(tensor);
      const name =
        block && !isPerRow(tensor) && !/[SP]$/.test(tensor)
          ? `${tensor}.${block}`
          : { m: "m", ℓ: "l", α: "alpha", lse: "lse", D: "D" }[tensor];
      return el(`b.fa-ink-${key}`, { text: part, "data-part": name });
    });
