"""The views of the Parallel page by name: a workload → (HTML above, figures, HTML below)."""

from __future__ import annotations

import plotly.graph_objects as go

from explainer.algorithms.registry import LABELS, OF_PASS, PLACED
from explainer.base.texts import Texts
from explainer.memory.workload import Workload
from explainer.parallel import durations, launch, real_schedules
from explainer.views import charts, decode_report, html, parallel_report

say = Texts("parallel")
VIEWS = say.named("views")
CASES = {
    case: say("case.name", order=LABELS[order], mask="causal" if causal else "full")
    for case, (order, causal) in real_schedules.CASES.items()
}
PLAIN = {
    "view": "grid",
    "case": next(iter(CASES)),
    "pass": "forward",
    "card": "h200",
    "n": "4096",
    "d": "64",
    "br": "128",
    "bc": "64",
    "b": "1",
    "h": "16",
    "mask": "full",
    "dtype": "fp16",
    "sliders": "1",
}
PASSED = ("grid",)  # the views that show either pass
ORDERS = {  # of unequal blocks, in either pass
    "forward": (launch.PLAIN, launch.HEAD, launch.HEAVY),
    "backward": (launch.PLAIN, launch.HEAVY, launch.LIGHT),
}
FAR_APART = 6  # from this ratio on each timeline has a scale of its own

View = tuple[str, list[go.Figure], str]


def _grid(w: Workload, pass_: str) -> View:
    both = {order: durations.schedule(w, order, pass_=pass_) for order in PLACED}
    orders = ORDERS[pass_] if w.mask.hides else ()
    other = {o: durations.schedule(w, "fa2", o, pass_) for o in orders}
    unit = durations.pace(w, "fa2", pass_).unit
    longest = max(s.makespan for s in both.values())
    figures = []
    for order, s in both.items():
        takes = parallel_report.time(s.makespan, unit)
        name = say("timeline.title", name=OF_PASS[pass_][order].texts["programs"], time=takes)
        kind = parallel_report.simulation(w, pass_)
        launched = launch.programs(w, order, pass_=pass_)
        told = parallel_report.told(s, launched, unit, kind, pass_)
        end = longest if longest < FAR_APART * s.makespan else s.makespan
        key = "timeline.waves" if end == longest else "timeline.waves_own"
        remark = say(key, n=s.waves)
        figures.append(charts.timeline(s, told, name, kind, remark, unit, end))
    head = parallel_report.grid_head(w, both, pass_)
    return head, figures, parallel_report.grid_tail(w, both, other, pass_)


def compared(found: real_schedules.Compared) -> View:
    """A real schedule under the simulated one."""
    longest = max(found.real.makespan, found.simulated.makespan)
    figures = []
    model = parallel_report.simulation(found.workload)
    for s, name, kind in (
        (found.simulated, say("timeline.simulated"), model),
        (found.real, say("timeline.real"), found.kind),
    ):
        name = say("timeline.title", name=name, time=parallel_report.time(s.makespan, "µs"))
        told = parallel_report.told(s, found.launch, "µs", kind)
        figures.append(charts.timeline(s, told, name, kind, "", "µs", longest))
    return parallel_report.real_head(found), figures, parallel_report.real_tail(found)


def recorded(case: str) -> View:
    """One of ``CASES``, the first for another name."""
    return compared(real_schedules.of_case(case if case in CASES else PLAIN["case"]))


def made(view: str, w: Workload, pass_: str = "forward") -> View:
    """The view of this name; the warps', which has a player of its own, for another one. ``pass_``
    of the grid, forward for another one. Raises ProblemError for a launch that cannot be shown."""
    if view == "grid":
        return _grid(w, pass_ if pass_ in html.PASSES else PLAIN["pass"])
    if view == "decode":
        rows = decode_report.decode_rows(w)
        remark = say("decode.remark", n=w.n, heads=w.batch * w.heads)
        chart = charts.decode(rows, decode_report.decode_kind(rows), remark)
        head, tail = decode_report.decode_head(w, rows), decode_report.decode_tail(w, rows)
        return head, [chart], tail
    return parallel_report.warps_head(), [], ""
