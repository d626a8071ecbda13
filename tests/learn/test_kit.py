"""The kit: its marks are plain JSON without what is empty, and a lesson gives no coordinates."""

from __future__ import annotations

import json

import numpy as np

from explainer.learn import kit


def test_a_mark_has_no_empty_parts_and_is_json():
    made = kit.grid("S", np.array([[0.0, -np.inf], [np.nan, 1 / 3]]), at=0, rows=("a", "b"))
    assert made == {
        "mark": "grid",
        "name": "S",
        "cells": [[0.0, "−∞"], ["NaN", 0.333333]],
        "rows": ["a", "b"],
        "digits": 2,
        "at": 0,
    }
    assert json.loads(json.dumps(made, allow_nan=False)) == made


def test_a_picture_is_its_marks_and_what_they_say():
    inner = kit.row(kit.sign("="), kit.note("So.", aside=True), grow=(1, 2))
    block = kit.picture("Label", "All of it.", kit.frame("SRAM", inner, look="chip"))
    assert (block["name"], block["label"], block["words"]) == ("kit", "Label", "All of it.")
    assert block["data"] == {
        "marks": [
            {
                "mark": "frame",
                "title": "SRAM",
                "of": [
                    {
                        "mark": "row",
                        "of": [
                            {"mark": "sign", "text": "="},
                            {"mark": "note", "text": "So.", "aside": True},
                        ],
                        "grow": [1, 2],
                    }
                ],
                "look": "chip",
            }
        ]
    }
