// The statistics of a row: their names, and the phase that gives each. Pure.

/** @import { Known } from "./types.js" */
/** @typedef {"m_old" | "row_max" | "m_new" | "alpha" | "l_old" | "row_sum" | "l_new"} Stat */

export const PENDING = undefined; // NaN is a number here: what overflow makes

/** In the order of the row table; null: what a visit begins with. @type {[Stat, string | null][]} */
export const STATS = [
  ["m_old", null],
  ["row_max", "max"],
  ["m_new", "max"],
  ["alpha", "exp"],
  ["l_old", null],
  ["row_sum", "sum"],
  ["l_new", "sum"],
];

/** Of each statistic its number, pending where it is not known. @param {(name: Stat, phase: string | null) => Known} numberOf
 * @returns {Record<Stat, Known>} */
export const makeStatistics = (numberOf) =>
  /** @type {any} */ (
    Object.fromEntries(STATS.map(([name, phase]) => [name, numberOf(name, phase)]))
  );
