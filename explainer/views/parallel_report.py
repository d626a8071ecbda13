"""Render the Parallel page's schedules: the grid on the card, the real run beside simulation."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go

from explainer.algorithms.registry import LABELS, OF_PASS, PLACED
from explainer.base.amounts import milliseconds
from explainer.base.kinds import Kind, simulated
from explainer.base.texts import Texts
from explainer.memory.workload import Workload
from explainer.parallel import durations, launch, real_schedules
from explainer.parallel.durations import cost_model, programs_per_sm
from explainer.parallel.real_schedules import Comparison
from explainer.parallel.simulator import Schedule
from explainer.views import charts
from explainer.views.additions_report import render_additions
from explainer.views.balance_report import render_balance
from explainer.views.templates import render
from explainer.views.view import View
from kernels.spec.launches import section

t = Texts("parallel")
BLOCKS = t.named("block")  # of each pass: what has a program
HEADS = {"forward": t.row("programs.forward"), "backward": t.row("programs.backward")}
MOST_ROWS = 600  # programs of a launch in the table and its downloads
ROW_ORDERS = {  # of unequal blocks, in either pass
    "forward": (launch.PLAIN, launch.HEAD, launch.HEAVY),
    "backward": (launch.PLAIN, launch.HEAVY, launch.LIGHT),
}
FAR_APART = 6  # from this ratio on each timeline has a scale of its own


def format_time(value: float, unit: str) -> str:
    """Format µs as µs, ms or s, and visits as a number."""
    if unit == "µs":
        return f"{value:.3g} µs" if value < 1000 else milliseconds(value / 1e3)
    return t("visits", n=value)


def _simulation(w: Workload, pass_: str = "forward") -> Kind:
    """Return the kind of a simulated launch."""
    return simulated(t("simulated", source=cost_model(w, "fa2", pass_).source))


def _timeline(
    s: Schedule,
    programs: launch.Programs,
    name: str,
    unit: str,
    kind: Kind,
    longest: float,
    remark: str = "",
    pass_: str = "forward",
) -> go.Figure:
    """Plot a schedule under its name and time; hovering says what each program does."""

    def hover_text(p: int) -> str:
        values = {
            "p": p,
            "head": programs.head[p],
            "n": int(programs.visits[p]),
            "sm": s.sm[p],
            "start": format_time(s.start[p], unit),
            "end": format_time(s.end[p], unit),
            "kind": kind.text,
        }
        if programs.row[p] < 0:
            return t("hover", **values)
        return t("hover.block", **values, block=BLOCKS[pass_], row=programs.row[p])

    title = t("timeline.title", name=name, time=format_time(s.makespan, unit))
    return charts.plot_timeline(s, hover_text, title, kind, remark, unit, longest)


def _rows(s: Schedule, programs: launch.Programs, order: str) -> list[dict]:
    """Return the first programs of a schedule as rows of a table."""
    return [
        {
            "order": order,
            "program": p,
            "head": int(programs.head[p]),
            "row_block": int(programs.row[p]),
            "visits": int(programs.visits[p]),
            "sm": int(s.sm[p]),
            "start": round(float(s.start[p]), 3),
            "end": round(float(s.end[p]), 3),
        }
        for p in range(min(len(s.sm), MOST_ROWS))
    ]


# ---- the grid on the card


def render_grid(w: Workload, pass_: str = "forward") -> View:
    """Render why FA-1 leaves a card idle where FA-2 does not: both launches in numbers and as
    timelines; below, what the order of unequal blocks does, and of the additions backward."""
    schedules = {order: durations.schedule(w, order, pass_=pass_) for order in PLACED}
    launches = {order: launch.programs(w, order, pass_=pass_) for order in PLACED}
    kind, model = _simulation(w, pass_), cost_model(w, "fa2", pass_)
    longest = max(s.makespan for s in schedules.values())
    figures = []
    for order, s in schedules.items():
        shares_scale = longest < FAR_APART * s.makespan or s.makespan == longest
        remark = t("timeline.waves" if shares_scale else "timeline.waves_own", n=s.waves)
        name, end = OF_PASS[pass_][order].texts["programs"], longest if shares_scale else s.makespan
        figures.append(_timeline(s, launches[order], name, model.unit, kind, end, remark, pass_))
    serial, parallel = PLACED  # one program a head, one a block
    head = render(
        "parallel/grid_head",
        w=w,
        pass_=pass_,
        kind=kind,
        block=BLOCKS[pass_],
        serial=schedules[serial],
        parallel=schedules[parallel],
        launches=[
            {
                "label": LABELS[order],
                "schedule": s,
                "slots": programs_per_sm(w, order, pass_),
                "time": format_time(s.makespan, cost_model(w, order, pass_).unit),
            }
            for order, s in schedules.items()
        ],
        source=model.source,
    )
    rows = [row for order, s in schedules.items() for row in _rows(s, launches[order], order)]
    tail = render(
        "parallel/grid_tail",
        pass_=pass_,
        kind=kind,
        spread=model.spread,
        additions=render_additions(w) if pass_ == "backward" else "",
        balance=render_balance(w, pass_),
        imbalance=_imbalance(w, pass_) if w.mask.hides else "",
        head=HEADS[pass_],
        rows=rows,
        most=MOST_ROWS,
    )
    return View(head, tuple(figures), tail)


def _imbalance(w: Workload, pass_: str) -> str:
    """Say what the order of unequal blocks does to the launch."""
    schedules = {o: durations.schedule(w, "fa2", o, pass_) for o in ROW_ORDERS[pass_]}
    unit, own = cost_model(w, "fa2", pass_).unit, launch.kernels_order(w, pass_)
    texts, forward = t.named("order"), pass_ == "forward"
    names = {
        launch.PLAIN: texts[f"{pass_} plain"],
        launch.HEAD: texts["head"],
        launch.HEAVY: t("order.heavy", n=section(w.n, w.d, w.itemsize)),
        launch.LIGHT: texts["light"],
    }
    times = "; ".join(
        t(
            "order.kernel" if o == own else "order.took",
            order=name,
            time=format_time(schedules[o].makespan, unit),
        )
        for o, name in names.items()
        if o in schedules
    )
    kernel, visits = schedules[own], np.add(*launch.block_visits(w, pass_))
    less = 1 - min(s.makespan for s in schedules.values()) / kernel.makespan
    end = t("order.best", less=100 * less)
    if kernel.waves <= 1:
        end = t("order.at_once")
    elif less < 0.005:
        end = t("order.own")
    least, most = int(visits.min()), int(visits.max())
    if least == most:
        unequal = t("order.equal_rows" if forward else "order.equal_keys", most=most)
    else:
        unequal = t("order.row_blocks" if forward else "order.key_blocks", most=most, least=least)
        if not forward and w.is_causal:
            unequal += t("order.causal")
    return f"{unequal} {times[0].upper()}{times[1:]}. {end}"


# ---- the real run


def render_comparison(c: Comparison) -> View:
    """Render a real schedule under the simulated one, and how far the two are apart."""
    w, simulation = c.workload, _simulation(c.workload)
    longest = max(c.real.makespan, c.simulated.makespan)
    figures = [
        _timeline(s, c.launch, name, "µs", kind, longest)
        for s, name, kind in (
            (c.simulated, t("timeline.simulated"), simulation),
            (c.real, t("timeline.real"), c.kind),
        )
    ]
    values = {"c": c, "w": w, "kind": simulation + c.kind, "time": format_time}
    head = render("parallel/real_head", label=LABELS[c.order], **values)
    rows = _rows(c.real, c.launch, c.order)
    tail = render("parallel/real_tail", head=HEADS["forward"], rows=rows, **values)
    return View(head, tuple(figures), tail)


def render_recorded(case: str) -> View:
    """Render one of the recorded cases beside its simulation."""
    return render_comparison(real_schedules.of_case(case))


def render_warps() -> View:
    """Render what the two lanes of the warps' player show."""
    return View(
        render("parallel/finding", view="warps", text=t("warps"), kind=simulated(t("warps.kind")))
    )
