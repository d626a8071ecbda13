// The steps of one tile among its warps, as explainer/parallel/warps.py packed them, with the sums so far of
// the listed bytes. Pure.

/** @typedef {[first: number, end: number]} Slice absolute rows or keys, `end` one past the last */
/** A piece has rows or keys, S and P both. @typedef {[tensor: string, warps: number[], rows: Slice | null, keys: Slice | null, values: (number | string | (number | string)[])[] | null]} PackedPiece */
/** @typedef {[tensor: string, warp: number, op: string, nbytes: number]} Exchange */
/** @typedef {"own" | "write" | "read"} Part of a phase */
/** @typedef {{phase: string, part: Part, sentence: string, pieces: PackedPiece[], exchanges: Exchange[], barriers: number}} PackedStep */
/** @typedef {"k" | "q"} Split */
/** @typedef {{i: number, j: number, kind: import("./types.js").Kind, warps: number, d: number, rows: Slice, keys: Slice, row_slices: Slice[],
 * key_slices: Slice[], operands: [tensor: string, nbytes: number][]} & Record<Split, PackedStep[]>} Tile */
/** @typedef {ReturnType<typeof piece>} WarpPiece */
/** @typedef {ReturnType<typeof read>[number]} WarpStep */

/** @type {Record<string, number>} */
const NOT_FINITE = { "-inf": -Infinity, inf: Infinity, nan: NaN };
/** @param {number | string} x */
const real = (x) => NOT_FINITE[x] ?? Number(x);

/** One piece as an object: from its `first` row (or key, where it has no rows) on it is so `long`; at(row, col) is a number
 * of it, and `numbers` are all, null where they are too many to be sent. */
function piece(/** @type {PackedPiece} */ [tensor, warps, rows, keys, values]) {
  const [first, end] = /** @type {Slice} */ (rows ?? keys);
  const numbers = values?.map((line) => [line].flat().map(real)) ?? null;
  const at = (/** @type {number} */ row, col = 0) => numbers?.[row - first]?.[col];
  return { tensor, warps, keys, first, long: end - first, numbers, at };
}

/** A step as it was packed, with its pieces and the sums so far. @param {PackedStep[]} steps */
export function read(steps) {
  let moved = 0;
  let barriers = 0;
  /** @type {Record<string, WarpPiece[]>} */
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
