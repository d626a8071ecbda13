"""The kinds of numbers, and what they say."""

import pytest

from explainer.base import kinds, records
from explainer.base.paths import RECORDED


@pytest.mark.parametrize("name", sorted(x.stem for x in RECORDED.glob("*h200.json")))
def test_a_recorded_figure_says_where_and_when(name):
    record, kind = records.load(name), kinds.recorded(name)
    assert kind.text == f"recorded on {record['device']}, {record['date']}"
    assert str(kind) == records.about(name)


def test_what_is_full_holds_the_rest():
    assert str(kinds.measured("NVIDIA H200", "today")) == "measured on NVIDIA H200, today"
    assert str(kinds.cited("NVIDIA H200 datasheet")) == "data sheet: NVIDIA H200 datasheet"
    assert records.load("compiled")["date"] in kinds.compiled("sm_90").text
    assert str(kinds.computed()) == "computed"
