"""The loop of online softmax as an exercise: its lines in any order and with any filling are run on
one small row, so that one sees what they give."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from explainer.base.amounts import format_fixed
from explainer.base.fields import refused
from explainer.learn.blocks import Block, t, text
from explainer.learn.scene import Shape, box, captions, draw_text, panel, path, scene

# One row of scores and one column of V.
SCORES, VALUES, BLOCK = (1, 3, 2, 0, 5, 4, 2, 3), (2, 1, 4, 0, 3, 1, 2, 5), 2
BLOCKS = len(SCORES) // BLOCK

# The loop to be put in order. The last two may change places.
LINES = tuple(
    zip(
        (
            "m_new = max(m, ___)",
            "alpha = exp(___)",
            "m = m_new",
            "p = exp(S - m)",
            "l = ___ * l + sum(p)",
            "O = ___ * O + p @ V",
        ),
        t.row("online_loop.reasons"),
        strict=True,
    )
)
GAPS = (
    (0, ("sum(S)", "max(S)", "l"), "max(S)"),
    (1, ("m_new - m", "m", "m - m_new"), "m - m_new"),
    (4, ("alpha", "1", "m"), "alpha"),
    (5, ("1", "l", "alpha"), "alpha"),
)
FREE = ((4, 5),)  # places whose lines may stand in any order


# What each line does, wrong fillings too: the exercise runs as data, no text is ever executed.
DOES: dict[str, Callable[[dict], Any]] = {
    "m_new = max(m, max(S))": lambda s: max(s["m"], s["S"].max()),
    "m_new = max(m, sum(S))": lambda s: max(s["m"], s["S"].sum()),
    "m_new = max(m, l)": lambda s: max(s["m"], s["l"]),
    "alpha = exp(m - m_new)": lambda s: np.exp(s["m"] - s["m_new"]),
    "alpha = exp(m_new - m)": lambda s: np.exp(s["m_new"] - s["m"]),
    "alpha = exp(m)": lambda s: np.exp(s["m"]),
    "m = m_new": lambda s: s["m_new"],
    "p = exp(S - m)": lambda s: np.exp(s["S"] - s["m"]),
    "l = alpha * l + sum(p)": lambda s: s["alpha"] * s["l"] + s["p"].sum(),
    "l = 1 * l + sum(p)": lambda s: s["l"] + s["p"].sum(),
    "l = m * l + sum(p)": lambda s: s["m"] * s["l"] + s["p"].sum(),
    "O = alpha * O + p @ V": lambda s: s["alpha"] * s["O"] + s["p"] @ s["V"],
    "O = 1 * O + p @ V": lambda s: s["O"] + s["p"] @ s["V"],
    "O = l * O + p @ V": lambda s: s["l"] * s["O"] + s["p"] @ s["V"],
}


@dataclass(frozen=True)
class Simulated:
    """What lines gave: m, the ℓ after each block, O, and the weights exp(S − m) / ℓ (n,)."""

    m: float
    sums: tuple[float, ...]
    O: float
    weights: np.ndarray

    @property
    def output(self) -> float:
        with np.errstate(all="ignore"):
            return float(np.float32(self.O) / np.float32(self.sums[-1]))


def simulate(lines: Sequence[str], scores: np.ndarray, values: np.ndarray, block: int) -> Simulated:
    """Runs these lines of the loop for ``scores`` and ``values`` (n,) float32 in blocks.

    Each line is looked up in ``DOES``. Raises KeyError for a line that is none of them, and for a
    name that is used before it exists.
    """
    minus, zero = np.float32(-np.inf), np.float32(0)
    state: dict = {"m": minus, "l": zero, "O": zero}
    sums = []
    with np.errstate(all="ignore"):
        for start in range(0, len(scores), block):
            state["S"], state["V"] = (x[start : start + block] for x in (scores, values))
            for line in lines:
                found = DOES[line](state)
                name = line.split(" ", 1)[0]
                state[name] = found if name == "p" else np.float32(found)
            sums.append(float(state["l"]))
        weights = np.exp(scores - state["m"]) / state["l"]
    return Simulated(float(state["m"]), tuple(sums), float(state["O"]), weights)


def filled(order: Sequence[int], fillings: Sequence[str]) -> tuple[str, ...]:
    """The lines in this order, each gap with its filling."""
    given = {place: text for (place, _, _), text in zip(GAPS, fillings, strict=True)}
    return tuple(LINES[k][0].replace("___", given.get(k, "")) for k in order)


def _order(text_: object) -> tuple[int, ...]:
    """The lines' places of a text like "2,0,1". Raises ProblemError for any other."""
    parts = str(text_).split(",")
    if sorted(parts) != sorted(map(str, range(len(LINES)))):
        raise refused({"order": text_}, t("online_loop.order", last=len(LINES) - 1))
    return tuple(map(int, parts))


LEFT, STEP, TOP, BASE, END = 48.0, 34.0, 24.0, 70.0, 376.0  # of the picture of what it gives


def _bars(yours: np.ndarray, right: np.ndarray) -> list[Shape]:
    """The weights of one key after the other: filled what the lines gave, dashed softmax."""
    most = float(max(right.max(), np.nanmax(np.where(np.isfinite(yours), yours, 0))))
    shapes = [path([(LEFT, BASE), (LEFT + 8 * STEP, BASE)], look="is-quiet")]
    for k, (mine, true) in enumerate(zip(yours, right, strict=True)):
        x = LEFT + k * STEP + 2
        tall = (BASE - TOP) * float(mine) / most if np.isfinite(mine) else 0.0
        shapes.append(box(x, BASE - tall, STEP - 6, tall, hue="o", look="is-full"))
        tall = (BASE - TOP) * float(true) / most
        shapes.append(box(x, BASE - tall, STEP - 6, tall, look="is-empty"))
    return shapes


def _sums(yours: Simulated, right: Simulated) -> list[Shape]:
    """ℓ after each block, under its weights, and O ÷ ℓ."""
    shapes = captions("online_loop.sums")
    for k in range(BLOCKS):
        x = LEFT + (2 * k + 1) * STEP - 2
        shapes.append(draw_text(x, 88, f"{k + 1}", "is-small is-quiet is-middle"))
        for y, found in ((108, yours), (127, right)):
            off = found is yours and abs(yours.sums[k] / right.sums[k] - 1) > 1e-5
            look = "is-small is-middle is-bad" if off else "is-small is-middle"
            shapes.append(draw_text(x, y, format_fixed(found.sums[k]), look))
    for y, name, found in zip((108, 127), t.row("online_loop.rows"), (yours, right), strict=True):
        shapes += [
            draw_text(0, y, name, "is-small"),
            draw_text(END, y, format_fixed(found.output), "is-small is-end"),
        ]
    return shapes


def _online_run(order: str, g1: str, g2: str, g3: int | str, g4: int | str) -> list[Block]:
    lines = filled(_order(order), [g1, g2, str(g3), str(g4)])
    data = np.array(SCORES, np.float32), np.array(VALUES, np.float32)
    right = simulate(filled(range(len(LINES)), [x for _, _, x in GAPS]), *data, BLOCK)
    try:
        yours = simulate(lines, *data, BLOCK)
    except KeyError as missing:
        return [text(t("online_loop.stops", name=missing.args[0]), "bad")]
    total = float(yours.weights.sum())
    good = abs(total - 1) < 1e-5
    same = abs(yours.output - right.output) < 1e-5
    if good and same:
        verdict = t("online_loop.right")
    elif good:
        verdict = t("online_loop.o_off")
    else:
        verdict = t("online_loop.off", total=total)
    sums = "; ".join(
        t("online_loop.sum", yours=x, right=y) for x, y in zip(yours.sums, right.sums, strict=True)
    )
    spoken = t(
        "online_loop.spoken",
        verdict=verdict,
        sums=sums,
        yours=yours.output,
        right=right.output,
    )
    look = "is-good" if good and same else "is-bad"
    return [
        scene(
            t("online_loop.title"),
            spoken,
            panel(
                END,
                130,
                draw_text(0, 14, verdict, look),
                _bars(yours.weights, right.weights),
                _sums(yours, right),
            ),
        )
    ]


WIDGETS = {
    "online_run": _online_run,
}
