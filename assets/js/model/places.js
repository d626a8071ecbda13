// Where a visitor is led: to the same tile of another trace, and by Next. Pure.

import { algorithmOf } from "./passes.js";
import { frame, firstNews, movePhase, phasesOf, place } from "./frame.js";

/** @import { Place, Trace } from "./types.js" */

/** @param {Trace} trace */
const gridOf = ({ problem: { n, block_q, block_k } }) => `${n} ${block_q} ${block_k}`;

/** Where the tile shown at a place is visited in another trace over the same grid; −1 in another grid, or if it is not.
 * @param {Trace} from @param {Place} at @param {Trace} to */
export function sameTile(from, at, to) {
  if (gridOf(from) !== gridOf(to)) return -1;
  const { i, j } = frame(from, at.step, at.phase);
  return i < 0 || j < 0 ? -1 : to.tileVisit[i * to.problem.Tc + j];
}

/** A visit at this phase; if it has none of this name, at the last that it has before; at its last without one.
 * @param {Trace} trace @param {number} step @param {string} [phase] @returns {Place} */
export function nearest(trace, step, phase) {
  const { phases } = trace.header;
  const here = phasesOf(trace, Math.min(step, trace.steps - 1));
  const before = phases
    .slice(0, phases.indexOf(phase ?? "") + 1)
    .filter((name) => here.includes(name));
  return place(trace, step, before.at(-1) ?? (phase && here[0]));
}

/** The place in `to` that corresponds to one in `from`: the same tile, in the same phase if there is such a one; in the other
 * pass, which has other phases, at its end; the beginning belongs with the beginning, also where a kernel comes before the tiles.
 * Null: there is none. @param {Trace} from @param {Place} at @param {Trace} to */
export function counterpart(from, at, to) {
  const turned = from.header.pass !== to.header.pass;
  if (turned && at.step === 0 && at.phase === "load") return nearest(to, 0, "load");
  const v = sameTile(from, at, to);
  const other = turned && !to.header.phases.includes(at.phase);
  return v < 0 ? null : nearest(to, v, other ? undefined : at.phase);
}

/** The visits that Next shows phase by phase, for who starts at this one; where there are several kernels,
 * each of which does something else, the first of each. @param {Trace} trace @param {number} step */
export function slowFrom(trace, step) {
  if (!trace.header.numbers) return [];
  return [
    step,
    firstNews(trace, step),
    ...(Object.keys(algorithmOf(trace).stages).length ? firstOfKernels(trace, step) : []),
  ];
}

/** The visits from this one on that have a phase which none of those before has. @param {Trace} trace @param {number} step */
function firstOfKernels({ arrays: { v_phases }, steps }, step) {
  let seen = 0;
  const found = [];
  for (let v = step; v < steps; v++) {
    if (v_phases[v] & ~seen) found.push(v);
    seen |= v_phases[v];
  }
  return found;
}

/** Where Next leads: through the phases of the tile that the visitor came to and of the first in which something new
 * happens; from tile to tile elsewhere. @param {Trace} trace @param {Place} at @param {number} by @param {string} grain auto |
 * phase | tile @param {number[]} slow @returns {Place} */
export function ahead(trace, at, by, grain, slow) {
  const next = movePhase(trace, at, by);
  if (grain === "phase" || (grain === "auto" && next.step === at.step && slow.includes(at.step)))
    return next;
  const there = at.step + by;
  if (there < 0) return at;
  return place(
    trace,
    there,
    grain === "auto" && by > 0 && slow.includes(there) ? phasesOf(trace, there)[0] : undefined,
  );
}
