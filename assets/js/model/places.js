// Where a visitor is led: to the same tile of another trace, and by Next. Pure.

import { frame, movePhase, phasesOf, place } from "./frame.js";

/** @import { Place, Trace } from "./types.js" */

/** @param {Trace} trace */
const gridOf = ({ problem: { n, block_q, block_k } }) => `${n} ${block_q} ${block_k}`;

/** Where the tile shown at a place is visited in another trace over the same grid; −1 in another grid, or if it is not.
 * @param {Trace} from @param {Place} at @param {Trace} to */
function sameTile(from, at, to) {
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

/** @typedef {"phase" | "tile"} Stride what Next moves by */

/** Where Next leads, by one stride. @param {Trace} trace @param {Place} at @param {number} by @param {Stride} stride @returns {Place} */
export function ahead(trace, at, by, stride) {
  if (stride === "phase") return movePhase(trace, at, by);
  return at.step + by < 0 ? at : place(trace, at.step + by);
}
