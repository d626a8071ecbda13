// What sums are made of, and how one is held against what the trace has. Pure.

import { number } from "../lib/format.js";
import { t } from "./texts.js";

/** @import { Frame, Known, Trace } from "./types.js" */
/** `terms`: what is summed, along the columns of Q or the rows of V; `total` their sum; `lines` what is computed, `sentence`
 * the same in words.
 * @typedef {{title: string, terms: number[] | null, total: Known, lines: string[], sentence: string}} Explanation */

/** Of a score or its like: the products that it sums up, in a sentence.
 * @param {{name: string, row: number, a: string, b: string, key: number, lines: string}} of @param {number} d */
export const productsOf = (of, d) =>
  d === 1 ? t("score.product", of) : t("score.products", { ...of, d });

/** @param {number} found @param {Known} stored */
export const equals = (found, stored) =>
  `${number(found) === number(stored) ? "=" : "≈"} ${number(stored)}`;
/** @param {number} x */
export const plus = (x) => (x < 0 ? `− ${number(-x)}` : `+ ${number(x)}`);
/** @param {ArrayLike<number>} list */
export const sum = (list) => Array.from(list).reduce((a, x) => a + x, 0);

/** Reads the operands by absolute index, also where one visit came by itself. @param {Trace} trace @param {Frame} f */
export function operands({ arrays }, f) {
  const from = f.zoom ?? arrays;
  const { n, d } = f.problem;
  const [rows, keys, across] = f.zoom
    ? [f.rows.start, f.cols.start, f.cols.stop - f.cols.start]
    : [0, 0, n];
  return {
    Q: (row, x) => from.Q?.[(row - rows) * d + x],
    K: (key, x) => from.K?.[(key - keys) * d + x],
    V: (key, x) => from.V?.[(key - keys) * d + x],
    P: (row, key) => from.P?.[(row - rows) * across + key - keys],
    dO: (row, x) => from.dO?.[(row - rows) * d + x],
    O: (row, x) => from.O?.[(row - rows) * d + x],
    dP: (row, key) => from.dP?.[(row - rows) * across + key - keys],
    dS: (row, key) => from.dS?.[(row - rows) * across + key - keys],
  };
}

/** @param {{start: number, stop: number}} span @param {number} at */
export const within = ({ start, stop }, at) => at >= start && at < stop;
