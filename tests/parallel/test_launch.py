"""How many tiles each program of a launch visits, counted score by score."""

import numpy as np
import pytest

from explainer.memory.workload import Workload
from explainer.parallel import launch
from explainer.parallel.launch import programs
from kernels.spec.fields import PASSES
from tests import by_hand
from tests.memory.test_mask_work import MASKS


@pytest.mark.parametrize("pass_", PASSES)
@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize(("block_q", "block_k"), [(16, 24), (32, 16), (20, 20)])
def test_a_block_visits_the_tiles_that_the_mask_leaves(mask, block_q, block_k, pass_):
    """Row blocks forward, key blocks backward; a tile with lanes that have no key needs a mask."""
    w = Workload(n=100, d=8, block_q=block_q, block_k=block_k, heads=2, mask=mask)
    tiles = by_hand.tiles(by_hand.seen(w.problem("fa2")), block_q, block_k)
    blocks = tiles if pass_ == "forward" else [*zip(*tiles, strict=True)]
    full = [sum(t.all() and t.shape[1] == w.block_k for t in block) for block in blocks]
    every = [sum(t.any() for t in block) for block in blocks]
    found = programs(w, "fa2", pass_=pass_)
    np.testing.assert_array_equal(found.full, np.array(full)[found.row])
    np.testing.assert_array_equal(found.visits, np.array(every)[found.row])
    assert sorted(found.row) == sorted(2 * [*range(len(blocks))])
    light = programs(w, "fa2", launch.LIGHT, pass_)
    assert light.visits.tolist() == 2 * sorted(every)
    one = programs(w, "fa1", pass_=pass_)
    assert one.visits.tolist() == [sum(every)] * 2 and not one.full.any()
    if pass_ == "backward":
        assert found.row.tolist() == 2 * [*range(len(blocks))], "the kernel takes them as they come"


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
