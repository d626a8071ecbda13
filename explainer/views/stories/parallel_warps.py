"""The chapter "warps" of Parallel: one tile among the warps of a program, split by keys or rows."""

import numpy as np

from explainer.algorithms.registry import LABELS
from explainer.base.amounts import amount, format_places
from explainer.base.fields import parse_choice
from explainer.base.texts import Texts
from explainer.memory.workload import Workload
from explainer.parallel.warps import MET, ORDERS, WarpStep, WarpTrace, warps
from explainer.problem import Problem
from explainer.views.stories.chapter import Chapter, Choice, Json, Table, lesson_link, switch, table

t = Texts("parallel")
SIDE, D = 8, 8  # of the tile; every number of it can be read
TILE = (1, 1)
COUNTS, DEFAULT = ("2", "4", "8"), {"warps": "4"}
START = ("max", "write")  # the step that makes the point


def chapter(_w: Workload, choice: Choice) -> Chapter:
    """Return the chapter: a small Problem of its own, a beat for each step that warps take."""
    rows = switch("rows", t("schedule.rows"), t.named("warps.masks"), choice)
    among = switch(
        "warps", t("warps.count"), {n: t("warps.n", n=n) for n in COUNTS}, DEFAULT | dict(choice)
    )
    problem = Problem(
        n=2 * SIDE, d=D, block_q=SIDE, block_k=SIDE, mask=rows["value"], inputs="random"
    )
    count = int(parse_choice("warps", among["value"]))
    traces = [warps(problem, *TILE, split, count) for split in ORDERS]
    steps = traces[0].steps
    at = next(k for k, s in enumerate(steps) if (s.phase, s.part) == START)
    totals = [amount(trace.moved) for trace in traces]
    return {
        "headline": t("warps.headline"),
        "sentence": t("warps.sentence", n=count),
        "provenance": t("warps.provenance", i=TILE[0], j=TILE[1], n=problem.n, d=D, side=SIDE),
        "label": t("warps.label", n=count, keys=totals[0], rows=totals[1]),
        "switches": [rows, among],
        "beats": [_beat(k, traces) for k in range(len(steps))],
        "start": at,
        "table": [_steps_table(traces)],
        "links": [lesson_link("warps"), lesson_link("versions")],
        "picture": {
            "side": SIDE,
            "lanes": [_lane(trace, total) for trace, total in zip(traces, totals, strict=True)],
        },
    }


def _lane(trace: WarpTrace, total: str) -> Json:
    """Return what stays: the split's name, whose rows and keys are whose, what it exchanges."""
    names, each = t.named("warps.splits"), t.named("warps.each")
    remarks = t.named("warps.remarks")
    return {
        "split": trace.split,
        "name": names[trace.split],
        "kernel": f"{LABELS[ORDERS[trace.split]]}: {each[trace.split]}",
        "slices": trace.slices,
        "total": total,
        "unit": remarks["q"],
        "remark": f"{remarks[trace.split]}, {t('warps.barriers', n=trace.barriers)}",
    }


def _state(trace: WarpTrace, k: int) -> Json:
    """Return what the warps hold after step k: the tile's numbers, the maxima or all weights in
    use, a number for each row once it is known, and what lies in shared memory."""
    visit, step = trace.visit, trace.steps[k]
    known = {(s.phase, s.part) for s in trace.steps[: k + 1]}
    by_keys = trace.split == "k"
    holder = "read" if by_keys else "own"
    made = (("exp", visit.P), ("mask", visit.S), ("scores", visit.scores))
    stats = (("sum", "ℓ", visit.l_new), ("max", "m", visit.m_new))
    owners = (trace.slices if by_keys else ((0, SIDE),)) if step.phase == "max" else ()
    shared = _written(trace, k)
    remark = "barrier" if shared else "nothing" if step.part == "write" else "empty"
    return {
        "matrix": next(
            (
                [_numbers(row, 1) for row in matrix]
                for phase, matrix in made
                if (phase, "own") in known
            ),
            [],
        ),
        "marked": [
            (row, first + int(column))
            for first, past in owners
            for row, column in enumerate(visit.S[:, first:past].argmax(axis=1))
        ],
        "stat": next(
            (
                {"name": name, "values": _numbers(values, 2)}
                for phase, name, values in stats
                if (phase, holder) in known
            ),
            None,
        ),
        "shared": shared,
        "remark": t.named("warps.memory")[remark],
        "sentence": step.sentence,
    }


def _numbers(row: np.ndarray, places: int) -> list[str]:
    rounded = np.round(row.astype(float), places) + 0.0  # no negative zero
    return [format_places(x, places) for x in rounded]


def _written(trace: WarpTrace, k: int) -> list[Json]:
    """Return the parts in shared memory at a step that writes or reads them, by warp."""
    step = trace.steps[k]
    if step.part == "own":
        return []
    writes = trace.steps[k - (step.part == "read")].exchanged
    return [{"warp": w, "tensor": MET[step.phase], "size": amount(n)} for w, n in writes.items()]


def _name(step: WarpStep) -> tuple[str, str]:
    """Say the phase of a step, and which part of it this is."""
    return t.named("warps.phases")[step.phase], t.named("warps.parts")[step.part]


def _beat(k: int, traces: list[WarpTrace]) -> Json:
    steps = traces[0].steps
    return {
        "label": ", ".join(filter(None, _name(steps[k]))),
        "note": t("warps.at", k=k + 1, count=len(steps)),
        "lanes": [_state(trace, k) for trace in traces],
    }


def _steps_table(traces: list[WarpTrace]) -> Table:
    rows = []
    for k, step in enumerate(traces[0].steps):
        both = [x for trace in traces for x in (trace.steps[k].moved, trace.steps[k].barriers)]
        rows.append([*_name(step), *both])
    return table(t, "warps.table", rows)
