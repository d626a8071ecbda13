"""Transfers of the schedule, closed forms and a count by hand are the same bytes; the facts that
the pages tell."""

from dataclasses import replace

import pytest

from explainer.algorithms.algorithm import COMPULSORY
from explainer.algorithms.registry import ALGORITHMS
from explainer.algorithms.schedule import schedule
from explainer.algorithms.traffic import (
    both,
    compulsory_bytes,
    launches,
    moved,
    requested_bytes,
    summed,
    traffic,
)
from explainer.base.fields import ProblemError
from explainer.problem import Problem
from kernels.spec.formats import ITEMSIZE
from tests import by_hand

SIZES = ((1, 1, 1), (7, 3, 2), (16, 4, 4), (33, 8, 5), (40, 5, 16), (64, 64, 7), (65, 16, 32))
OF_ALL_SIZES = [
    Problem(n=n, d=5, block_q=br, block_k=bc, causal=causal, dtype=dtype)
    for n, br, bc in SIZES
    for causal in (False, True)
    for dtype in ("fp32", "fp16")
]
Bytes = dict[str, tuple[int, int]]  # {tensor: (read, written or added to)}
BY_PASS = [(order, "forward") for order in ALGORITHMS]
BY_PASS += [(order, "backward") for order in ("standard", "fa1", "fa2")]


def moved_alone(found: Bytes) -> Bytes:
    """Leave out what moves nothing."""
    return {tensor: moves for tensor, moves in found.items() if any(moves)}


def count_by_hand(p: Problem, pass_: str) -> Bytes:
    """Count the requested bytes tile by tile of those in which a score is kept, with no loop order
    in it."""
    e, f = ITEMSIZE[p.dtype], 4  # m, l, lse, D and sums in HBM are fp32
    left = by_hand.computed_tiles(p)
    rows = sum(min(p.block_q, p.n - i * p.block_q) for i, _ in left)
    sizes = [min(p.block_k, p.n - j * p.block_k) for j in range(p.Tc)]
    keys = sum(sizes[j] for _, j in left)
    loaded = sum(sizes[j] for j in {j for _, j in left}) * p.d * e
    one, square, part = p.n * p.d * e, p.n * p.n * e, rows * p.d * e
    stored = {"O": (0, one), "lse": (0, p.n * f)}
    passed = dict.fromkeys("KV", (keys * p.d * e, 0))
    if pass_ == "forward":
        found = {
            "standard": dict.fromkeys("KV", (p.Tr * one, 0))
            | {"Q": (p.Tc * one, 0), "S": (square, square), "P": (square, square), "O": (0, one)},
            "fa1": dict.fromkeys("KV", (loaded, 0))
            | {"Q": (part, 0), "O": (part, part)}
            | dict.fromkeys("ml", (rows * f, rows * f)),
            "fa2": passed | stored | {"Q": (one, 0)},
            "fa2_split": passed  # two parts, each of which reads Q and leaves O and lse in fp32
            | stored
            | {"Q": (2 * one, 0), "O′": (2 * p.n * p.d * f,) * 2, "lse′": (2 * p.n * f,) * 2},
        }[p.order]
    elif p.order == "standard":
        found = {"P": (2 * square, 0), "dP": (square, square), "dS": (2 * square, square)}
        found |= {"S": (square, 0)} if "softcap" in str(p.score) else {}
        found |= {"Q": (p.Tc * one, 0), "dO": (2 * p.Tc * one, 0)}
        found |= dict.fromkeys("KV", (p.Tr * one, 0)) | dict.fromkeys(("dQ", "dK", "dV"), (0, one))
    elif p.order == "fa1":
        found = dict.fromkeys(("Q", "O", "dO"), (part, 0)) | {"dQ": (part, part)}
        found |= dict.fromkeys("KV", (loaded, 0)) | dict.fromkeys("lm", (rows * f, 0))
        found |= dict.fromkeys(("dK", "dV"), (0, loaded))
    else:
        fp32 = p.n * p.d * f
        found = {"O": (one, 0), "dO": (one + part, 0), "Q": (part, 0), "lse": (rows * f, 0)}
        found |= {"K": (one, 0), "V": (one, 0), "dK": (0, one), "dV": (0, one)}
        found |= {"D": (rows * f, p.n * f), "dQ": (fp32, fp32 + rows * p.d * f + one)}
    return moved_alone(found)


@pytest.mark.parametrize(("order", "pass_"), BY_PASS)
def test_sums_equal_the_list_and_the_count_by_hand(order, pass_):
    """Under any mask; of a tile that no score is kept of nothing is requested."""
    for p in [*by_hand.drawn(120), *OF_ALL_SIZES, Problem(mask="block:4x4,0.0,2.1")]:
        p = replace(p, order=order, dropout=0.0)
        most, few = summed(p, pass_=pass_), summed(p, COMPULSORY, pass_)
        assert moved_alone(most) == traffic(p, pass_) == count_by_hand(p, pass_), p
        assert most.keys() == few.keys()
        assert all(few[t][way] <= most[t][way] for t in few for way in (0, 1)), p
        if pass_ == "forward":
            check_compulsory(p, few)


def check_compulsory(p: Problem, few: Bytes) -> None:
    """Each matrix once a kernel, of the rows and keys that the mask by definition leaves."""
    seen = by_hand.seen(p)
    rows, keys = (int(seen.any(axis=axis).sum()) for axis in (1, 0))
    assert compulsory_bytes(p.n, p.d, p.dtype, p.order, p.mask) == both(few), p
    assert p.order != "fa2" or both(traffic(p)) < both(traffic(replace(p, order="standard")))
    if p.order != "standard":
        assert few["K"][0] == keys * p.d * ITEMSIZE[p.dtype], p
        stored = rows if p.order == "fa1" else p.n  # FA-2's programs store whatever they saw
        assert few["O"] == (0, stored * p.d * ITEMSIZE[p.dtype]), p
    if p.order == "standard" or (p.order == "fa2" and rows == keys == p.n):
        assert summed(replace(p, block_q=p.n, block_k=p.n)) == few


def test_too_many_tiles_to_be_counted_are_refused():
    with pytest.raises(ProblemError, match="br = 1 and bc = 1 are not allowed with n = 65,536"):
        requested_bytes(65_536, 64, "causal&window:8,0", "fp16", "fa2", 1, 1)
    assert requested_bytes(65_536, 64, "causal", "fp16", "fa2", 1, 1)


def test_launches_are_the_stages_of_the_list():
    p = Problem(n=48, d=8, block_q=16, block_k=8, causal=True, order="standard")
    by_stage = {
        stage: moved(s for s in schedule(p) if s.stage == stage)
        for stage in ("scores", "softmax", "output")
    }
    assert dict(launches(p)) == by_stage


def test_facts():
    """S is 24 GiB at B·H = 96, N = 8,192 in fp32; twice the keys ask for four times."""
    p = Problem(n=8192, d=64, order="standard", inputs="random")
    assert 96 * summed(p)["S"][1] == 24 * 2**30
    one, two = (requested_bytes(n, 64, "full", "fp16", "fa2", 64, 64) for n in (8192, 16384))
    assert two / one == pytest.approx(4, rel=0.01)
    fa2, fa1 = (requested_bytes(256, 64, "full", "fp32", order, 32, 64) for order in ("fa2", "fa1"))
    assert fa2 / fa1 == pytest.approx(1.26, abs=0.005)
