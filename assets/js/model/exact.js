// Attention in float64, whole rows at once, from the numbers that the tiles began with: what O is compared with at the
// end of a run, and in the backward dQ, dK and dV. Pure.

import { times } from "../lib/lists.js";
import { hidden } from "./frame.js";
import { changed } from "./scores.js";

/** @import { Numbers, Trace } from "./types.js" */

/** @param {Numbers} a @param {number} i @param {Numbers} b @param {number} j @param {number} d */
function dot(a, i, b, j, d) {
  let sum = 0;
  for (let x = 0; x < d; x++) sum += a[i * d + x] * b[j * d + x];
  return sum;
}

/** to += factor · from, row i of one matrix and row j of the other. @param {Float64Array} to @param {number} i @param {number} factor
 * @param {Numbers} from @param {number} j @param {number} d */
function add(to, i, factor, from, j, d) {
  for (let x = 0; x < d; x++) to[i * d + x] += factor * from[j * d + x];
}

/** A row of P, whole: exp(s − m) / ℓ of each key. @param {Trace} trace @param {number} row */
function weightsOf({ arrays: a, problem: p }, row) {
  const scores = times(p.n, (key) => {
    if (hidden(a, row * p.n + key)) return -Infinity;
    const scaled = dot(a.Q, row, a.K, key, p.d) * p.scale;
    return changed(p, scaled, row, key).at(-1)?.s ?? scaled;
  });
  const sink = p.sink ?? -Infinity;
  const m = Math.max(sink, ...scores);
  if (m === -Infinity) return scores.map(() => 0);
  const weights = scores.map((s) => Math.exp(s - m));
  const l = weights.reduce((sum, w) => sum + w, Math.exp(sink - m));
  const rest = 1 - Number(p.dropout ?? 0);
  return weights.map((w, key) => (rest < 1 && !a.P[row * p.n + key] ? 0 : w / l / rest)); // what dropout drops is 0 in P
}

/** By name, what the pass gives; null where its numbers did not come. @param {Trace} trace @returns {Record<string, Float64Array> | null} */
export function exact(trace) {
  const { header, arrays: a, problem: p } = trace;
  const { n, d } = p;
  if (!header.numbers) return null;
  const empty = () => new Float64Array(n * d);
  if (header.pass === "forward") {
    const O = empty();
    for (let row = 0; row < n; row++)
      weightsOf(trace, row).forEach((w, key) => add(O, row, w, a.V, key, d));
    return { O };
  }
  const [dQ, dK, dV] = [empty(), empty(), empty()];
  for (let row = 0; row < n; row++) {
    const weights = weightsOf(trace, row);
    const dP = weights.map((w, key) => (w ? dot(a.dO, row, a.V, key, d) : 0));
    const D = weights.reduce((sum, w, key) => sum + w * dP[key], 0);
    weights.forEach((w, key) => {
      if (!w) return;
      const dS = w * (dP[key] - D) * p.scale * (a.slope?.[row * n + key] ?? 1);
      add(dV, key, w, a.dO, row, d);
      add(dQ, row, dS, a.K, key, d);
      add(dK, key, dS, a.Q, row, d);
    });
  }
  return { dQ, dK, dV };
}
