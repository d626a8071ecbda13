"""Rung 11 against traces and closed forms."""

from __future__ import annotations

import json
from collections import Counter
from functools import partial
from itertools import product
from urllib.parse import parse_qsl

import pytest

from explainer.algorithms.schedule import schedule
from explainer.learn import versions
from explainer.learn.blocks import values
from explainer.learn.registry import rungs
from explainer.memory.workload import Workload
from explainer.problem import Problem, ProblemError
from explainer.trace import trace
from tests.effort import assert_light

WIDGETS = {w.key: w for w in versions.WIDGETS}
RUNGS = {r.key: r for r in rungs()}


def blocks(key: str, **query: object) -> list[dict]:
    return WIDGETS[key].compute(values(WIDGETS[key], {k: str(v) for k, v in query.items()}))


def rows(made: list[dict]) -> dict[str, list[str]]:
    return {r[0]: r[1:] for b in made if b["type"] == "table" for r in b["rows"]}


def test_the_link_shows_fa1_write_in_the_middle_of_its_work():
    parts = dict(parse_qsl(RUNGS["versions"].links[0].query, strict_parsing=True))
    visit = schedule(Problem.from_query(parts))[int(parts["step"])]
    assert {t.tensor for t in visit.transfers if t.op == "write"} == {"O", "m", "l"}


# ---- versions


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("order", ["fa1", "fa2"])
def test_divisions_counted_in_a_trace(order, causal):
    """Every number of the O that a visit stores was divided there."""
    w = Workload(n=64, d=16, block_q=32, block_k=16, causal=causal)
    visits = trace(w.problem(order)).visits
    counted = sum(v.O.size for v in visits if "store" in v.phases)
    assert versions.divisions(w, order) == counted


def test_what_is_written_again_and_again():
    """The question's cells, counted in the schedules."""
    question = RUNGS["versions"].question
    for row, col in product(range(2), range(3)):
        tensor = question.cells[row][col].replace("ℓ", "l")
        most = {}
        for order in ("fa1", "fa2"):
            steps = schedule(Problem(causal=False, order=order))
            seen = Counter(t.block for s in steps for t in s.transfers
                           if (t.tensor, t.op) == (tensor, "write"))  # fmt: skip
            most[order] = max(seen.values(), default=0)
        assert ((row, col) in question.answer) == (most["fa1"] > 1 >= most["fa2"])


@pytest.mark.parametrize(("n", "heads", "br"), [(256, 1, 64), (1024, 16, 64), (16384, 64, 32)])
def test_programs(n, heads, br):
    found = versions.launched(Workload(n=n, heads=heads, block_q=br))
    assert found["fa1"] == heads
    assert found["fa2"] == heads * -(-n // br)
    assert found["fa3"] == min(132, found["fa2"])


@pytest.mark.parametrize(("br", "bc", "d"), [*product((32, 64, 128), repeat=3)])
def test_bytes_through_shared_memory_in_closed_form(br, bc, d):
    """Split-K, four warps: of m and of l each warp writes Br numbers and reads all four parts; of O
    it writes Br × d and reads its rows of all four parts. Split-Q: nothing."""
    nbytes, barriers = versions.exchanged("k", br, bc, d)
    assert nbytes == 4 * (2 * (4 * br + 4 * 4 * br) + 4 * br * d + 4 * br * d)
    assert versions.exchanged("q", br, bc, d) == (0, 1)
    assert barriers == 4  # the copy, m, l, O


def test_kept_bytes_and_the_table():
    made = blocks("versions", n=1024, d=64, br=64, bc=64, heads=16)
    found = rows(made)
    assert found["kept for backward"] == ["m and ℓ, 128 KiB", "lse, 64 KiB", "as FA-2"]
    assert found["programs"] == ["16", "256", "132, persistent"]
    assert found["divisions by ℓ, a head"][:2] == [f"{1024 * 64 * 16:,}", f"{1024 * 64:,}"]
    bytes_ = [i[1] for b in made if b["type"] == "bars" for i in b["items"]]
    n, d, T = 1024, 64, 16
    assert bytes_[0] == 16 * 2 * (T * n * d + 2 * T * n * d + n * d + 4 * n * n)  # FACTS.md: asked
    assert bytes_[1] == 16 * (2 * (2 * n * d + T * 3 * n * d) + T * 4 * n * 4)
    assert bytes_[2] == 16 * (2 * (2 * n * d + T * 2 * n * d) + 4 * n)
    least = [2 * (4 * n * d + 4 * n * n), 2 * 4 * n * d + 8 * n, 2 * 4 * n * d + 4 * n]
    assert bytes_[3:] == [16 * x for x in least]
    titles = [b["label"] for b in made if b["type"] == "bars"]
    assert "asked" in titles[0] and "least" in titles[1]


# ---- every setting


def test_every_setting_answers_small_and_with_little_work():
    for widget in versions.WIDGETS:
        for control in widget.controls:
            offered = [v for v, _ in control.choices] or range(4)
            for value in offered:
                asked = partial(blocks, widget.key, **{control.key: value})
                made = assert_light(asked, 20_000, 2_000_000)  # 6,518 lines, 0.6 MB
                assert len(json.dumps(made)) < 40_000
                assert all(b.get("label") or b.get("words") for b in made)


@pytest.mark.parametrize(
    ("key", "bad"),
    [
        ("versions", {"n": 100}),
        ("versions", {"mask": "x"}),
    ],
)
def test_bad_input_is_one_sentence(key, bad):
    with pytest.raises(ProblemError, match="is not allowed"):
        blocks(key, **bad)
