"""The kinds of numbers: what they say, how they add up, and what is none."""

from __future__ import annotations

import pytest

from explainer.base import kinds, records
from explainer.base.kinds import Kind

MADE = {
    "computed": kinds.computed("a sum"),
    "counted": kinds.counted("in a loop"),
    "simulated": kinds.simulated("a model"),
    "compiled": kinds.compiled("sm_90"),
    "measured": kinds.measured("NVIDIA H200", "today"),
    "recorded": kinds.recorded("nvidia_h200", "peaks"),
    "data sheet": kinds.cited("NVIDIA H200 datasheet"),
}


def test_every_word_has_its_function():
    assert set(MADE) == set(kinds.WORDS)
    assert all(kind.text.startswith(word) for word, kind in MADE.items())


@pytest.mark.parametrize("name", [n for n in records.NAMES if "h200" in n])
def test_a_recorded_figure_says_where_and_when(name):
    record, kind = records.load(name), kinds.recorded(name, "times")
    assert kind.text == f"recorded on {record['device']}, {record['date']}"
    assert str(kind) == f"{records.about(name)}: times"


def test_what_is_full_holds_the_rest():
    assert str(MADE["measured"]) == "measured on NVIDIA H200, today"
    assert str(MADE["data sheet"]) == "data sheet: NVIDIA H200 datasheet"
    assert records.load("compiled")["date"] in MADE["compiled"].text
    assert str(kinds.computed()) == "computed"


def test_two_kinds_side_by_side_are_said_once_each():
    both = kinds.computed("a sum") + kinds.recorded()
    assert both.text == f"computed; {kinds.recorded().text}"
    assert str(both) == f"computed: a sum; {records.about()}"
    assert both + kinds.computed() == both


@pytest.mark.parametrize("text", ["", "nice", "H200", "Computed"])
def test_no_other_word_is_a_kind(text):
    with pytest.raises(ValueError, match="must begin with one of computed, counted"):
        Kind(text)


@pytest.mark.parametrize("other", [None, "", "computed", 1])
def test_a_remark_is_no_kind(other):
    with pytest.raises(TypeError, match="must be a Kind"):
        kinds.required(other)
