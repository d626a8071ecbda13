"""Softmax over numbers that arrive block by block."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache

import numpy as np

from explainer.base.amounts import SUPERSCRIPTS, format_significant
from explainer.learn.blocks import Block, t
from explainer.learn.linear_algebra import address, make_problem, online_softmax
from explainer.learn.online_loop import BLOCK, FREE, GAPS, LINES, SCORES, VALUES
from explainer.learn.scene import Shape, box, dot, draw_text, knob, panel, path, scene
from explainer.learn.widgets import read_controls

# As a Problem of the app: d = 1 and every query 1, so that each row of S is K.
ROW = make_problem(
    len(SCORES),
    1,
    len(SCORES),
    block_k=BLOCK,
    inputs="own",
    text="\n\n".join("\n".join(map(str, x)) for x in ((1,) * len(SCORES), SCORES, VALUES)),
)
BLOCKS = ROW.Tc
SEEN, OLD, MOST = 2, 3, 7  # of the factors: a score, the maximum it was first measured from

RISES = (2, 5)  # of the slide's question, other numbers than the picture has
UNIT, ORIGIN = 64.0, 104.0  # of the line of scores: px a unit, where SEEN stands
COLUMN, FIRST, CELL = 104.0, 34.0, 43.0


@dataclass(frozen=True)
class Visit:
    """A block's visit: the running numbers before and after, and what the block adds."""

    m_old: float
    l_old: float
    O_old: float
    m: float
    l: float
    O: float
    row_sum: float
    O_new: float

    @property
    def alpha(self) -> float:
        """Return the factor that measures the old numbers from the new maximum."""
        return math.exp(self.m_old - self.m)


@cache
def visits() -> tuple[Visit, ...]:
    """Return the visits of all blocks of the row."""
    S, V = np.array(SCORES, np.float32)[None], np.array(VALUES, np.float32)[:, None]
    found, old = [], (-math.inf, 0.0, 0.0)
    for j, state in enumerate(online_softmax(S, V, BLOCK)):
        new = state.m.item(), state.l.item(), state.O.item()
        O_new = (state.P @ V[j * BLOCK : (j + 1) * BLOCK]).item()
        found.append(Visit(*old, *new, state.P.sum().item(), O_new))
        old = new
    return tuple(found)


def _minus(x: float, digits: int) -> str:
    return f"{x:.{digits}f}".replace("-", "−")


def _blocks(done: int) -> list[Shape]:
    """S and V block by block, and below each block what m, α, ℓ and O have become."""
    shapes = [
        draw_text(0, y, name, "is-big", hue=hue)
        for y, name, hue in (
            (23, "S", "s"),
            (57, "V", "v"),
            (94, "m", "m"),
            (121, "α", ""),
            (148, "ℓ", "l"),
            (175, "O", "o"),
        )
    ]
    low, high = min(SCORES), max(SCORES)
    for j, visit in enumerate(visits()):
        left = FIRST + j * COLUMN
        middle, last = left + CELL, j == done - 1
        if last:
            shapes.append(box(left - 6, 73, 2 * CELL + 10, 110, hue="o", look="is-pale", key="at"))
        for k in range(BLOCK):
            x, at = left + k * CELL, j * BLOCK + k
            score, value, heat = str(SCORES[at]), str(VALUES[at]), (SCORES[at] - low) / (high - low)
            scored, look = "", "is-full" if last else "is-pale"
            if j >= done:
                score, value, heat, scored, look = "", "", None, "is-empty", "is-empty"
            shapes.append(box(x, 3, CELL - 2, 31, score, look=scored, heat=heat))
            shapes.append(box(x, 36, CELL - 2, 31, value, hue="v", look=look))
        if last:
            shapes.append(box(left - 4, 0, 2 * CELL + 6, 70, look="is-frame", key="frame"))
        if j >= done:
            continue
        rises = " ▲" if j and visit.alpha < 1 else ""
        bold = "is-middle is-bold" if last else "is-middle"
        for y, spoken, hue in (
            (94, _minus(visit.m, 0) + rises, "m"),
            (121, _minus(visit.alpha, 3), ""),
            (148, _minus(visit.l, 3), "l"),
            (175, _minus(visit.O, 3), "o"),
        ):
            shapes.append(draw_text(middle, y, spoken, bold, hue=hue))
    return shapes


def _lines(visit: Visit, last: bool) -> list[str]:
    """Return a visit's three lines, with their numbers; of the ``last`` one the division too."""
    m_old, m = _minus(visit.m_old, 0).replace("inf", "∞"), _minus(visit.m, 0)
    numbers = (visit.alpha, visit.l_old, visit.row_sum, visit.l, visit.O_old, visit.O_new, visit.O)
    alpha, l_old, more, l, O_old, O_new, O = (_minus(x, 3) for x in numbers)
    return [
        f"α = exp({m_old} − {m}) = {alpha}",
        f"ℓ = {alpha} · {l_old} + {more} = {l}",
        f"O = {alpha} · {O_old} + {O_new} = {O}",
        *([f"O ÷ ℓ = {O} ÷ {l} = {_minus(visit.O / visit.l, 3)}"] if last else []),
    ]


def factors(now: float) -> tuple[float, float, float]:
    """What SEEN weighs when measured from OLD, the factor that a new maximum brings, and what it
    weighs measured from the new one: the third is the product of the first two."""
    return math.exp(SEEN - OLD), math.exp(OLD - now), math.exp(SEEN - now)


def _line_of_scores(now: float) -> list[Shape]:
    """S, the old and the new maximum on one line, and the distances between them."""

    def x(score: float) -> float:
        return ORIGIN + (score - SEEN) * UNIT

    first, alpha, both = factors(now)
    spoken, end = f"{now:g}", x(now)
    above, axis, below = 23.0, 44.0, 93.0
    shapes = [
        path([(x(SEEN) - 40, axis), (x(MOST) + 14, axis)], look="is-quiet"),
        path([(x(SEEN), above), (x(OLD), above)], "s"),
        path([(x(OLD), above), (end, above)], "m", key="alpha"),
        path([(x(SEEN), below), (end, below)], look="is-ink", key="both"),
    ]
    for y, places, hue, look in (
        (above, (SEEN, OLD, now), "m", ""),
        (below, (SEEN, now), "", "is-ink"),
    ):
        shapes += [path([(x(at), y - 6), (x(at), y + 6)], hue, look) for at in places]
    shapes += [
        draw_text(x(OLD) - 11, 14, f"exp({SEEN} − {OLD}) = {first:.3f}", "is-end is-bold", hue="s"),
        draw_text(x(OLD) + 16, 14, f"exp({OLD} − {spoken}) = {alpha:.3f}", "is-bold", hue="m"),
        dot(x(SEEN), axis, 6, "s"),
        dot(x(OLD), axis, 6, "m"),
        draw_text(x(SEEN), 80, f"S = {SEEN}", "is-middle is-bold"),
        draw_text(x(OLD) + 2, 80, t("online.old"), "is-middle", hue="m"),
        draw_text(
            min(max(end, x(OLD) + 90), 396), 80, t("online.new"), "is-middle", hue="m", key="new"
        ),
        draw_text(
            x(SEEN) - 44,
            115,
            f"exp({SEEN} − {spoken}) = {both:.3f} = {first:.3f} · {alpha:.3f}",
            "is-bold",
        ),
        knob(x(OLD), axis, x(MOST) - x(OLD), read_controls("online")["m_new"], now),
    ]
    return shapes


def _online(step: int, m_new: float) -> list[Block]:
    newest = visits()[step - 1]
    lines = _lines(newest, last=step == BLOCKS)
    first, alpha, both = factors(m_new)
    seen = step * BLOCK
    spoken = t(
        "online.spoken",
        done=step,
        all=BLOCKS,
        scores=SCORES[:seen],
        values=VALUES[:seen],
        m=newest.m,
        lines="; ".join(lines),
        score=SEEN,
        old=OLD,
        first=first,
        alpha=alpha,
        both=both,
        now=m_new,
    )
    return [
        scene(
            t("online.title", done=step, all=BLOCKS),
            spoken,
            panel(
                460,
                264,
                _blocks(step),
                [draw_text(0, 204.0 + 19 * k, line, "is-mono") for k, line in enumerate(lines)],
            ),
            panel(
                460, 142, _line_of_scores(m_new), draw_text(0, 139, t("online.same"), "is-small")
            ),
        )
    ]


WIDGETS = {
    "online": _online,
}


def _rise(old: int, new: int) -> dict[str, object]:
    """A maximum that rises, as the slide's question has it."""
    up = f"e{str(new - old).translate(SUPERSCRIPTS)}"
    down = f"e{str(old - new).translate(SUPERSCRIPTS)}"
    return {
        "old": old,
        "new": new,
        "up": up,
        "down": down,
        "alpha": format_significant(math.exp(old - new), 3),
    }


QUESTION = {
    "options": LINES,
    "gaps": GAPS,
    "answer": FREE,
    "reasons": (t("online.order"), ""),
    "run": "online_run",
}
FIGURES = {"online": lambda: {"place": address(ROW, 2, "exp"), **_rise(*RISES)}}
QUESTIONS = {"online": lambda: QUESTION}
