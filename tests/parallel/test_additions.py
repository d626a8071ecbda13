"""The order of dQ's additions: counted again here by other means; where it changes nothing."""

from __future__ import annotations

import math
import struct
from dataclasses import replace

import numpy as np
import pytest

from explainer.memory.workload import Workload
from explainer.parallel import additions
from explainer.problem import Problem
from explainer.views.stories.pages import make_chapter

P = Problem(
    n=96, d=8, block_q=32, block_k=16, mask="causal", order="fa2", dtype="fp16", inputs="random"
)


def bits(x: float) -> bytes:
    return struct.pack("<f", x)


@pytest.mark.parametrize("mask", ["full", "causal", "causal&window:60,0"])
@pytest.mark.parametrize("dtype", ["fp32", "fp16", "bf16"])
def test_what_differs_is_counted_entry_by_entry(mask, dtype):
    """Every entry's parts are added one by one, and the exact sum is fsum's."""
    p = replace(P, mask=mask, dtype=dtype)
    given, found = additions.gradient_parts(p), additions.compare_orders(p)
    totals = [additions.sum_parts(p, given, seed) for seed in range(additions.ORDERS + 1)]
    unequal = 0
    off = [0.0] * len(totals)
    for rows, blocks in given:
        for r, c in np.ndindex(blocks[0].shape):
            at, mine = (rows.start + r, c), [float(b[r, c]) for b in blocks]
            first = np.float32(0)
            for x in mine:
                first = np.float32(first + np.float32(x))
            assert bits(first) == bits(totals[0][at])
            unequal += len({bits(t[at]) for t in totals}) > 1
            off = [
                max(o, abs(float(t[at]) - math.fsum(mine)))
                for o, t in zip(off, totals, strict=True)
            ]
    assert found.unequal == unequal > 0 and found.entries == p.n * p.d
    for s, total, o in zip(found.sums, totals, off, strict=True):
        differ = [bits(a) != bits(b) for a, b in zip(total.flat, totals[0].flat, strict=True)]
        assert s.summed == sum(differ)
        assert s.off == pytest.approx(o, rel=1e-6)
        assert (s.stored <= s.summed and (dtype != "fp32" or s.stored)) or s.order == 0
    assert (found.sums[0].order, found.sums[0].summed, found.sums[0].stored) == (0, 0, 0)
    assert any(s.summed for s in found.sums[1:])


def test_a_shuffled_order_adds_every_part_once():
    given = additions.gradient_parts(P)
    for seed in range(6):
        exact = additions.sum_parts(P, given, seed, np.float64)
        np.testing.assert_allclose(exact, additions.sum_parts(P, given, 0, np.float64), atol=1e-12)
    rows, blocks = given[-1]
    lost = (*given[:-1], (rows, blocks[1:]))
    assert np.abs(additions.sum_parts(P, lost, 1) - additions.sum_parts(P, given, 1)).max() > 1e-3


@pytest.mark.parametrize("key_blocks", [1, 2])
def test_one_part_or_two_have_no_order(key_blocks):
    p = replace(P, mask="full", block_k=P.n // key_blocks)
    found = additions.compare_orders(p)
    assert found.most == key_blocks and found.unequal == 0


def test_the_card_says_the_functions_numbers_of_a_head_cut_short():
    w = Workload(n=4096, block_q=128, block_k=64, mask="causal")
    p = additions.of_workload(w)
    assert (p.n, p.Tc, p.mask.text, p.dtype) == (512, 8, "causal", "fp16")
    assert additions.of_workload(replace(w, block_k=16)).Tc == 8
    found = additions.compare_orders(p)
    made = make_chapter("parallel", w.to_query() | {"chapter": "sms", "pass": "backward"})
    tables = [x["rows"] for x in made["table"] if x["title"] == "dQ by order"]
    assert [row[1:3] for row in tables[0]] == [[s.summed, s.stored] for s in found.sums]
