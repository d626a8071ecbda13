"""The Parallel page's views as HTML: pure functions of a workload; every text is escaped."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from explainer.algorithms.registry import LABELS
from explainer.base.amounts import count, milliseconds
from explainer.base.kinds import Kind, simulated
from explainer.memory.workload import Workload
from explainer.parallel import launch
from explainer.parallel.durations import pace, places
from explainer.parallel.real_schedules import Compared
from explainer.parallel.simulator import Schedule
from explainer.views.additions_report import additions
from explainer.views.balance_report import BLOCKS, balance
from explainer.views.html import card, div, figures_of, said, table, tag, words

MOST_LISTED = 600  # programs of a launch in the table and its downloads


def page(*parts: str, view: str, **data: object) -> str:
    return div("fa-run", *parts, data_testid="parallel", data_view=view, **data)


def time(value: float, unit: str) -> str:
    """µs as µs, ms or s; visits as a number."""
    if unit == "µs":
        return f"{value:.3g} µs" if value < 1000 else milliseconds(value / 1e3)
    return f"{value:,.0f} visits"


def simulation(w: Workload, pass_: str = "forward") -> Kind:
    """Of a simulated launch."""
    how = "programs start in the order of their numbers, each where there is room first"
    return simulated(f"{how}; times {pace(w, 'fa2', pass_).source}")


def told(
    s: Schedule, launched: launch.Programs, unit: str, kind: Kind, pass_: str = "forward"
) -> Callable[[int], str]:
    """What hovering says of a program."""

    def text(p: int) -> str:
        row = f", {BLOCKS[pass_]} {launched.row[p]}" if launched.row[p] >= 0 else ""
        span = f"{time(s.start[p], unit)} to {time(s.end[p], unit)}"
        where = f"{count(int(launched.visits[p]), 'visit')} on multiprocessor {s.sm[p]}"
        head = f"<b>program {p:,}</b>, head {launched.head[p]}{row}"
        return f"{head}<br>{where}<br>{span}<br>{kind.text}"

    return text


def _listed(s: Schedule, launched: launch.Programs, order: str) -> list[dict]:
    keep = np.arange(min(len(s.sm), MOST_LISTED))
    return [
        {
            "order": order, "program": int(p), "head": int(launched.head[p]),
            "row_block": int(launched.row[p]), "visits": int(launched.visits[p]),
            "sm": int(s.sm[p]),
            "start": round(float(s.start[p]), 3), "end": round(float(s.end[p]), 3),
        }
        for p in keep
    ]  # fmt: skip


def _head(pass_: str = "forward") -> tuple[str, ...]:
    return ("Order", "program", "head", BLOCKS[pass_], "visits", "multiprocessor", "start", "end")


# ---- the grid on the card


def grid_head(w: Workload, both: Mapping[str, Schedule], pass_: str = "forward") -> str:
    """Why FA-1 leaves a card idle where FA-2 does not, in numbers."""
    sms = w.hardware.sms
    used = {order: len(np.unique(s.sm)) for order, s in both.items()}
    heads = w.batch * w.heads
    idle = {order: sms - n for order, n in used.items()}
    said_of = {order: f"leaves {n} of them idle" if n else "uses all" for order, n in idle.items()}
    where = "Backward, " * (pass_ == "backward")
    text = (
        where
        + f"B × H = {heads:,}: FA-1 has {count(len(both['fa1'].sm), 'program')} for the {sms} "
        f"multiprocessors of {w.hardware.name} and {said_of['fa1']}; FA-2 has "
        f"{len(both['fa2'].sm):,}, one per head and {BLOCKS[pass_]}, and {said_of['fa2']}."
    )
    return page(said(text, simulation(w, pass_)), _facts(w, both, pass_), view="grid")


def _facts(w: Workload, both: Mapping[str, Schedule], pass_: str) -> str:
    rows = []
    for order, s in both.items():
        slots, known = places(w, order, pass_)
        p = pace(w, order, pass_)
        where = "compiled" if known else "assumed: not compiled"
        rows.append((
            LABELS[order], f"{len(s.sm):,}",
            f"{len(np.unique(s.sm))} of {s.sms}", f"{slots} ({where})", f"{s.waves:.2f}",
            f"{100 * s.busy:.0f} %", f"{100 * s.tail:.0f} %", time(s.makespan, p.unit),
        ))  # fmt: skip
    head = ("Order", "programs", "multiprocessors used", "programs at once on one", "waves",
            "busy", "tail", "takes")  # fmt: skip
    times = f"times {pace(w, 'fa2', pass_).source}"
    return card("facts", "The launch", simulation(w, pass_), times,
                table(head, rows, "Both launches in numbers"))  # fmt: skip


def grid_tail(
    w: Workload, both: Mapping[str, Schedule], others: Mapping[str, Schedule],
    pass_: str = "forward",
) -> str:  # fmt: skip
    """What heavy-first order repairs; how the simulation works; the figures. Of the backward pass
    also what the order of its additions does."""
    kind, parts, spread = simulation(w, pass_), [], pace(w, "fa2", pass_).spread
    if others:
        parts.append(words(_imbalance(w, others, pass_)))
    how = (
        "those that share a multiprocessor slow each other down, and times of equal FA-2 programs "
        f"spread by {100 * spread:.1f} %, as recorded."
    )
    if pass_ == "backward":
        how = (
            "one at a time on a multiprocessor, and every visit takes as long as any other. No "
            "schedule of the backward pass was recorded."
        )
    parts.append(words(
        "Busy: the share of the card's time in which a multiprocessor holds a program. Tail: for "
        "which share of the time one has, on average, run out of work. A wave: as many programs as "
        "the card holds at once. Simulated: programs start in the order of their numbers, each "
        f"where there is room first; {how}"
    ))  # fmt: skip
    launches = {order: launch.programs(w, order, pass_=pass_) for order in both}
    listed = [row for order, s in both.items() for row in _listed(s, launches[order], order)]
    caption = "The programs as a table" + (
        f" (the first {MOST_LISTED:,})" if len(listed) > MOST_LISTED else ""
    )
    return page(
        *([additions(w)] if pass_ == "backward" else []),
        balance(w, pass_),
        card("tail", "Waves, tail, imbalance", kind, "", *parts),
        figures_of("schedule", kind, _head(pass_), listed, caption),
        view="grid-figures",
    )


def _imbalance(w: Workload, others: Mapping[str, Schedule], pass_: str) -> str:
    """What the order of unequal blocks does to the launch."""
    unit, own = pace(w, "fa2", pass_).unit, launch.kernels_order(w, pass_)
    one, other = BLOCKS[pass_], BLOCKS["backward" if pass_ == "forward" else "forward"]
    names = {
        launch.PLAIN: f"in the order of the {one}s",
        launch.HEAD: "the longest first within each head",
        launch.HEAVY: f"the longest of {count(launch.section(w), 'head')} first",
        launch.LIGHT: "the shortest first within each head",
    }
    told = "; ".join(
        f"{name}{', as the kernel has it' * (o == own)}, {time(others[o].makespan, unit)}"
        for o, name in names.items()
        if o in others
    )
    kernel, visits = others[own], sum(launch.block_visits(w, pass_))
    less = 1 - min(s.makespan for s in others.values()) / kernel.makespan
    end = (
        f"The best of them takes {100 * less:.0f} % less than the kernel's. With more heads side "
        "by side, all K and V would compete for L2, of which the simulation knows nothing here."
    )
    if kernel.waves <= 1:
        end = "All programs start at once here, so the order hardly matters."
    elif less < 0.005:
        end = "The kernel's is the best of them here."
    unequal = (
        f"{one.capitalize()}s are unequal: the longest visits "
        f"{count(int(visits.max()), other)}, the shortest {visits.min():,}."
    )
    if visits.min() == visits.max():
        unequal = f"All {one}s visit {count(int(visits.max()), other)}."
    elif pass_ == "backward" and w.causal:
        unequal += f" Key block 0 meets all {other}s, the last one only its own."
    return f"{unequal} {told[0].upper()}{told[1:]}. {end}"


# ---- the real run


def real_head(c: Compared) -> str:
    """How far simulation and reality are apart."""
    name = LABELS[c.order]
    w = c.workload
    mask = str(w.mask)
    low, high = c.spread_us
    sign = "longer" if c.makespan >= 0 else "shorter"
    learnt = (
        "Its unit was taken from this very run, so only the shape is a prediction."
        if c.scaled
        else "It was learnt from other runs, at other N and other numbers of heads."
    )
    text = (
        f"{name}, {mask}, {w.dtype}, N = {w.n:,}, B × H = {w.batch * w.heads}, d = {w.d}, tiles of "
        f"{w.block_q} × {w.block_k}: the real kernel took {time(c.real.makespan, 'µs')} "
        f"({time(low, 'µs')} to {time(high, 'µs')} over the runs), the simulation says "
        f"{time(c.simulated.makespan, 'µs')}, {abs(100 * c.makespan):.1f} % {sign}. {learnt}"
    )
    kind = simulation(w) + c.kind
    return page(said(text, kind), view="real", data_off=f"{c.makespan:.6f}")


def real_tail(c: Compared) -> str:
    """Both schedules in numbers, and every program."""
    rows = [
        (name, f"{len(np.unique(s.sm))} of {s.sms}", str(s.slots), f"{100 * s.busy:.0f} %",
         f"{100 * s.tail:.0f} %", time(s.makespan, "µs"))
        for name, s in (("simulated", c.simulated), ("real", c.real))
    ]  # fmt: skip
    head = ("", "multiprocessors used", "at once on one", "busy", "tail", "takes")
    note = (
        "The kernel is built with a flag that lets every program write down its multiprocessor "
        "(%smid) and the GPU's clock (%globaltimer) when it starts and ends. The run shown is the "
        "one with the median time. Which multiprocessor comes next is the hardware's own choice, "
        "so rows do not match one by one."
    )
    listed = _listed(c.real, c.launch, c.order)
    return page(
        card("real", "Simulated and real", simulation(c.workload) + c.kind, "",
             table(head, rows, "Both schedules"), words(note)),
        figures_of("real-schedule", c.kind, _head(), listed, "The real programs as a table"),
        view="real-figures",
    )  # fmt: skip


def failure(sentence: str) -> str:
    """One sentence in place of a view."""
    return div("fa-run", tag("p", sentence, class_="fa-run-refused", role="alert"))


def progress(text: str) -> str:
    """A live run on its way."""
    return page(words(text, "fa-finding"), view="real")


def warps_head() -> str:
    """What the two lanes below show."""
    return page(
        said(
            "One tile among the warps of one block: FA-1 splits its keys and must put the pieces "
            "together, FA-2 splits its rows and exchanges nothing.",
            simulated("every warp's work and exchange, with the very numbers of the tile"),
        ),
        view="warps",
    )
