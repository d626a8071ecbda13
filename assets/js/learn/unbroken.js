// Words for a slide: a formula, a number with its unit and a name with its number do not break at a line's end.

import { el, set } from "../lib/dom.js";

const SIGN = /^[=−+·×÷/∘<>≤≥≈→]$/;
const UNIT = /^(?:%|[KMGT]iB|[GT]FLOP(?:\/s)?|TB\/s|[mµ]s|bits?|bytes?)(?:[.,;:?!]|$)/;
const NAME = /^\(?(?:log|log2|exp)$/;
const HYPHEN = /-\d/; // FA-2
const MOST = 28; // characters that stay together

/** Whether no line may end between these two words. @param {string} before @param {string} after */
const clings = (before, after) =>
  SIGN.test(before) ||
  SIGN.test(after) ||
  NAME.test(before) ||
  (/\d$/.test(before) && UNIT.test(after));

/** The words in pieces, [text, isWhole] each; joined they are the words.
 * @param {string} words */
export function pieces(words) {
  /** @type {string[]} */
  const groups = [];
  let last = "";
  for (const word of words.split(" ")) {
    const joined = `${groups.at(-1)} ${word}`;
    if (groups.length && clings(last, word) && joined.length <= MOST)
      groups[groups.length - 1] = joined;
    else groups.push(word);
    last = word;
  }
  /** @type {[string, boolean][]} */
  const found = [];
  for (const [k, group] of groups.entries()) {
    const isWhole = group.includes(" ") || HYPHEN.test(group);
    const gap = k ? " " : "";
    const before = found.at(-1);
    if (!isWhole && before && !before[1]) before[0] += gap + group;
    else if (!isWhole) found.push([gap + group, false]);
    else {
      if (before && !before[1]) before[0] += gap;
      else if (gap) found.push([gap, false]);
      found.push([group, true]);
    }
  }
  return found;
}

/** Gives an element this text, in pieces. @param {HTMLElement} node @param {string} words */
export function writeUnbroken(node, words) {
  if (node.textContent === words && node.dataset.whole) return;
  node.replaceChildren(
    ...pieces(words).map(([text, isWhole]) =>
      isWhole ? el("span", { class: "fa-whole", text }) : text,
    ),
  );
  set(node, { "data-whole": "1" });
}
