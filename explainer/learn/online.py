"""Softmax over numbers that arrive block by block."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from explainer.base.amounts import SUPERSCRIPTS, written
from explainer.learn.blocks import Block, t
from explainer.learn.content import lesson
from explainer.learn.linear_algebra import address
from explainer.learn.online_loop import BLOCK, FREE, GAPS, LINES, SCORES, VALUES
from explainer.learn.scene import Shape, box, dot, draw_text, knob, panel, path, scene
from explainer.learn.widgets import read_controls
from explainer.problem import Problem
from explainer.trace import Visit, trace

# As a Problem of the app: d = 1 and every query 1, so that each row of S is K.
ROW = Problem(
    n=len(SCORES),
    d=1,
    block_q=len(SCORES),
    block_k=BLOCK,
    mask="full",
    inputs="own",
    text="\n\n".join("\n".join(map(str, x)) for x in ((1,) * len(SCORES), SCORES, VALUES)),
)
BLOCKS = ROW.Tc
SEEN, OLD, MOST = 2, 3, 7  # of the factors: a score, the maximum it was first measured from

RISES = (2, 5)  # of the hall's question, other numbers than the picture has
UNIT, ORIGIN = 64.0, 104.0  # of the line of scores: px a unit, where SEEN stands
COLUMN, FIRST, CELL = 104.0, 34.0, 43.0


def _minus(x: float, digits: int) -> str:
    return f"{x:.{digits}f}".replace("-", "−")


def _blocks(visits: Sequence[Visit], done: int) -> list[Shape]:
    """S and V block by block, and below each block what m, α, ℓ and O have become."""
    shapes: list[Shape] = [
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
    for j, visit in enumerate(visits):
        left = FIRST + j * COLUMN
        middle, last = left + CELL, j == done - 1
        if last:
            shapes.append(box(left - 6, 73, 2 * CELL + 10, 110, hue="o", look="is-pale", key="at"))
        for k in range(BLOCK):
            at, there = j * BLOCK + k, j < done
            x, look = left + k * CELL, "is-full" if last else "is-pale"
            score = {"heat": (SCORES[at] - low) / (high - low)} if there else {"look": "is-empty"}
            shapes.append(box(x, 3, CELL - 2, 31, str(SCORES[at]) if there else "", **score))
            shapes.append(
                box(
                    x,
                    36,
                    CELL - 2,
                    31,
                    str(VALUES[at]) if there else "",
                    hue="v",
                    look=look if there else "is-empty",
                )
            )
        if last:
            shapes.append(box(left - 4, 0, 2 * CELL + 6, 70, look="is-frame", key="frame"))
        if j >= done:
            continue
        alpha = float(visit.alpha[0])
        rises = " ▲" if j and alpha < 1 else ""
        bold = "is-middle is-bold" if last else "is-middle"
        for y, said, hue in (
            (94, _minus(visit.m_new[0], 0) + rises, "m"),
            (121, _minus(alpha, 3), ""),
            (148, _minus(visit.l_new[0], 3), "l"),
            (175, _minus(visit.O[0, 0], 3), "o"),
        ):
            shapes.append(draw_text(middle, y, said, bold, hue=hue))
    return shapes


def _written(visit: Visit) -> list[str]:
    """The newest block's three lines, with their numbers; the last block's division too."""
    old, new = _minus(visit.m_old[0], 0).replace("inf", "∞"), _minus(visit.m_new[0], 0)
    alpha, l_new, O = (_minus(x, 3) for x in (visit.alpha[0], visit.l_new[0], visit.O[0, 0]))
    l_old, more = _minus(visit.l_old[0], 3), _minus(visit.row_sum[0], 3)
    before = _minus(0.0, 3) if np.isneginf(visit.m_old[0]) else ""
    O_new = visit.P[0] @ np.array(VALUES[visit.j * BLOCK : (visit.j + 1) * BLOCK], np.float32)
    if not before:
        before = _minus((visit.O[0, 0] - O_new) / visit.alpha[0], 3)
    last = [f"O ÷ ℓ = {O} ÷ {l_new} = {_minus(visit.O[0, 0] / visit.l_new[0], 3)}"]
    return [
        f"α = exp({old} − {new}) = {alpha}",
        f"ℓ = {alpha} · {l_old} + {more} = {l_new}",
        f"O = {alpha} · {before} + {_minus(O_new, 3)} = {O}",
        *(last if visit.j == BLOCKS - 1 else []),
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
    said, end = f"{now:g}", x(now)
    above, axis, below = 23.0, 44.0, 93.0
    shapes = [
        path([(x(SEEN) - 40, axis), (x(MOST) + 14, axis)], look="is-quiet"),
        path([(x(SEEN), above), (x(OLD), above)], "s"),
        path([(x(OLD), above), (end, above)], "m", key="alpha"),
        path([(x(SEEN), below), (end, below)], look="is-ink", key="both"),
    ]
    for place, y in ((SEEN, above), (OLD, above), (now, above), (SEEN, below), (now, below)):
        shapes.append(
            path(
                [(x(place), y - 6), (x(place), y + 6)],
                "m" if y == above else "",
                look="" if y == above else "is-ink",
            )
        )
    shapes += [
        draw_text(x(OLD) - 11, 14, f"exp({SEEN} − {OLD}) = {first:.3f}", "is-end is-bold", hue="s"),
        draw_text(x(OLD) + 16, 14, f"exp({OLD} − {said}) = {alpha:.3f}", "is-bold", hue="m"),
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
            f"exp({SEEN} − {said}) = {both:.3f} = {first:.3f} · {alpha:.3f}",
            "is-bold",
        ),
        knob(x(OLD), axis, x(MOST) - x(OLD), read_controls("online")["m_new"], now),
    ]
    return shapes


def _online(step: int, m_new: float) -> list[Block]:
    visits, done = trace(ROW).visits, min(BLOCKS, max(1, step))
    newest = visits[done - 1]
    lines = _written(newest)
    first, alpha, both = factors(m_new)
    seen = done * BLOCK
    said = t(
        "online.told",
        done=done,
        all=BLOCKS,
        scores=SCORES[:seen],
        values=VALUES[:seen],
        m=newest.m_new[0],
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
            t("online.title", done=done, all=BLOCKS),
            said,
            panel(
                460,
                264,
                _blocks(visits, done),
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
    """A maximum that rises, as the hall's question has it."""
    up = f"e{str(new - old).translate(SUPERSCRIPTS)}"
    down = f"e{str(old - new).translate(SUPERSCRIPTS)}"
    return {
        "old": old,
        "new": new,
        "up": up,
        "down": down,
        "alpha": written(math.exp(old - new), 3),
    }


QUESTION = {
    "options": LINES,
    "gaps": GAPS,
    "answer": FREE,
    "reasons": (t("online.order"), ""),
    "run": "online_run",
}
LESSONS = (lesson("online", {"place": address(ROW, 2, "exp"), **_rise(*RISES)}, [QUESTION]),)
