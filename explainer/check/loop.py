"""The one loop that knows how to be wrong: FlashAttention-2, forward and backward, each place where
learners err a field of ``Loop``. Without a change it is right. Two-dimensional arrays, one head."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

LOG2E = math.log2(math.e)


@dataclass(frozen=True)
class Loop:
    """Say how a loop computes. The defaults are right, as are all values of the first group.

    ``skips``: tiles that the mask hides whole are not visited; ``reverse``: keys from the last.
    ``mask``: none, causal, local (in the tile's own coordinates) or transposed; ``hidden``: what
    replaces a masked score; ``mask_at``: the scores, the weights P, or P after its sum.
    ``maximum``: running, tile, zero (running from 0), none (0). ``alpha_of_m``: the base of α.
    ``keys``, ``values``: of which block a tile takes K and V: own, previous, next, first, row.
    ``divide``: at the end, never, every tile, or both. ``ragged``: keys beyond the last are masked,
    counted (as zeros), or the last block is dropped. ``forget``: which of l and o begin anew in
    each tile. ``D``: row, none, added, tile. ``swap``: P or dS that is not transposed.
    """

    skips: bool = True
    reverse: bool = False

    scale_power: float = 1
    own_scale: bool = False
    mask: str = "causal"
    diagonal: int = 0
    end_aligned: bool = True
    hidden: float = -math.inf
    mask_at: str = "scores"
    skip_partial: bool = False
    keys: str = "own"
    values: str = "own"
    ragged: str = "masked"
    maximum: str = "running"
    base: float = math.e
    alpha_base: float = math.e
    l_alpha: float = 1
    o_alpha: float = 1
    forget: str = ""
    divide: str = "end"
    lse: str = "natural"
    empty: str = "zero"

    D: str = "row"
    dq_scale: float = 1
    dk_scale: float = 1
    normalized: bool = True
    lse_base: float = math.e
    swap: str = ""
    weighs: bool = True
    dp_from: str = "v"
    overwrites: str = ""


Report = Callable[..., None]


def _starts(n: int, block: int) -> range:
    return range(0, n, block)


def _block_of(name: str, j: int, i: int, size: int, n: int) -> np.ndarray:
    """Return the keys of the block that is taken for block j in row block i."""
    last = -(-n // size) - 1
    at = {"own": j, "previous": max(j - 1, 0), "next": min(j + 1, last), "first": 0, "row": i}
    return (at[name] * size + np.arange(min(size, n - j * size))) % n


def _visible(w: Loop, causal: bool, offset: int, rows: np.ndarray, keys: np.ndarray):
    """Return which scores the loop keeps, (rows, keys) bool."""
    i, j = rows[:, None], keys[None, :]
    if not causal or w.mask == "none":
        return np.ones((len(rows), len(keys)), bool)
    if w.mask == "local":
        return (i - i[0]) >= (j - j[0, 0])
    i = i + (offset if w.end_aligned else 0) + w.diagonal
    return i <= j if w.mask == "transposed" else i >= j


def _padded(w: Loop, k: np.ndarray, v: np.ndarray, block: int) -> tuple[np.ndarray, np.ndarray]:
    """Return K and V with as many keys as the loop takes for real."""
    n = len(k)
    if w.ragged == "counted":
        return tuple(np.pad(x, ((0, -n % block), (0, 0))) for x in (k, v))  # type: ignore
    return (k[: n - n % block], v[: n - n % block]) if w.ragged == "dropped" else (k, v)


def _scale(w: Loop, d: int, scale: float | None) -> float:
    own = 1 / math.sqrt(d)
    return (own if scale is None or w.own_scale else scale) ** w.scale_power


def forward(
    w: Loop, q, k, v, *, causal=False, scale=None, block_q: int, block_k: int,
    report: Report | None = None,
) -> tuple[np.ndarray, np.ndarray]:  # fmt: skip
    """Compute O (Nq, d) and lse (Nq,) of q (Nq, d), k and v (Nk, d), in their dtype; ``report`` is
    called after each tile, as a learner's."""
    offset, scale = len(k) - len(q), _scale(w, q.shape[1], scale)
    k, v = _padded(w, k, v, block_k)
    O, lse = np.zeros_like(q), np.full(len(q), -np.inf, q.dtype)
    for i, r0 in enumerate(_starts(len(q), block_q)):
        rows = np.arange(r0, min(r0 + block_q, len(q)))
        m = np.full(len(rows), 0 if w.maximum == "zero" else -np.inf, q.dtype)
        l, o = np.zeros_like(m), np.zeros((len(rows), q.shape[1]), q.dtype)
        blocks = list(enumerate(_starts(len(k), block_k)))
        for j, c0 in blocks[::-1] if w.reverse else blocks:
            cols = np.arange(c0, min(c0 + block_k, len(k)))
            if causal and w.skips and c0 > rows[-1] + offset:
                continue
            if causal and w.skip_partial and cols[-1] > rows[0] + offset:
                continue
            keep = _visible(w, causal, offset, rows, cols)
            S = q[rows] @ k[_block_of(w.keys, j, i, block_k, len(k))].T * q.dtype.type(scale)
            if w.mask_at == "scores":
                S = np.where(keep, S, q.dtype.type(w.hidden))
            m_new = {
                "running": np.maximum(m, S.max(1)),
                "tile": S.max(1),
                "zero": np.maximum(m, S.max(1)),
                "none": np.zeros_like(m),
            }[w.maximum]
            safe = np.where(np.isneginf(m_new), 0, m_new) if w.empty == "zero" else m_new
            P = w.base ** (S - safe[:, None])
            alpha = w.alpha_base ** np.where(np.isneginf(m), 0, m - safe)
            began = ~np.isneginf(m)
            of_l, of_o = (began * alpha**x for x in (w.l_alpha, w.o_alpha))
            if "l" in w.forget:
                l = np.zeros_like(l)
            if "o" in w.forget:
                o = np.zeros_like(o)
            l = l * of_l + np.where(keep | (w.mask_at != "weights"), P, 0).sum(1)
            P = np.where(keep | (w.mask_at == "scores"), P, 0)
            o = o * of_o[:, None] + P @ v[_block_of(w.values, j, i, block_k, len(v))]
            o = o / l[:, None] if w.divide in ("tile", "both") else o
            m = m_new
            if report:
                report(i, j, m=m, l=l, o=o)
        if w.divide in ("end", "both"):
            whole = np.where(l > 0, l, 1) if w.empty == "zero" else l
            o = o / whole[:, None]
        O[rows] = o
        lse[rows] = {
            "natural": m + np.log(l),
            "base2": (m + np.log(l)) * LOG2E,
            "no_max": np.log(l),
            "no_log": m + l,
            "max": m,
        }[w.lse]
    return O, lse


def backward(
    w: Loop, q, k, v, o, lse, do, *, causal=False, scale=None, block_q: int, block_k: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:  # fmt: skip
    """Compute dQ, dK and dV, (N, d) each, of what a forward pass saved, in the inputs' dtype."""
    offset, plain = len(k) - len(q), _scale(Loop(), q.shape[1], scale)
    scale = _scale(w, q.shape[1], scale)
    dQ, dK, dV = (np.zeros_like(x) for x in (q, k, v))
    for j, c0 in enumerate(_starts(len(k), block_k)):
        c = np.arange(c0, min(c0 + block_k, len(k)))
        for i, r0 in enumerate(_starts(len(q), block_q)):
            r = np.arange(r0, min(r0 + block_q, len(q)))
            if causal and w.skips and c0 > r[-1] + offset:
                continue
            if causal and w.skip_partial and c[-1] > r[0] + offset:
                continue
            kj = k[_block_of(w.keys, j, i, block_k, len(k))]
            vj = v[_block_of(w.values, j, i, block_k, len(v))]
            S = np.where(_visible(w, causal, offset, r, c), q[r] @ kj.T * scale, w.hidden)
            P = w.lse_base ** (S - (lse[r, None] if w.normalized else 0))
            dP = (o if w.dp_from == "o" else do)[r] @ vj.T
            D = (do[r] * o[r]).sum(1)
            D = {"row": D, "none": 0 * D, "added": -D, "tile": (P * dP).sum(1)}[w.D]
            dS = (P if w.weighs else 1) * (dP - D[:, None])
            swapped = {x: w.swap == x and len(r) == len(c) for x in ("P", "dS")}
            dv = (P if swapped["P"] else P.T) @ do[r]
            dk = (dS if swapped["dS"] else dS.T) @ q[r]
            dQ[r] = dS @ kj + (0 if w.overwrites == "dQ" else dQ[r])
            dK[c] = dk + (0 if w.overwrites == "dKdV" else dK[c])
            dV[c] = dv + (0 if w.overwrites == "dKdV" else dV[c])
    return dQ * plain**w.dq_scale, dK * plain**w.dk_scale, dV
