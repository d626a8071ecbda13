// What sums are made of, and how one is compared with what the trace has. Pure.

import { number } from "../lib/format.js";
import { sum } from "../lib/lists.js";
import { changed } from "./scores.js";
import { indicesOf } from "./spans.js";
import { t } from "./texts.js";

/** @import { Frame, Known, Span } from "./types.js" */
/** `terms`: what is summed, along the columns of Q or the rows of V; `lines` what is computed, `sentence`
 * the same in words.
 * @typedef {{title: string, terms: number[] | null, lines: string[], sentence: string}} Explanation */

/** @param {string} title @param {string} [sentence] @param {string[]} [lines] @param {number[] | null} [terms] @returns {Explanation} */
export const explanationOf = (title, sentence = title, lines = [], terms = null) => ({
  title,
  sentence,
  lines,
  terms,
});

/** What a score or its like sums up: products, their sum, and what is computed of it.
 * @typedef {{terms: number[] | null, lines: string[]}} Products */

/** Explain a score or its like by the products that it sums up.
 * @param {Frame} f @param {string} title @param {{name: string, row: number, key: number, a: string, b: string}} of
 * @param {Products} products */
export function explainProducts({ problem: { d } }, title, of, products) {
  const values = { ...of, lines: products.lines.join("; ") };
  const sentence = d === 1 ? t("score.product", values) : t("score.products", { ...values, d });
  return explanationOf(title, sentence, products.lines, products.terms);
}

/** @param {number} found @param {Known} stored */
export const equals = (found, stored) =>
  `${number(found) === number(stored) ? "=" : "≈"} ${number(stored)}`;

/** The products that a sum over this span is made of. @param {Span} span @param {(k: number) => number} product */
export const termsOf = (span, product) => indicesOf(span).map(product);

/** The products of two operands over their d dimensions. @param {Frame} f @param {(x: number) => number} product */
export const overDims = ({ problem }, product) => termsOf({ start: 0, stop: problem.d }, product);

/** A score: its products, and what scaling, the Problem's changes and the mask make of their sum: a line each.
 * @param {Frame} f @param {number} row @param {number} key @returns {Products} */
export function scoreProducts(f, row, key) {
  const { problem: p } = f;
  const { Q, K, S } = f.entries;
  const terms = overDims(f, (x) => Q(row, x) * K(key, x));
  const total = sum(terms);
  const scaled = total * p.scale;
  const changes = changed(p, scaled, row, key);
  const ends = [scaled, ...changes.map(({ s }) => s)].map((s, k) =>
    k < changes.length ? `= ${number(s)}` : equals(s, S(row, key)),
  );
  const lines = [
    `${number(total)} / √${p.d} ${ends[0]}`,
    ...changes.map(({ name, text }, k) => `${name}: ${text} ${ends[k + 1]}`),
  ];
  if (f.score(row - f.rows.start, key - f.cols.start) === -Infinity) lines.push(t("hidden"));
  return { terms, lines };
}

/** @param {Span} span @param {number} at */
export const within = ({ start, stop }, at) => at >= start && at < stop;

/** Does the tile at work have this score? @param {Frame} f @param {number} row @param {number} key */
export const isOnTile = (f, row, key) => within(f.rows, row) && within(f.cols, key);

/** A single entry of a matrix that is loaded. @param {Frame} f
 * @param {"Q" | "K" | "V" | "O" | "dO"} tensor @param {number} a its row or key @param {number} b */
export function entryOf(f, tensor, a, b) {
  const name = `${tensor}[${a},${b}]`;
  const span = tensor === "K" || tensor === "V" ? f.cols : f.rows;
  if (!within(span, a) || !f.done("load") || !f.numbers || f.kind === "skipped")
    return explanationOf(`${name}, ${t("off")}`);
  const x = number(f.entries[tensor](a, b));
  return explanationOf(name, `${name}, ${x}`, [x]);
}
