"""Schedules of the Parallel page: a launch as it was recorded, else as it is simulated."""

from collections.abc import Mapping, Sequence

from explainer.base.amounts import milliseconds
from explainer.base.kinds import recorded
from explainer.base.records import load
from explainer.base.texts import Texts
from explainer.memory.workload import Workload
from explainer.parallel import durations, launch
from explainer.parallel.simulator import Schedule, read_schedule
from explainer.views.stories.chapter import Table

t = Texts("parallel")
RECORD = "placement_nvidia_h200"
MOST_ROWS = 600  # programs of a launch in the table


def find_row(w: Workload, order: str) -> dict | None:
    """Return the recorded schedule of this very launch; fp16 and bf16 take the same time."""
    here = (order, w.n, w.d, w.batch * w.heads, w.block_q, w.block_k)
    if w.itemsize != 2 or not w.mask.plain or w.card != durations.LEARNED_ON:
        return None
    keys = ("order", "n", "d", "heads", "block_m", "block_n")
    rows = [r for r in load(RECORD)["rows"] if tuple(r[key] for key in keys) == here]
    return next((r for r in rows if r["causal"] == w.is_causal), None)


def schedule_of(w: Workload, order: str, pass_: str = "forward") -> tuple[Schedule, bool]:
    """Return the recorded schedule and True, or the simulated one and False. Raises ProblemError
    for too many programs, or for a tile that has no room on the card."""
    row = find_row(w, order) if pass_ == "forward" else None
    if row:
        return read_schedule(row), True
    return durations.schedule(w, order, pass_=pass_), False


def unit_of(w: Workload, order: str, pass_: str = "forward") -> str:
    """Return the unit of a simulated schedule's times: µs where they were learned, else visits."""
    return durations.cost_model(w, order, pass_).unit


def format_time(value: float, unit: str) -> str:
    """Format µs as µs, ms or s, in three digits, and visits as a number."""
    if unit == "µs":
        digits = f"{value:#.3g}".rstrip(".") if value else "0"
        return f"{digits} µs" if value < 999.5 else milliseconds(value / 1e3)
    return t("visits", n=value)


def format_times(values: Sequence[float], unit: str) -> list[str]:
    """Format a column of times in one unit, with as many decimals each."""
    if unit != "µs" or max(values) < 1000:
        return [format_time(value, unit) for value in values]
    return [f"{value / 1e3:,.3f} ms" for value in values]


def source_of(w: Workload, pass_: str, are_recorded: list[bool]) -> str:
    """Say where the times come from: recorded, simulated, or one of each."""
    parts = []
    if any(are_recorded):
        parts.append(str(recorded(RECORD).text))
    if not all(are_recorded):
        is_learned = unit_of(w, "fa2", pass_) == "µs"
        other = "placed.visits" if pass_ == "forward" else "placed.equal"
        parts.append(t("placed.simulated" if is_learned else other))
    text = "; ".join(parts)
    return text[0].upper() + text[1:]


def schedules_table(title: str, schedules: Mapping[str, Schedule], unit: str) -> Table:
    """List schedules by their names: their programs, how they fill the card, and how long it
    takes."""
    spans = format_times([s.makespan for s in schedules.values()], unit)
    rows = [
        [
            name,
            len(s.sm),
            s.used_sms,
            s.slots,
            round(s.waves, 2),
            round(100 * s.busy, 1),
            round(100 * s.tail, 1),
            span,
        ]
        for (name, s), span in zip(schedules.items(), spans, strict=True)
    ]
    return {"title": title, "head": t.row("schedules.head"), "rows": rows}


def programs_table(title: str, s: Schedule, programs: launch.Programs) -> Table:
    """List the first programs of a schedule: what each computes, where and when."""
    rows = [
        [
            p,
            int(programs.head[p]),
            int(programs.row[p]) if programs.row[p] >= 0 else None,
            int(programs.visits[p]),
            int(s.sm[p]),
            round(float(s.start[p]), 3),
            round(float(s.end[p]), 3),
        ]
        for p in range(min(len(s.sm), MOST_ROWS))
    ]
    return {"title": title, "head": t.row("programs.head"), "rows": rows}
