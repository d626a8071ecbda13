"""The masks and scores whose times are on record, each with its picture and its gain over
FlexAttention."""

from typing import Any, TypedDict

import numpy as np

from explainer.algorithms import tiling
from explainer.base.records import load
from explainer.engine.record_rows import MASKS, rows_in
from explainer.learn.presets import PRESETS
from explainer.problem import Problem
from explainer.views.templates import render, render_words

SIDE = 16  # cells of a picture, down and across
CAP = 4.8  # cells; a softcap's curve is CAP·tanh(x / CAP) around the middle, y upwards
CURVE = [(x + 8, 8 - CAP * np.tanh(x / CAP)) for x in np.linspace(-7, 7, 21)]
OURS, OTHER = "hopper", "flex"


class MaskPicture(TypedDict):
    """``cells``: SIDE × SIDE, row by row, "n" where a tile has work, else "o"; times in ms;
    ``preset``: what the mask is called in a Problem, for any N; ``models`` that use it."""

    title: str
    models: str
    mask: str
    preset: str
    score: str
    cells: str
    ours_ms: float
    other_ms: float
    gain: float


def view() -> dict[str, str]:
    """Return ``headline``, ``sentence``, ``provenance`` and ``html`` of the view."""
    facts = pictures()
    return render_words("run/masks", **facts) | {"html": render("run/masks", curve=CURVE, **facts)}


def pictures() -> dict[str, Any]:
    """Return ``device``, ``date``, and of which shape the times are, with every mask that both
    kernels were timed with (``masks``), the largest gain first."""
    rows = rows_in(MASKS)
    n = min(row["n"] for row in rows)
    times = {
        (row["mask"], row["score"], row["method"]): row["median_ms"]
        for row in rows
        if row["n"] == n
    }
    found = [
        _picture(mask, score, n, ours, times[mask, score, OTHER])
        for (mask, score, method), ours in times.items()
        if method == OURS and (mask, score, OTHER) in times
    ]
    found.sort(key=lambda one: -one["gain"])
    record, first = load(MASKS), rows[0]
    shape = {"n": n, "d": first["d"], "dtype": first["dtype"]}
    shape["heads"] = f"{first['batch']} × {first['heads']}"
    return {"device": record["device"], "date": record["date"], **shape, "masks": found}


def _names(text: str) -> list[str]:
    """Return the predicates of a mask, or the parts of a score, without their numbers."""
    return [part.partition(":")[0] for part in text.replace("|", "&").split("&")]


def _picture(mask: str, score: str, n: int, ours: float, other: float) -> MaskPicture:
    block = n // SIDE
    problem = Problem(n=n, d=16, block_q=block, block_k=block, mask=mask)
    has_work = tiling.kinds(problem) != tiling.SKIPPED
    # A score names the picture; of a mask alone its predicates do
    like = next(
        preset
        for preset in PRESETS
        if _names(preset.score) == _names(score)
        and (score != "none" or _names(preset.mask(n)) == _names(mask))
    )
    is_same = like.score == score and _names(like.mask(n)) == _names(mask)
    return {
        "title": like.title,
        "models": like.models if is_same else "",
        "mask": mask,
        "preset": like.title if score == "none" else mask,
        "score": score,
        "cells": "".join("on"[int(x)] for x in has_work.ravel()),
        "ours_ms": ours,
        "other_ms": other,
        "gain": other / ours,
    }
