"""Rungs 11 and 12: what changed from FA-1 to FA-3, and P computed again for the backward pass."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from explainer.algorithms import tiling
from explainer.algorithms.algorithm import CONVENTIONS, WHERE
from explainer.algorithms.traffic import both, summed
from explainer.base.amounts import amount
from explainer.base.cards import CARDS
from explainer.base.facts import fact
from explainer.base.formats import ITEMSIZE
from explainer.learn.blocks import Block, Widget, bars, matrix, table, text
from explainer.learn.content import rung
from explainer.learn.controls import pick, slider
from explainer.memory.capacity import kept
from explainer.memory.workload import Workload
from explainer.parallel.launch import programs
from explainer.parallel.warps import warps
from explainer.problem import Problem
from explainer.trace import Trace, trace

Values = Mapping[str, float | str]
NS = (256, 512, 1024, 2048, 4096, 8192, 16384)
SIDES = (32, 64, 128)
WARPS = 4
CARD = "h100"
SOURCES = (
    "FA-1: arXiv 2205.14135, Algorithm 1. FA-2: 2307.08691, Algorithm 1. FA-3: 2407.08608. Speeds "
    "are the papers' own."
)


# ---- rung 11: three versions


def divisions(w: Workload, order: str) -> int:
    """How many divisions by l one head makes: a number of O is divided whenever it is written."""
    return summed(w.problem(order))["O"][1] // w.itemsize


@lru_cache(maxsize=64)
def exchanged(split: str, block_q: int, block_k: int, d: int) -> tuple[int, int]:
    """(bytes that four warps pass through shared memory in one whole tile, barriers); ``split`` "k"
    as in FA-1, "q" as in FA-2. The bytes depend on the shape only."""
    problem = Problem(n=max(block_q, block_k), d=d, block_q=block_q, block_k=block_k,
                      causal=False, dtype="fp16", inputs="random")  # fmt: skip
    found = warps(problem, 0, 0, split, WARPS)
    return found.exchanged_bytes, found.barriers


def launched(w: Workload) -> dict[str, int]:
    """Programs of each version's launch; FA-3's stay and take one row block after the other."""
    counts = {order: len(programs(w, order).head) for order in ("fa1", "fa2")}
    return counts | {"fa3": min(counts["fa2"], CARDS[CARD].sms)}


def _versions(v: Values) -> list[Block]:
    w = Workload(
        card=CARD, n=int(v["n"]), d=int(v["d"]), block_q=int(v["br"]), block_k=int(v["bc"]),
        heads=int(v["heads"]), causal=v["mask"] == "causal",
    )  # fmt: skip
    made, statistics = launched(w), {order: kept(w, order) for order in ("fa1", "fa2")}
    k, q = (exchanged(s, w.block_q, w.block_k, w.d) for s in "kq")
    one, two = (divisions(w, order) for order in ("fa1", "fa2"))
    rows = (
        ("loops", "keys outside, rows inside", "rows outside, keys inside", "as FA-2"),
        ("where O lives", "HBM: read and written at every visit", "registers, until its row block "
         "is done", "as FA-2"),
        ("divisions by ℓ, a head", f"{one:,}", f"{two:,}", f"{two:,}"),
        ("programs", f"{made['fa1']:,}", f"{made['fa2']:,}", f"{made['fa3']:,}, persistent"),
        ("kept for backward", f"m and ℓ, {amount(statistics['fa1'])}",
         f"lse, {amount(statistics['fa2'])}", "as FA-2"),
        ("warps of a tile", "split the keys", "split the queries", "producer warps load, 2 to 3 "
         "warpgroups of consumers split the queries"),
        (f"exchanged by {WARPS} warps, a tile", f"{amount(k[0])}, {k[1]} barriers",
         f"{amount(q[0])}, {q[1]} barrier", "no partial sums; barriers hand over buffers"),
        ("speed in the papers", f"{fact('fa1.a100')} of A100's peak",
         f"{fact('fa2.a100')} of A100's, {fact('fa2.h100')} of H100's",
         f"{fact('fa3.h100')} of H100's, bf16 ({fact('fa3.preprint')} in the preprint, fp16)"),
    )  # fmt: skip
    heads = w.batch * w.heads
    names = {"standard": "standard", "fa1": "FA-1", "fa2": "FA-2 and FA-3"}
    moved = {
        convention: [(name, heads * both(summed(w.problem(order), convention)))
                     for order, name in names.items()]
        for convention in CONVENTIONS
    }  # fmt: skip
    return [
        table(f"N = {w.n:,}, d = {w.d}, Br = {w.block_q}, Bc = {w.block_k}, {w.heads} heads, fp16",
              ("what", "FA-1", "FA-2", "FA-3"), rows),
        *(bars(f"Bytes {WHERE[convention]}, all heads",
               [(name, float(b), amount(b)) for name, b in counted], colour="o")
          for convention, counted in moved.items()),
        text(f"The {CARDS[CARD].name} has {CARDS[CARD].sms} SMs: FA-1's {made['fa1']:,} programs "
             + ("leave most of them idle." if 2 * made["fa1"] < CARDS[CARD].sms else
                "fill them too, here.")
             + f" FA-2 divides {one / two:.3g} times less often than FA-1."),
        text(SOURCES, "fine"),
    ]  # fmt: skip


# ---- rung 12: P computed again


@dataclass(frozen=True, eq=False)
class Again:
    """One tile, float32 (rows, keys): ``S`` from Q and K, ``P`` = exp(S − lse), ``kept`` the P that
    standard attention wrote; ``lse`` (rows,)."""

    S: np.ndarray
    lse: np.ndarray
    P: np.ndarray
    kept: np.ndarray


def _traces(mask: str, dtype: str) -> tuple[Trace, Trace]:
    """FA-2's trace, which keeps lse, and standard attention's, which keeps P."""
    made = [Problem(causal=mask == "causal", dtype=dtype, order=x) for x in ("fa2", "standard")]
    return trace(made[0]), trace(made[1])


def again(mask: str, dtype: str, i: int, j: int) -> Again:
    """Tile (i, j) from Q, K and lse of FA-2 alone, beside the P of standard attention."""
    fa2, standard = _traces(mask, dtype)
    p, r, c = fa2.problem, tiling.rows(fa2.problem, i), tiling.cols(fa2.problem, j)
    S = (fa2.Q[r] @ fa2.K[c].T) * np.float32(p.scale)
    S = np.where(p.mask.keep(p.n, p.n, r, c), S, np.float32(-np.inf))
    strip = next(x.P for x in standard.visits if x.stage == "softmax" and x.i == i)
    assert strip is not None
    return Again(S, fa2.lse[r], np.exp(S - fa2.lse[r][:, None]), strip[:, c])


def flops(n: int, d: int) -> dict[str, int]:
    """One head, no mask. Forward two products of 2·N²·d; backward five with S again, four if P was
    kept."""
    product = 2 * n * n * d
    return {
        "forward": 2 * product,
        "backward, P kept": 4 * product,
        "backward, S again": 5 * product,
    }


def _recompute(v: Values) -> list[Block]:
    mask, dtype, n, d = str(v["mask"]), str(v["dtype"]), int(v["n"]), int(v["d"])
    i, j = round(float(v["i"])), round(float(v["j"]))
    p = _traces(mask, dtype)[0].problem
    r, c = tiling.rows(p, i), tiling.cols(p, j)
    if tiling.KINDS[tiling.kinds(p)[i, j]] == "skipped":
        words = f"Tile ({i}, {j}) lies above the diagonal: P is 0 there, and the backward pass "
        return [text(words + "skips it too. Take j ≤ i.", "bad"), *_kept(n, d, dtype)]
    tile = again(mask, dtype, i, j)
    names = [f"row {x}" for x in range(r.start, r.stop)]
    keys = [f"key {x}" for x in range(c.start, c.stop)]
    off = float(np.abs(tile.P - tile.kept).max())
    label = {"row_labels": names, "col_labels": keys}
    return [
        matrix("S = Q Kᵀ/√d, computed again", tile.S.tolist(), **label, colour="s", heat=True),
        matrix("lse, all that was kept", tile.lse[:, None].tolist(), row_labels=names, colour="l",
               digits=3),
        matrix("P = exp(S − lse)", tile.P.tolist(), **label, colour="s", digits=3, heat=True),
        text(f"Largest difference to the P that standard attention wrote in {dtype}: {off:.1e}. "
             + ("Only the order of operations differs." if dtype == "fp32" else
                f"Standard rounds S and P to {dtype}; this P was never rounded."), "good"),
        *_kept(n, d, dtype),
    ]  # fmt: skip


def _kept(n: int, d: int, dtype: str) -> list[Block]:
    w = Workload(n=n, d=d, heads=1, block_q=64, block_k=64, dtype=dtype)
    sizes = [(name, kept(w, order)) for name, order in
             (("P, standard", "standard"), ("lse, FlashAttention", "fa2"))]  # fmt: skip
    work = flops(n, d)
    more = work["backward, S again"] - work["backward, P kept"]
    share = more / (work["forward"] + work["backward, P kept"])
    return [
        bars(f"Kept for backward beside Q, K, V and O: one head, N = {n:,}",
             [(name, float(b), amount(b)) for name, b in sizes], colour="l", log=True),
        bars(f"FLOPs of one head, N = {n:,}, d = {d}, no mask",
             [(name, float(x), f"{x / 1e9:,.2f} GFLOP") for name, x in work.items()], colour="s"),
        text(f"{sizes[0][1] / sizes[1][1]:,.0f} times fewer bytes kept, for {share:.1%} more FLOPs "
             "of forward and backward together."),
    ]  # fmt: skip


WIDGETS = (
    Widget(
        "versions",
        "FA-1, FA-2, FA-3",
        (
            pick("n", "N", 1024, NS),
            pick("d", "Head dimension d", 64, (32, 64, 128)),
            pick("br", "Br", 64, SIDES),
            pick("bc", "Bc", 64, SIDES),
            pick("heads", "B × H", 16, (1, 4, 16, 64)),
            pick("mask", "Mask", "full", ("full", "causal")),
        ),
        _versions,
    ),
    Widget(
        "recompute",
        "P again, from lse",
        (
            slider("i", "Row block i", 2, 0, 3, 1),
            slider("j", "Key block j", 1, 0, 3, 1),
            pick("mask", "Mask", "causal", ("causal", "full")),
            pick("dtype", "Format", "fp32", tuple(ITEMSIZE)),
            pick("n", "N of the bars", 4096, NS),
            pick("d", "d of the bars", 64, (32, 64, 128)),
        ),
        _recompute,
    ),
)
RUNGS = (rung("versions"), rung("recompute"))
