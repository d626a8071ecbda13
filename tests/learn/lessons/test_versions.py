"""The lesson: what O costs by the transfers, and strips that do the same work."""

import pytest

from explainer.algorithms.schedule import schedule
from explainer.base.facts import number
from explainer.learn.lessons.versions import lesson
from explainer.problem import Problem
from tests.learn.scenes import LESSONS, marks
from tests.learn.scenes import data as picture


def test_the_link_shows_fa1_write_in_the_middle_of_its_work():
    parts = dict(x.split("=") for x in LESSONS["versions"].links[0].query.split("&"))
    visit = schedule(Problem.from_query(parts))[int(parts["step"])]
    assert {t.tensor for t in visit.transfers if t.op == "write"} == {"O", "m", "l"}


@pytest.mark.parametrize("tick", [0, 3, 4, 16])
def test_what_o_costs_after_each_tick(tick):
    """FA-1 reads and writes O at every visit; FA-2 writes each block once, at its last tile."""
    said = [m["text"] for m in marks(picture("versions", step=tick)) if m["mark"] == "note"]
    assert f"O: {tick} read{'s' * (tick != 1)}, {tick} write{'s' * (tick != 1)} of 16" in said
    assert said.count(f"O: 0 reads, {4 if tick >= 4 else 0} writes of 4") == 2
    grids = [m for m in marks(picture("versions", step=tick)) if m["mark"] == "grid"]
    done = [sum(x > 0 for line in grid["cells"] for x in line) for grid in grids]
    assert done == [tick, 4 * min(tick, 4), 4 * min(tick, 4)]


def test_the_strips_do_the_same_work_and_load_into_free_buffers():
    lanes = {order: dict(lesson.strips(order)) for order in lesson.SMALL}
    loads = {order: found.pop("loads") for order, found in lanes.items()}
    names = {order: [what for *_, what in found] for order, found in loads.items()}
    assert names["fa1"].count("K") == 1 and names["fa1"].count("O") == 2 * lesson.T
    assert names["fa2"].count("K") == names["fa3"].count("K") == lesson.T
    (work,) = lanes["fa2"].values()  # a matmul, softmax, a matmul for each visit: two buffers
    keys = [start for start, _, what in loads["fa2"] if what == "K"]
    assert all(keys[v] >= work[3 * v - 4][1] - 1e-9 for v in range(2, lesson.T))
    product = 2 * 64 * 128 * 128 / (989.4e6 / 132)  # µs, 64 rows
    for order, found in lanes.items():
        spent = [
            sum(end - start for lane in found.values() for start, end, what in lane if what == kind)
            for kind in ("product", "softmax")
        ]
        softmax = 4 * number("fa3.softmax") * product * len(found)  # halves side by side
        assert spent == pytest.approx([4 * 4 * product, softmax]), order
