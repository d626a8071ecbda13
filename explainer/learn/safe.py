"""Lesson 1.6: where exp overflows in each format, and how softmax is kept safe."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from explainer.base.amounts import format_significant
from explainer.learn.blocks import Block, picture, t
from explainer.learn.linear_algebra import softmax
from kernels.spec.formats import FORMATS

Numbers = dict[str, np.ndarray]

BELOW = np.array([0.0, -1.0, -2.0, -4.0])  # the four scores, against the largest
ON_SCREEN = ("fp16", "bf16", "fp32")
LOW, HIGH = -120.0, 100.0  # scores of the picture's axis


def limit(name: str) -> float:
    """The largest score whose exp is still a number of the format: log of its largest number."""
    return math.log(FORMATS[name].largest)


def vanishes(name: str) -> float:
    """The score below which exp is 0 in the format: log of half of its smallest number, which is
    rounded to 0."""
    return math.log(FORMATS[name].smallest_subnormal / 2)


def in_format(x: np.ndarray, name: str, subtract: bool) -> Numbers:
    """Softmax of ``x`` (k,) with every result rounded to the format, the sum term by term.

    ``x`` as stored, ``z`` what exp is taken of, ``e``, ``sum`` (), ``weights``: float64 arrays that
    hold values of the format.
    """
    rounded = FORMATS[name].round_to
    x = rounded(x)
    z = rounded(x - x.max()) if subtract else x
    with np.errstate(over="ignore"):
        e = rounded(np.exp(z))
    total = np.float64(0)
    for term in e:
        total = rounded(total + term)
    with np.errstate(invalid="ignore", divide="ignore"):
        return {"x": x, "z": z, "e": e, "sum": np.asarray(total), "weights": rounded(e / total)}


def outcome(found: Numbers, name: str) -> tuple[str, str]:
    """(“good” or “bad”, what happened, in a few words)."""
    largest = format_significant(FORMATS[name].largest, 3)
    if np.isinf(found["e"]).any():
        return "bad", t("safe.infinite")
    if np.isinf(found["sum"]):
        return "bad", t("safe.sum", largest=largest)
    if found["sum"] == 0:
        return "bad", t("safe.zero")
    error = np.abs(found["weights"] - softmax(found["x"])).max() / softmax(found["x"]).max()
    if error < 8 * FORMATS[name].unit_roundoff:
        return "good", t("safe.right")
    return "bad", t("safe.digits")


def _weights(found: Numbers) -> list[str]:
    return ["NaN" if np.isnan(x) else f"{x:.3f}" if x else "0" for x in found["weights"]]


def _safe(top: float, subtract: bool) -> list[Block]:
    lanes, spoken = [], []
    for name in ON_SCREEN:
        found = in_format(top + BELOW, name, subtract)
        tone, what = outcome(found, name)
        weights, subtracted = (_weights(x) for x in (found, in_format(top + BELOW, name, True)))
        lanes.append(
            {
                "name": FORMATS[name].title,
                "zero": vanishes(name),
                "end": limit(name),
                "largest": format_significant(FORMATS[name].largest, 3),
                "at": [float(z) for z in found["z"]],
                "weights": weights,
                "subtracted": subtracted,
                "tone": tone,
                "what": what,
            }
        )
        spoken.append(
            t("safe.lane", format=FORMATS[name].title, weights=", ".join(weights), what=what)
        )
    scores = ", ".join(f"{x:g}" for x in top + BELOW)
    key = "safe.spoken_safe" if subtract else "safe.spoken"
    words = t(key, scores=scores, formats=". ".join(spoken)).replace("-", "−")
    data = {
        "top": top,
        "below": BELOW.tolist(),
        "low": LOW,
        "high": HIGH,
        "step": 0.5,
        "subtract": subtract,
        "lanes": lanes,
    }
    return [picture("overflow", t("safe.title"), words, data)]


def _question(at: int, name: str, scores: Sequence[float]) -> dict:
    """The question for these scores, off the axis of the picture: the last weight when nothing is
    subtracted first, computed; the right answer at this place among the mistakes."""
    x = np.array(scores)
    unsafe, right = (_weights(in_format(x, name, safe))[-1] for safe in (False, True))
    wording = ", ".join(f"{z:g}" for z in scores).replace("-", "−")
    title = FORMATS[name].title
    size = {True: "∞", False: "0"}[scores[0] > 0]
    if unsafe != "NaN":
        why = t("safe.reason.sum_last", format=title, right=right)
    elif size == "0":
        why = t("safe.reason.sum_zero", format=title, right=right)
    else:
        why = t("safe.reason.sum_infinite", format=title, right=right)
    options = [
        (right, t("safe.reason.safe")),
        ("1", t("safe.reason.first", size=size, format=title)),
        ("0", t("safe.reason.last", size=size))
        if unsafe == "NaN"
        else ("NaN", t("safe.reason.last_number", format=title)),
    ]
    options.insert(at, (unsafe, why))
    return {
        "words": t("safe.question", scores=wording, format=title),
        "options": tuple(options),
        "answer": at,
    }


ZERO = f"{vanishes('fp32'):.0f}".replace("-", "−")
FIGURES = {"safe": lambda: {"zero": ZERO}}
QUESTIONS = {"safe": _question}

WIDGETS = {
    "safe": _safe,
}
