"""Plot the rows of the Memory and Parallel pages with Plotly."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from explainer.algorithms.algorithm import REQUESTED
from explainer.algorithms.registry import ALGORITHMS
from explainer.base.amounts import amount
from explainer.base.cards import CARDS
from explainer.base.kinds import Kind, cited
from explainer.base.texts import Texts
from explainer.memory.capacity import FORMS
from explainer.parallel.simulator import Schedule
from explainer.parallel.split_keys import SDPA
from explainer.views.figures import (
    CHARTS,
    METHOD_STYLES,
    SHORT,
    TALL,
    add_points,
    apply_style,
    lengths_axis,
    log_axis,
    wrap,
)

t, parallel = Texts("memory"), Texts("parallel")
SDPA_LINES = {
    name: {"color": METHOD_STYLES[key][0], "dash": dash}
    for (key, name), dash in zip(SDPA.items(), ("dash", "dot"), strict=True)
}
HOVER = 52  # characters of a line of what hovering says
LONG = 20  # characters of an upright title in presentation mode
GREY = "#7b8494"
MOST_BARS = 2400  # of a timeline; above it every k-th multiprocessor is drawn


def _bytes_axis(figure: go.Figure, values: Sequence[float], title: str) -> None:
    """A log axis whose ticks are binary amounts."""
    low, high = int(np.floor(np.log2(max(1, min(values))))), int(np.ceil(np.log2(max(values))))
    step = max(2, 2 * round((high - low) / 12))
    ticks = [2.0**k for k in range(low - low % step, high + 1, step)]
    figure.update_yaxes(log_axis(title, tickvals=ticks, ticktext=[amount(t) for t in ticks]))


def _add_bytes(
    figure: go.Figure, rows: Sequence[Mapping], over: str, name: str, label: str, **style
) -> None:
    """Add the bytes of rows over their key ``over``; ``label``: whose they are, for hovering."""
    texts = [_hover_text(row, label) for row in rows]
    add_points(figure, [r[over] for r in rows], [r["bytes"] for r in rows], name, texts, **style)


def _hover_text(row: Mapping, name: str) -> str:
    """Say a point's bytes, place and source."""
    values = {"name": name, "amount": amount(row["bytes"]), "n": row["n"]}
    values["source"] = wrap(row["source"], HOVER)
    if row.get("side") is None:
        return t("traffic.hover", **values)
    return t("traffic.hover_tile", **values, side=row["side"])


def _mark_workload(figure: go.Figure, x: int) -> None:
    """Add a thin line where the workload stands."""
    figure.add_vline(x=x, line={"width": 1, "dash": "dot", "color": GREY})


def plot_traffic(
    rows: Sequence[Mapping], over: str, title: str, kind: Kind, remark: str, now: int
) -> go.Figure:
    """Plot the bytes of one head over N (``over`` "n") or over the tile's side ("side"); ``now``:
    where the workload stands. Shapes tell the origins apart as well as their signs do."""
    figure = go.Figure()
    for order, a in ALGORITHMS.items():
        own = {"line_color": a.colour, "line_dash": a.dash, "marker_color": a.colour}
        for origin, style in CHARTS["origins"].items():
            mine = [r for r in rows if (r["order"], r["origin"]) == (order, origin)]
            mine.sort(key=lambda r: r[over])
            style = style | own | {"showlegend": False}
            if mine:
                _add_bytes(figure, mine, over, f"{a.label}, {origin}", a.label, **style)
    _mark_workload(figure, now)
    _bytes_axis(figure, [r["bytes"] for r in rows], t("traffic.y"))
    if over == "n":
        lengths_axis(figure, (r["n"] for r in rows if r["origin"] == REQUESTED))
    else:
        figure.update_xaxes(title="Br = Bc", tickvals=[16, 64, 128, 192, 256], tickangle=0)
    return apply_style(figure, TALL, title, kind, remark)


def plot_capacity(
    rows: Sequence[Mapping], card: str, kind: Kind, now: int, pass_: str = "forward"
) -> go.Figure:
    """Plot the bytes needed over N by form, measured peaks as crosses, the card's memory as a
    line."""
    figure = go.Figure()
    for form, name in FORMS[pass_].items():
        colour, dash = CHARTS["forms"][form]
        line = {"mode": "lines", "line": {"color": colour, "dash": dash}}
        for style, is_peak in ((line, False), (CHARTS["peak"] | {"marker_color": colour}, True)):
            mine = [r for r in rows if (r["form"], r["measured"]) == (form, is_peak)]
            if mine:
                _add_bytes(figure, mine, "n", name, name, **style)
    room = CARDS[card].hbm_bytes
    figure.add_hline(y=room, line={"color": GREY, "width": 2})
    text = t("capacity.room", card=CARDS[card].name, room=amount(room))
    figure.add_annotation(x=0.01, y=float(np.log10(room)), text=text)
    _mark_workload(figure, now)
    _bytes_axis(figure, [*(r["bytes"] for r in rows), room], t("capacity.y"))
    lengths_axis(figure, (r["n"] for r in rows if not r["measured"]))
    crosses = any(r["measured"] for r in rows)
    remark = t("capacity.crosses" if crosses else "capacity.no_peak")
    return apply_style(figure, TALL, t("capacity"), kind + cited(CARDS[card].source), remark)


def plot_timeline(
    s: Schedule,
    hover_text: Callable[[int], str],
    title: str,
    kind: Kind,
    remark: str,
    unit: str,
    longest: float,
) -> go.Figure:
    """Plot one row for each place on an SM, one bar for each program; colour: its round there.

    ``hover_text``: what hovering says of a program; ``longest``: the axis' end, so that two
    timelines can share a scale.
    """
    step = -(-len(s.sm) // MOST_BARS)
    drawn = np.flatnonzero(s.sm % step == 0)
    place = s.sm * s.slots + s.slot
    rounds = _rounds(place, s.start)
    figure = go.Figure()
    colours = CHARTS["waves"]  # of the first rounds; beyond the last they come round again
    for k, colour in enumerate(colours):
        mine = drawn[rounds[drawn] % len(colours) == k]
        figure.add_bar(
            **CHARTS["program"],
            marker_color=colour,
            base=s.start[mine],
            x=(s.end - s.start)[mine],
            y=place[mine],
            hovertext=[hover_text(p) for p in mine],
            hoverinfo="text",
        )
    ticks = list(range(0, s.sms, max(1, s.sms // 6)))
    figure.update_xaxes(title=unit, range=[0, longest * 1.01])
    figure.update_yaxes(
        range=[s.sms * s.slots - 0.5, -0.5],
        title=parallel("timeline.sm"),
        tickvals=[t * s.slots for t in ticks],
        ticktext=[str(t) for t in ticks],
    )
    every = parallel("timeline.every", step=step) if step > 1 else ""
    remark = ", ".join(part for part in (remark, every) if part)
    return apply_style(figure, SHORT, title, kind, remark).update_layout(CHARTS["timeline"])


def enlarge(figure: go.Figure, height: int, wide: int) -> go.Figure:
    """Change a figure for presentation mode: type of 24 px, thicker lines, larger signs. Title,
    kind and remark share a line of ``wide`` characters; without room there the remark is left out,
    then the kind stands below."""
    drawn: Any = figure  # Plotly makes the attributes of a figure's parts when it runs: no types
    for trace in drawn.data:
        if trace.type == "scatter":
            trace.line.width = 2 * (trace.line.width or 2)
            trace.marker.size = 1.7 * (trace.marker.size or 8)
            trace.marker.line.width = 4
    title, kind, remark = (drawn.layout.meta[key] for key in ("title", "kind", "remark"))
    below = f" · {kind}" if len(f"{title} · {kind}") <= wide else f"<br>{wrap(kind, wide)}"
    if remark and len(f"{title}{below} · {remark}") <= wide:
        below += f" · {remark}"
    text = f'<b>{title}</b><span style="font-size:24px">{below}</span>'
    more = below.count("<br>")  # Plotly lifts a title of several lines
    figure.update_layout(template="plotly+fa+fa-presented", height=height, title_text=text)
    figure.update_layout(margin={"t": 64 + 30 * more}, title_pad={"t": 18 + 8 * more})
    upright = drawn.layout.yaxis.title.text
    if len(upright) > LONG:  # in two lines: it is longer than the axis
        figure.update_yaxes(title_text=upright.replace(", ", ",<br>"))
        figure.update_layout(margin={"l": 164})
    for axis in (drawn.layout.xaxis, drawn.layout.yaxis):
        if axis.tickvals and len(axis.tickvals) > 5:
            every = slice(0, None, -(-len(axis.tickvals) // 5))
            texts = axis.ticktext[every] if axis.ticktext else None
            axis.update(tickvals=axis.tickvals[every], ticktext=texts, tickangle=0)
    return figure


def _rounds(place: np.ndarray, start: np.ndarray) -> np.ndarray:
    """Count for each program, (programs,), how many ran before it on the same place."""
    counts: dict[int, int] = {}
    rounds, places = np.empty(len(place), int), place.tolist()
    for p in np.argsort(start, kind="stable"):
        rounds[p] = counts[places[p]] = counts.get(places[p], -1) + 1
    return rounds


def plot_decode(rows: Sequence[Mapping], kind: Kind, remark: str) -> go.Figure:
    """Plot the measured time over the number of parts, and the simulated share of the card that
    works; rows without ``splits`` are of other methods: a line each."""
    figure, styles = go.Figure(), CHARTS["splits"]
    ours = [r for r in rows if "splits" in r]
    x = [str(r["splits"]) for r in ours]
    figure.add_bar(
        **styles["busy"],
        x=x,
        y=[100 * r["busy"] for r in ours],
        name=parallel("chart.busy"),
        hoverinfo="text",
        hovertext=[
            parallel("chart.busy_hover", n=r["programs"], share=100 * r["busy"]) for r in ours
        ],
    )

    def add_times(timed: Sequence[Mapping], x: list[str], name: str, **style) -> None:
        texts = [_time_text(r) for r in timed]
        add_points(figure, x, [r["median_ms"] * 1e3 for r in timed], name, texts, **style)

    timed = [r for r in ours if "median_ms" in r]
    add_times(timed, [str(r["splits"]) for r in timed], parallel("chart.time"), **styles["time"])
    for r in rows[len(ours) :]:
        name, line = parallel("chart.other", method=r["method"]), SDPA_LINES[r["method"]]
        add_times([r] * len(x), x, name, mode="lines", line=line)
    for r in (r for r in timed if r["rule"]):
        texts = [parallel("chart.rule_hover", took=_time_text(r))]
        place = [str(r["splits"])], [r["median_ms"] * 1e3]
        add_points(figure, *place, parallel("chart.rule"), texts, **styles["rule"])
    figure = apply_style(figure, TALL, parallel("chart"), kind, remark)
    figure.update_layout(styles["layout"])
    titles = {"xaxis": {"title": parallel("chart.x")}, "yaxis2": {"title": parallel("chart.y")}}
    return figure.update_layout(titles)


def _time_text(r: Mapping) -> str:
    """Say a measured time, its spread and its source."""
    time, p20, p80 = (1e3 * r[key] for key in ("median_ms", "p20_ms", "p80_ms"))
    return parallel("chart.took", time=time, p20=p20, p80=p80, source=wrap(r["source"], HOVER))
