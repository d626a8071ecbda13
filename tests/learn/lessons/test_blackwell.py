"""The lesson: the pipeline's rules, its cycles by hand, and rescales against a loop over rows."""

import numpy as np
import pytest

from explainer.base.records import load
from explainer.learn.lessons.blackwell import lesson
from explainer.trace import trace
from tests.learn.scenes import check_units


@pytest.mark.parametrize("card", lesson.ARCHS)
@pytest.mark.parametrize("polynomial", (0, 24, 64))
def test_a_unit_does_one_thing_at_a_time_and_data_flow(card, polynomial):
    slots = lesson.slots(card, polynomial)
    check_units(slots)
    at = {s.task.key: s for s in slots}
    for w in (0, 1):
        for j in range(lesson.TILES):
            assert at["softmax", w, j].start >= at["S", w, j].end - 1e-9
            assert at["PV", w, j].start >= at["softmax", w, j].end - 1e-9
            assert at["S", w, j + 1].start >= at["PV", w, j].end - 1e-9, "S overwrites P"


def test_cycles_by_hand():
    """8,192 and 4,096 FLOP and 16 exp2 per clock and SM; tiles of 128 × 128 × 128."""
    assert lesson.matmul_cycles("b200") == 2 * 128**3 / 8192 == 512
    assert lesson.matmul_cycles("h100") == 2 * 128**3 / 4096 == 1024
    assert lesson.exp_cycles(24) == 128 * (128 - 24) / 16 == 832
    assert lesson.left_for_maximum("b200", 24) == 192 and lesson.left_for_maximum("b200", 0) == 0


def test_rescales_by_a_loop_over_rows():
    for gain in (1.0, lesson.LARGER):
        S = trace(lesson.PLAYED).S * np.float32(gain * lesson.LOG2E)
        updates = rises = count = 0
        for row in S:
            tops = [row[j : j + 64].max() for j in range(0, len(row), 64)]
            true = used = tops[0]
            for top in tops[1:]:
                updates, rises = updates + 1, rises + (top > true)
                true = max(true, top)
                if true > used + 8:
                    used, count = true, count + 1
        assert lesson.rescales(gain) == (updates, rises, count)


def test_hopper_s_speeds_are_the_record_s():
    points = load()["twelve_points"]["points"]
    (point,) = [p for p in points if (p["d"], p["n"], p["mask"]) == (128, 16_384, "causal")]
    wanted = {method: point["tflops"][method] for method in ("fa4", "sdpa_cudnn", "sdpa_flash")}
    assert lesson.speeds() == pytest.approx(wanted, rel=1e-3)
