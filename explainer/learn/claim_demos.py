"""What shows each claim of "Said often, and wrong": computed or counted here, nothing typed in."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from explainer import footprint, sram, tiling
from explainer.hardware import CARDS, KIB, MIB
from explainer.inputs import make_inputs
from explainer.learn.blocks import Block, bars, matrix, plot, table, text
from explainer.learn.formats import FORMATS, written
from explainer.problem import Problem
from explainer.trace import trace
from explainer.traffic import requested, summed
from explainer.workload import Workload

A100_ON_CHIP = 192 * KIB  # an SM's L1 and shared memory together; Ampere architecture whitepaper
EXP_PER_CLOCK = 16  # an SM's special functions; CUDA C++ Programming Guide, arithmetic throughput
Given = dict[str, float | str]


def qkv(n: int, d: int = 64, seed: int = 0, dtype: type = np.float32) -> list[np.ndarray]:
    """Q, K, V (n, d), random normal."""
    return [x.astype(dtype) for x in make_inputs(_random(n, d, min(n, 64), seed))]


def _random(n: int, d: int, block: int, seed: int = 0, causal: bool = False) -> Problem:
    return Problem(
        n=n, d=d, block_q=block, block_k=block, causal=causal, inputs="random", seed=seed
    )


def plain(S: np.ndarray, V: np.ndarray) -> np.ndarray:
    """softmax(S) V over whole rows: S (rows, keys), V (keys, d) → (rows, d), in their dtype."""
    P = np.exp(S - S.max(axis=1, keepdims=True))
    return P / P.sum(axis=1, keepdims=True) @ V


def online(
    S: np.ndarray,
    V: np.ndarray,
    bc: int,
    blocks: Sequence[int] | None = None,
    start: float = -np.inf,
    guard: bool = True,
) -> np.ndarray:
    """The same, key block by key block, for scores (rows, keys) that are wrong on purpose too.

    ``blocks`` the order of visits; ``start`` the first m; without ``guard`` 0/0 is NaN.
    """
    m, l = np.full((len(S), 1), start, S.dtype), np.zeros((len(S), 1), S.dtype)
    O = np.zeros((len(S), V.shape[1]), S.dtype)
    for j in range(-(-len(V) // bc)) if blocks is None else blocks:
        s, v = S[:, j * bc : (j + 1) * bc], V[j * bc : (j + 1) * bc]
        m_new = np.maximum(m, s.max(axis=1, keepdims=True))
        base = np.where(np.isneginf(m_new), S.dtype.type(0), m_new)
        P, alpha = np.exp(s - base), np.exp(m - base)
        l, O, m = alpha * l + P.sum(axis=1, keepdims=True), alpha * O + P @ v, m_new
    with np.errstate(invalid="ignore"):
        return O / (np.where(l > 0, l, 1) if guard else l)


def _error(found: np.ndarray, truth: np.ndarray) -> float:
    return float(np.abs(found - truth).max())


def bits(given: Given) -> list[Block]:
    """Tiled against plain in fp32: how many outputs agree in every bit, and both errors."""
    n = int(given["n"])
    run = trace(_random(n, 64, 64, int(given["seed"])))
    S = run.Q @ run.K.T * np.float32(run.problem.scale)
    whole = plain(S, run.V)
    Q, K, V = (x.astype(np.float64) for x in (run.Q, run.K, run.V))
    truth = plain(Q @ K.T * run.problem.scale, V)
    share = float((run.O == whole).mean())
    items = [(name, e, written(e, 2)) for name, e in
             (("tiled", _error(run.O, truth)), ("plain", _error(whole, truth)))]  # fmt: skip
    return [
        bars("Largest error against float64", items),
        text(f"N = {n}, fp32: {share:.1%} of the {run.O.size:,} outputs are equal in every bit. "
             "Both ways are about equally near the truth: they round in a different order."),
    ]  # fmt: skip


def exact(given: Given) -> list[Block]:
    """Tiled against plain in fp32 and in float64: the difference goes with the rounding."""
    n, bc = int(given["n"]), int(given["bc"])
    items = []
    for name, dtype in (("fp32", np.float32), ("float64", np.float64)):
        q, k, v = qkv(n, dtype=dtype)
        S = q @ k.T / np.sqrt(dtype(q.shape[1]))
        e = _error(online(S, v, bc), plain(S, v))
        items.append((name, e, written(e, 2)))
    return [
        bars("Largest difference of tiled and plain", items, log=True),
        text("More digits, less difference: nothing but rounding is left. In real arithmetic the "
             "two are the same formula.", "good"),
    ]  # fmt: skip


def order(given: Given) -> list[Block]:
    """Key blocks visited in a shuffled order."""
    n, bc = 256, 32
    blocks = np.random.default_rng(int(given["seed"])).permutation(n // bc)
    q, k, v = qkv(n, dtype=np.float64)
    S = q @ k.T / np.sqrt(q.shape[1])
    e = _error(online(S, v, bc, blocks.tolist()), online(S, v, bc))
    return [
        table("The visits", ("order", "key blocks"),
              [("usual", " ".join(map(str, range(n // bc)))), ("shuffled", " ".join(map(str, blocks)))]),
        text(f"Largest difference of O in float64: {written(e, 2)}. Split keys, as in decoding, "
             "rest on this.", "good"),
    ]  # fmt: skip


def io(given: Given) -> list[Block]:
    """Bytes that one head asks of global memory, over N, beside the extra memory."""
    d, block, ns = int(given["d"]), int(given["block"]), [2**p for p in range(10, 17)]
    moved = {o: [requested(n, d, False, "fp16", o, block, block) for n in ns]
             for o in ("standard", "fa2")}  # fmt: skip
    extra = [dict(footprint.tensors(Workload(n=n, heads=1), "fa2"))["lse"] for n in ns]
    names = {"standard": "standard: bytes moved", "fa2": "FA-2: bytes moved"}
    series = [{"name": names[o], "x": ns, "y": y, "colour": c}
              for (o, y), c in zip(moved.items(), "so", strict=True)]  # fmt: skip
    series[0]["colour"] = "s"
    series.append({"name": "FA-2: extra memory (lse)", "x": ns, "y": extra, "colour": "l"})
    f, s, e = moved["fa2"], moved["standard"], extra
    rows = [(f"{a:,} to {2 * a:,}", f"×{f[i + 1] / f[i]:.2f}", f"×{e[i + 1] / e[i]:.2f}",
             f"{f[i + 1] / s[i + 1]:.2f}") for i, a in enumerate(ns[:-1])]  # fmt: skip
    head = ("N doubled from", "FA-2's bytes grow", "extra memory grows", "bytes, FA-2 ÷ standard")
    return [
        plot("Bytes over N, one head, fp16", series, x_label="N", y_label="bytes", log_x=True,
             log_y=True),
        table("What doubling N does", head, rows),
        text(f"A tile of {block} changes the factor in front of N², not the square."),
    ]  # fmt: skip


def trips(given: Given) -> list[Block]:
    """How often K and V are read, counted from the bytes of FA-2's loop."""
    n, d = int(given["n"]), 64
    items = []
    for br in (16, 32, 64, 128, 256):
        p = Problem(n=n, d=d, block_q=br, block_k=64, causal=False, inputs="random", dtype="fp16")
        times = summed(p)["K"][0] / (n * d * 2)
        items.append((f"Br = {br}", times, f"{times:g} times (Tr = {p.Tr})"))
    return [
        bars(f"How often K is read in all, N = {n:,} (V as often)", items, colour="k"),
        text("Each row block reads all of K and V once, so they are read Tr = ⌈N/Br⌉ times. Larger "
             "Br means fewer readings. L2 may serve most of them."),
    ]  # fmt: skip


def overflow(given: Given) -> list[Block]:
    """exp(x) in every format, with and without the maximum taken away."""
    x = given["x"]
    rows = []
    for f in FORMATS.values():
        kept = float(f.round_to(math.exp(x)))
        over = math.exp(x) > f.largest and kept != math.exp(x)
        fate = ("overflow: " if over and kept >= f.largest else "") + written(kept)
        rows.append((f.title, written(f.largest), f"{math.log(f.largest):.2f}", fate,
                     written(float(f.round_to(math.exp(x - x))))))  # fmt: skip
    head = ("format", "largest number", "exp overflows above", f"exp({written(x)})", "exp(x − m)")
    return [
        table("The exponential in each format", head, rows),
        text("8 exponent bits reach 88.7, 5 bits only 11: what counts is the range, not the "
             "digits. With the row's maximum m taken away no exponent is above 0."),
    ]  # fmt: skip


def on_chip(given: Given) -> list[Block]:
    """One SM's memory against the sum of all, and the largest square tile of each."""
    problem = replace(_random(256, int(given["d"]), 64), dtype=str(given["dtype"]))
    rows = []
    for card in CARDS.values():
        whole = card.shared_per_sm_bytes * card.sms
        wished = sram.largest_square(problem, replace(card, shared_bytes=whole))
        one = sram.largest_square(problem, card)
        rows.append((card.name, f"{card.shared_bytes // KIB} KB", f"{one} × {one}", str(card.sms),
                     f"{whole / MIB:.1f} MB", f"{wished} × {wished}"))  # fmt: skip
    a100 = CARDS["a100"]
    head = ("card", "one thread block may use", "largest tile", "SMs", "sum of all SMs",
            "tile that the sum suggests")  # fmt: skip
    return [
        table("Shared memory, and the textbook tile that fits", head, rows),
        text(f"The A100's 20 MB: {A100_ON_CHIP // KIB} KB of L1 and shared memory × {a100.sms} SMs "
             f"= {A100_ON_CHIP * a100.sms / MIB:.2f} MB. No SM can reach another's, so a tile must "
             f"fit {a100.shared_bytes // KIB} KB."),
    ]  # fmt: skip


def operations(n: int, d: int, block: int) -> dict[str, dict[str, int]]:
    """{kind of work: {"standard" | "fa2": operations}} of one head, full mask; max, exp, add,
    multiply and divide count one each. Scaling Q Kᵀ by 1/√d is the same on both sides: left out."""
    p = _random(n, d, block)
    def size(s: slice) -> int:
        return s.stop - s.start
    tiles = [(size(tiling.rows(p, i)), size(tiling.cols(p, j)))
             for i in range(p.Tr) for j in range(p.Tc)]  # fmt: skip
    pairs, visited = sum(r * c for r, c in tiles), sum(r for r, _ in tiles)
    softmax = 4 * n * n - 2 * n  # max, subtract, exp, sum over whole rows
    tiled = sum(4 * r * c - 2 * r for r, c in tiles)
    return {
        "products Q Kᵀ and P V": {"standard": 4 * n * n * d, "fa2": 4 * pairs * d},
        "max, subtract, exp, sum": {"standard": softmax, "fa2": tiled},
        "divide by ℓ": {"standard": n * n, "fa2": n * d},
        # a visit's row: max with m, subtract, exp; α·ℓ and add; α·O. O's adds are in the product.
        "α: rescale m, ℓ and O": {"standard": 0, "fa2": visited * (5 + d)},
        "backward: five products against four": {"standard": 8 * n * n * d, "fa2": 10 * pairs * d},
    }


def flops(given: Given) -> list[Block]:
    """Operations of standard attention and of FA-2, counted tile by tile."""
    found = operations(int(given["n"]), int(given["d"]), int(given["block"]))
    rows = [(kind, f"{c['standard']:,}", f"{c['fa2']:,}") for kind, c in found.items()]
    *forward, _ = found.values()
    a, b = (sum(c[o] for c in forward) for o in ("standard", "fa2"))
    both = [sum(c[o] for c in found.values()) for o in ("standard", "fa2")]
    rows += [("forward in all", f"{a:,}", f"{b:,}"),
             ("forward and backward", f"{both[0]:,}", f"{both[1]:,}")]  # fmt: skip
    return [
        table("Operations, one head", ("work", "standard", "FA-2"), rows),
        text(f"FA-2 ÷ standard: forward {b / a:.4f}, with the backward pass {both[1] / both[0]:.3f} "
             "(its products; S is computed again). What it saves is bytes, not operations."),
    ]  # fmt: skip


def kept(given: Given) -> list[Block]:
    """What is on chip and what is off chip, for both ways: like with like."""
    w = Workload(n=int(given["n"]), d=64, heads=1, block_q=int(given["block"]),
                 block_k=int(given["block"]), dtype="fp32")  # fmt: skip
    tile = {p.tensor: p.nbytes for p in sram.budget(w.problem("fa2"))}
    off = {o: dict(footprint.tensors(w, o)) for o in ("standard", "fa2")}
    extra = {o: sum(v for t, v in parts.items() if t not in "QKVO") for o, parts in off.items()}
    half = w.n // 2
    less = dict(footprint.tensors(replace(w, n=half), "fa2"))["lse"]
    operands = sum(tile[t] for t in "QKVO")
    rows = [
        ("on chip: the tiles of Q, K, V, O", *[f"{operands / KIB:g} KB"] * 2),
        ("off chip: S", f"{off['standard']['S'] / MIB:g} MB", "none"),
        ("off chip: S and P, or lse", f"{extra['standard'] / MIB:g} MB", f"{extra['fa2'] / KIB:g} KB"),
        ("from N/2 to N that grows", f"×{4:d}" if w.n % 2 == 0 else "", f"×{extra['fa2'] / less:g}"),
    ]  # fmt: skip
    return [
        table(f"One head, N = {w.n:,}, d = 64, fp32", ("where", "standard", "FA-2"), rows),
        text(f"{operands / KIB:g} KB on chip is beside S off chip no saving: any kernel has tiles. "
             f"The saving is {extra['standard'] / MIB:g} MB off chip against "
             f"{extra['fa2'] / KIB:g} KB: it is larger, and it grows with N."),
    ]  # fmt: skip
