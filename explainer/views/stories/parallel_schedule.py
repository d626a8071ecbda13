"""The chapter "schedule" of Parallel: a launch as simulated and as recorded, on one axis."""

from dataclasses import replace

import numpy as np

from explainer.algorithms.registry import ALGORITHMS, LABELS, PLACED
from explainer.base.amounts import round_step
from explainer.base.fields import parse_mask
from explainer.base.texts import Texts
from explainer.memory.workload import Workload
from explainer.parallel import durations, launch
from explainer.parallel.durations import compare
from explainer.parallel.simulator import Schedule
from explainer.views.stories import placed
from explainer.views.stories.chapter import (
    Chapter,
    Choice,
    Json,
    Switch,
    links,
    nearest,
    round_times,
    switch,
    words,
)
from explainer.views.stories.placed import format_time

t = Texts("parallel")
MOST_DRAWN = 3000  # programs of a lane; of a larger launch evenly spaced SMs are drawn
LEVELS = 5  # of darkness, by a program's visits
# Shares of a lane's height: of a label, and where the two stand. SMs at the top end last.
LABEL_HIGH, FIRST_AT, LATER_AT = 0.125, 0.8, 0.1
BEATS, TICKS, START = 20, 6, 0.4
MASKS: tuple[str, ...] = ("causal", "full")
WORDS = ("heads", "n", "d", "tiles", "mask", "dtype", "card")


def parse_launch(w: Workload, choice: Choice) -> tuple[Workload, str]:
    """Return the workload and the order of the launch that the switches are set to."""
    return _launch(w, choice)[:2]


def _launch(w: Workload, choice: Choice) -> tuple[Workload, str, list[Switch]]:
    switches = [switch("order", t("schedule.order"), {k: LABELS[k] for k in PLACED[::-1]}, choice)]
    if w.mask.plain:
        masks: dict[str, str] = dict(zip(MASKS, t.row("schedule.masks"), strict=True))
        switches.append(switch("rows", t("schedule.rows"), masks, choice))
        w = replace(w, mask=parse_mask(switches[1]["value"]))
    return w, switches[0]["value"], switches


def chapter(w: Workload, choice: Choice, run: Json | None = None, source: object = None) -> Chapter:
    """Return the chapter, of a plain mask with a switch between causal and full: of the recorded
    launch, or of a ``run`` that was just recorded, whose ``source`` says so. Raises ProblemError
    for too many programs, or a tile that has no room on the card."""
    w, order, switches = _launch(w.with_tile(run) if run else w, choice)
    row = run or placed.find_row(w, order)
    programs = launch.programs(w, order)
    real = compare(w, order, row) if row else None
    simulated = real.simulated if real else durations.schedule(w, order)
    name = t("schedule.scaled" if real and real.scaled else "schedule.simulated")
    lanes = {name: simulated}
    if real:
        lanes[t("schedule.real")] = real.real
    unit = "µs" if real else placed.unit_of(w, order)
    drawn = real.real if real else simulated
    span = max(s.makespan for s in lanes.values())
    other = None if real and real.scaled else _other_order(w, order, unit, simulated.makespan)
    times = round_times(drawn.makespan, BEATS)
    by_block = ALGORITHMS[order].program == "block"
    return {
        **words(
            "schedule",
            drawn=drawn,
            is_heavy=by_block and launch.kernels_order(w) == launch.HEAVY,
            least=int(programs.visits.min()),
            most=int(programs.visits.max()),
            off=real.off if real else None,
            is_unseen=bool(run) or bool(row and durations.is_unseen(row)),
            source=str(source or placed.source_of(w, "forward", [bool(row), False])),
            lanes=lanes,
        ),
        "switches": switches,
        "beats": [_beat(drawn, time, unit) for time in times],
        "start": nearest(times, START * drawn.makespan),
        "words": [x for x in WORDS if x != "mask" or not w.mask.plain],  # it has a switch
        "table": [
            placed.schedules_table(t("schedule.table"), lanes, unit),
            *(
                placed.programs_table(t("schedule.programs", name=name), s, programs)
                for name, s in lanes.items()
            ),
        ],
        "links": links(w, order, "versions"),
        "picture": {
            "lanes": [_lane(name, s, programs, unit) for name, s in lanes.items()],
            "span": max(span, other["at"] if other else 0),
            "ticks": [
                [float(x), format_time(float(x), unit) if not x else f"{x:,g}"]
                for x in np.arange(0, span * 1.02, round_step(span / TICKS))
            ],
            "other": other,
            "sms": t("schedule.sms", sms=drawn.sms, n=drawn.slots),
        },
    }


def _other_order(w: Workload, order: str, unit: str, makespan: float) -> Json | None:
    """Simulate the launch with its shortest programs first, where that differs."""
    if ALGORITHMS[order].program != "block" or not w.mask.hides or unit != "µs":
        return None
    s = durations.schedule(w, order, launch.LIGHT)
    if s.makespan < 1.02 * makespan:
        return None
    texts = [format_time(s.makespan, unit), t("schedule.light")]
    return {"at": s.makespan, "texts": texts}


def _beat(s: Schedule, time: float, unit: str) -> Json:
    return {
        "label": t("schedule.at", now=format_time(time, unit), all=format_time(s.makespan, unit)),
        "note": t(
            "schedule.busy",
            busy=len(np.unique(s.sm[s.runs(time)])),
            done=s.ended(time),
            n=len(s.sm),
        ),
        "time": time,
    }


def _lane(name: str, s: Schedule, programs: launch.Programs, unit: str) -> Json:
    """Return what is drawn of a schedule: programs [row, slot, start, end, level], SMs in rows by
    their last end, and the tail after it."""
    ends = s.last_ends
    order = np.argsort(ends, kind="stable")[::-1]
    step = max(1, -(-len(s.sm) // MOST_DRAWN))
    drawn = order[::step]
    place = np.full(s.sms, -1)
    place[drawn] = np.arange(len(drawn))
    visits = programs.visits
    low, high = int(visits.min()), int(visits.max())
    level = (LEVELS - 1) * (visits - low) / max(1, high - low) if high > low else 0 * visits + 3
    here = np.flatnonzero(place[s.sm] >= 0)
    return {
        "name": name,
        "time": format_time(s.makespan, unit),
        "span": s.makespan,
        "rows": len(drawn),
        "slots": s.slots,
        "step": t("timeline.every", step=step) if step > 1 else "",
        "programs": [
            [
                int(place[s.sm[p]]),
                int(s.slot[p]),
                round(float(s.start[p]), 2),
                round(float(s.end[p]), 2),
                round(float(level[p])),
            ]
            for p in here
        ],
        "ends": [round(float(x), 2) for x in ends[drawn]],
        "order": label_order(s, visits),
        "rooms": label_rooms(s, drawn) if visits.min() < visits.max() else [],
        "tail": [
            t("schedule.tail"),
            t(
                "schedule.runs_out",
                first=format_time(float(ends.min()), unit),
                last=format_time(float(ends.max()), unit),
            ),
            t("schedule.idle", tail=100 * s.tail),
        ],
    }


def label_order(s: Schedule, visits: np.ndarray) -> list[list[str]]:
    """Name the rows that fill the card first, and those that come then where these are all
    shorter, or all longer, as a sentence and shortly; else return nothing."""
    first, later = visits[s.is_first], visits[~s.is_first]
    if not len(later) or visits.min() == visits.max():
        return []
    if later.max() > first.min() and later.min() < first.max():
        return []
    spans = _span(first), _span(later)
    return [
        [t("schedule.first", rows=spans[0]), t("schedule.later", rows=spans[1])],
        [t("schedule.tiles", rows=spans[0]), spans[1]],
    ]


def label_rooms(s: Schedule, rows: np.ndarray) -> list[list[float]]:
    """Return where ``label_order`` stands on these SMs, a row each: the share of the height, and
    from when to when only what is named runs about there."""
    firsts = np.zeros((s.sms, s.slots))
    firsts[s.sm[s.is_first], s.slot[s.is_first]] = s.end[s.is_first]
    found = []
    for share, begins, ends in (
        (FIRST_AT, 0 * s.last_ends, firsts.min(1)),
        (LATER_AT, firsts.max(1), s.last_ends),
    ):
        middle, half = share * len(rows), max(0.5, LABEL_HIGH / 2 * len(rows))
        near = rows[round(middle - half) : round(middle + half)]
        found.append([share, float(begins[near].max()), float(ends[near].min())])
    return found


def _span(visits: np.ndarray) -> str:
    least, most = int(visits.min()), int(visits.max())
    return str(most) if least == most else t("schedule.span", least=least, most=most)
