"""The bytes that the real kernels move are the bytes of the trace, for every tensor."""

import random

import pytest
import torch

import kernels
from explainer.algorithms.algorithm import COMPULSORY
from explainer.algorithms.schedule import schedule
from explainer.algorithms.traffic import summed, traffic
from explainer.algorithms.transfers import OPS
from explainer.problem import Problem
from kernels import gradients
from kernels.checks import DTYPES as TORCH
from kernels.measure.counting import count_bytes
from kernels.spec.formats import DTYPES
from kernels.spec.masks import PLAIN

pytestmark = pytest.mark.skipif(
    not kernels.INTERPRETED, reason="loads and stores are counted in the interpreter"
)

GRADIENT_TENSORS = {"Q", "K", "V", "O", "dO", "lse", "D", "dQ", "dK", "dV"}
ORDERS = ("standard", "fa1", "fa2", "fa2_split")
# A single tile: one row, and more rows than 16 lanes; the others are drawn, ragged or not.
SINGLE = [
    {"n": n, "d": d, "block_q": n, "block_k": n, "mask": mask, "dtype": "fp32"}
    for n, d in ((1, 3), (33, 8))
    for mask in PLAIN
]


def drawn(count: int) -> list[dict]:
    """Random Problems, the same ones in every run, every mask in turn."""
    draw, found = random.Random(16), []
    for k in range(count):
        n = draw.randint(2, 40)
        found.append(
            {
                "n": n,
                "d": draw.randint(1, 20),
                "block_q": draw.randint(1, min(n, 17)),
                "block_k": draw.randint(1, min(n, 17)),
                "mask": PLAIN[k % len(PLAIN)],
                "dtype": draw.choice(DTYPES),
            }
        )
    return found


def counted(p: Problem) -> dict[str, tuple[int, int]]:
    """What the interpreter counts when the kernels run this Problem, without what never moves."""
    blocks = {"block_m": p.block_q, "block_n": p.block_k}
    found = kernels.count_traffic(
        p.n, p.d, **blocks, mask=str(p.mask), dtype=p.dtype, order=p.order
    )
    return {tensor: moved for tensor, moved in found.items() if any(moved)}


def counted_backward(n: int, d: int, dtype: str, **options) -> dict[str, tuple[int, ...]]:
    """The same of the backward pass: bytes read, written and added to; dQ is also the fp32 sum that
    becomes it."""
    q, k, v, o, grad_o = torch.ones(5, 1, 1, n, d, dtype=TORCH[dtype])
    with count_bytes() as moved:
        gradients.backward(grad_o, None, q, k, v, o, torch.zeros(1, 1, n), **options)
    return {tensor: tuple(moved[tensor]) for tensor in moved.keys() & GRADIENT_TENSORS}


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize(
    "given", drawn(30) + SINGLE, ids=lambda given: "-".join(map(str, given.values()))
)
def test_asked_is_counted(given, order):
    """Of every algorithm alike, for every tensor: transfers, closed form and the real kernels."""
    problem = Problem(**given, order=order, inputs="random")
    assert counted(problem) == traffic(problem) == summed(problem)


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
    *(Problem(**given, inputs="random") for given in drawn(12)),
    Problem(n=37, block_q=5, block_k=16, mask="causal&window:5,0|prefix:2", dtype="fp16"),
    Problem(n=20, mask="block:4x4,0.0,2.1", score="softcap:2&bias:1,-1", dtype="bf16"),
    Problem(n=32, d=16, block_q=16, block_k=16, mask="full", dtype="fp16"),
]


@pytest.mark.parametrize("problem", BACKWARD, ids=lambda p: f"n{p.n}-{p.mask}-{p.dtype}")
def test_asked_is_counted_in_the_backward_pass(problem):
    """By tensor and by what is done: dQ is zeroed, added to in fp32, read and written once more."""
    p = problem
    rules = {"mask": str(p.mask), "score": str(p.score), "block_m": p.block_q, "block_n": p.block_k}
    assert counted_backward(p.n, p.d, p.dtype, **rules) == by_operation(p)


def test_two_passes_add_nothing():
    found = counted_backward(20, 8, "fp16", block_m=8, block_n=8, deterministic=True)
    assert found["dQ"] == (0, 20 * 8 * 2, 0)
