"""The lesson: the ring computes each causal tile once; the share of the ideal by adding up."""

import pytest

from explainer.learn.lessons.devices import lesson


@pytest.mark.parametrize("layout", ("rows", "zigzag"))
def test_the_ring_computes_each_causal_tile_once(layout):
    tiles = [t for step in range(4) for found in lesson.work(layout, step) for t in found]
    assert sorted(tiles) == [(i, j) for i in range(8) for j in range(i + 1)]
    assert sorted(b for found in lesson.blocks_of_gpus(layout) for b in found) == [*range(8)]


def test_early_and_late_blocks_even_the_ring():
    assert lesson.longest("zigzag") == lesson.total() / 4 < lesson.longest("rows")
