"""Where exp overflows in each format, and softmax with every result rounded to it."""

import math
from collections.abc import Sequence

import numpy as np

from explainer.base.amounts import format_significant
from explainer.learn import example
from explainer.learn.kit import Block, Words
from explainer.learn.linear_algebra import attend, softmax
from kernels.spec.formats import FORMATS

t = Words(__name__)
Numbers = dict[str, np.ndarray]
CAT = attend(example.Q[:3], example.K[:3], example.V[:3])[0][1]  # 2.1, 6.5, 3.4, as in 1.4
THOUSAND = np.array([1000.0, 1001.0, 1002.0])
ON_SCREEN = ("fp16", "bf16", "fp32")
ENDS = {"cat": (-140.0, 140.0, 20), "thousand": (-140.0, 1060.0, 100)}  # and between ticks


def limit(name: str) -> float:
    """The largest logit whose exp is still a number of the format."""
    return math.log(FORMATS[name].largest)


def vanishes(name: str) -> float:
    """The logit below which exp is 0 in the format: half of its smallest number is rounded to 0."""
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


def outcome(found: Numbers, name: str) -> str:
    """What happened, in a few words."""
    if np.isinf(found["e"]).any():
        return t("infinite")
    if np.isinf(found["sum"]):
        return t("overflow", largest=format_significant(FORMATS[name].largest, 3))
    if found["sum"] == 0:
        return t("zero")
    right = softmax(found["x"])
    error = np.abs(found["weights"] - right).max() / right.max()
    return t("right" if error < 8 * FORMATS[name].unit_roundoff else "digits")


def _number(x: float) -> str:
    x = round(x) if 1_000 <= x < 10**7 else x  # else fp32's sum looks coarser than bf16's
    return {"nan": "NaN", "inf": "∞"}.get(str(x)) or format_significant(float(x), 3)


def _weights(found: Numbers) -> list[str]:
    return ["NaN" if np.isnan(x) else f"{x:.3f}" if x else "0" for x in found["weights"]]


def compute(input: str, gain: float, subtract: bool) -> Block:
    """Three logits on a number line with what each format's exp can take, and what comes out."""
    x = CAT * gain if input == "cat" else THOUSAND
    found = {name: in_format(x, name, subtract) for name in ON_SCREEN}
    low, high, every = ENDS[input]
    names = [_number(v) for v in x]
    titles = [FORMATS[name].title for name in ON_SCREEN]
    outcomes = [outcome(found[name], name) for name in ON_SCREEN]
    weights = [_weights(found[name]) for name in ON_SCREEN]
    lanes = [
        t("lane", format=title, weights=w, outcome=what)
        for title, w, what in zip(titles, weights, outcomes, strict=True)
    ]
    return t.picture(
        names=names,
        how=t("shifted" if subtract else "plain"),
        formats=" ".join(lanes),
        subtract=subtract,
        dots=x - x.max() if subtract else x,
        dot_names=[_number(v) if k == int(x.argmax()) else "" for k, v in enumerate(x)],
        titles=titles,
        starts=[max(low, vanishes(name)) for name in ON_SCREEN],
        ends=[limit(name) for name in ON_SCREEN],
        low=low,
        high=high,
        ticks=[(k, f"{k:,}".replace("-", "−")) for k in range(-100, int(high), every)],
        exps=[[_number(v) for v in found[name]["e"]] for name in ON_SCREEN],
        sums=[[_number(float(found[name]["sum"]))] for name in ON_SCREEN],
        weights=weights,
        outcomes=outcomes,
    )


def question(at: int, name: str, scores: Sequence[float]) -> dict:
    """The last weight when nothing is subtracted first, computed; the right answer at this place
    among the mistakes."""
    x = np.array(scores)
    unsafe, right = (_weights(in_format(x, name, safe))[-1] for safe in (False, True))
    wording = ", ".join(f"{z:g}" for z in scores).replace("-", "−")
    title = FORMATS[name].title
    size = {True: "∞", False: "0"}[scores[0] > 0]
    if unsafe != "NaN":
        why = t("reason.sum_last", format=title, right=right)
    else:
        key = "reason.sum_zero" if size == "0" else "reason.sum_infinite"
        why = t(key, format=title, right=right)
    options = [
        (right, t("reason.safe")),
        ("1", t("reason.first", size=size, format=title)),
        ("0", t("reason.last", size=size))
        if unsafe == "NaN"
        else ("NaN", t("reason.last_number", format=title)),
    ]
    options.insert(at, (unsafe, why))
    return {
        "words": t("question", scores=wording, format=title),
        "options": tuple(options),
        "answer": at,
    }


def figures() -> dict[str, str]:
    """The logit below which fp32's exp is 0."""
    return {"zero": f"{vanishes('fp32'):.0f}".replace("-", "−")}
