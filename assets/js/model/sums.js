// What sums are made of, and how one is compared with what the trace has. Pure.

import { number } from "../lib/format.js";
import { changed } from "./scores.js";
import { t } from "./texts.js";

/** @import { Frame, Known, Numbers, Problem, Trace } from "./types.js" */
/** `terms`: what is summed, along the columns of Q or the rows of V; `total` their sum; `lines` what is computed, `sentence`
 * the same in words.
 * @typedef {{title: string, terms: number[] | null, total: Known, lines: string[], sentence: string}} Explanation */
/** An entry by its absolute row or key and its dimension or key.
 * @typedef {(a: number, b: number) => number} Entry */

/** @param {string} title @param {string} [sentence] @param {Partial<Explanation>} [more] @returns {Explanation} */
export const explanationOf = (title, sentence = title, more = {}) => ({
  title,
  terms: null,
  total: undefined,
  lines: [],
  ...more,
  sentence,
});

/** Of a score or its like: the products that it sums up, in a sentence.
 * @param {{name: string, row: number, key: number, a: string, b: string, lines: string}} of @param {number} d */
export const productsOf = ({ name, row, key, a, b, lines }, d) =>
  d === 1
    ? t("score.product", { name, row, key, a, b, lines })
    : t("score.products", { name, row, key, a, b, lines, d });

/** @param {number} found @param {Known} stored */
export const equals = (found, stored) =>
  `${number(found) === number(stored) ? "=" : "≈"} ${number(stored)}`;
/** @param {number} x */
export const plus = (x) => (x < 0 ? `− ${number(-x)}` : `+ ${number(x)}`);
/** @param {ArrayLike<number>} list */
export const sum = (list) => Array.from(list).reduce((a, x) => a + x, 0);

/** The products that a sum over this span is made of. @param {{start: number, stop: number}} span
 * @param {(k: number) => number} product */
export const termsOf = ({ start, stop }, product) =>
  Array.from({ length: stop - start }, (_, k) => product(start + k));

/** What scaling and the Problem's changes make of a sum of products: a line each, ending in what the trace has.
 * @param {Problem} p @param {number} total @param {Known} stored @param {number} row @param {number} key */
export function scoreLines(p, total, stored, row, key) {
  const scaled = total * p.scale;
  const changes = changed(p, scaled, row, key);
  const ends = [scaled, ...changes.map(({ s }) => s)].map((s, k) =>
    k < changes.length ? `= ${number(s)}` : equals(s, stored),
  );
  return [
    `${number(total)} / √${p.d} ${ends[0]}`,
    ...changes.map(({ name, text }, k) => `${name}: ${text} ${ends[k + 1]}`),
  ];
}

/** Reads the matrices by absolute index, also where one visit came by itself. @param {Trace} trace @param {Frame} f */
export function operands({ arrays }, f) {
  /** @type {Record<string, Numbers | undefined>} */
  const from = f.zoom ?? arrays;
  const { n, d } = f.problem;
  const [rows, keys, across] = f.zoom
    ? [f.rows.start, f.cols.start, f.cols.stop - f.cols.start]
    : [0, 0, n];
  /** @type {(name: string, first: number, width: number, skipped?: number) => Entry} */
  const matrix =
    (name, first, width, skipped = 0) =>
    (a, b) =>
      Number(from[name]?.[(a - first) * width + b - skipped]);
  /** @param {string} name */
  const ofRows = (name) => matrix(name, rows, d);
  /** @param {string} name */
  const ofKeys = (name) => matrix(name, keys, d);
  /** @param {string} name */
  const ofTile = (name) => matrix(name, rows, across, keys);
  return {
    Q: ofRows("Q"),
    O: ofRows("O"),
    dO: ofRows("dO"),
    K: ofKeys("K"),
    V: ofKeys("V"),
    S: ofTile("S"),
    P: ofTile("P"),
    dP: ofTile("dP"),
    dS: ofTile("dS"),
    slope: from.slope ? ofTile("slope") : () => 1,
  };
}

/** @param {{start: number, stop: number}} span @param {number} at */
export const within = ({ start, stop }, at) => at >= start && at < stop;

/** A single entry of a matrix that is loaded. @param {Trace} trace @param {Frame} f
 * @param {"Q" | "K" | "V" | "O" | "dO"} tensor @param {number} a its row or key @param {number} b */
export function entryOf(trace, f, tensor, a, b) {
  const name = `${tensor}[${a},${b}]`;
  const span = tensor === "K" || tensor === "V" ? f.cols : f.rows;
  if (!within(span, a) || !f.done("load") || !f.numbers || f.kind === "skipped")
    return explanationOf(name, `${name}, ${t("off")}`);
  const x = number(operands(trace, f)[tensor](a, b));
  return explanationOf(name, `${name}, ${x}`, { lines: [x] });
}
