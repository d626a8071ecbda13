"""The kit: its marks are plain JSON without what is empty, and a lesson gives no coordinates."""

import json

import numpy as np

from explainer.learn import kit


def test_a_mark_has_no_empty_parts_and_is_json():
    cells = np.array([[0.0, -np.inf], [np.nan, 1 / 3]])
    made = kit.mark("grid", name="S", cells=cells, at=0, rows=("a", "b"), key="")
    assert made == {
        "mark": "grid",
        "name": "S",
        "cells": [[0.0, "−∞"], ["NaN", 0.333333]],
        "rows": ["a", "b"],
        "digits": 2,
        "at": 0,
    }
    assert json.loads(json.dumps(made, allow_nan=False)) == made


PARTS = [
    {
        "mark": "frame",
        "title": "SRAM",
        "of": [
            {
                "if": "$is_wide",
                "mark": "row",
                "grow": [1, "$two"],
                "of": [{"mark": "sign", "text": "="}],
            },
            {"each": {"n": "$ns"}, "if": "$n", "mark": "note", "text": "{k}: {n:,} of {MOST}"},
            {"if": "$two", "is": 2, "then": {"mark": "note", "text": {"at": "$two", "of": "$ns"}}},
        ],
    }
]


def test_a_picture_repeats_leaves_out_and_chooses_as_its_yaml_says():
    values = {"is_wide": True, "two": 2, "MOST": 7}
    (frame,) = kit.read_marks(PARTS, values | {"ns": [1000, 0, 5]})
    row, first, second, last = frame["of"]
    assert row == {"mark": "row", "grow": [1, 2], "of": [{"mark": "sign", "text": "="}]}
    assert [first["text"], second["text"], last["text"]] == ["0: 1,000 of 7", "2: 5 of 7", 5]
    (frame,) = kit.read_marks(PARTS, values | {"is_wide": False, "ns": {"a": 0, "b": 3, 2: 4}})
    assert [part["text"] for part in frame["of"]] == ["1: 3 of 7", "2: 4 of 7", 4]


def test_a_picture_is_its_marks_and_what_they_say():
    block = kit.picture("Label", "All of it.", [kit.mark("sign", text="=")])
    assert (block["name"], block["label"], block["words"]) == ("kit", "Label", "All of it.")
    assert block["data"] == {"marks": [{"mark": "sign", "text": "="}]}
