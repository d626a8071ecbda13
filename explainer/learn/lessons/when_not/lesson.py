"""Where fused attention helps less: recorded speeds, and bytes by one convention."""

import math
from collections.abc import Callable
from functools import lru_cache

from explainer.base.amounts import power
from explainer.base.records import about, load, rows_where
from explainer.learn.folder import read_data
from explainer.learn.kit import Block, Words
from explainer.memory import tile_choices
from explainer.memory.workload import Workload

t = Words(__name__)

HIDDEN = 4096  # of the layer that attention is a part of
NS = (256, 512, 1024, 2048, 4096, 8192, 16384)
NQ, D, ELEMENT, TILE = 4096, 64, 2, 64
NEEDED = 0.05  # of the scores, in the question
# A card's generation: first architecture number; who takes fp16 there.
CARDS = read_data("when_not")["cards"].items()
KERNELS: dict[str, Callable[[int], bool]] = {
    "memory-efficient": lambda sm: sm >= 50,
    "FA-2": lambda sm: sm >= 80,
    "FA-3": lambda sm: sm == 90,
    "FA-4": lambda sm: sm in (90, 100),
}


@lru_cache(maxsize=2)
def times(method: str) -> dict[int, dict]:
    """Return {N: the recorded row of a method}: fp16, d = 64, no mask, forward, 32 heads and as
    many sequences as fill the card."""
    found = rows_where(method=method, d=D, mask="full", dtype="fp16")
    return {r["n"]: r for r in found if "median_ms" in r and r["n"] in NS}


def faster() -> dict[int, float]:
    """Return {N: time of plain PyTorch attention ÷ time of FA-2}."""
    plain = times("naive")
    return {n: plain[n]["median_ms"] / row["median_ms"] for n, row in times("fa2").items()}


def time_share(method: str, n: int) -> float:
    """Return attention's part of the time of a layer's matmuls: its recorded time, beside 24·h²
    FLOPs per token at the rate measured for matmuls. Heads of d numbers make up h."""
    found = times(method)[n]
    tokens = found["batch"] * found["heads"] * n * D / HIDDEN
    weights = tokens * 24 * HIDDEN**2 / load()["ceilings"]["fp16"]["flops"]
    return found["median_ms"] / (found["median_ms"] + 1e3 * weights)


def layer_share(n: int) -> float:
    """Return attention's part of a layer's FLOPs: 4·N²·h of it, beside 24·N·h² of the projections
    (8) and a feed-forward of width 4h (16)."""
    return n / (n + 6 * HIDDEN)


def speeds() -> dict[int, float]:
    """Return {side of the square tile: TFLOP/s of FA-2}, recorded on an H200: fp16, no mask."""
    timed = [c for c in tile_choices.cells(Workload(d=D)) if "tflops" in c]
    return {c["block_m"]: c["tflops"] for c in timed if c["block_m"] == c["block_n"]}


def least(nq: int, nk: int) -> tuple[int, int]:
    """Return the bytes of one head in fp16, no mask, each matrix once per kernel: (three kernels,
    fused). S and P are written and read."""
    operands = (2 * nq * D + 2 * nk * D) * ELEMENT
    return operands + 4 * nq * nk * ELEMENT, operands + nq * 4


def touched(share: float) -> float:
    """Return the part of the tiles that hold a visible score, if each is visible with this
    chance."""
    return 1 - (1 - share) ** (TILE * TILE)


def compute(case: str, nk: int, share: float) -> Block:
    """Show one of five cases."""
    found = {(c["block_m"], c["block_n"]): c for c in tile_choices.cells(Workload(d=D))}
    gains, low, wanted = faster(), times("fa2")[NS[0]], share / 100
    best = max(gains, key=gains.__getitem__)
    apart, fused = least(NQ, nk)
    rates = speeds().values()
    return t.picture(
        f"{case}.label",
        f"{case}.spoken",
        case,
        best=best,
        gain=gains[best],
        gained=[*gains.values()],
        shares=[
            [100 * layer_share(n) for n in NS],
            *([100 * time_share(method, n) for n in NS] for method in ("naive", "fa2")),
        ],
        ticks=NS[::2],
        tokens=low["batch"] * NS[0],
        heads=low["heads"],
        about=about(),
        sides=[*speeds()],
        rates=rates,
        most=max(rates),
        held=[found[n, n]["blocks_per_sm"] for n in (64, 128)],
        registers=found[128, 128]["registers"],
        tiles_about=about("tiles_nvidia_h200"),
        nk=nk,
        apart=apart,
        fused=fused,
        ratio=apart / fused,
        wanted=wanted,
        touched=touched(wanted),
        parts=[wanted, touched(wanted), wanted, 1.0],
        cards=[
            [card, f"sm_{sm}", *("✓" if runs(sm) else t("no") for runs in KERNELS.values())]
            for card, sm in CARDS
        ],
    )


def figures() -> dict[str, object]:
    """Return what the text and the question name."""
    apart, fused = least(NQ, 77)
    whole, once = least(NQ, NQ)
    gains, first = faster(), NS[0]
    return {
        "cross": apart / fused,
        "self": whole / once,
        "low": gains[first],
        "high": max(gains.values()),
        "peak": max(gains, key=gains.__getitem__),
        "end": gains[NS[-1]],
        "last": NS[-1],
        "scores": NQ * 77,
        "empty": power(10, round(TILE**2 * math.log10(1 - NEEDED))),
        "share": layer_share(first),
        "time": time_share("naive", first),
        "less": time_share("fa2", first),
    }
