"""The bytes that the real kernels move are the bytes of the trace, for every tensor."""

from dataclasses import replace

import pytest
import torch

import kernels
from explainer.algorithms.algorithm import COMPULSORY
from explainer.algorithms.schedule import schedule
from explainer.algorithms.traffic import summed, traffic
from explainer.algorithms.transfers import OPS
from explainer.problem import Problem
from kernels import gradients
from kernels.checks import DTYPES
from kernels.measure.counting import count_bytes
from kernels.spec.masks import PLAIN
from tests import by_hand
from tests.algorithms.test_traffic import moved_alone
from tests.tables import table

pytestmark = pytest.mark.skipif(
    not kernels.INTERPRETED, reason="loads and stores are counted in the interpreter"
)

GRADIENT_TENSORS = {"Q", "K", "V", "O", "dO", "lse", "D", "dQ", "dK", "dV"}
ORDERS = ("standard", "fa1", "fa2", "fa2_split")
# Single tiles of one row and of more rows than 16 lanes, and several of more; the others are drawn.
SHAPES, QUERIES = table(__file__).values()
DRAWN = [*by_hand.drawn(30), *(Problem(*shape, mask) for shape in SHAPES for mask in PLAIN)]


def counted(p: Problem) -> dict[str, tuple[int, int]]:
    """What the interpreter counts when the kernels run this Problem, without what never moves."""
    found = kernels.count_traffic(p.n, p.d, **p.blocks, dtype=p.dtype, order=p.order, **p.rules)
    return moved_alone(found)


def counted_backward(n: int, d: int, dtype: str, **options) -> dict[str, tuple[int, ...]]:
    """The same of the backward pass: bytes read, written and added to; dQ is also the fp32 sum that
    becomes it."""
    q, k, v, o, grad_o = torch.ones(5, 1, 1, n, d, dtype=DTYPES[dtype])
    with count_bytes() as moved:
        gradients.backward(grad_o, None, q, k, v, o, torch.zeros(1, 1, n), **options)
    return {tensor: tuple(moved[tensor]) for tensor in moved.keys() & GRADIENT_TENSORS}


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("problem", DRAWN, ids=lambda p: "-".join(p.to_query().values()))
def test_asked_is_counted(problem, order):
    """Of every algorithm alike, for every tensor: transfers, closed form and the real kernels."""
    problem = replace(problem, order=order)
    assert counted(problem) == traffic(problem) == moved_alone(summed(problem))


@pytest.mark.parametrize("order", ORDERS)
def test_least_is_what_the_kernels_move_in_one_tile(order):
    """One tile reads each matrix once. (FA-1's real kernel reads the O, m and ℓ that it was given
    as well, which hold nothing yet: the least leaves them out.)"""
    p = Problem(n=24, d=8, block_q=24, block_k=24, mask="full", order=order, dtype="fp16")
    found = counted(p)
    if order == "fa1":
        found |= {tensor: (0, found[tensor][1]) for tensor in ("O", "m", "l")}
    once = summed(p, COMPULSORY)
    if order == "fa2_split":  # both parts read Q
        assert found.pop("Q") == (2 * once.pop("Q")[0], 0)
    assert found == once


def by_operation(p: Problem) -> dict[str, tuple[int, int, int]]:
    """{tensor: bytes read, written and added to} of the trace's backward transfers."""
    found: dict[str, list[int]] = {}
    for step in schedule(p, "backward"):
        for t in step.transfers:
            found.setdefault(t.tensor, [0, 0, 0])[OPS.index(t.op)] += t.nbytes
    return {tensor: tuple(moved) for tensor, moved in found.items()}


BACKWARD = [
    *(replace(p, sink=None, order="fa2") for p in by_hand.drawn(12, seed=3)),
    *map(Problem.from_query, QUERIES),
]


@pytest.mark.parametrize("problem", BACKWARD, ids=lambda p: f"n{p.n}-{p.mask}-{p.dtype}")
def test_asked_is_counted_in_the_backward_pass(problem):
    """By tensor and by what is done: dQ is zeroed, added to in fp32, read and written once more."""
    p = problem
    assert counted_backward(p.n, p.d, p.dtype, **p.rules, **p.blocks) == by_operation(p)


def test_two_passes_add_nothing():
    found = counted_backward(20, 8, "fp16", block_m=8, block_n=8, deterministic=True)
    assert found["dQ"] == (0, 20 * 8 * 2, 0)
