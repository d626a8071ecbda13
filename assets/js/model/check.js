// What the backward's numbers must add up to, as far as a trace has come: each row of dS to 0 over its keys, and dQ to dS K. Summed
// here in double precision; what the trace has differs by its own rounding. Pure.

import { hasPhase } from "./backward.js";
import { hidden } from "./frame.js";
import { algorithmOf } from "./passes.js";
import { keysOfBlock } from "./spans.js";

/** @import { Frame, Trace } from "./types.js" */
/** `sum`: of dS over the keys met so far; `seen` of how many keys that are not hidden; `end`: what the sum must be after
 * the last one, 0 but for a sink. @typedef {{row: number, sum: number, seen: number, of: number, end: number}} RowSum */

/** Keys of the visits up to now whose dS is known, of this row block. @param {Trace} trace @param {Frame} f */
function keysOf(trace, f) {
  const { adds, arrays, problem: p, strip } = trace;
  if (algorithmOf(trace).stores_scores)
    return strip.dS[f.i] < f.step || (strip.dS[f.i] === f.step && f.done("dS"))
      ? [keysOfBlock(p, -1)]
      : [];
  const known = adds[f.i].filter((v) => v < f.step || (v === f.step && f.done("dS")));
  return known.map((v) => keysOfBlock(p, arrays.v_j[v]));
}

/** @param {Trace} trace @param {number} row @param {number} key */
const sees = ({ arrays, problem: { n } }, row, key) => !hidden(arrays, row * n + key);

/** Of each row of the row block at work; nothing where there is none. @param {Trace} trace @param {Frame} f @returns {RowSum[]} */
export function sumsOfRows(trace, f) {
  const { problem: p, arrays } = trace;
  if (!f.numbers || f.i < 0) return [];
  if (!trace.header.numbers)
    return f.stats.map(({ row }) => ({ row, sum: 0, seen: 0, of: 0, end: 0 })); // one visit has not all of its keys
  const keys = keysOf(trace, f);
  return Array.from({ length: f.rows.stop - f.rows.start }, (_, r) => {
    const row = f.rows.start + r;
    let [sum, seen, of] = [0, 0, 0];
    for (let key = 0; key < p.n; key++) if (sees(trace, row, key)) of++;
    for (const { start, stop } of keys)
      for (let key = start; key < stop; key++) {
        if (!sees(trace, row, key)) continue;
        seen++;
        sum += arrays.dS[row * p.n + key] / (arrays.slope?.[row * p.n + key] || 1);
      }
    const sink = p.sink === null ? 0 : Math.exp(p.sink - arrays.lse[row]); // which weighs, and has no value
    return { row, sum, seen, of, end: sink ? arrays.D[row] * sink : 0 };
  });
}

/** dQ of the row block so far beside dS K of the keys met so far: the largest difference of an entry and the largest
 * entry; null before anything was added. @param {Trace} trace @param {Frame} f @returns {{off: number, most: number} | null} */
export function agreement(trace, f) {
  const { problem: p, arrays, adds } = trace;
  const { stores_scores, scales_dQ } = algorithmOf(trace);
  if (!trace.header.numbers || f.i < 0 || stores_scores || !f.grads?.added[f.i]) return null;
  const visits = adds[f.i].slice(0, f.grads.added[f.i]);
  const keys = visits.map((v) => keysOfBlock(p, arrays.v_j[v]));
  const at = arrays.a_ptr[visits[visits.length - 1]];
  const scale = scales_dQ ? p.scale : 1; // by which it multiplies every part
  let [off, most] = [0, 0];
  for (let row = f.rows.start; row < f.rows.stop; row++)
    for (let x = 0; x < p.d; x++) {
      let sum = 0;
      for (const { start, stop } of keys)
        for (let key = start; key < stop; key++)
          sum += arrays.dS[row * p.n + key] * arrays.K[key * p.d + x];
      const found = arrays.acc_dQ[at + (row - f.rows.start) * p.d + x];
      off = Math.max(off, Math.abs(found - sum * scale));
      most = Math.max(most, Math.abs(found));
    }
  return { off, most };
}

/** The gradient of its sink, once D of every row is known; undefined before, and without a sink. @param {Trace} trace @param {Frame} f */
export function ofSink(trace, f) {
  const { steps, header } = trace;
  let last = steps - 1;
  while (last >= 0 && !hasPhase(trace, last, "D")) last--;
  return f.step > last || (f.step === last && f.done("D")) ? header.dsink : undefined;
}
