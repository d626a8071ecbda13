// The steps of one tile among its warps, as explainer/parallel/warps.py packed them, with the sums so far of
// the listed bytes. Pure.

const NOT_FINITE = { "-inf": -Infinity, inf: Infinity, nan: NaN };
const real = (x) => NOT_FINITE[x] ?? x;

/** One held piece as an object: {tensor, warps, rows, keys, at(r, c)}, r and c from its first. */
function piece([tensor, warps, rows, keys, values]) {
  const at = (r, c) => {
    const x = values?.[r];
    return real(Array.isArray(x) ? x[c] : x);
  };
  return { tensor, warps, rows, keys, at, known: values !== null };
}

/** A step as it was packed, with its pieces and the sums so far. */
export function read(steps) {
  let moved = 0;
  let barriers = 0;
  const pieces = {};
  return steps.map((step) => {
    const fresh = step.held.map(piece);
    for (const tensor of new Set(fresh.map((h) => h.tensor)))
      pieces[tensor] = fresh.filter((h) => h.tensor === tensor);
    moved += step.exchanges.reduce((sum, [, , , nbytes]) => sum + nbytes, 0);
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
