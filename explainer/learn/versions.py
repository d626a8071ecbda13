"""FA-1, FA-2 and FA-3 in motion: the tiles of one head, what O costs, and a model of the time."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache

from explainer.algorithms.schedule import schedule
from explainer.algorithms.transfers import Step
from explainer.base.fields import causal_text
from explainer.learn import pipeline
from explainer.learn.blocks import Block, t, text
from explainer.learn.linear_algebra import address, make_problem
from explainer.learn.pipeline import Task
from explainer.learn.scene import Shape, box, captions, draw_text, panel, path, scene

T = 4  # tiles a side
SMS = T  # so that FA-2's row blocks run at the same time
TICKS = T * T
SMALL = {  # FA-3 visits the tiles of FA-2
    version: make_problem(4 * T, 8, 4, order=order)
    for version, order in (("fa1", "fa1"), ("fa2", "fa2"), ("fa3", "fa2"))
}
TITLES = t.named("versions.titles")
WIDTH, HEIGHT, SIDE, LEFT, TOP = 264.0, 368.0, 41.0, 44.0, 82.0
LOW = 296.0  # without strips, in presentation mode


def written(order: str, tiles: int, causal: bool) -> int:
    """How many blocks of O a head writes in all."""
    problem = make_problem(4 * tiles, 4, 4, mask=causal_text(causal), order=order)
    return moves_of_o(schedule(problem))[1]


def visits(order: str, tick: int) -> Sequence[Step]:
    """The visits that are over after so many ticks: FA-1's one program makes one in a tick; FA-2's
    programs, an SM each, one each."""
    steps = schedule(SMALL[order])
    if order == "fa1":
        return steps[:tick]
    return [step for step in steps if step.j is not None and step.j < tick]


def moves_of_o(steps: Iterable[Step]) -> tuple[int, int]:
    """(reads, writes) of O's blocks in these visits, by their own transfers."""
    operations = [x.op for step in steps for x in step.transfers if x.tensor == "O"]
    return operations.count("read"), operations.count("write")


def moves_up_to(order: str, tick: int) -> tuple[int, int]:
    """(reads, writes) of O's blocks up to this tick of the picture."""
    return moves_of_o(visits(order, tick))


def _tiles(order: str, tick: int, way: str) -> list[Shape]:
    """Operands in HBM, tiles done, the tile or tiles at hand, and the ``way`` through them, the
    look of its arrows."""
    over, now = ([(x.i or 0, x.j or 0) for x in visits(order, k)] for k in (max(0, tick - 1), tick))
    before = {*over}
    now = [place for place in now if place not in before]
    rows, keys = {i for i, _ in now}, {j for _, j in now}
    right = LEFT + T * SIDE + 10
    shapes = [draw_text(LEFT + T * SIDE / 2, TOP - 44, "K, V", "is-middle is-bold", hue="k")]
    for y, hue in ((TOP - 36, "k"), (TOP - 20, "v")):
        shapes += [
            box(
                LEFT + j * SIDE,
                y,
                SIDE - 2,
                13,
                hue=hue,
                look="is-full" if j in keys else "is-pale",
            )
            for j in range(T)
        ]
    for x, name, hue in ((LEFT - 26, "Q", "q"), (right, "O", "o")):
        shapes.append(draw_text(x + 8, TOP - 8, name, "is-middle is-bold", hue=hue))
        moving = rows if name == "Q" or order == "fa1" else ()
        shapes += [
            box(
                x,
                TOP + i * SIDE,
                16,
                SIDE - 2,
                hue=hue,
                look="is-full" if i in moving else "is-pale",
            )
            for i in range(T)
        ]
    for i in range(T):
        for j in range(T):
            x, y = LEFT + j * SIDE, TOP + i * SIDE
            look = "is-full" if (i, j) in now else "" if (i, j) in before else "is-line"
            if order == "fa3" and (i, j) in now:
                shapes += [
                    box(x, y, SIDE - 2, SIDE / 2 - 1, "A", hue="v", look="is-full is-small"),
                    box(x, y + SIDE / 2 - 1, SIDE - 2, SIDE / 2 - 1, "B", look="is-small"),
                ]
            else:
                hue = "v" if (i, j) in now else "q" if (i, j) in before else ""
                shapes.append(box(x, y, SIDE - 2, SIDE - 2, hue=hue, look=look))
    for i, j in now:
        shapes.append(box(LEFT + j * SIDE - 1, TOP + i * SIDE - 1, SIDE, SIDE, look="is-frame"))
    far = T * SIDE - 8
    for k in range(T):
        middle = (k + 0.5) * SIDE - 1
        ends = (
            [(LEFT + middle, TOP + 6), (LEFT + middle, TOP + far)]
            if order == "fa1"
            else [(LEFT + 6, TOP + middle), (LEFT + far, TOP + middle)]
        )
        faded = " is-faded" if order == "fa1" and k not in keys else ""
        shapes.append(path(ends, look=way + faded, tip=7 if way == "is-quiet" else 11))
    return shapes


def _counts(order: str, tick: int) -> list[Shape]:
    (read, written), (all_read, all_written) = (moves_up_to(order, k) for k in (tick, TICKS))
    return captions(
        "versions.counts",
        read=read,
        written=written,
        last_read=all_read,
        last_written=all_written,
    )


Lane = tuple[str, list[tuple[float, float, str]]]
KINDS = {"K": "k", "V": "v", "Q": "q", "O": "o", "product": "v", "softmax": ""}


def _tasks(order: str) -> Sequence[Task]:
    """A visit after the other of a row block: FA-1 does one thing at a time and moves O; FA-2 loads
    the next keys into the buffers that are free."""
    time, unit = pipeline.durations(pipeline.FITTED), pipeline.MATRIX
    first, later = ("KVQO", "QO") if order == "fa1" else ("QKV", "KV")
    tasks = []
    for j in range(T):
        loads = tuple((what, -1, j) for what in (later if j else first))
        is_free = (("PV", 0, j - pipeline.STAGES),) if j >= pipeline.STAGES else ()
        before = (("PV", 0, j - 1),) if j else ()
        product = 2 * time["S"]
        tasks += [
            *(Task(load, pipeline.TMA, time["K"], is_free) for load in loads),
            Task(("S", 0, j), unit, product, loads + before),
            Task(("softmax", 0, j), pipeline.SOFTMAX[0], time["softmax"], (("S", 0, j),)),
            Task(("PV", 0, j), unit, product, (("softmax", 0, j),)),
        ]
        if order == "fa1":
            tasks.append(Task(("O", 0, j), pipeline.TMA, time["K"], ()))
    return pipeline.in_a_row(tasks) if order == "fa1" else tasks


@lru_cache(maxsize=3)
def strips(order: str) -> tuple[Lane, ...]:
    """Lanes of (start, end, what) in µs on one SM, a model: FA-3 as in
    :mod:`explainer.learn.pipeline`, of which the others have the rates and the fitted softmax, of
    two halves of the rows at a time."""
    whole, *names = t.row("versions.lanes")
    if order == "fa3":
        slots = pipeline.run("overlap", T, pipeline.FITTED)
    else:
        slots, names = pipeline.simulate(_tasks(order)), [whole]
    lanes: dict[str, list] = {name: [] for name in ("L2", *names)}
    for slot in slots:
        what, who, _ = slot.task.key
        kind = {"S": "product", "PV": "product"}.get(what, what)
        lane = "L2" if slot.task.unit == pipeline.TMA else names[who]
        lanes[lane].append((slot.start, slot.end, kind))
    return tuple(lanes.items())


def _strips(order: str) -> list[Shape]:
    most = max(end for o in TITLES for _, lane in strips(o) for _, end, _ in lane)
    left, wide = 56.0, WIDTH - 60
    shapes = []
    for k, (name, lane) in enumerate(strips(order)):
        y = TOP + T * SIDE + 54 + 23 * k
        shapes.append(draw_text(0, y + 15, name, "is-small is-quiet"))
        for start, end, what in lane:
            x, w = left + wide * start / most, max(1.5, wide * (end - start) / most - 1)
            hue = KINDS[what]
            shapes.append(box(x, y, w, 20, hue=hue, look="" if what == "softmax" else "is-full"))
    return shapes


def _versions(step: int) -> list[Block]:
    tick = min(TICKS, max(0, step))
    panels, spoken = [], []
    for order, title in TITLES.items():
        reads, writes = moves_up_to(order, tick)
        spoken.append(t("versions.spoken", title=title, tick=tick, reads=reads, writes=writes))
        head, counts = draw_text(0, 18, title, "is-bold"), _counts(order, tick)
        tiles, dark = (_tiles(order, tick, way) for way in ("is-quiet", "is-ink"))
        panels += [
            panel(WIDTH, HEIGHT, head, tiles, counts, _strips(order), only="desk"),
            panel(WIDTH, LOW, head, dark, counts, only="presented"),
        ]
    return [
        scene(
            t("versions.title", tick=tick, all=TICKS, side=T, sms=SMS), " ".join(spoken), *panels
        ),
        text(
            t(
                "versions.fine",
                tiles=T,
                rows=pipeline.CONSUMERS * pipeline.ROWS,
                keys=pipeline.KEYS,
                d=pipeline.D,
            ),
            "fine",
        ),
    ]


WIDGETS = {
    "versions": _versions,
}


def _question(tiles: int) -> dict:
    """The answer, and: the mask forgotten, FA-2 like FA-1, both exchanged."""
    fa1, fa2 = (float(written(order, tiles, True)) for order in ("fa1", "fa2"))
    return {
        "answer": (fa1, fa2),
        "wrong": ((written("fa1", tiles, False), fa2), (fa1, fa1), (fa2, fa1)),
    }


def _busy() -> float:
    """The part of the time of FA-2's strips in which products run, 0 to 1."""
    bars = [bar for _, lane in strips("fa2") for bar in lane]
    return sum(b - a for a, b, what in bars if what == "product") / max(b for _, b, _ in bars)


def _figures() -> dict[str, str]:
    return {"place": address(SMALL["fa1"], 6, "store"), "strip": f"{100 * _busy():.0f} %"}


FIGURES = {"versions": _figures}
QUESTIONS = {"versions": _question}
