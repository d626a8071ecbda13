"""The lesson: the checks are those of the sourced table."""

import pytest

from explainer.learn import ecosystem
from explainer.learn.lessons.backends import lesson
from explainer.learn.lessons.backends.lesson import Input
from tests.learn.scenes import block

INPUT = Input(90, "bf16", 64, "none")


@pytest.mark.parametrize(
    ("change", "wanted"),
    [
        ({}, "cudnn"),
        ({"sm": 80}, "flash"),
        ({"sm": 75}, "math"),
        ({"dtype": "fp32"}, "efficient"),
        ({"sm": 75, "dtype": "fp16"}, "efficient"),
        ({"d": 50, "dtype": "fp32"}, "math"),
        ({"sm": 80, "mask": "any"}, "efficient"),
        ({"mask": "any"}, "cudnn"),
        ({"sm": 80, "d": 50}, "flash"),
        ({"d": 256}, "cudnn"),
    ],
)
def test_the_backend_is_what_the_sourced_table_says(change, wanted):
    x = Input(**vars(INPUT) | change)
    assert lesson.chosen(x) == wanted
    assert f"{lesson.NAMES[wanted]} runs." in block("backends", **vars(x))["words"]


def test_the_checks_are_the_rows_of_the_table():
    rows = {row[0]: row for row in ecosystem.BACKENDS["rows"]}
    for name, column in (("flash", 1), ("cudnn", 2), ("efficient", 3)):
        no_fp32 = bool(lesson.refusal(name, Input(90, "fp32", 64, "none")))
        assert no_fp32 == (rows["fp32"][column] == "no")
        no_mask = bool(lesson.refusal(name, Input(90, "bf16", 64, "any")))
        assert no_mask == (rows["any other attn_mask"][column] == "no")
