"""Three loop orders in motion: the tiles of one head, what O costs, and a model of the time."""

from collections.abc import Iterable, Sequence
from functools import lru_cache

import numpy as np

from explainer.algorithms.schedule import schedule
from explainer.algorithms.transfers import Step
from explainer.base.fields import causal_text
from explainer.learn import pipeline
from explainer.learn.kit import Block, Words
from explainer.learn.linear_algebra import address, make_problem
from explainer.learn.pipeline import Task

t = Words(__name__)

T = 4  # tiles a side, and SMs: FA-2's row blocks run at the same time
TICKS = T * T
SMALL = {  # FA-3 visits the tiles of FA-2
    version: make_problem(4 * T, 8, 4, order=order)
    for version, order in (("fa1", "fa1"), ("fa2", "fa2"), ("fa3", "fa2"))
}
DONE, NOW = 0.35, 1.0  # how full a tile is drawn
HUES = {"K": "k", "V": "v", "Q": "q", "O": "o", "product": "s", "softmax": "l"}


def written(order: str, tiles: int, causal: bool) -> int:
    """Return how many blocks of O a head writes in all."""
    problem = make_problem(4 * tiles, 4, 4, mask=causal_text(causal), order=order)
    return moves_of_o(schedule(problem))[1]


def visits(order: str, tick: int) -> Sequence[Step]:
    """Return the visits that are over after so many ticks: FA-1's one program makes one in a tick;
    FA-2's programs, an SM each, one each."""
    steps = schedule(SMALL[order])
    if order == "fa1":
        return steps[:tick]
    return [step for step in steps if step.j is not None and step.j < tick]


def moves_of_o(steps: Iterable[Step]) -> tuple[int, int]:
    """Return (reads, writes) of O's blocks in these visits, by their own transfers."""
    operations = [x.op for step in steps for x in step.transfers if x.tensor == "O"]
    return operations.count("read"), operations.count("write")


def _tasks(order: str) -> Sequence[Task]:
    """One visit after the other of a row block: FA-1 does one thing at a time and moves O; FA-2
    loads the next keys into the buffers that are free."""
    time, unit = pipeline.durations(pipeline.FITTED), pipeline.MATRIX
    first, later = ("KVQO", "QO") if order == "fa1" else ("QKV", "KV")
    tasks = []
    for j in range(T):
        loads = tuple((what, -1, j) for what in (later if j else first))
        is_free = (("PV", 0, j - pipeline.STAGES),) if j >= pipeline.STAGES else ()
        before = (("PV", 0, j - 1),) if j else ()
        tasks += [
            *(Task(load, pipeline.TMA, time["K"], is_free) for load in loads),
            Task(("S", 0, j), unit, 2 * time["S"], loads + before),
            Task(("softmax", 0, j), pipeline.SOFTMAX[0], time["softmax"], (("S", 0, j),)),
            Task(("PV", 0, j), unit, 2 * time["S"], (("softmax", 0, j),)),
        ]
        if order == "fa1":
            tasks.append(Task(("O", 0, j), pipeline.TMA, time["K"], ()))
    return pipeline.in_a_row(tasks) if order == "fa1" else tasks


@lru_cache(maxsize=3)
def strips(order: str) -> dict[str, list[tuple[float, float, str]]]:
    """Return the lanes of (start, end, what) in µs on one SM, a model: FA-3 as in
    :mod:`explainer.learn.pipeline`, of which the others have the rates and the fitted softmax, of
    two halves of the rows at a time."""
    loads, rows, *halves = t.row("lanes")
    is_split = order == "fa3"
    work = pipeline.simulate(_tasks(order))
    lanes: dict[str, list] = {loads: []}
    for slot in pipeline.run("overlap", T, pipeline.FITTED) if is_split else work:
        what, who, _ = slot.task.key
        name = loads if slot.task.unit == pipeline.TMA else halves[who] if is_split else rows
        kind = {"S": "product", "PV": "product"}.get(what, what)
        lanes.setdefault(name, []).append((slot.start, slot.end, kind))
    return lanes


def _tiles(order: str, tick: int) -> tuple[np.ndarray, list[tuple[int, int]]]:
    """Return how full each tile is drawn after so many ticks, and those that are visited now."""
    over, before = ({(x.i or 0, x.j or 0) for x in visits(order, k)} for k in (tick, tick - 1))
    now = over - before if tick else set()
    full = np.zeros((T, T))
    for at in over:
        full[at] = NOW if at in now else DONE
    return full, sorted(now)


def compute(step: int) -> Block:
    """Show the tiles after ``step`` ticks, O's moves, and each version's strips of time."""
    titles = t.named("titles")
    tiles = [_tiles(order, step) for order in titles]
    moves = [moves_of_o(visits(order, step)) for order in titles]
    lanes = [strips(order) for order in titles]
    said = [
        t("said", title=title, tick=step, reads=reads, writes=writes)
        for title, (reads, writes) in zip(titles.values(), moves, strict=True)
    ]
    return t.picture(
        tick=step,
        said=" ".join(said),
        titles=titles,
        tiles=tiles,
        moves=moves,
        last=[moves_of_o(visits(order, TICKS))[1] for order in titles],
        lanes=[[*of.items()] for of in lanes],
        high=max(end for of in lanes for lane in of.values() for _, end, _ in lane),
        rows=pipeline.CONSUMERS * pipeline.ROWS,
    )


def question(tiles: int) -> dict:
    """The answer, and: the mask forgotten, FA-2 like FA-1, both exchanged."""
    fa1, fa2 = (float(written(order, tiles, True)) for order in ("fa1", "fa2"))
    return {
        "answer": (fa1, fa2),
        "wrong": ((written("fa1", tiles, False), fa2), (fa1, fa1), (fa2, fa1)),
    }


def figures() -> dict[str, str]:
    """Return what the text names: a place in Step, and the share of the time of FA-2's strips in
    which matmuls run."""
    bars = [bar for lane in strips("fa2").values() for bar in lane]
    busy = sum(b - a for a, b, what in bars if what == "product") / max(b for _, b, _ in bars)
    return {"place": address(SMALL["fa1"], 6, "store"), "strip": f"{100 * busy:.0f} %"}
