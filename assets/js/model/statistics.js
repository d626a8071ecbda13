// The statistics of a row: their names, and the phase that gives each. Pure.

/** @import { Known } from "./types.js" */
/** @typedef {"m_old" | "row_max" | "m_new" | "alpha" | "l_old" | "row_sum" | "l_new"} Stat */

export const PENDING = undefined; // NaN is a number here: what overflow makes

/** In the order of the row table: its name, the phase that gives it (null: what a visit begins with), and which number of the
 * row it is about, by the names of model/links.js. @type {[Stat, string | null, string][]} */
export const STATS = [
  ["m_old", null, "m"],
  ["row_max", "max", "m"],
  ["m_new", "max", "m"],
  ["alpha", "exp", "alpha"],
  ["l_old", null, "l"],
  ["row_sum", "sum", "l"],
  ["l_new", "sum", "l"],
];

/** Of each statistic its number, pending where it is not known. @param {(name: Stat, phase: string | null) => Known} numberOf
 * @returns {Record<Stat, Known>} */
export const makeStatistics = (numberOf) =>
  /** @type {any} */ (
    Object.fromEntries(STATS.map(([name, phase]) => [name, numberOf(name, phase)]))
  );
