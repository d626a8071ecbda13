"""FA-4 as a pipeline: two query tiles in flight on one SM of a B200 or an H100; exponentials on two
units; and rescaling only when the maximum has risen far, played on a trace of ours."""

import math
from functools import cache

import numpy as np

from explainer.base.facts import number
from explainer.base.records import about, rows_where
from explainer.learn.kit import Block, Words
from explainer.learn.linear_algebra import address, make_problem
from explainer.learn.matrix_units import GENERATIONS
from explainer.learn.pipeline import Slot, Task, simulate
from explainer.problem import Problem
from explainer.trace import trace

t = Words(__name__)

SIDE = 128  # of a tile, and d
TILES = 3  # key tiles on screen
ARCHS = {"b200": "sm_100", "h100": "sm_90"}
COLUMNS = 512  # of tensor memory
MATMUL, SFU = "matmul", "sfu"
PLAYED = make_problem(1024, 32, 64, seed=7)  # unit random data
LARGER = 4.0  # times as large queries
LOG2E = math.log2(math.e)


def matmul_cycles(card: str) -> float:
    """Return the clock cycles of a product of SIDE × SIDE × SIDE on one SM."""
    return SIDE**3 / GENERATIONS[ARCHS[card]].fma


def exp_cycles(polynomial: int) -> float:
    """Return those of a tile's exponentials on the SFU, if some of each row run on FMA units."""
    return SIDE * (SIDE - polynomial) / number("sm.exps")


def left_for_maximum(card: str, polynomial: int) -> float:
    """Return the cycles of the other tile's two matmuls that a tile's exponentials leave free."""
    return 2 * matmul_cycles(card) - exp_cycles(polynomial)


@cache
def slots(card: str, polynomial: int) -> tuple[Slot, ...]:
    """Schedule the work: the tensor cores take P V of a tile and then its next Q Kᵀ, which
    overwrites P; the SFU takes one tile at a time."""
    product, exps = matmul_cycles(card), exp_cycles(polynomial)
    made = [Task(("S", w, 0), MATMUL, product, ()) for w in (0, 1)]
    for j in range(TILES):
        for w in (0, 1):
            made += [
                Task(("softmax", w, j), SFU, exps, (("S", w, j),)),
                Task(("PV", w, j), MATMUL, product, (("softmax", w, j),)),
                Task(("S", w, j + 1), MATMUL, product, (("PV", w, j),)),
            ]
    return simulate(made)


def _hidden(card: str, polynomial: int) -> tuple[float, float]:
    """Return start and end of the two matmuls of B behind which A's second softmax runs."""
    at = {s.task.key: s for s in slots(card, polynomial)}
    return at["PV", 0, 0].end + matmul_cycles(card), at["S", 1, 1].end


@cache
def rescales(gain: float = 1.0) -> tuple[int, int, int]:
    """Return (rows × blocks after the first, rises of a row's maximum, rescales) of random data
    with queries ``gain`` times as large."""
    S, threshold = trace(PLAYED).S * np.float32(gain * LOG2E), number("fa4.threshold")
    tops = S.reshape(len(S), -1, PLAYED.block_k).max(axis=2)
    true = np.maximum.accumulate(tops, axis=1)
    used, count = true[:, 0].copy(), 0
    for top in true[:, 1:].T:
        moved = top > used + threshold
        used, count = np.where(moved, top, used), count + int(moved.sum())
    return true[:, 1:].size, int((np.diff(true, axis=1) > 0).sum()), count


def speeds() -> dict[str, float]:
    """Return {method: TFLOP/s} recorded on an H200: forward, d = 128, causal, N = 16,384, bf16."""
    found = {}
    for method in ("fa4", "sdpa_cudnn", "sdpa_flash"):
        (record,) = rows_where(method=method, n=16_384, d=128, mask="causal", dtype="bf16")
        found[method] = record["tflops"]
    return found


def compute(card: str, polynomial: int) -> Block:
    """Show who works when, tensor memory, the two units of exp2, and the rescales."""
    product, found = matmul_cycles(card), slots(card, polynomial)
    updates, rises, count = rescales()
    ticks = np.arange(0, 0.9 * max(s.end for s in found), 4 * product)
    corrected = [s for s in found if s.task.key[0] == "S" and s.task.key[2]]
    return t.picture(
        card=t.named("cards")[card],
        product=product,
        exps=exp_cycles(polynomial),
        free=left_for_maximum(card, polynomial),
        rises=rises,
        n=count,
        updates=updates,
        cycles=2 * product,
        matmul=[s for s in found if s.task.unit == MATMUL],
        softmax=[[s for s in found if s.task.key[:2] == ("softmax", who)] for who in (0, 1)],
        corrected=corrected,
        ends=[s.end + product / 2 for s in corrected],
        ticks=ticks,
        now=_hidden(card, polynomial),
        has_memory=card == "b200",
        rates=speeds(),
        about=about(),
        units=SIDE - polynomial,
        polynomial=polynomial,
        flop=2 * GENERATIONS[ARCHS[card]].fma,
    )


def question(polynomial: int) -> dict:
    """The answer, and: the time of the exponentials itself, beside one matmul, half of the rate."""
    free = left_for_maximum("b200", polynomial)
    exps = exp_cycles(polynomial)
    return {"answer": free, "wrong": (exps, abs(matmul_cycles("b200") - exps), free / 2)}


def figures() -> dict[str, object]:
    """Return what the text names."""
    _, rises, count = rescales(LARGER)
    return {"place": address(Problem(), 1, "exp"), "still": count / rises}
