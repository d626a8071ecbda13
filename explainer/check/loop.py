"""The one loop that knows how to be wrong: FlashAttention-2, forward and backward, each place where
learners err a field of ``Loop``. Without a change it is right. Two-dimensional arrays, one head."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

LOG2E = math.log2(math.e)
RIGHT = {"dV": "dO", "dK": "Q", "dQ": "K"}  # the second factor of each gradient


@dataclass(frozen=True)
class Loop:
    """Say how a loop computes. The defaults are right, as are all values of the first group.

    ``skips``: tiles that the mask hides whole are not visited; ``reverse``: keys from the last;
    ``empty``: rows without keys are 0, or nan.
    ``scale_of``: the scale is the argument, or taken of d, of the keys, or of a tile's keys.
    ``mask``: none, causal, always (although not asked), local (in the tile's own coordinates, or
    local_rows, local_keys), transposed (or transposed_tile, within the tile), inverted;
    ``hidden``: what replaces a masked score; ``mask_at``: the scores, the weights P, or P after its
    sum, in the backward pass dS. ``leaves_out``: tiles by ``_left_out``.
    ``heads``: K and V are of the head's own, of the first head, of the first sequence
    (batch), or one for all;
    ``q_of``, ``k_of``, ``v_of``: the matrix that is taken for Q, K and V; ``queries``, ``keys``,
    ``values``: of which block: own, previous, next, first, row.
    ``ragged``: keys beyond the last are masked, counted (as zeros), or the last block is dropped,
    or that of the rows.
    ``maximum``: running, tile, whole (over all rows of the tile), zero (running from 0), none (0);
    ``keeps``: the m that the next tile is given; ``p_by``, ``alpha_by``: what P and α subtract;
    ``alpha_base``: the base of α;
    ``guards``: α is 0 where there was no maximum; ``after``: which of l and o are rescaled after
    the tile is added; ``forget``: which of them begin anew in each tile.
    ``sums``: l sums P along keys, or rows. ``divide``: O by l at the end, never, every tile, or
    both; multiplied; or P by its sum within the tile: weights, then never or by all l.
    ``p_of``: P is exp of S − lse, or of scores alone, divided by lse, or by exp(lse) (quotient), or
    a softmax of the tile.
    ``D``: see ``_D``; ``dS``: P (dP − D), outside: P dP − D, reversed: P (D − dP), unweighed.
    ``dP_of``, ``dV_of``, ``dK_of``, ``dQ_of``: the two factors of a product. ``swap``: what is not
    transposed in which. ``overwrites``: gradients that are assigned where tiles add up;
    ``returns``: their order.
    """

    skips: bool = True
    reverse: bool = False

    scale_power: float = 1
    scale_of: str = "argument"
    mask: str = "causal"
    diagonal: int = 0
    end_aligned: bool = True
    hidden: float = -math.inf
    mask_at: str = "scores"
    leaves_out: str = ""
    heads: str = "own"
    q_of: str = "q"
    k_of: str = "k"
    v_of: str = "v"
    queries: str = "own"
    keys: str = "own"
    values: str = "own"
    ragged: str = "masked"
    maximum: str = "running"
    keeps: str = "new"
    p_by: str = "new"
    alpha_by: str = "new"
    base: float = math.e
    alpha_base: float = math.e
    l_alpha: float = 1
    o_alpha: float = 1
    guards: bool = True
    after: str = ""
    forget: str = ""
    sums: str = "keys"
    divide: str = "end"
    lse: str = "natural"
    empty: str = "zero"

    gradient_scale_of: str = "argument"
    dQ_scale: float = 1
    dK_scale: float = 1
    p_of: str = "lse"
    lse_base: float = math.e
    dP_of: str = "dO V"
    D: str = "row"
    dS: str = "weighed"
    dV_of: str = "P dO"
    dK_of: str = "dS Q"
    dQ_of: str = "dS K"
    swap: str = ""
    overwrites: str = ""
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

    def rows(self, i: int) -> Numbers:
        return np.arange(i * self.block_q, min((i + 1) * self.block_q, self.n_q))

    def cols(self, j: int) -> Numbers:
        return np.arange(j * self.block_k, min((j + 1) * self.block_k, self.n_k))

    @property
    def Tr(self) -> int:
        return -(-self.n_q // self.block_q)

    @property
    def Tc(self) -> int:
        return -(-self.n_k // self.block_k)


def _block_of(name: str, own: int, row: int, size: int, n: int) -> Numbers:
    """Return the rows of the block that is taken for block ``own``, in row block ``row``."""
    last = -(-n // size) - 1
    at = {
        **{"own": own, "first": 0, "row": row},
        **{"previous": max(own - 1, 0), "next": min(own + 1, last)},
    }
    return (at[name] * size + np.arange(min(size, n - own * size))) % n


def _left_out(w: Loop, t: _Tiles, i: int, j: int) -> bool:
    """Return True if the loop does not visit tile (i, j)."""
    if w.leaves_out in ("last", "first"):
        return j == (t.Tc - 1 if w.leaves_out == "last" else 0)
    if not t.causal and w.leaves_out != "above_always":
        return False
    first, last = t.rows(i)[[0, -1]] + t.offset
    start, end = j * t.block_k, t.cols(j)[-1]
    wrong = {
        **{
            "": False,
            "partial": end > first,
            "begins_late": start > first,
            "ends_late": end > last,
        },
        **{"above": j > i, "not_below": j >= i, "unaligned": start > last - t.offset},
        "above_always": start > last,
    }
    return wrong[w.leaves_out] or (w.skips and start > last)


def _visible(w: Loop, t: _Tiles, rows: Numbers, keys: Numbers) -> Numbers:
    """Return which scores the loop keeps, (rows, keys) bool."""
    i, j = rows[:, None], keys[None, :]
    if w.mask == "none" or (not t.causal and w.mask != "always"):
        return np.ones((len(rows), len(keys)), bool)
    local_i, local_j = i - i[0], j - j[0, 0]
    i = i + (t.offset if w.end_aligned else 0) + w.diagonal
    square = len(rows) == len(keys)
    kept = {
        **{"local": local_i >= local_j, "local_rows": local_i >= j, "local_keys": i >= local_j},
        **{"transposed": i <= j, "inverted": i < j, "causal": i >= j, "always": i >= j},
        "transposed_tile": (i >= j).T if square else i >= j,
    }
    return kept[w.mask]


def _padded(w: Loop, k: Numbers, v: Numbers, block: int) -> tuple[Numbers, Numbers]:
    """Return K and V with as many keys as the loop takes for real."""
    n = len(k)
    if w.ragged == "counted":
        return tuple(np.pad(x, ((0, -n % block), (0, 0))) for x in (k, v))  # type: ignore
    return (k[: n - n % block], v[: n - n % block]) if w.ragged == "dropped" else (k, v)


def _scale(w: Loop, of: str, k: Numbers, block: int, scale: float | None) -> float:
    """Return the scale, which may be ``of`` another size than d."""
    sizes = {"d": k.shape[1], "keys": len(k), "tile": block}
    own = 1 / math.sqrt(sizes.get(of, k.shape[1]))
    return (scale if scale is not None and of == "argument" else own) ** w.scale_power


def _operands(w: Loop, q: Numbers, k: Numbers, v: Numbers) -> tuple[Numbers, Numbers, Numbers]:
    """Return what is taken for Q, K and V; a matrix of another length fits nowhere."""
    named, own = {"q": q, "k": k, "v": v}, (q, k, v)
    taken = (named[w.q_of], named[w.k_of], named[w.v_of])
    q, k, v = (x if len(x) == len(y) else y for x, y in zip(taken, own, strict=True))
    return q, k, v


def _maximum(w: Loop, m: Numbers, S: Numbers) -> Numbers:
    """Return the m that follows a tile."""
    if w.maximum == "none":
        return np.zeros_like(m)
    top = np.full_like(m, S.max()) if w.maximum == "whole" else S.max(1)
    return top if w.maximum == "tile" else np.maximum(m, top)


def _finite(x: Numbers, instead: Numbers | float = 0) -> Numbers:
    return np.where(np.isneginf(x), instead, x)


def forward(
    w: Loop, q, k, v, *, causal=False, scale=None, block_q: int, block_k: int,
    report: Report | None = None, only: int | None = None,
) -> tuple[Numbers, Numbers]:  # fmt: skip
    """Compute O (Nq, d) and lse (Nq,) of q (Nq, d), k and v (Nk, d), in their dtype; ``report`` is
    called after each tile, as a learner's. With ``only``, that row block alone."""
    scale, offset = _scale(w, w.scale_of, k, block_k, scale), len(k) - len(q)
    q, k, v = _operands(w, q, k, v)
    k, v = _padded(w, k, v, block_k)
    t = _Tiles(block_q, block_k, len(q), len(k), offset, causal)
    O, lse = np.zeros_like(q), np.full(len(q), -np.inf, q.dtype)
    for i in range(t.Tr) if only is None else (only,):
        rows = t.rows(i)
        if w.ragged == "rows_dropped" and len(rows) < block_q:
            continue
        m = np.full(len(rows), 0 if w.maximum == "zero" else -np.inf, q.dtype)
        l, o = np.zeros_like(m), np.zeros((len(rows), q.shape[1]), q.dtype)
        qi = q[_block_of(w.queries, i, i, block_q, len(q))]
        for j in range(t.Tc)[::-1] if w.reverse else range(t.Tc):
            if _left_out(w, t, i, j):
                continue
            S = qi @ k[_block_of(w.keys, j, i, block_k, len(k))].T * q.dtype.type(scale)
            vj = v[_block_of(w.values, j, i, block_k, len(v))]
            m, l, o = _visit(w, S, vj, _visible(w, t, rows, t.cols(j)), m, l, o)
            if report:
                report(i, j, m=m, l=l, o=o)
        O[rows] = _divided(w, o, l)
        lse[rows] = _lse(w, m, l, scale)
    return O, lse


def _visit(w: Loop, S, vj, keep, m, l, o) -> tuple[Numbers, Numbers, Numbers]:
    """Return m, l and o after a tile, of those before it."""
    if w.mask_at == "scores":
        S = np.where(keep, S, S.dtype.type(w.hidden))
    new = _maximum(w, m, S)
    safe = _finite(new) if w.empty == "zero" else new
    of_tile = _finite(S.max(1)) if w.empty == "zero" else S.max(1)
    subtracted = {"new": safe, "old": _finite(m, safe), "tile": of_tile, "nothing": 0 * of_tile}
    P = w.base ** (S - subtracted[w.p_by][:, None])
    began = ~np.isneginf(m) | (not w.guards)
    exponent = np.where(began, m - {"new": safe, "tile": of_tile}[w.alpha_by], 0)
    of_l, of_o = (began * (w.alpha_base**exponent) ** x for x in (w.l_alpha, w.o_alpha))
    l, o = (np.zeros_like(x) if name in w.forget else x for name, x in (("l", l), ("o", o)))
    summed = np.where(keep | (w.mask_at != "weights"), P, 0)
    along = 0 if w.sums == "rows" and P.shape[0] == P.shape[1] else 1
    sums = summed.sum(along)
    if w.divide.startswith("weights"):
        P = P / np.where(sums > 0, sums, 1)[:, None]
        sums = P.sum(1) if w.divide == "weights" else sums
    product = np.where(keep | (w.mask_at == "scores"), P, 0) @ vj
    l = (l + sums) * of_l if "l" in w.after else l * of_l + sums
    o = (o + product) * of_o[:, None] if "o" in w.after else o * of_o[:, None] + product
    o = o / l[:, None] if w.divide in ("tile", "both") else o
    return S.max(1) if w.keeps == "tile" else new, l, o


def _divided(w: Loop, o: Numbers, l: Numbers) -> Numbers:
    """Return what is stored of o."""
    if w.divide == "multiplied":
        return o * l[:, None]
    if w.divide in ("never", "tile", "weights_alone"):
        return o
    return o / (np.where(l > 0, l, 1) if w.empty == "zero" else l)[:, None]


def _lse(w: Loop, m: Numbers, l: Numbers, scale: float) -> Numbers:
    """Return what is stored as lse."""
    log = np.log(l)
    made = {
        **{"natural": m + log, "guarded": m + np.log(np.where(l == 0, 1, l))},
        **{"base2": (m + log) * LOG2E, "log2": m + log * LOG2E},
        **{"no_max": log, "no_log": m + l, "minus": m - log, "max": m, "sum": l},
        **{"scaled": m * scale + log, "unscaled": m / scale + log},
    }
    return made[w.lse]


def _p(w: Loop, S: Numbers, lse: Numbers) -> Numbers:
    """Return P of the backward pass."""
    if w.p_of == "softmax":
        P = np.exp(S - _finite(S.max(1, keepdims=True)))
        return P / np.maximum(P.sum(1, keepdims=True), 1e-30)
    if w.p_of in ("divided", "quotient"):
        return np.exp(S) / (lse if w.p_of == "divided" else np.exp(lse))[:, None]
    return w.lse_base ** (S - (lse[:, None] if w.p_of == "lse" else 0))


def _D(w: Loop, P: Numbers, dP: Numbers, o: Numbers, do: Numbers, v: Numbers, scale: float):
    """Return D of a row block."""
    D = (do * o).sum(1)
    if w.D == "of_v":
        return (do * v).sum(1) if v.shape == do.shape else D
    return {
        **{"row": D, "none": 0 * D, "added": -D, "tile": (P * dP).sum(1), "scaled": D * scale},
        **{"divided": D / scale, "of_do": do.sum(1), "of_o": (o * o).sum(1), "of_p": P.sum(1)},
        **{"of_dp": dP.sum(1), "mean": (do * o).mean(1)},
    }[w.D]


def backward(
    w: Loop, q, k, v, o, lse, do, *, causal=False, scale=None, block_q: int, block_k: int
) -> tuple[Numbers, Numbers, Numbers]:  # fmt: skip
    """Compute dQ, dK and dV, (N, d) each, of what a forward pass saved, in the inputs' dtype."""
    plain = _scale(Loop(), w.gradient_scale_of, k, block_k, scale)
    scale = _scale(w, w.scale_of, k, block_k, scale)
    t = _Tiles(block_q, block_k, len(q), len(k), len(k) - len(q), causal)
    gradients = {"dQ": np.zeros_like(q), "dK": np.zeros_like(k), "dV": np.zeros_like(v)}
    for j in range(t.Tc):
        c = t.cols(j)
        if w.ragged == "dropped" and len(c) < block_k:
            continue
        for i in range(t.Tr):
            r = t.rows(i)
            if _left_out(w, t, i, j) or (w.ragged == "rows_dropped" and len(r) < block_q):
                continue
            kj = k[_block_of(w.keys, j, i, block_k, len(k))]
            vj = v[_block_of(w.values, j, i, block_k, len(v))]
            qi = q[_block_of(w.queries, i, j, block_q, len(q))]
            keep, S = _visible(w, t, r, c), qi @ kj.T * scale
            P = _p(w, np.where(keep | (w.mask_at != "scores"), S, w.hidden), lse[r])
            own = {"dO": do[r], "O": o[r], "Q": qi, "K": kj, "V": vj}
            left, right = (own[x] for x in w.dP_of.split())
            dP = left @ right.T
            D = _D(w, P, dP, o[r], do[r], v[r[r < len(v)]], plain)[:, None]
            weights = np.ones_like(P) if w.dS == "unweighed" else P
            dS = {"outside": P * dP - D, "reversed": P * (D - dP)}.get(w.dS, weights * (dP - D))
            own |= {"P": P, "dP": dP, "dS": np.where(keep | (w.mask_at == "scores"), dS, 0)}
            for name, factors in (("dV", w.dV_of), ("dK", w.dK_of), ("dQ", w.dQ_of)):
                a, b = factors.split()
                swapped = w.swap == f"{a} in {name}" and len(r) == len(c)
                first = own[a].T if (name == "dQ") == swapped else own[a]
                second = own[b] if len(own[b]) == first.shape[1] else own[RIGHT[name]]
                at = r if name == "dQ" else c
                before = 0 if name in w.overwrites else gradients[name][at]
                gradients[name][at] = first @ second + before
    gradients["dQ"] *= plain**w.dQ_scale
    gradients["dK"] *= plain**w.dK_scale
    made = [gradients[name] for name in w.returns.split()]
    dQ, dK, dV = made if len(q) == len(k) else gradients.values()
    return dQ, dK, dV
