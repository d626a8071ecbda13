"""Masks against their own definition, written out: loops over rows and keys, one at a time."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernels import masks

SEES = {"full": lambda row, key: True, "causal": lambda row, key: key <= row}
SIZES = st.integers(1, 40)


@pytest.mark.parametrize("text", masks.PLAIN)
@given(n_q=SIZES, n_k=SIZES, block_q=SIZES, block_k=SIZES)
def test_a_mask_is_what_its_name_says(text, n_q, n_k, block_q, block_k):
    mask, shift = masks.parse(text), n_k - n_q
    sees = [[SEES[text](i + shift, j) for j in range(n_k)] for i in range(n_q)]
    dense = np.array(sees)
    assert (mask.keep(n_q, n_k) == dense).all()
    assert mask.visible(n_q, n_k) == dense.sum()
    assert mask.hides or dense.all()
    kinds = mask.tiles(n_q, n_k, block_q, block_k)
    starts, stops = mask.key_range(n_q, n_k, block_q)
    sure = mask.key_range(n_q, n_k, block_q, every=True)
    for i, row_block in enumerate(range(0, n_q, block_q)):
        rows = dense[row_block : row_block + block_q]
        assert not rows[:, : starts[i]].any() and not rows[:, stops[i] :].any()
        if not rows.any():
            assert starts[i] == stops[i]
        assert rows[:, sure[0][i] : sure[1][i]].all()
        for j, key_block in enumerate(range(0, n_k, block_k)):
            tile = rows[:, key_block : key_block + block_k]
            want = "full" if tile.all() else "partial" if tile.any() else "skipped"
            assert masks.TILE_KINDS[kinds[i, j]] == want
    firsts, lasts = mask.row_range(n_q, n_k, block_k)
    for j, key_block in enumerate(range(0, n_k, block_k)):
        keys = dense[:, key_block : key_block + block_k]
        assert not keys[: firsts[j]].any() and not keys[lasts[j] :].any()


def test_part_of_a_mask_is_cut_out_of_the_whole():
    mask = masks.parse("causal")
    part = mask.keep(9, 12, slice(2, 5), slice(3, 8))
    assert (part == mask.keep(9, 12)[2:5, 3:8]).all()


def test_an_unknown_mask_is_refused_and_the_known_are_named():
    with pytest.raises(masks.MaskError, match="full, causal, window"):
        masks.parse("windows")


def test_flops_are_counted_by_the_papers_convention():
    assert masks.flops(masks.of(False), 2, 8, 8, 4) == 4 * 2 * 8 * 8 * 4
    assert masks.flops(masks.of(True), 2, 8, 8, 4) == 4 * 2 * 8 * 8 * 4 / 2
