// What is done to a score between its scaling and the softmax, with its numbers. The trace brings it, from
// kernels/spec/scores.py; here each step is applied to one score, which is held against the trace. Pure.

import { clamp, number } from "../lib/format.js";

/** @import { Change, Problem } from "./types.js" */

/** A number that is added. @param {number} x */
export const plus = (x) => (x < 0 ? `− ${number(-x)}` : `+ ${number(x)}`);
/** @param {number[]} table @param {number} row @param {number} key */
const biasOf = (table, row, key) => table[clamp(row - key, 0, table.length - 1)];

/** By the shape of a change: what becomes of one score s of a row and key, and the same with its numbers.
 * @type {Record<string, {
 *   of: (s: number, change: Change, row: number, key: number) => number,
 *   formula: (s: number, change: Change, row: number, key: number) => string,
 * }>} */
const SHAPES = {
  factor: {
    of: (s, { numbers: [x] }) => s * x,
    formula: (s, { numbers: [x] }) => `${x} × ${number(s)}`,
  },
  tanh: {
    of: (s, { numbers: [c] }) => Math.tanh(s / c) * c,
    formula: (s, { numbers: [c] }) => `${c} · tanh(${number(s)} / ${c})`,
  },
  slope: {
    of: (s, { numbers: [slope] }, row, key) => s + slope * (key - row),
    formula: (s, { unit }, row, key) =>
      `${number(s)} ${key < row ? "−" : "+"} ${Math.abs(key - row)} ${unit}`,
  },
  table: {
    of: (s, { numbers }, row, key) => s + biasOf(numbers, row, key),
    formula: (s, { numbers }, row, key) => `${number(s)} ${plus(biasOf(numbers, row, key))}`,
  },
};

/** What the Problem does to S after scaling, as code: "30 · tanh(S / 30)" and so on. @param {Problem} problem */
export const changesOf = ({ changes }) => (changes ?? []).map(({ code }) => code);

const STEEP = ["factor", "tanh"]; // whose slope is not 1
/** Does a change of the scores reach dS times a slope? @param {Problem} problem */
export const bends = ({ changes }) => (changes ?? []).some(({ shape }) => STEEP.includes(shape));

/** What becomes of one scaled score: after each change its name, the formula with its numbers, and what it gives.
 * @param {Problem} problem @param {number} scaled @param {number} row @param {number} key */
export function changed({ changes }, scaled, row, key) {
  let s = scaled;
  return changes.map((change) => {
    const { of, formula } = SHAPES[change.shape];
    const text = formula(s, change, row, key);
    s = of(s, change, row, key);
    return { name: change.name, text, s };
  });
}
