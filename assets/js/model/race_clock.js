// The arithmetic of a race: how far each loop order is after a tick, when every lane may make the
// same number of visits, or move the same number of bytes. A lane is its list of `bytesAfter`. Pure.

import { clamp } from "../lib/format.js";
import { times } from "../lib/lists.js";
import { ALGORITHMS } from "./algorithms.js";
import { phasesOf } from "./frame.js";

/** @import { Order, Pass, Place, Trace } from "./types.js" */
/** @typedef {{byBytes: boolean, quantum: number, ticks: number}} Clock */

/** The algorithms of a race: all but the variants, and in the forward pass the one that is chosen.
 * @param {Order | null} [order] @param {Pass} [pass] @returns {Order[]} */
export const ordersOf = (order = null, pass = "forward") =>
  Object.keys(ALGORITHMS).filter(
    (key) => ALGORITHMS[key].variant_of === null || (key === order && pass === "forward"),
  );

export const ORDERS = ordersOf();

/** The visits that take time: all but those of skipped tiles, in which nothing is loaded and nothing computed.
 * @param {Trace} trace */
export const workOf = ({ steps, arrays: { v_phases } }) =>
  times(steps, (v) => v).filter((v) => v_phases[v]);

/** HBM bytes that a trace has moved after 0, 1, … all of its visits that take time. @param {Trace} trace */
export function bytesAfter(trace) {
  const { moved } = trace;
  return [0, ...workOf(trace).map((v) => moved[2 * v + 2] + moved[2 * v + 3])];
}

/** How long a race is, in ticks, and how many bytes (`quantum`) a tick allows each lane.
 * @param {number[][]} lanes @param {boolean} byBytes @returns {Clock} */
export function clockOf(lanes, byBytes) {
  const longest = Math.max(...lanes.map((lane) => lane.length - 1));
  const most = Math.max(...lanes.map((lane) => lane[lane.length - 1]));
  const quantum = Math.ceil(most / longest);
  return { byBytes, quantum, ticks: byBytes ? Math.ceil(most / quantum) : longest };
}

/** Visits that a lane has finished when this tick ends. @param {Clock} clock @param {number[]} lane @param {number} tick */
export const visitsAfter = ({ byBytes, quantum }, lane, tick) =>
  byBytes
    ? lane.findLastIndex((bytes) => bytes <= (tick + 1) * quantum)
    : Math.min(tick + 1, lane.length - 1);

/** The first tick that shows a visit as over, by its number among those that take time. @param {Clock} clock @param {number[]} lane @param {number} v */
export const tickOf = ({ byBytes, quantum }, lane, v) =>
  byBytes ? Math.max(0, Math.ceil(lane[v + 1] / quantum) - 1) : v;

/** The first tick at which a lane is done: what the race is about. @param {Clock} clock @param {number[]} lane */
export const finishOf = (clock, lane) => Math.max(0, tickOf(clock, lane, lane.length - 2));

/** What a lane with `done` visits over shows: the last of them whole, or the first one's load.
 * @param {Trace} trace @param {number} done @returns {Place} */
export function placeAfter(trace, done) {
  const work = workOf(trace);
  const step = work[clamp(done, 1, work.length) - 1] ?? 0;
  const phases = phasesOf(trace, step);
  return { step, phase: phases[done ? phases.length - 1 : 0] };
}

/** Who wins: the lanes that request the fewest bytes, those bytes, and of each other lane the share of its own that
 * they are. @param {number[][]} lanes */
export function verdictOf(lanes) {
  const totals = lanes.map((lane) => lane[lane.length - 1]);
  const least = Math.min(...totals);
  const at = totals.map((_, k) => k);
  return {
    least,
    winners: at.filter((k) => totals[k] === least),
    shares: at.filter((k) => totals[k] > least).map((k) => ({ lane: k, share: least / totals[k] })),
  };
}
