"""How many tiles each program of a launch visits, counted score by score."""

from __future__ import annotations

import numpy as np
import pytest

from explainer.memory.workload import Workload
from explainer.parallel import launch
from explainer.parallel.launch import programs
from tests import by_hand

MASKS = (
    "full",
    "causal",
    "causal&window:40,0|prefix:9",
    "causal&document:0,30,71",
    "block:20x30,1.1",
)


@pytest.mark.parametrize("mask", MASKS)
def test_visits_are_the_tiles_that_the_mask_leaves(mask):
    w = Workload(n=100, d=8, block_q=16, block_k=24, heads=2, mask=mask)
    seen = by_hand.seen(w.problem("fa2"))
    of_row = {"full": [], "masked": []}
    for r in range(0, w.n, w.block_q):
        tiles = [seen[r : r + w.block_q, c : c + w.block_k] for c in range(0, w.n, w.block_k)]
        full = [t.all() and t.shape[1] == w.block_k for t in tiles]
        of_row["full"].append(sum(full))
        of_row["masked"].append(sum(t.any() for t in tiles) - sum(full))
    launch = programs(w, "fa2")
    for kind, wanted in of_row.items():
        np.testing.assert_array_equal(getattr(launch, kind), np.array(wanted)[launch.row])
    assert programs(w, "fa1").visits.tolist() == [sum(map(sum, of_row.values()))] * 2


@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize(("block_q", "block_k"), [(16, 24), (32, 16), (20, 20)])
def test_a_key_block_visits_the_rows_that_the_mask_leaves(mask, block_q, block_k):
    w = Workload(n=100, d=8, block_q=block_q, block_k=block_k, heads=2, mask=mask)
    seen = by_hand.seen(w.problem("fa2"))
    full, every = [], []
    for c in range(0, w.n, w.block_k):
        tiles = [seen[r : r + w.block_q, c : c + w.block_k] for r in range(0, w.n, w.block_q)]
        full.append(sum(t.all() and t.shape[1] == w.block_k for t in tiles))
        every.append(sum(t.any() for t in tiles))
    found = programs(w, "fa2", pass_="backward")
    np.testing.assert_array_equal(found.full, np.tile(full, 2))
    np.testing.assert_array_equal(found.visits, np.tile(every, 2))
    assert found.row.tolist() == 2 * list(range(len(full))), "the kernel takes them as they come"
    light = programs(w, "fa2", launch.LIGHT, "backward")
    assert light.visits.tolist() == 2 * sorted(every)
    assert programs(w, "fa1", pass_="backward").visits.tolist() == [sum(every)] * 2
    if mask == "causal":
        assert every[0] == max(every) == -(-w.n // w.block_q)


@pytest.mark.parametrize("mask", MASKS)
def test_the_longest_rows_come_first_where_that_is_asked(mask):
    """Within each head, and of a section of heads together; whose programs are the same ones."""
    w = Workload(n=200, d=8, block_q=16, block_k=24, heads=3, mask=mask)
    kernel, plain = (programs(w, "fa2", o) for o in ("", launch.PLAIN))
    assert kernel.row.tolist() == (
        plain.row.tolist() if mask != "causal" else sorted(plain.row.tolist(), reverse=True)
    )
    every = sorted(zip(plain.head, plain.row, plain.visits, strict=True))
    for order in (launch.HEAD, launch.HEAVY):
        found = programs(w, "fa2", order)
        assert sorted(zip(found.head, found.row, found.visits, strict=True)) == every
        together = [found.visits[found.head == h] for h in range(3)]
        if order == launch.HEAVY:
            together = [found.visits]
        assert all((np.diff(x) <= 0).all() for x in together)
