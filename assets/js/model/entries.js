// The numbers of the matrices by absolute index, whether the whole trace came or one visit by itself. Pure.

/** @import { Numbers, Problem } from "./types.js" */
/** An entry by its absolute row or key and its dimension or key. @typedef {(a: number, b: number) => number} Entry */

/** Read the matrices of a trace; `visit`: of one that came by itself, where its rows and keys begin, and how many keys it has.
 * @param {Record<string, Numbers | undefined>} from @param {Problem} problem
 * @param {{rows: number, keys: number, across: number} | null} visit */
export function entriesOf(from, { n, d }, visit) {
  const { rows, keys, across } = visit ?? { rows: 0, keys: 0, across: n };
  /** @type {(name: string, first: number, width: number, skipped?: number) => Entry} */
  const matrix =
    (name, first, width, skipped = 0) =>
    (a, b) =>
      Number(from[name]?.[(a - first) * width + b - skipped]);
  const ofRows = (/** @type {string} */ name) => matrix(name, rows, d);
  const ofKeys = (/** @type {string} */ name) => matrix(name, keys, d);
  const ofTile = (/** @type {string} */ name) => matrix(name, rows, across, keys);
  return {
    Q: ofRows("Q"),
    O: ofRows("O"),
    dO: ofRows("dO"),
    K: ofKeys("K"),
    V: ofKeys("V"),
    S: ofTile("S"),
    P: ofTile("P"),
    dP: ofTile("dP"),
    dS: ofTile("dS"),
    slope: from.slope && ofTile("slope"),
  };
}
