"""What a mask leaves, counted here score by score; what decoding must keep, by every query."""

import pytest

from explainer.algorithms.traffic import both, traffic
from explainer.memory import mask_work
from explainer.memory.workload import Workload
from kernels.spec.masks import parse
from tests import by_hand

MASKS = (
    "full",
    "causal",
    "causal&window:40,0|prefix:9",
    "causal&document:0,30,71",
    "block:20x30,1.1",
    "causal&dilated:3",
)


@pytest.mark.parametrize("mask", MASKS)
def test_scores_and_tiles_are_those_of_the_dense_mask(mask):
    w = Workload(n=100, d=8, block_q=16, block_k=24, batch=2, heads=3, mask=mask)
    seen = by_hand.seen(w.problem("fa2"))
    tiles = [tile for row in by_hand.tiles(seen, w.block_q, w.block_k) for tile in row]
    whole = [t.all() and t.shape == (w.block_q, w.block_k) for t in tiles]
    found = mask_work.work(w)
    assert found.scores == seen.sum()
    assert found.tiles == sum(t.any() for t in tiles)
    assert found.tiles - found.partial == sum(whole)
    assert found.nbytes == both(traffic(w.problem("fa2")))
    if not w.mask.plain:
        assert found.flops == 4 * w.d * seen.sum()


@pytest.mark.parametrize("n", [1, 7, 24, 60])
@pytest.mark.parametrize(
    "mask", [*MASKS[1:4], MASKS[5], "causal&chunk:10", "causal&window:3,0", "window:5,5&causal"]
)
def test_what_is_held_is_what_somebody_still_sees(mask, n):
    dense = parse(mask).keep(2 * n, 2 * n)
    assert mask_work.cached_keys(parse(mask), n) == dense[n - 1 :, :n].any(axis=0).sum()
    assert mask_work.cached_keys(parse("full"), n) == n


def test_heads_that_share_keys_divide_the_cache():
    assert mask_work.key_heads(16) == (16, 8, 4, 2, 1)
    assert mask_work.key_heads(12) == (12, 6, 3, 1)
    assert mask_work.key_heads(1) == (1,)
    w = Workload(d=128, heads=32, dtype="bf16")  # K and V of 8 heads of 128 numbers of 2 bytes
    assert mask_work.cache_bytes(w, 8, 1) == 4096 and mask_work.cache_bytes(w, 32, 1) == 16_384
