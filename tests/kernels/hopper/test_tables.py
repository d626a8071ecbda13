"""The tables of rows against the dense mask: every key seen is visited, whole blocks are whole."""

import random

import numpy as np
import pytest
import torch

from kernels.hopper import launch, plans, tables
from kernels.spec import masks
from kernels.tables import SPANS
from tests import by_hand


def interval_masks(count: int, n_q: int, n_k: int, seed: int = 0) -> list[masks.Mask]:
    """Random masks under which each row sees one interval of keys, and some row a key."""
    draw, found = random.Random(seed), []
    while len(found) < count:
        mask = masks.parse(by_hand.draw_mask(draw, max(n_q, n_k)))
        is_one = mask.spans(n_q, n_k) is not None and mask.visible(n_q, n_k)
        if is_one and not mask.plain:
            found.append(mask)
    return found


def check(mask: masks.Mask, n_q: int, n_k: int, block_m: int, block_n: int) -> None:
    made = tables.on_device(mask, n_q, n_k, block_m, block_n, torch.device("cpu"))
    spans, tiles = made.spans.numpy(), made.tiles.numpy()
    kept, groups = mask.keep(n_q, n_k), block_m // 64
    keys = np.arange(n_k)
    assert np.array_equal(kept, (spans[:n_q, :1] <= keys) & (keys < spans[:n_q, 1:]))
    assert not spans[n_q:].any()
    assert sorted(tiles[:, 0]) == list(range(-(-n_q // block_m)))
    assert (np.diff(tiles[:, 2] - tiles[:, 1]) <= 0).all(), "most key blocks first"
    for i, first, end, *own in tiles[:, : 3 + 4 * groups].tolist():
        assert 0 <= first < end <= -(-n_k // block_n)
        for w in range(groups):
            mine, stop, begin, until = own[4 * w : 4 * w + 4]
            assert first <= mine < stop <= end
            rows = kept[i * block_m + 64 * w :][:64]
            assert not rows[:, : mine * block_n].any() and not rows[:, stop * block_n :].any()
            for j in range(mine, stop) if len(rows) else ():
                block = rows[:, j * block_n : (j + 1) * block_n]
                whole = block.all() and block.shape[1] == block_n
                assert whole == (begin <= j * block_n and (j + 1) * block_n <= until)
        if first + 1 < end:  # no block at either end that nobody sees
            rows = kept[i * block_m : (i + 1) * block_m]
            assert rows[:, first * block_n : (first + 1) * block_n].any()
            assert rows[:, (end - 1) * block_n : end * block_n].any()


@pytest.mark.parametrize("block_m", [128, 192])
@pytest.mark.parametrize(("n_q", "n_k"), [(300, 517), (517, 300), (64, 128), (1, 700), (385, 384)])
def test_tables_say_what_the_mask_says(n_q, n_k, block_m):
    for mask in interval_masks(12, n_q, n_k, seed=n_q):
        check(mask, n_q, n_k, block_m, 128)


def test_a_key_beyond_the_last_sees_no_row():
    """It would add to dQ; of a row beyond the last nothing is stored."""
    whole = [
        tables.on_device(masks.parse("full"), 300, 270, 128, 64, torch.device("cpu"), by_keys).tiles
        for by_keys in (False, True)
    ]
    assert [made[made[:, 0] == 2][0, 5:11:4].tolist() for made in whole] == [[0, 0], [0, 0]]
    assert [made[made[:, 0] == 2][0, 6:12:4].tolist() for made in whole] == [
        [270, 2**31 - 1],
        [0, 0],
    ]


@pytest.mark.parametrize("text", ["full", "causal", "causal&window:40,0", "document:0,140,300"])
def test_ranks_of_the_backward_are_in_the_order_of_the_tiles(text):
    """The tiles that visit a row block have ranks 0, 1, 2 … in the order of the table."""
    n_q, n_k, keys, rows = 333, 700, 128, 64
    mask = masks.parse(text)
    made = tables.on_device(mask, n_q, n_k, keys, rows, torch.device("cpu"), True)
    ranks = tables.ranks_on_device(mask, n_q, n_k, keys, rows, torch.device("cpu"))
    seen = mask.keep(n_q, n_k)
    for i in range(-(-n_q // rows)):
        visits = [j for j, first, end in made.tiles[:, :3].tolist() if first <= i < end]
        assert [ranks[j, i].item() for j in visits] == list(range(len(visits)))
        strip = seen[i * rows : (i + 1) * rows]
        needed = {j for j in range(-(-n_k // keys)) if strip[:, j * keys : (j + 1) * keys].any()}
        assert needed <= set(visits)


def test_short_packed_sequences_have_a_plan_without_ranges(monkeypatch):
    """Those that begin with a block do not count, and spans that do not say so are one sequence."""
    chosen = []
    monkeypatch.setattr(launch, "why_not", lambda *_, **__: "")
    monkeypatch.setattr(
        launch, "_prepared", lambda q, k, v, plan, *_: lambda *_: chosen.append(plan)
    )
    keys = 4 * plans.SHORT
    x, spans = torch.zeros(1, 1, keys, 64), torch.tensor([[[0, keys]] * keys], dtype=torch.int32)
    for cuts in (None, 3, 4):
        vars(spans).clear()
        vars(spans).update({} if cuts is None else {"cuts": cuts})
        launch.prepare(x, x, x, mask=SPANS)(x, x, x, spans)
    assert [plan.ranges for plan in chosen] == [True, True, False]
