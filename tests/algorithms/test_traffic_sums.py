"""Sums without a list of tiles are the sums of the list; the facts that the pages tell."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from explainer.algorithms.algorithm import COMPULSORY, REQUESTED
from explainer.algorithms.registry import ALGORITHMS
from explainer.algorithms.schedule import schedule
from explainer.algorithms.traffic import (
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


@pytest.mark.parametrize("order", ALGORITHMS)
def test_sums_equal_the_list_under_any_mask(order):
    """And of a tile that no score is kept of nothing is asked."""
    for p in [*by_hand.drawn(120), *OF_ALL_SIZES]:
        p = replace(p, order=order)
        assert {t: both for t, both in summed(p).items() if any(both)} == traffic(p), p
        few = summed(p, COMPULSORY)
        seen = by_hand.seen(p)
        left = {
            (i, j)
            for i, j in product(range(p.Tr), range(p.Tc))
            if seen[i * p.block_q : (i + 1) * p.block_q, j * p.block_k : (j + 1) * p.block_k].any()
        }
        if order != "standard":
            visited = {(s.i, s.j) for s in schedule(p) if s.kind != "skipped" and not s.stage}
            assert visited == left, p
            rows, keys = (int(seen.any(axis=axis).sum()) for axis in (1, 0))
            assert few["K"][0] == keys * p.d * ITEMSIZE[p.dtype], p
            stored = rows if order == "fa1" else p.n  # FA-2's programs store whatever they saw
            assert few["O"] == (0, stored * p.d * ITEMSIZE[p.dtype]), p
            once = compulsory_bytes(p.n, p.d, p.dtype, order, p.mask)
            assert once == sum(map(sum, few.values())), p


@pytest.mark.parametrize("order", ["standard", "fa1", "fa2"])
def test_sums_of_the_backward_pass_equal_the_list(order):
    """And are what the contract counts, of rows and keys that a mask by definition leaves."""
    for p in by_hand.drawn(120, seed=6):
        p = replace(p, order=order)
        few, most = (summed(p, way, "backward") for way in (COMPULSORY, REQUESTED))
        most = {t: both for t, both in most.items() if any(both)}
        assert most == traffic(p, "backward") == backward_by_hand(p), p
        assert all(few[t][way] <= most.get(t, (0, 0))[way] for t in few for way in (0, 1)), p


def backward_by_hand(p: Problem) -> dict[str, tuple[int, int]]:
    """{tensor: (read, written or added to)}, tile by tile of those in which a score is kept."""
    e, seen = ITEMSIZE[p.dtype], by_hand.seen(p)
    blocks = (
        [range(i, min(i + size, p.n)) for i in range(0, p.n, size)]
        for size in (p.block_q, p.block_k)
    )
    left = [(r, c) for r, c in product(*blocks) if seen[np.ix_(r, c)].any()]
    rows, keys = sum(len(r) for r, _ in left), sum(map(len, {c for _, c in left}))
    one = p.n * p.d * e
    if p.order == "standard":
        square = p.n * p.n * e
        found = {"P": (2 * square, 0), "dP": (square, square), "dS": (2 * square, square)}
        found |= {"S": (square, 0)} if "softcap" in str(p.score) else {}
        found |= {"Q": (p.Tc * one, 0), "dO": (2 * p.Tc * one, 0)}
        found |= dict.fromkeys("KV", (p.Tr * one, 0)) | dict.fromkeys(("dQ", "dK", "dV"), (0, one))
    elif p.order == "fa1":
        part = rows * p.d * e
        found = dict.fromkeys(("Q", "O", "dO"), (part, 0)) | {"dQ": (part, part)}
        found |= dict.fromkeys("KV", (keys * p.d * e, 0)) | dict.fromkeys("lm", (rows * 4, 0))
        found |= dict.fromkeys(("dK", "dV"), (0, keys * p.d * e))
    else:
        part, fp32 = rows * p.d * e, p.n * p.d * 4
        found = {"O": (one, 0), "dO": (one + part, 0), "Q": (part, 0), "lse": (rows * 4, 0)}
        found |= {"K": (one, 0), "V": (one, 0), "dK": (0, one), "dV": (0, one)}
        found |= {"D": (rows * 4, p.n * 4), "dQ": (fp32, fp32 + rows * p.d * 4 + one)}
    return {t: both for t, both in found.items() if any(both)}


def test_a_key_block_that_no_row_sees_is_still_stored():
    """As the kernel does: K and V in; zeros for dK and dV out."""
    p = Problem(mask="block:4x4,0.0,2.1")
    steps = [s for s in schedule(p, "backward") if s.i is None]
    assert [(s.j, s.kind, s.phases) for s in steps] == [
        (j, "skipped", ("load", "store")) for j in (2, 3)
    ]
    assert [[t.tensor for t in s.transfers] for s in steps] == [["K", "V", "dK", "dV"]] * 2


def test_a_row_block_that_sees_no_key_is_still_stored():
    """As the kernel does: Q in; O and lse out."""
    p = Problem(mask="block:4x4,0.0,2.1", order="fa2")
    steps = [s for s in schedule(p) if s.j is None]
    assert [(s.i, s.kind, s.phases) for s in steps] == [
        (i, "skipped", ("load", "store")) for i in (1, 3)
    ]
    assert [[t.tensor for t in s.transfers] for s in steps] == [["Q", "O", "lse"]] * 2
    assert summed(p)["K"] == (2 * 4 * 8 * 4, 0) and summed(p)["O"] == (0, 16 * 8 * 4)


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
    """FACTS.md: S is 24 GiB at B·H = 96, N = 8,192 in fp32; twice the keys ask for four times."""
    p = Problem(n=8192, d=64, order="standard", inputs="random")
    assert 96 * summed(p)["S"][1] == 24 * 2**30
    one = requested_bytes(8192, 64, "full", "fp16", "fa2", 64, 64)
    assert requested_bytes(16384, 64, "full", "fp16", "fa2", 64, 64) / one == pytest.approx(
        4, rel=0.01
    )
    ratio = requested_bytes(256, 64, "full", "fp32", "fa2", 32, 64) / requested_bytes(
        256, 64, "full", "fp32", "fa1", 32, 64
    )
    assert ratio == pytest.approx(1.26, abs=0.005)
