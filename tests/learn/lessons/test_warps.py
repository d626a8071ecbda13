"""The lesson: bytes through shared memory in closed form, tiles on an SM by hand."""

from itertools import product

import pytest

from explainer.learn.lessons.warps import lesson
from tests.learn.scenes import LESSONS


@pytest.mark.parametrize(("br", "bc", "d"), [*product((32, 128), repeat=3)])
def test_bytes_through_shared_memory_in_closed_form(br, bc, d):
    """Split-K, four warps: of m and of l each warp writes Br numbers and reads all four parts; of O
    it writes Br × d and reads its rows of all four parts. Split-Q: nothing."""
    nbytes, barriers = lesson.exchanged("k", br, bc, d)
    assert nbytes == 4 * (2 * (4 * br + 4 * 4 * br) + 4 * br * d + 4 * br * d)
    assert lesson.exchanged("q", br, bc, d) == (0, 1)
    assert barriers == 4  # the copy, m, l, O


def test_what_a_store_of_an_mma_s_sums_touches():
    """PTX ISA, mma.m16n8k16: thread t holds row t // 4, columns 2 (t % 4) and the next."""
    rows = [t // 4 for t in range(32) for _ in (0, 1)]
    assert f"touch {len({*rows})} rows with {2 * rows.count(0)} bytes" in LESSONS["warps"].more


def test_tiles_an_sm_holds_at_once_by_hand():
    """H200: 228 KiB and 65,536 registers; a tile of 32 × 64, d = 32 has 11 KiB and 32 registers per
    thread, and 64 warps make 16 tiles."""
    found = lesson.resident(32, 64, 32)
    assert [found[x] for x in ("shared memory", "registers", "threads")] == [228 // 11, 16, 16]
