// What e4m3 costs a row of O, from visit to visit: by rounding without and with scales, by the tensor cores' sums with one
// level of accumulation and with two. Pure.

import { number, sub } from "../lib/format.js";
import { t } from "./texts.js";

/** @import { Frame, Numbers, Problem, Trace } from "./types.js" */
/** @typedef {"plain" | "scaled" | "one_level" | "two_levels"} Cost */
/** A visit of the row: its key block, whether its P V is in O by now, and the errors after it.
 * @typedef {{j: number, seen: boolean, errors: Record<Cost, number>}} Point */

/** @type {Cost[]} */
export const COSTS = ["plain", "scaled", "one_level", "two_levels"];

/** Are Q, K, V and P rounded to e4m3? @param {{problem: Problem}} trace or frame */
export const isFp8 = ({ problem }) => problem.dtype === "e4m3";

/** What P is multiplied by, which dropout divides. @param {Frame} f */
export const factorOfP = ({ problem }) => number(256 * (1 - Number(problem.dropout ?? 0)));

/** The visits of a row in order; null where the trace has no such errors. @param {Trace} trace @param {Frame} f
 * @param {number | undefined} row @returns {Point[] | null} */
export function costsOf({ arrays, visitsOfRow }, f, row) {
  if (!arrays.e_plain || f.i < 0 || row === undefined) return null;
  const visits = visitsOfRow[f.i].filter((v) => arrays.r_ptr[v + 1] > arrays.r_ptr[v]);
  return visits.map((v) => {
    const at = arrays.r_ptr[v] + row - f.rows.start;
    const errors = /** @type {Record<Cost, number>} */ (
      Object.fromEntries(COSTS.map((name) => [name, Number(arrays[`e_${name}`]?.[at])]))
    );
    return { j: arrays.v_j[v], seen: v < f.step || (v === f.step && f.done("output")), errors };
  });
}

/** A part of the whole, in percent. @param {number} part */
export const percent = (part) => `${number(100 * part)} %`;

/** What each cost comes from, in words. @param {Trace} trace @param {Frame} f @returns {Record<Cost, string>} */
export function causesOf({ arrays }, f) {
  const factor = (/** @type {Numbers | undefined} */ scales, /** @type {number} */ block) =>
    number(1 / Number(scales?.[block]));
  const [q, k] = [factor(arrays.scale_Q, f.i), factor(arrays.scale_K, f.j)];
  const values = { i: sub(f.i), j: sub(f.j), q, k, p: factorOfP(f) };
  return {
    plain: t("fp8.plain.why"),
    scaled: t("fp8.scaled.why", values),
    one_level: t("fp8.one_level.why"),
    two_levels: t("fp8.two_levels.why"),
  };
}
