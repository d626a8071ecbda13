"""The one loop that knows how to be wrong: FlashAttention-2, forward and backward, each place where
learners err a field of ``Loop``. Without a change it is right. Two-dimensional arrays, one head."""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np

from kernels.spec.formats import round_to

LOG2E = math.log2(math.e)
RIGHT = {"dV": "dO", "dK": "Q", "dQ": "K"}  # the second factor of each gradient


@dataclass(frozen=True)
class Loop:
    """Say how a loop computes. The defaults are right, as are all values of the first group.

    ``skips``: tiles that the mask hides whole are not visited; ``reverse``: keys from the last;
    ``empty``: rows with l = 0 are O / 1, 0 (cleared), or nan.
    ``scale_of``: the scale is the argument, its inverse, the argument times 1/√d, or always of d,
    or where the argument is missing of the numbers of keys or rows, or of those of a tile;
    ``default_power`` and ``default_factor`` change 1/√d there; ``scale_power``, with or without a
    mask alone (``scale_when``). ``compounds``: every tile scales Q itself.
    ``mask``: none, causal, always (although not asked), local (in the tile's own coordinates, or
    local_rows, local_keys), transposed (or transposed_tile, within the tile), inverted, equal (of
    the tiles i = j alone), last (of the last tile alone) or beyond (of those with a later key than
    the last row sees), first (and never beyond what the first row sees), or with rows or keys
    counted by the size of the other's blocks: rows_by_keys, keys_by_rows, swapped, or rows or keys
    (or both) counted from the number of their tile: numbered. ``aligned``: the diagonal ends at the
    last key, starts at the first, also where there are fewer keys alone (clipped), or is moved the
    other way (reversed). ``hidden``: what replaces a masked score, or is added to it
    (``hidden_adds``). ``mask_at``: the scores, the weights P, or P after its sum, in the backward
    pass dS, or P by a product with 0 (product). ``leaves_out``: tiles by ``_left_out``; ``twice``:
    those that are visited twice, see ``_visits``.
    ``heads``: ``heads_of`` of Q, K and V are of the head's own, the first or next head, the first
    sequence (batch), one for all, or memory is read as (B, N, H, d) (viewed; so is O, for o), or
    transposed to it and read as (B, H, N, d) (reshaped), or with the strides of Q (strided), or
    the head comes before the sequence (swapped, unswapped).
    ``q_of``, ``k_of``, ``v_of``: the matrix that is taken for Q, K and V; ``queries``, ``keys``,
    ``values``: of which block: own, previous, next, first, row, or strided by the other's size.
    ``ragged``: keys beyond the last are masked, counted (as zeros, or edge, wrap or overlap: as
    other keys; moved, also where they are masked; stale, those of the block before behind them; or
    as what the causal mask hides), keys beyond the number of rows are masked (queries), or the last
    block is dropped, or as many of the first keys (first_dropped), or the last block of the rows.
    ``key_tile``: a tile has Bc keys, or Br (rows). ``carry``: what of m, l and o, or of the
    gradients, a block takes over from the one before.
    ``maximum``: running, tile, whole (over all rows of the tile), zero (running from 0), none (0);
    ``keeps``: the m that the next tile is given, by lazy the old one where α is 1; ``p_by``,
    ``alpha_by``: what P and α subtract, ``sum_by``: the P in l, where it is another; α by late is
    that of the tile before. ``alpha_base``: the base of α; ``alpha_of``: scores that are scaled, or
    unscaled; ``lazy``: α is 1 where m rose by no more than that; ``l_begins``: the l before the
    first tile; ``guards``: α is 0 where there was no maximum; ``after``: which of l and o are
    rescaled after the tile is added; ``adds``: which add what they were once more; ``scales``: α is
    on the old, or on the new. ``forget``: which begin anew in each tile.
    ``rounds``: which of Q, K, V, S, P, l and o, or of the products T = Q Kᵀ and U = P V of a tile,
    are rounded to fp16, bf16 or integers. ``pipelines``: P V is added one tile later, behind that
    tile's α. ``padded``: tiles are filled up with rows and keys of 0, and these keys masked.
    ``stores``: all rows of a row block, or not its last, or the row blocks backwards. ``splits``:
    how many ranges of keys, or of tiles (``split_at``), with one more in the first or with all but
    the last equal (``splits_evenly``), are computed apart and merged with weights of their lse, of
    m (max, or max_over_lse in the numerator) or l alone, of lse in base 2, of exp(lse) not
    normalized (raw), in turn with those of the other side (swapped) or of both (late), equal
    weights (mean) or none (sum); floor: the keys beyond equal ranges are lost.
    ``sums``: l sums P along keys, or rows, or takes its mean, or its max. ``divide``: O by l at the
    end, never, every tile, or both; multiplied; by lse; or P by its sum within the tile: weights,
    then never or by all l, or by the running l (running); or the old O alone is multiplied, by
    l_old / l (old); or by the l before the last tile (stale); or tiles are divided and merged with
    a share of their l in that after one more (merged_late), or of the l before (merged_swapped).
    ``swap``: what is transposed, or not, where it should not be: K (or its numbers, reshaped) in S,
    S itself, P, α or l in O, and in the backward pass; where its sides are equal.
    ``lse``: natural, or two numbers, by which m and log l are multiplied, or see ``_lse``.
    ``p_of``: see ``_p``, ``lse_factor`` multiplies what S is lessened by; ``D``: see ``backward``;
    ``heads_of`` may name lse and D (L, D).
    ``dS``: P (dP − D), outside: P dP − D, reversed: P (D − dP), unweighed, squared: P (P dP − D),
    sigmoid: P (1 − P) dP, mixed: (P − D) dP.
    ``upstream``: the dO that is taken, its own or ones; ``at_keys``: what of lse, D and dO is read,
    and which gradients are written, at the rows of the other block.
    ``dP_of``, ``dV_of``, ``dK_of``, ``dQ_of``: the two factors of a product. ``overwrites``:
    gradients that are assigned where tiles add up; ``rescales``: those that are scaled in every
    tile; ``cumulates``: those that a tile adds with what was added before; ``returns``: their
    order, 0 where there is none.
    """

    skips: bool = True
    reverse: bool = False

    scale_power: float = 1
    scale_of: str = "argument"
    default_power: float = 1
    default_factor: float = 1
    scale_when: str = "always"
    compounds: bool = False
    mask: str = "causal"
    diagonal: int = 0
    aligned: str = "end"
    hidden: float = -math.inf
    hidden_adds: bool = False
    mask_at: str = "scores"
    leaves_out: str = ""
    twice: str = ""
    heads: str = "own"
    heads_of: str = "kv"
    q_of: str = "q"
    k_of: str = "k"
    v_of: str = "v"
    queries: str = "own"
    keys: str = "own"
    values: str = "own"
    ragged: str = "masked"
    key_tile: str = "keys"
    carry: str = ""
    maximum: str = "running"
    keeps: str = "new"
    p_by: str = "new"
    sum_by: str = ""
    alpha_by: str = "new"
    base: float = math.e
    alpha_base: float = math.e
    alpha_of: str = "scaled"
    lazy: float = 0
    l_begins: float = 0
    l_alpha: float = 1
    o_alpha: float = 1
    guards: bool = True
    after: str = ""
    adds: str = ""
    scales: str = "old"
    forget: str = ""
    sums: str = "keys"
    divide: str = "end"
    swap: str = ""
    lse: str | list[float] = "natural"
    rounds: str = ""
    pipelines: bool = False
    padded: bool = False
    stores: str = "all"
    splits: int = 1
    split_at: str = "keys"
    splits_evenly: bool = False
    merges: str = "lse"
    empty: str = "zero"

    gradient_scale_of: str = "argument"
    dQ_scale: float = 1
    dK_scale: float = 1
    dV_scale: float = 0
    dQ_factor: float = 1
    dK_factor: float = 1
    p_of: str = "lse"
    lse_base: float = math.e
    lse_factor: float = 1
    dP_of: str = "dO V"
    D: str = "row"
    dS: str = "weighed"
    upstream: str = "own"
    at_keys: str = ""
    dV_of: str = "P dO"
    dK_of: str = "dS Q"
    dQ_of: str = "dS K"
    overwrites: str = ""
    rescales: str = ""
    cumulates: str = ""
    returns: str = "dQ dK dV"


Report = Callable[..., None]
Numbers = np.ndarray


@dataclass(frozen=True)
class _Tiles:
    """The tiles of one call; row i sees the keys up to i + ``offset`` under the causal mask."""

    block_q: int
    block_k: int
    n_q: int
    n_k: int
    offset: int
    causal: bool
    key_tile: str  # the size of a tile of keys: of keys, or of rows

    def rows(self, i: int) -> Numbers:
        return np.arange(i * self.block_q, min((i + 1) * self.block_q, self.n_q))

    def cols(self, j: int) -> Numbers:
        size = self.block_q if self.key_tile == "rows" else self.block_k
        return np.arange(j * self.block_k, min(j * self.block_k + size, self.n_k))

    @property
    def Tr(self) -> int:
        return -(-self.n_q // self.block_q)

    @property
    def Tc(self) -> int:
        return -(-self.n_k // self.block_k)


def take_heads(w: Loop, *operands: Numbers) -> list[Numbers]:
    """Return Q, K and V (B, H, N, d), and in a backward pass lse and D (B, H, N, 1), so that each
    head finds what the loop takes for its own."""
    if w.heads == "own":
        return list(operands)
    rows, taken = operands[0].shape[2], []
    for name, x in zip("qkvLD", operands, strict=False):
        batch, heads, n, d = x.shape
        at = np.arange(batch * heads)[:, None] * rows + np.arange(n)
        of = {
            "first": x[:, :1],
            "batch": x[:1],
            "one": x[:1, :1],
            "next": np.roll(x, -1, 1),
            "viewed": x.reshape(batch, n, heads, d).swapaxes(1, 2),
            "reshaped": x.swapaxes(1, 2).reshape(x.shape),
            "swapped": x.swapaxes(0, 1).reshape(x.shape),
            "unswapped": x.reshape(heads, batch, n, d).swapaxes(0, 1),
            "strided": x.reshape(-1, d)[at % (batch * heads * n)].reshape(x.shape),
        }
        taken.append(np.broadcast_to(of[w.heads], x.shape) if name in w.heads_of else x)
    return taken


def stored_heads(w: Loop, O: Numbers) -> Numbers:
    """Return O (B, H, N, d) as a loop stores it that finds heads at other places."""
    batch, heads, n, d = O.shape
    if w.heads == "viewed":
        return O.swapaxes(1, 2).reshape(O.shape)
    return O.reshape(batch, n, heads, d).swapaxes(1, 2)


def _block_of(name: str, own: int, row: int, size: int, n: int, other: int) -> Numbers:
    """Return the rows of the block that is taken for block ``own``, in row block ``row``; blocks
    have ``size`` rows, those of the other side of a tile ``other``."""
    last = -(-n // size) - 1
    start = {
        "own": own * size,
        "first": 0,
        "row": row * size,
        "previous": max(own - 1, 0) * size,
        "next": min(own + 1, last) * size,
        "strided": own * other,
    }
    return (start[name] + np.arange(min(size, n - own * size))) % n


def _keys(name: str, t: _Tiles, i: int, j: int) -> Numbers:
    """Return the keys whose K or V tile (i, j) takes."""
    return t.cols(j) if name == "own" else _block_of(name, j, i, t.block_k, t.n_k, t.block_q)


def _rounded(w: Loop, name: str, x: Numbers) -> Numbers:
    """Return x, rounded where the loop does so."""
    names, _, kind = w.rounds.partition(" to ")
    if name not in names:
        return x
    return np.trunc(x) if kind == "integers" else round_to(x, kind).astype(x.dtype)


def _left_out(w: Loop, t: _Tiles, i: int, j: int) -> bool:
    """Return True if the loop does not visit tile (i, j)."""
    if not w.leaves_out:
        return w.skips and _is_hidden(t, i, j)
    first, last = t.rows(i)[[0, -1]] + t.offset
    start, end = j * t.block_k, t.cols(j)[-1]
    wrong = {
        "last": j == t.Tc - 1,
        "first": j == 0,
        "rows_last": i == t.Tr - 1,
        "rows_first": i == 0,
        "odd": j == t.Tc - 1 and t.Tc % 2 == 1,
        "beyond_rows": j >= t.Tr,
        "beyond_by_rows": j >= -(-t.n_k // t.block_q),
        "above_always": start > last,
    }
    under_a_mask = {
        "partial": end > first,
        "begins_late": start > first,
        "begins_at_first": start >= first,
        "ends_late": end > last,
        "below": end < first,
        "above": j > i,
        "not_below": j >= i,
        "unaligned": start > last - t.offset,
        "stopped": _is_hidden(t, i, t.Tc - 1),
        "floored": start + t.block_k > last + 1,
        "floored_rows": start + t.block_k > (i + 1) * t.block_q + t.offset,
    }
    is_wrong = wrong[w.leaves_out] if w.leaves_out in wrong else under_a_mask[w.leaves_out]
    return (is_wrong and (t.causal or w.leaves_out in wrong)) or (w.skips and _is_hidden(t, i, j))


def _is_hidden(t: _Tiles, i: int, j: int) -> bool:
    """Return True if the causal mask hides the whole tile (i, j)."""
    return t.causal and j * t.block_k > t.rows(i)[-1] + t.offset


def _visits(w: Loop, t: _Tiles, i: int, j: int) -> tuple[bool, ...]:
    """Return for each visit of tile (i, j) whether it masks: none, one, or two of the first tile,
    the last, or one that the diagonal cuts, of which the first may not mask."""
    if _left_out(w, t, i, j):
        return ()
    first, last = t.rows(i)[[0, -1]] + t.offset
    is_last = j == t.Tc - 1 or (t.causal and (j + 1) * t.block_k > last)
    is_cut = t.causal and t.cols(j)[-1] > first
    again = {"": False, "first": j == 0, "last": is_last, "cut": is_cut, "unmasked": is_cut}
    return (w.twice != "unmasked", True) if again[w.twice] else (True,)


def _visible(w: Loop, t: _Tiles, rows: Numbers, keys: Numbers) -> Numbers:
    """Return which scores the loop keeps, (rows, keys) bool."""
    i, j = rows[:, None], keys[None, :]
    if w.mask == "none" or (not t.causal and w.mask != "always"):
        return np.ones((len(rows), len(keys)), bool)
    aligned = {"end": t.offset, "start": 0, "clipped": max(t.offset, 0), "reversed": -t.offset}
    shift = aligned[w.aligned] + w.diagonal
    if w.mask in ("causal", "always"):
        return i + shift >= j
    local_i, local_j = i - i[0], j - j[0, 0]
    block_i, block_j = rows[0] // t.block_q, keys[0] // t.block_k
    of_rows, of_keys = block_i * t.block_k + local_i + shift, block_j * t.block_q + local_j
    i = i + shift
    square = len(rows) == len(keys)
    rules = {
        "local": local_i >= local_j,
        "local_rows": local_i >= j,
        "local_keys": i >= local_j,
        "transposed": i <= j,
        "inverted": i < j,
        "transposed_tile": (i >= j).T if square else i >= j,
        "rows_by_keys": of_rows >= j,
        "keys_by_rows": i >= of_keys,
        "swapped": of_rows >= of_keys,
        "numbered": block_i + local_i + shift >= block_j + local_j,
        "numbered_rows": block_i + local_i + shift >= j,
        "numbered_keys": i >= block_j + local_j,
        "equal": (i >= j) | (block_i != block_j),
        "last": (i >= j) | ((block_j + 1) * t.block_k <= rows[-1] + t.offset),
        "first": (i >= j) & (j <= i[0]),
        "beyond": (i >= j) | (keys[-1] <= rows[-1] + t.offset),
    }
    return rules[w.mask]


def _padded(w: Loop, k: Numbers, v: Numbers, block: int, causal: bool) -> tuple[Numbers, Numbers]:
    """Return K and V with as many keys as the loop takes for real."""
    n, rest = len(k), len(k) % block
    if not rest:
        return k, v
    if w.ragged == "counted" or (w.ragged == "hidden" and causal):
        return _to_whole(k, block), _to_whole(v, block)
    every, whole = np.arange(n), np.arange(n - rest + block)
    overlapping = np.append(every[:-rest], every[-block:])
    taken = {
        "edge": np.minimum(whole, n - 1),
        "wrap": whole % n,
        "overlap": overlapping,
        "moved": overlapping,
        "stale": np.append(every, every[-block:-rest]),
        "dropped": every[:-rest],
        "first_dropped": every[rest:],
    }.get(w.ragged, every)
    return k[taken], v[taken]


def _scale(w: Loop, of: str, q: Numbers, k: Numbers, block: tuple[int, int], scale, causal: bool):
    """Return the scale, a number, which may be ``of`` another size than d, or of what the argument
    is."""
    sizes = {"rows": len(q), "keys": len(k), "tile_rows": block[0], "tile": block[1]}
    own = 1 / math.sqrt(sizes[of] if of in sizes else k.shape[1])
    if scale is not None:
        by = {"inverse": 1 / scale, "both": scale * own, "d": own}
        own = by.get(of, scale)
    elif of == "argument":
        own = w.default_factor * own**w.default_power
    is_meant = w.scale_when in ("always", "causal" if causal else "full")
    return own**w.scale_power if is_meant else own


def _finite(x: Numbers, instead: Numbers | float = 0) -> Numbers:
    return np.where(np.isneginf(x), instead, x)


def forward(
    w: Loop, q, k, v, *, causal=False, scale=None, block_q: int, block_k: int,
    report: Report | None = None, only: int | None = None, offset: int | None = None,
) -> tuple[Numbers, Numbers]:  # fmt: skip
    """Compute O (Nq, d) and lse (Nq,) of q (Nq, d), k and v (Nk, d), in their dtype; ``report`` is
    called after each tile, as a learner's. With ``only``, that row block alone; ``offset``: of the
    diagonal, where k is a part of the keys."""
    if w.splits > 1:
        rules: dict[str, Any] = {"causal": causal, "scale": scale, "only": only}
        return _merged(w, q, k, v, block_k, block_q=block_q, block_k=block_k, **rules)
    offset = len(k) - len(q) if offset is None else offset
    scale = _scale(w, w.scale_of, q, k, (block_q, block_k), scale, causal)
    named, own = {"q": q, "k": k, "v": v}, (q, k, v)
    taken = (named[w.q_of], named[w.k_of], named[w.v_of])
    q, k, v = (x if len(x) == len(y) else y for x, y in zip(taken, own, strict=True))
    offset -= len(k) % block_k if w.ragged == "first_dropped" else 0
    n_q, n_k = len(q), len(k)
    k, v = _padded(w, k, v, block_k, causal)
    if w.padded:
        q, k, v = _to_whole(q, block_q), _to_whole(k, block_k), _to_whole(v, block_k)
    t = _Tiles(block_q, block_k, len(q), len(k), offset, causal, w.key_tile)
    q, k, v = (_rounded(w, name, x) for name, x in zip("QKV", (q, k, v), strict=True))
    O, lse = np.zeros_like(q), np.full(len(q), -np.inf, q.dtype)
    m = l = o = np.zeros(0)
    every = range(0 if w.carry else only, only + 1) if only is not None else range(t.Tr)
    for i in every:
        rows = t.rows(i)
        if w.ragged == "rows_dropped" and len(rows) < block_q:
            continue
        begin = np.full(len(rows), 0 if w.maximum == "zero" else -np.inf, q.dtype)
        m = m[: len(rows)] if "m" in w.carry and i else begin
        l = l[: len(rows)] if "l" in w.carry and i else np.full_like(m, w.l_begins)
        o = o[: len(rows)] if "o" in w.carry and i else np.zeros((len(rows), q.shape[1]), q.dtype)
        qi = q[_block_of(w.queries, i, i, block_q, len(q), block_k)]
        factor, older, pending = q.dtype.type(scale), (m, l), np.zeros_like(o)
        for j in range(t.Tc)[::-1] if w.reverse else range(t.Tc):
            kj, vj, c = k[_keys(w.keys, t, i, j)], v[_keys(w.values, t, i, j)], t.cols(j)
            k_t = {"K in S": kj if len(kj) == kj.shape[1] else kj.T}.get(w.swap, kj.T)
            k_t = kj.reshape(k_t.shape) if w.swap == "K reshaped in S" else k_t
            if w.ragged == "moved" and n_k < (j + 1) * block_k:  # as the mask counts them
                seen = np.arange(max(n_k - block_k, 0), n_k)
            else:
                seen = c
            is_real = c < {"queries": t.n_q}.get(w.ragged, n_k if w.padded else t.n_k)
            for masks in _visits(w, t, i, j):
                keep = (_visible(w, t, rows, seen) | (not masks)) & is_real
                S = _rounded(w, "S", _rounded(w, "T", qi @ k_t) * factor)
                factor = factor * q.dtype.type(scale) if w.compounds else factor
                S = S.T if w.swap == "S" and len(qi) == len(kj) else S
                older, late = (m, l), older[0]
                m, l, o, product = _visit(w, S, vj, keep, m, l, o, scale, late)
                o, pending = (o - product + pending, product) if w.pipelines else (o, 0 * product)
            if report and not _left_out(w, t, i, j):
                report(i, j, m=m, l=l, o=o)
        o = o + pending
        logs = _lse(w, older[0] if w.lse == "stale" else m, l, scale)
        stored = rows[: len(rows) - (w.stores == "not_last")]
        lse[stored] = logs[: len(stored)]
        divisor = older[1] if w.divide == "stale" else l
        O[stored] = _divided(w, o, divisor, logs)[: len(stored)]
    if w.stores == "backwards":
        O = np.concatenate([O[t.rows(i)] for i in reversed(range(t.Tr))])
    return O[:n_q], lse[:n_q]


def _to_whole(x: Numbers, size: int) -> Numbers:
    """Return rows with as many zeros behind them as fill the last tile."""
    return np.pad(x, ((0, -len(x) % size), (0, 0)))


def _merged(w: Loop, q, k, v, block: int, **rules) -> tuple[Numbers, Numbers]:
    """Return O and lse of the ranges of keys of a loop that splits them, merged."""
    unit = 1 if w.split_at == "keys" else block
    units, n = -(-len(k) // unit), w.splits
    each, more = divmod(units, n)
    at = np.arange(n + 1)
    ends = np.minimum((each + (more > 0)) * at, units)
    if w.merges == "floor":
        ends = each * at
    elif w.splits_evenly:
        ends = each * at + np.minimum(at, more)
    ranges = [(a * unit, b * unit) for a, b in pairwise(ends.tolist()) if a < b]
    alone = replace(w, splits=1)

    def of_ranges(part: Loop) -> list[Numbers]:
        made = [
            forward(part, q, k[a:b], v[a:b], **rules, offset=len(k) - len(q) - a) for a, b in ranges
        ]
        return [np.array(x) for x in zip(*made, strict=True)]

    O, lse = of_ranges(alone)
    top = _finite(lse.max(0))
    if w.merges in ("swapped", "late"):
        return _merged_one_by_one(O, lse, w.merges == "late")
    m = of_ranges(replace(alone, lse="max"))[1] if "max" in w.merges or w.merges == "l" else lse
    log_l = np.where(np.isneginf(lse), lse, lse - m)
    by = {"max": m, "max_over_lse": m, "l": log_l, "base2": lse / LOG2E}.get(w.merges, lse)
    by = 0 * O[..., 0] if w.merges in ("mean", "sum") else by
    base = _finite(by.max(0))
    weights = np.exp(by - base)
    whole = (np.exp(lse - base) if w.merges == "max_over_lse" else weights).sum(0)
    if w.merges in ("raw", "sum"):
        whole = np.ones_like(whole)
    O = (weights[..., None] * O).sum(0) / np.where(whole, whole, 1)[..., None]
    return O.astype(q.dtype), top + np.log(np.exp(lse - top).sum(0))


def _merged_one_by_one(parts: Numbers, lses: Numbers, is_late: bool) -> tuple[Numbers, Numbers]:
    """Return O and lse of parts that are merged in turn, O − w (O − O_s), with a wrong w: of the
    lse after the merge (late), or that of the other side."""
    O, lse = np.zeros_like(parts[0]), np.full_like(lses[0], -np.inf)
    for part, own in zip(parts, lses, strict=True):
        merged = np.logaddexp(lse, own)
        late, swapped = np.where(np.isneginf(own), own, own - merged), lse - own
        share = 1 / (1 + np.exp(-(late if is_late else swapped)))
        O = O - np.nan_to_num(share)[:, None] * (O - part)
        lse = merged
    return O, lse


def _visit(w: Loop, S, vj, keep, m, l, o, scale: float, older) -> tuple[Numbers, ...]:
    """Return m, l and o after a tile, of those before it, and its P V; ``older``: the m before
    these."""
    if w.mask_at == "scores":
        S = np.where(keep, S, S * w.hidden_adds + S.dtype.type(w.hidden))
    top = np.full_like(m, S.max()) if w.maximum == "whole" else S.max(1)
    new = {"none": np.zeros_like(m), "tile": top}.get(w.maximum, np.maximum(m, top))
    safe = new if w.empty == "nan" else _finite(new)
    of_tile = S.max(1) if w.empty == "nan" else _finite(S.max(1))
    subtracted = {
        "new": safe,
        "old": _finite(m, safe),
        "tile": of_tile,
        "nothing": 0 * of_tile,
        "unscaled": safe / scale,
        "scaled": safe * scale,
    }
    P = _rounded(w, "P", w.base ** (S - subtracted[w.p_by][:, None]))
    if w.swap == "m in P" and S.shape[0] == S.shape[1]:
        P = w.base ** (S - safe[None, :])
    in_l = w.base ** (S - subtracted[w.sum_by or w.p_by][:, None]) if w.sum_by else P
    before, against = (m, of_tile if w.alpha_by == "tile" else safe)
    if w.alpha_by == "late":
        before, against = older, _finite(m)
    began = ~np.isneginf(before) | (not w.guards)
    exponent = np.where(began, before - against, 0)
    is_small = (exponent < 0) & (exponent >= -w.lazy)
    exponent = np.where(is_small, 0, exponent)
    exponent = exponent / scale if w.alpha_of == "unscaled" else exponent
    of_l, of_o = (began * (w.alpha_base**exponent) ** x for x in (w.l_alpha, w.o_alpha))
    l, o = (np.zeros_like(x) if name in w.forget else x for name, x in (("l", l), ("o", o)))
    summed = np.where(keep | (w.mask_at != "weights"), in_l, 0)
    is_square = P.shape[0] == P.shape[1]
    along = 0 if w.sums == "rows" and is_square else 1
    sums = {"mean": summed.mean, "max": summed.max}.get(w.sums, summed.sum)(along)
    if w.divide.startswith("weights"):
        P = P / np.where(sums > 0, sums, 1)[:, None]
        sums = P.sum(1) if w.divide == "weights" else sums
    P = np.where(keep | (w.mask_at == "scores"), P, 0)
    product = _rounded(w, "U", (P.T if w.swap == "P in O" and is_square else P) @ vj)
    old_l, old_o = l, o
    if w.scales == "new":
        sums, product = sums * of_l, product * of_o[:, None]
        of_l, of_o = np.ones_like(of_l), np.ones_like(of_o)
    l = (l + sums) * of_l if "l" in w.after else l * of_l + sums
    l = l + old_l if "l" in w.adds else l
    of_o = of_o * old_l / l if w.divide == "old" else of_o
    if w.divide.startswith("merged"):
        late, swapped = sums / np.where(l, sums + l, 1), 1 - sums / np.where(l, l, 1)
        share = late if w.divide == "merged_late" else swapped
        product, of_o = product * (share / np.where(sums, sums, 1))[:, None], 1 - share
    product = product / l[:, None] if w.divide == "running" else product
    is_column = w.swap == "alpha in O" and len(of_o) == o.shape[1]
    of_o = of_o[None, :] if is_column else of_o[:, None]
    o = (o + product) * of_o if "o" in w.after else o * of_o + product
    o = o + old_o if "o" in w.adds else o
    o = o / l[:, None] if w.divide in ("tile", "both") else o
    l, o = _rounded(w, "l", l), _rounded(w, "o", o)
    maxima = {"tile": S.max(1), "lazy": np.where(is_small, m, new)}
    return maxima.get(w.keeps, new), l, o, product


def _divided(w: Loop, o: Numbers, l: Numbers, lse: Numbers) -> Numbers:
    """Return what is stored of o."""
    if w.divide in ("never", "tile", "weights_alone", "running", "old") or "merged" in w.divide:
        return o
    by = l if w.empty == "nan" else np.where(l > 0, l, 1)
    by = {"multiplied": 1 / l, "lse": lse}.get(w.divide, by)
    o = np.where(l[:, None] > 0, o, 0) if w.empty == "cleared" else o
    return o / (by[None, :] if w.swap == "l in O" and len(by) == o.shape[1] else by[:, None])


def _lse(w: Loop, m: Numbers, l: Numbers, scale: float) -> Numbers:
    """Return what is stored as lse."""
    log = np.log(l)
    if isinstance(w.lse, list):
        return w.lse[0] * m + w.lse[1] * log
    if w.lse in ("fp16", "bf16"):
        return round_to(m + log, w.lse).astype(m.dtype)
    made = {
        "guarded": m + np.log(np.where(l == 0, 1, l)),
        "no_log": m + l,
        "one_more": m + np.log1p(l),
        "max": m,
        "sum": l,
        "scaled": m * scale + log,
        "unscaled": m / scale + log,
    }
    return made.get(w.lse, m + log)


def _p(w: Loop, S: Numbers, lse: Numbers, m: Numbers) -> Numbers:
    """Return P of the backward pass: exp of S − lse, or of scores alone, divided by lse, or by
    exp(lse) (quotient), or a softmax of the tile; or another number stands for lse."""
    if w.p_of == "softmax":
        P = np.exp(S - _finite(S.max(1, keepdims=True)))
        return P / np.maximum(P.sum(1, keepdims=True), 1e-30)
    lse = lse[None, :] if w.swap == "lse in P" and len(lse) == S.shape[1] else lse[:, None]
    l, m = np.exp(lse - m[:, None]), m[:, None]
    if w.p_of == "negated":
        return np.where(np.isneginf(S), 0, np.exp(lse - S))
    if w.p_of == "over_l":
        return np.exp(S - lse) / l
    quotients = {"divided": lse, "quotient": np.exp(lse), "by_l": l}
    if w.p_of in quotients:
        return np.exp(S) / quotients[w.p_of]
    return w.lse_base ** (S - w.lse_factor * {"max": m, "l": l}.get(w.p_of, lse))


def backward(
    w: Loop, q, k, v, o, lse, do, rows_D=None, *, causal=False, scale=None, block_q: int,
    block_k: int, only: int | None = None,
) -> tuple[Numbers, Numbers, Numbers]:  # fmt: skip
    """Compute dQ, dK and dV, (N, d) each, of what a forward pass saved, in the inputs' dtype.
    ``rows_D``: D (Nq,), if not of ``o`` and ``do``; with ``only``, what that key block alone adds.
    """
    plain = _scale(Loop(), w.gradient_scale_of, q, k, (block_q, block_k), scale, causal)
    scale = _scale(w, w.scale_of, q, k, (block_q, block_k), scale, causal)
    t = _Tiles(block_q, block_k, len(q), len(k), len(k) - len(q), causal, w.key_tile)
    gradients = {"dQ": np.zeros_like(q), "dK": np.zeros_like(k), "dV": np.zeros_like(v)}
    sums = {name: np.zeros_like(x) for name, x in gradients.items() if name in w.cumulates}
    do = np.ones_like(do) if w.upstream == "ones" else do
    rows_D = (do * o).sum(1) if rows_D is None else rows_D
    is_visible = _visible(Loop(), t, np.arange(len(q)), np.arange(len(k)))
    m = np.where(is_visible, q @ k.T * scale, -np.inf).max(1)
    for j in range(t.Tc) if only is None else (only,):
        c = t.cols(j)
        if w.ragged == "dropped" and len(c) < block_k:
            continue
        for i in range(t.Tr):
            r = t.rows(i)
            if w.ragged == "rows_dropped" and len(r) < block_q:
                continue
            kj, vj = k[_keys(w.keys, t, i, j)], v[_keys(w.values, t, i, j)]
            qi = q[_block_of(w.queries, i, j, block_q, len(q), block_k)]
            can_swap = len(r) == len(c) and c[-1] < len(q)
            read = {x: c if x in w.at_keys and can_swap else r for x in ("lse", "D", "dO")}
            for masks in _visits(w, t, i, j):
                keep, S = _visible(w, t, r, c) | (not masks), qi @ kj.T * scale
                visible = np.where(keep | (w.mask_at != "scores"), S, w.hidden)
                P = _p(w, visible, lse[read["lse"]], m[read["lse"]])
                P = P * keep if w.mask_at == "product" else P
                own = {"dO": do[read["dO"]], "O": o[r], "Q": qi, "K": kj, "V": vj}
                left, right = (own[x] for x in w.dP_of.split())
                is_swapped = w.swap == "V in dP" and len(right) == right.shape[1]
                dP = left @ (right if is_swapped else right.T)
                dP = dP.T if w.swap == "dP" and len(r) == len(c) else dP
                at = read["D"]
                D, l = rows_D[at], np.exp(lse - m)[at]
                o_at, do_at, v_at = o[at], do[at], v[at % len(v)]
                D = {
                    "row": D,
                    "none": 0 * D,
                    "added": -D,
                    "scaled": D * plain,
                    "divided": D / plain,
                    "unnormalized": D * l,
                    "by_l": D / l,
                    "total": D.sum() + 0 * D,
                    "tile": (P * dP).sum(1),
                    "of_p": P.sum(1),
                    "of_dp": dP.sum(1),
                    "of_do": do_at.sum(1),
                    "of_o": (o_at * o_at).sum(1),
                    "of_o_alone": o_at.sum(1),
                    "mean": (do_at * o_at).mean(1),
                    "of_v": (do_at * v_at).sum(1) if at[-1] < len(v) else D,
                }[w.D]
                D = D[None, :] if w.D == "row" and w.swap == "D in dS" and can_swap else D[:, None]
                dS = {
                    "weighed": P * (dP - D),
                    "unweighed": dP - D,
                    "outside": P * dP - D,
                    "reversed": P * (D - dP),
                    "squared": P * (P * dP - D),
                    "sigmoid": P * (1 - P) * dP,
                    "mixed": (P - D) * dP,
                }[w.dS]
                dS = np.where(keep | (w.mask_at in ("scores", "product")), dS, 0)
                E = np.where(keep, np.exp(S - m[r][:, None]), 0)
                own |= {"S": S, "P": P, "dP": dP, "dS": dS, "E": E}
                for name, factors in (("dV", w.dV_of), ("dK", w.dK_of), ("dQ", w.dQ_of)):
                    a, b = factors.split()
                    swapped = w.swap == f"{a} in {name}" and len(r) == len(c)
                    first = own[a].T if (name == "dQ") == swapped else own[a]
                    second = own[b] if len(own[b]) == first.shape[1] else own[RIGHT[name]]
                    at = r if (name == "dQ") != (name in w.at_keys and can_swap) else c
                    before = 0 if name in w.overwrites else gradients[name][at]
                    factor = plain if name in w.rescales else 1
                    own_part = first @ second
                    if name in w.cumulates:
                        own_part = sums[name][at] = sums[name][at] + own_part
                    gradients[name][at] = (own_part + before) * factor
    for name, x in gradients.items():
        block = block_q if name == "dQ" else block_k
        for start in range(block, len(x), block) if name in w.carry else ():
            rows = np.arange(start, min(start + block, len(x)))
            x[rows] += x[rows - block]  # as a sum that never begins anew
    gradients["dQ"] *= plain**w.dQ_scale * w.dQ_factor
    gradients["dK"] *= plain**w.dK_scale * w.dK_factor
    gradients["dV"] *= plain**w.dV_scale
    made = []
    for own, names in zip(gradients.values(), w.returns.split(), strict=True):
        parts = [gradients[x] for x in names.split("+") if x != "0"]
        fits = all(x.shape == own.shape for x in parts)  # in a function's own shapes alone
        made.append(sum(parts, np.zeros_like(own)) if fits else own)
    dQ, dK, dV = made
    return dQ, dK, dV
