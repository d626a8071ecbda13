"""Sums without a list of tiles are the sums of the list; the facts that the pages tell."""

from __future__ import annotations

import itertools
from dataclasses import replace
from itertools import product

import pytest

from explainer.algorithms.algorithm import LEAST
from explainer.algorithms.schedule import schedule
from explainer.algorithms.traffic import asked, launches, least, moved, summed, traffic
from explainer.base.formats import ITEMSIZE
from explainer.problem import Problem, ProblemError
from tests import by_hand

SIZES = ((1, 1, 1), (7, 3, 2), (16, 4, 4), (33, 8, 5), (40, 5, 16), (64, 64, 7), (65, 16, 32))


@pytest.mark.parametrize("order", ["standard", "fa1", "fa2"])
@pytest.mark.parametrize("causal", [False, True])
def test_sums_equal_the_list(order, causal):
    for (n, br, bc), dtype in itertools.product(SIZES, ("fp32", "fp16")):
        p = Problem(n=n, d=5, block_q=br, block_k=bc, causal=causal, order=order, dtype=dtype)
        assert summed(p) == traffic(p), p


@pytest.mark.parametrize("order", ["standard", "fa1", "fa2"])
def test_sums_equal_the_list_under_any_mask(order):
    """And of a tile that no score is kept of nothing is asked; least is never more than asked."""
    for p in by_hand.drawn(120):
        p = replace(p, order=order)
        assert {t: both for t, both in summed(p).items() if any(both)} == traffic(p), p
        few, most = summed(p, LEAST), summed(p)
        assert all(few[t][way] <= most[t][way] for t in few for way in (0, 1)), p
        seen = by_hand.seen(p)
        left = {
            (i, j) for i, j in product(range(p.Tr), range(p.Tc))
            if seen[i * p.block_q : (i + 1) * p.block_q, j * p.block_k : (j + 1) * p.block_k].any()
        }  # fmt: skip
        if order != "standard":
            visited = {(s.i, s.j) for s in schedule(p) if s.kind != "skipped"}
            assert visited == left, p
            rows, keys = (int(seen.any(axis=axis).sum()) for axis in (1, 0))
            assert few["K"][0] == keys * p.d * ITEMSIZE[p.dtype], p
            stored = rows if order == "fa1" else p.n  # FA-2's programs store whatever they saw
            assert few["O"] == (0, stored * p.d * ITEMSIZE[p.dtype]), p
            once = least(p.n, p.d, p.dtype, order, p.mask)
            assert once == sum(map(sum, few.values())), p


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
        asked(65_536, 64, "causal&window:8,0", "fp16", "fa2", 1, 1)
    assert asked(65_536, 64, "causal", "fp16", "fa2", 1, 1)


def test_launches_are_the_stages_of_the_list():
    p = Problem(n=48, d=8, block_q=16, block_k=8, causal=True, order="standard")
    by_stage = {
        stage: moved(s for s in schedule(p) if s.stage == stage)
        for stage in ("scores", "softmax", "output")
    }
    assert dict(launches(p)) == by_stage


def test_facts():
    """FACTS.md: S is 64 MB a head at N = 4,096 in fp32; 24 GiB at B·H = 96, N = 8,192."""
    p = Problem(n=4096, d=64, order="standard", inputs="random")
    assert summed(p)["S"] == (64 * 2**20, 64 * 2**20)
    p = Problem(n=8192, d=64, order="standard", inputs="random")
    assert 96 * summed(p)["S"][1] == 24 * 2**30
    one = asked(8192, 64, "full", "fp16", "fa2", 64, 64)
    assert asked(16384, 64, "full", "fp16", "fa2", 64, 64) / one == pytest.approx(4, rel=0.01)
    ratio = asked(256, 64, "full", "fp32", "fa2", 32, 64) / asked(
        256, 64, "full", "fp32", "fa1", 32, 64
    )
    assert ratio == pytest.approx(1.26, abs=0.005)
