"""The Step page's own loop, small: one tile after the other, with pseudocode and bytes."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from explainer.algorithms.registry import ALGORITHMS
from explainer.algorithms.schedule import schedule
from explainer.algorithms.traffic import requested_bytes
from explainer.base.fields import causal_text
from explainer.learn.blocks import Block, t
from explainer.learn.linear_algebra import address, make_problem
from explainer.learn.scene import Shape, box, captions, draw_text, panel, scene
from explainer.problem import Problem

SMALL = Problem()  # what the Step page opens with
BECOMES = {"m": "−∞", "l": "0", "score": "", "hidden": "key > query"}
# What a tile holds in a phase.
S_PHASES, P_PHASES = ("scores", "mask", "max"), ("exp", "sum", "output", "store")
TILE = dict.fromkeys(S_PHASES, "S") | dict.fromkeys(P_PHASES, "P")
DOES = t.named("tiled.does")


def reads_of_a_key_block(n: int, block_q: int, block_k: int, causal: bool, j: int) -> int:
    """How often FA-2 reads block ``j`` of K: once per row block that sees some of it."""
    mask = causal_text(causal)
    steps = schedule(make_problem(n, 64, block_q, block_k=block_k, mask=mask))
    moves = [(x.tensor, x.op, x.block) for step in steps for x in step.transfers]
    return moves.count(("K", "read", j))


@cache
def places() -> tuple[tuple[int, str], ...]:
    """(visit, phase) of every step, in order; a skipped tile has none."""
    return tuple((k, phase) for k, visit in enumerate(schedule(SMALL)) for phase in visit.phases)


def moved(visit: int, phase: str) -> tuple[int, int]:
    """Bytes (read, written) up to the end of this phase."""
    read = written = 0
    for k, step in enumerate(schedule(SMALL)[: visit + 1]):
        seen = step.phases[: step.phases.index(phase) + 1] if k == visit else step.phases
        for move in step.transfers:
            if move.phase in seen:
                read += move.nbytes * (move.op == "read")
                written += move.nbytes * (move.op != "read")
    return read, written


def _picture(at: int, phase: str) -> list[Shape]:
    """Tiles done, the tile at hand, and the blocks in HBM that it needs."""
    steps, side, left, top = schedule(SMALL), 62.0, 64.0, 72.0
    here, T = steps[at], SMALL.Tr
    done = {(s.i, s.j) for s in steps[:at]}
    stored = {s.i for s in steps[: at + (phase == "store")] if "store" in s.phases}
    right = left + T * side + 14
    shapes = []
    for name, y, hue in (("K", 24.0, "k"), ("V", 48.0, "v")):
        shapes.append(draw_text(left - 12, y + 15, name, "is-end", hue=hue))
        for j in range(T):
            look = "is-full" if j == here.j else "is-pale"
            shapes.append(box(left + j * side, y, side - 3, 20, hue=hue, look=look))
    for name, x, hue in (("Q", left - 36, "q"), ("O", right, "o")):
        shapes.append(draw_text(x + 10, top + T * side + 16, name, "is-middle", hue=hue))
        for i in range(T):
            full = i == here.i if name == "Q" else i in stored
            shapes.append(
                box(x, top + i * side, 20, side - 3, hue=hue, look="is-full" if full else "is-pale")
            )
    for i in range(T):
        for j in range(T):
            words, hue, look = "", "", "is-pale is-small"
            if (i, j) in done:
                words, look = "✓", "is-line"
            elif (i, j) == (here.i, here.j):
                words, hue, look = TILE.get(phase, ""), "m", "is-pale"
            elif j > i:
                words, look = t("tiled.skip"), "is-empty"
            place = left + j * side, top + i * side, side - 3, side - 3
            shapes.append(box(*place, words, hue=hue, look=look))
    x, y = left + (here.j or 0) * side, top + (here.i or 0) * side
    shapes.append(box(x - 2, y - 2, side + 1, side + 1, look="is-frame", key="here"))
    return [*shapes, *captions("tiled.map")]


def _code(phase: str, first: bool) -> list[Shape]:
    """The pseudocode, the line of this phase on a bar."""
    shapes = []
    for k, line in enumerate(ALGORITHMS["fa2"].pseudocode):
        y = 20.0 + k * 25
        lit = line.phase == phase and (not line.first or first)
        spoken = line.text.format(**BECOMES)
        if lit:
            shapes.append(box(0, y - 17, 400, 25, hue="m", look="is-pale"))
            shapes.append(draw_text(2, y, "▸", "is-bold"))
        indent = len(spoken) - len(spoken.lstrip())
        shapes.append(draw_text(18 + indent * 9, y, spoken.strip(), "is-bold" if lit else ""))
    return shapes


def _tiled(step: int) -> list[Block]:
    all_places = places()
    step = min(len(all_places), max(1, step))
    at, phase = all_places[step - 1]
    here = schedule(SMALL)[at]
    read, written = moved(at, phase)
    spoken = t(
        "tiled.spoken",
        step=step,
        all=len(all_places),
        i=here.i,
        j=here.j,
        phase=phase,
        does=DOES[phase],
        read=read,
        written=written,
    )
    title = t(
        "tiled.title", n=SMALL.n, d=SMALL.d, dtype=SMALL.dtype, br=SMALL.block_q, bc=SMALL.block_k
    )
    return [
        scene(
            title,
            spoken,
            panel(350, 346, _picture(at, phase)),
            panel(
                460,
                384,
                _code(phase, here.first),
                captions(
                    "tiled.step", i=here.i, j=here.j, does=DOES[phase], read=read, written=written
                ),
            ),
        )
    ]


WIDGETS = {
    "tiled": _tiled,
}


def _figures() -> Mapping[str, object]:
    """The first place, and what FA-2 asks L2 for with small tiles and with large ones."""
    return {"place": address(SMALL, *places()[0])} | {
        f"asked{side}": requested_bytes(4096, 64, "full", "fp16", "fa2", side, side)
        for side in (16, 128)
    }


def _reads(n: int, block_q: int, block_k: int, causal: bool, j: int) -> dict:
    """The answer, and mistakes with these numbers."""
    rows = n // block_q
    wrong = (rows, j * block_k // block_q + 1, 1) if causal else (n // block_k, 1, block_k)
    return {"answer": float(reads_of_a_key_block(n, block_q, block_k, causal, j)), "wrong": wrong}


FIGURES = {"tiled": _figures}
QUESTIONS = {"tiled": _reads}
