// What is done to a score between its scaling and the softmax, in words and with its numbers. What it is belongs to
// kernels/spec/scores.py; here each step is said once more for one score, and held against the trace. Pure.

import { number } from "../lib/format.js";

/** @import { Problem } from "./types.js" */
/** `code`: what becomes of S; `of`: of one score s of a row and key; `said`: the same with its numbers, without the result.
 * @typedef {{
 *   code: (numbers: number[]) => string, of: (s: number, numbers: number[], row: number, key: number) => number,
 *   said: (s: number, numbers: number[], row: number, key: number) => string,
 * }} Change */

const SLOPE = 2 ** -8; // of ALiBi in head 0 of 1, which is the one shown
/** @param {number} x */
const signed = (x) => (x < 0 ? `− ${number(-x)}` : `+ ${number(x)}`);
/** @param {number[]} table @param {number} row @param {number} key */
const biasOf = (table, row, key) => table[Math.min(Math.max(row - key, 0), table.length - 1)];

/** @type {Record<string, Change>} */
const CHANGES = {
  scale: {
    code: ([x]) => `${x} · S`,
    of: (s, [x]) => s * x,
    said: (s, [x]) => `${x} × ${number(s)}`,
  },
  softcap: {
    code: ([c]) => `${c} · tanh(S / ${c})`,
    of: (s, [c]) => Math.tanh(s / c) * c,
    said: (s, [c]) => `${c} · tanh(${number(s)} / ${c})`,
  },
  alibi: {
    code: () => "S + (key − query) / 256",
    of: (s, _, row, key) => s + SLOPE * (key - row),
    said: (s, _, row, key) => `${number(s)} ${key < row ? "−" : "+"} ${Math.abs(key - row)} / 256`,
  },
  bias: {
    code: () => "S + b[query − key]",
    of: (s, table, row, key) => s + biasOf(table, row, key),
    said: (s, table, row, key) => `${number(s)} ${signed(biasOf(table, row, key))}`,
  },
};

/** What the Problem does to S after scaling, as code: "30 · tanh(S / 30)" and so on. @param {Problem} problem */
export const changesOf = ({ changes }) =>
  (changes ?? []).map(([name, numbers]) => CHANGES[name].code(numbers));

const STEEP = ["scale", "softcap"]; // whose slope is not 1
/** Does a change of the scores reach dS times a slope? @param {Problem} problem */
export const bends = ({ changes }) => (changes ?? []).some(([name]) => STEEP.includes(name));

/** What becomes of one scaled score: after each change its name, the formula with its numbers, and what it gives.
 * @param {Problem} problem @param {number} scaled @param {number} row @param {number} key */
export function changed({ changes }, scaled, row, key) {
  let s = scaled;
  return changes.map(([name, numbers]) => {
    const { of, said } = CHANGES[name];
    const text = said(s, numbers, row, key);
    s = of(s, numbers, row, key);
    return { name, text, s };
  });
}
