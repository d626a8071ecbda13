"""Sums without a list of tiles are the sums of the list; the facts that the pages tell."""

from __future__ import annotations

import itertools

import pytest

from explainer.algorithms.schedule import schedule
from explainer.algorithms.traffic import asked, launches, moved, summed, traffic
from explainer.problem import Problem

SIZES = ((1, 1, 1), (7, 3, 2), (16, 4, 4), (33, 8, 5), (40, 5, 16), (64, 64, 7), (65, 16, 32))


@pytest.mark.parametrize("order", ["standard", "fa1", "fa2"])
@pytest.mark.parametrize("causal", [False, True])
def test_sums_equal_the_list(order, causal):
    for (n, br, bc), dtype in itertools.product(SIZES, ("fp32", "fp16")):
        p = Problem(n=n, d=5, block_q=br, block_k=bc, causal=causal, order=order, dtype=dtype)
        assert summed(p) == traffic(p), p


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
