// The steps of one tile among its warps, as explainer/parallel/warps.py packed them, with the sums so far of
// the listed bytes. Pure.

/** @typedef {[tensor: string, warps: number[], rows: number[], keys: number[], values: (number | string | (number | string)[])[] | null]} PackedPiece */
/** @typedef {[tensor: string, warp: number, op: string, nbytes: number]} Exchange */
/** @typedef {Record<string, any> & {pieces: PackedPiece[], exchanges: Exchange[], barriers: number}} PackedStep */

/** @type {Record<string, number>} */
const NOT_FINITE = { "-inf": -Infinity, inf: Infinity, nan: NaN };
/** @param {number | string} x */
const real = (x) => NOT_FINITE[x] ?? Number(x);

/** One piece as an object: {tensor, warps, rows, keys, at(r, c)}, r and c from its first. */
function piece(/** @type {PackedPiece} */ [tensor, warps, rows, keys, values]) {
  const at = (/** @type {number} */ r, /** @type {number} */ c) => {
    const x = values?.[r];
    const value = Array.isArray(x) ? x[c] : x;
    return value === undefined ? undefined : real(value);
  };
  return { tensor, warps, rows, keys, at, known: values !== null };
}

/** A step as it was packed, with its pieces and the sums so far. @param {PackedStep[]} steps */
export function read(steps) {
  let moved = 0;
  let barriers = 0;
  /** @type {Record<string, ReturnType<typeof piece>[]>} */
  const pieces = {};
  return steps.map((step) => {
    const fresh = step.pieces.map(piece);
    for (const tensor of new Set(fresh.map((h) => h.tensor)))
      pieces[tensor] = fresh.filter((h) => h.tensor === tensor);
    moved += step.exchanges.reduce((/** @type {number} */ sum, [, , , nbytes]) => sum + nbytes, 0);
    barriers += step.barriers;
    const moves = step.exchanges.map(([tensor, warp, op, nbytes]) => ({
      tensor,
      warp,
      op,
      nbytes,
    }));
    return { ...step, moves, pieces: { ...pieces }, moved, total: barriers };
  });
}
