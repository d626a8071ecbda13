"""Rungs 6 and 7: where exp overflows and how softmax is kept safe; masks, and what goes wrong."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from explainer.base.amounts import shown, written
from explainer.base.formats import FORMATS
from explainer.learn.blocks import Block, Control, Widget, matrix, plot, table, text
from explainer.learn.content import rung
from explainer.learn.controls import pick, slider
from explainer.learn.rungs_low import softmax, whole
from explainer.problem import Problem
from explainer.trace import trace

Values = Mapping[str, float | str]
Numbers = dict[str, np.ndarray]

BELOW = np.array([0.0, -1.0, -2.0, -4.0])  # the four logits, against the largest
BIG = np.float32(-1e9)  # what some code adds in place of −∞
PLAIN = Problem(
    n=4, d=4, block_q=4, block_k=4, causal=False, order="standard", inputs="random", gain=2.0
)


def limit(name: str) -> float:
    """The largest logit whose exp is still a number of the format: log of its largest number."""
    return math.log(FORMATS[name].largest)


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
        return {"x": x, "z": z, "e": e, "sum": total, "weights": rounded(e / total)}


def _verdict(found: Numbers, name: str) -> Block:
    """One sentence: what happened, and why."""
    title, largest = FORMATS[name].title, written(FORMATS[name].largest, 3)
    if np.isinf(found["e"]).any():
        return text(f"An exp passed {largest}, the largest number of {title}: it became ∞, and so "
                    "did the sum. ∞ / ∞ is NaN; a number / ∞ is 0.", "bad")  # fmt: skip
    if np.isinf(found["sum"]):
        return text(f"Every exp is a number of {title}, but their sum passed {largest} and became "
                    "∞. All weights are 0, and no NaN warns of it.", "bad")  # fmt: skip
    if found["sum"] == 0:
        return text(f"Every exp is below the smallest number of {title} and became 0. "
                    "0 / 0 is NaN.", "bad")  # fmt: skip
    error = np.abs(found["weights"] - softmax(found["x"])).max()
    relative = error / softmax(found["x"]).max()
    kind = "good" if relative < 8 * FORMATS[name].unit_roundoff else "bad"
    why = "" if kind == "good" else " Small exps have lost digits."
    return text(f"All weights are numbers. Largest error against float64: {shown(error)}.{why}",
                kind)  # fmt: skip


def _safe(v: Values) -> list[Block]:
    name, subtract = str(v["dtype"]), v["subtract"] == "1"
    found = in_format(float(v["top"]) + BELOW, name, subtract)
    title = FORMATS[name].title
    taken = "x − m" if subtract else "x"
    true = softmax(found["x"])
    lines = zip(found["x"], found["z"], found["e"], found["weights"], true, strict=True)
    rows = [(f"logit {r}", *(written(value) for value in line)) for r, line in enumerate(lines)]
    return [
        text(f"exp overflows in {title} above log({written(FORMATS[name].largest, 5)}) = "
             f"{limit(name):.2f}."),
        table(f"Softmax of four logits, every result rounded to {title}",
              ("logit", "x as stored", f"{taken} into exp", "exp", "weight", "weight in float64"),
              rows),
        text(f"Sum of the four exps: {written(found['sum'])}"),
        _verdict(found, name),
        plot(f"exp of {taken} in {title}: the curve ends where the format does",
             _curves(found, name), x_label=taken, y_label="exp", log_y=True),
    ]  # fmt: skip


def _curves(found: Numbers, name: str) -> list[dict]:
    """exp in the format from its zero to its end, and the four logits where they have a place."""

    def seen(x: np.ndarray) -> list[float | None]:
        e = FORMATS[name].round_to(np.exp(x))
        return [float(y) if 0 < y < np.inf else None for y in e]

    x = np.linspace(math.log(FORMATS[name].smallest_subnormal), limit(name), 41)
    points = [(z, y) for z, y in zip(found["z"], seen(found["z"]), strict=True) if y is not None]
    return [
        {"name": f"exp in {FORMATS[name].title}", "x": [float(z) for z in x], "y": seen(x),
         "colour": "plain", "points": False},
        {"name": "the four logits", "x": [float(z) for z, _ in points], "y": [y for _, y in points],
         "colour": "q", "points": True},
    ]  # fmt: skip


def masked(way: str, padded: bool) -> Numbers:
    """Attention over PLAIN's scores with a causal mask put on in this way, all (4, 4) float32 but
    ``O`` (4, d): ``keep`` 0/1, ``add`` and ``added`` (for "times": zeros and S), ``P``, ``O``.

    ``way``: inf, big (−1e9), or times (P is multiplied by 0/1 after the softmax); ``padded``: key 0
    is hidden from every row, so that row 0 sees no key.
    """
    run = trace(PLAIN)
    keep = np.tril(np.ones((PLAIN.n, PLAIN.n), np.float32))
    if padded:
        keep[:, 0] = 0
    hidden = {"inf": np.float32(-np.inf), "big": BIG, "times": np.float32(0)}[way]
    add = np.where(keep == 1, np.float32(0), hidden)
    added = run.S + add
    P = softmax(added) * (keep if way == "times" else np.float32(1))
    return {"keep": keep, "add": add, "added": added, "P": P, "O": P @ run.V}


def right_output(padded: bool) -> np.ndarray:
    """(4, d) the output that the mask asks for; 0 where a row sees no key, as FlashAttention has
    it."""
    if not padded:
        return trace(replace(PLAIN, causal=True)).O
    return np.nan_to_num(masked("inf", padded)["O"])


def _mask(v: Values) -> list[Block]:
    way, step, padded = str(v["way"]), whole(v["step"]), v["padded"] == "1"
    m, S = masked(way, padded), trace(PLAIN).S
    names = [str(r) for r in range(PLAIN.n)]
    hidden = [(int(r), int(c)) for r, c in np.argwhere(m["keep"] == 0)]

    def square(label: str, x: np.ndarray, digits: int = 2, **more: object) -> Block:
        return matrix(label, x, row_labels=names, col_labels=names, digits=digits, **more)

    lower = "2. Lower triangle: 1 where query r may see key c" + (", key 0 hidden" * padded)
    chain = [
        [square("1. Ones: every query (row) sees every key (column)", np.ones_like(S), 0)],
        [square(lower, m["keep"], 0, marks=hidden)],
    ]
    if way == "times":
        chain += [
            [
                square(
                    "3. Softmax of all scores, hidden ones too", softmax(S), colour="s", heat=True
                )
            ],
            [square("4. Multiplied by the mask", m["P"], colour="s", heat=True, marks=hidden)],
        ]
    else:
        put = "−∞" if way == "inf" else "−1,000,000,000"
        chain += [
            [square(f"3. {put} where 0, 0 where 1", m["add"], 0, marks=hidden)],
            [
                square("Scores S", S, colour="s", heat=True),
                square("4. Added to the scores", m["added"], colour="s", marks=hidden),
            ],
        ]
    wrong = np.abs(m["O"] - right_output(padded)).max(axis=1)
    chain.append(
        [
            *([] if way == "times" else [square("5. Softmax along each row", m["P"], colour="s",
                                                heat=True, marks=hidden)]),
            matrix("Sum of each row", m["P"].sum(axis=1, keepdims=True), row_labels=names),
            matrix("Output O = P V", m["O"], row_labels=names, colour="o"),
            matrix("Largest error in each row of O", wrong[:, None], row_labels=names, digits=3),
            _outcome(way, padded, m),
        ]
    )  # fmt: skip
    return [block for part in chain[:step] for block in part]


def _outcome(way: str, padded: bool, m: Numbers) -> Block:
    """What this way of masking comes to, with the numbers that show it."""
    first = m["P"][0]
    if way == "times":
        words = (
            f"Row 0 adds up to {shown(first.sum())}: the hidden keys took their share before they "
            "were removed. Each row would have to be divided by its sum again"
            + (", and row 0 has nothing to divide." if padded else ".")
        )
        return text(words, "bad")
    if not padded:
        words = "Every row adds up to 1 and no hidden key has any weight."
        return text(words + (" −1e9 does as well as −∞ here." if way == "big" else ""), "good")
    if way == "big":
        words = (
            f"Row 0 sees no key, yet its weights are {shown(first[0], 2)} each: {BIG:,.0f} plus a "
            "score is the same number in fp32 whatever the score, so softmax finds all keys alike. "
            "It returns the average of V, later words included."
        ).replace("-", "−")
        return text(words, "bad")
    words = (
        f"Row 0 sees no key: its maximum is −∞, −∞ − (−∞) is {shown(first[0])}, and the plain "
        "formula spreads it. A guarded kernel returns O = 0 and lse = −∞ for such a row."
    )
    return text(words, "bad")


WIDGETS = (
    Widget(
        "safe", "Drag the logits up",
        (
            slider("top", "The largest logit", 10.0, -120, 100, 0.5),
            pick("dtype", "Format", "fp16", ("fp16", "bf16", "fp32")),
            Control("subtract", "Subtract the maximum m first", "toggle", "0"),
        ),
        _safe,
    ),
    Widget(
        "mask", "A mask, step by step",
        (
            slider("step", "Step: ones, triangle, to add, added, softmax", 3, 1, 5, 1),
            pick("way", "Way", "inf", [("inf", "add −∞"), ("big", "add −1e9"),
                                       ("times", "multiply P by 0/1")]),
            Control("padded", "Key 0 is padding: row 0 sees no key", "toggle", "0"),
        ),
        _mask,
    ),
)  # fmt: skip


RUNGS = (rung("mask", cells=tuple(tuple(shown(x, 2) for x in row) for row in trace(PLAIN).S)),)
