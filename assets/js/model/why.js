// What exp would do without m, with a row's own numbers: its scores are multiplied until fp32 fails. Pure.

import { clamp } from "../lib/format.js";
import { times } from "../lib/lists.js";

/** @import { Frame, Known } from "./types.js" */
/** A mark on an axis of powers of ten, which fp32 bounds. `state`: 1 beyond its largest number, −1 rounded to 0.
 * @typedef {{at: number, state: -1 | 0 | 1}} Mark */

const LARGEST = Math.log(2 ** 128 * (1 - 2 ** -24)); // exp of more overflows fp32
const SMALLEST = -150 * Math.LN2; // exp of this or less rounds to 0
export const RANGE = [-45, 38.5]; // the powers of ten that fp32 holds

/** The smallest whole factor of a row's scores at which exp of the largest one, m, overflows, or at which every
 * exp rounds to 0 where m is negative; and that factor times m. Null where there is none.
 * @param {Known} m */
export function failure(m) {
  if (!Number.isFinite(m) || !m) return null;
  const limit = Number(m) > 0 ? LARGEST : SMALLEST;
  const factor = Math.max(1, Math.floor(limit / Number(m)) + 1);
  return { factor, power: factor * Number(m), overflows: Number(m) > 0 };
}

/** @param {number} power of e @returns {Mark} */
function markOf(power) {
  const state = power > LARGEST ? 1 : power <= SMALLEST ? -1 : 0;
  const [low, high] = RANGE;
  return { state, at: clamp(power / Math.LN10, low - 2, high + 2) };
}

/** The visible scores of a row of this tile, times a factor, on two axes: exp(S), and exp(S − m).
 * @param {Frame} f @param {number} row @param {number} factor */
export function axesOf(f, row, factor) {
  const r = row - f.rows.start;
  const m = Number(f.stats[r]?.m_new);
  const keys = times(f.cols.stop - f.cols.start, (c) => c);
  const scores = keys.filter((c) => !f.hides(r, c)).map((c) => Number(f.score(r, c)));
  return {
    without: scores.map((s) => markOf(s * factor)),
    with: scores.map((s) => markOf((s - m) * factor)),
  };
}
