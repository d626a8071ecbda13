"""Rows of the Memory and Parallel pages → Plotly figures. Pure: nothing is computed here."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import plotly.graph_objects as go

from explainer.algorithms.algorithm import COMPULSORY, REQUESTED
from explainer.algorithms.registry import ALGORITHMS, LABELS
from explainer.base.amounts import amount
from explainer.base.cards import CARDS
from explainer.base.kinds import Kind, cited
from explainer.base.texts import Texts
from explainer.memory.capacity import FORMS
from explainer.memory.traffic_series import COUNTED, DRAM, L2
from explainer.parallel.simulator import Schedule
from explainer.parallel.split_keys import SDPA
from explainer.views.figures import LOOK, SHORT, TALL, lengths_axis, log_axis, styled, wrapped

say, parallel = Texts("memory"), Texts("parallel")
# Told apart by shape as well: a thick line, a thin one, a ring, a cross, a thin cross.
WIDTHS = {REQUESTED: 2.5, COMPULSORY: 1}
SYMBOLS = {COUNTED: ("circle-open", 11), L2: ("cross-thin-open", 9), DRAM: ("x-thin-open", 8)}
FORM_LOOK = {
    "standard": ("#b8860b", "solid"),
    "standard_kept": ("#b8860b", "dash"),
    "standard_back": ("#b8860b", "solid"),
    "fused": ("#2b8fd0", "solid"),
    "fused_kept": ("#2b8fd0", "dash"),
    "fused_back": ("#2b8fd0", "solid"),
}
SDPA_LOOK = {
    name: {"color": LOOK[key][0], "width": 2, "dash": dash}
    for (key, name), dash in zip(SDPA.items(), ("dash", "dot"), strict=True)
}
HOVER = 52  # characters of a line of what hovering says
LONG = 20  # characters of an upright title in a lecture hall
MOST_BARS = 2400  # of a timeline; above it every k-th multiprocessor is drawn


def _bytes_axis(figure: go.Figure, values: Sequence[float], title: str) -> None:
    """A log axis whose ticks are binary amounts."""
    low, high = int(np.floor(np.log2(max(1, min(values))))), int(np.ceil(np.log2(max(values))))
    step = max(2, 2 * round((high - low) / 12))
    ticks = [2.0**k for k in range(low - low % step, high + 1, step)]
    figure.update_yaxes(log_axis(title, tickvals=ticks, ticktext=[amount(t) for t in ticks]))


def traffic(
    rows: Sequence[Mapping], over: str, title: str, kind: Kind, remark: str, now: int
) -> go.Figure:
    """Bytes of one head over N (``over`` "n") or over the tile's side ("side"); ``now``: where the
    workload stands, a thin line."""
    figure = go.Figure()
    for order, algorithm in ALGORITHMS.items():
        for origin in (REQUESTED, COMPULSORY, COUNTED, L2, DRAM):
            mine = sorted(
                (r for r in rows if (r["order"], r["origin"]) == (order, origin)),
                key=lambda r: r[over],
            )
            if not mine:
                continue
            line = {"color": algorithm.colour, "dash": algorithm.dash}
            look = {"mode": "lines", "line": line | {"width": WIDTHS.get(origin)}}
            if origin in SYMBOLS:
                symbol, size = SYMBOLS[origin]
                marker = {"symbol": symbol, "size": size, "color": algorithm.colour}
                look = {"mode": "markers", "marker": marker | {"line": {"width": 2}}}
                look["marker"]["line"]["color"] = algorithm.colour
            texts = [_told(r) for r in mine]
            figure.add_scatter(
                x=[r[over] for r in mine],
                y=[r["bytes"] for r in mine],
                hovertext=texts,
                hoverinfo="text",
                name=f"{algorithm.label}, {origin}",
                showlegend=False,
                **look,
            )
    figure.add_vline(x=now, line={"width": 1, "dash": "dot", "color": "#7b8494"})
    _bytes_axis(figure, [r["bytes"] for r in rows], say("traffic.y"))
    if over == "n":
        lengths_axis(figure, (r["n"] for r in rows if r["origin"] == REQUESTED))
    else:
        figure.update_xaxes(title="Br = Bc", tickvals=[16, 64, 128, 192, 256], tickangle=0)
    return styled(figure, TALL, title, kind, remark)


def _told(row: Mapping) -> str:
    told = {"name": LABELS[row["order"]], "amount": amount(row["bytes"]), "n": row["n"]}
    told["source"] = wrapped(row["source"], HOVER)
    if row["side"] is None:
        return say("traffic.hover", **told)
    return say("traffic.hover_tile", **told, side=row["side"])


def capacity(
    rows: Sequence[Mapping], card: str, kind: Kind, now: int, pass_: str = "forward"
) -> go.Figure:
    """Bytes needed over N by form, measured peaks as crosses, the card's memory as a line."""
    figure = go.Figure()
    for form, name in FORMS[pass_].items():
        colour, dash = FORM_LOOK[form]
        for measured in (False, True):
            mine = [r for r in rows if r["form"] == form and r["measured"] == measured]
            if not mine:
                continue
            look = {"mode": "lines", "line": {"color": colour, "dash": dash, "width": 2}}
            if measured:
                line = {"width": 2, "color": colour}
                look = {"mode": "markers", "showlegend": False}
                look["marker"] = {"symbol": "x-thin-open", "size": 9, "color": colour, "line": line}
            texts = [
                say(
                    "traffic.hover",
                    name=name,
                    amount=amount(r["bytes"]),
                    n=r["n"],
                    source=wrapped(r["source"], HOVER),
                )
                for r in mine
            ]
            figure.add_scatter(
                x=[r["n"] for r in mine],
                y=[r["bytes"] for r in mine],
                name=name,
                hovertext=texts,
                hoverinfo="text",
                **look,
            )
    room = CARDS[card].hbm_bytes
    figure.add_hline(y=room, line={"color": "#7b8494", "width": 2})
    figure.add_annotation(
        x=0.01,
        xref="paper",
        y=float(np.log10(room)),
        yanchor="bottom",
        showarrow=False,
        text=say("capacity.room", card=CARDS[card].name, room=amount(room)),
    )
    figure.add_vline(x=now, line={"width": 1, "dash": "dot", "color": "#7b8494"})
    _bytes_axis(figure, [*(r["bytes"] for r in rows), room], say("capacity.y"))
    lengths_axis(figure, (r["n"] for r in rows if not r["measured"]))
    crosses = any(r["measured"] for r in rows)
    remark = say("capacity.crosses" if crosses else "capacity.no_peak")
    return styled(figure, TALL, say("capacity"), kind + cited(CARDS[card].source), remark)


# Waves, told apart by lightness too; beyond the last the colours come round again.
WAVES = ("#2b6fab", "#e0b23a", "#2fa07f", "#c06a9c")


def timeline(
    s: Schedule,
    told: Callable[[int], str],
    title: str,
    kind: Kind,
    remark: str,
    unit: str,
    longest: float,
) -> go.Figure:
    """One row a place on a multiprocessor, one bar a program; colour: its turn on that place.

    ``told``: what hovering says of a program; ``longest``: the axis' end, so that two timelines
    can share a scale.
    """
    step = -(-len(s.sm) // MOST_BARS)
    shown = np.flatnonzero(s.sm % step == 0)
    place = s.sm * s.slots + s.slot
    turn = _turns(place, s.start)
    figure = go.Figure()
    for k, colour in enumerate(WAVES):
        mine = shown[turn[shown] % len(WAVES) == k]
        figure.add_bar(
            orientation="h",
            base=s.start[mine],
            x=(s.end - s.start)[mine],
            y=place[mine],
            width=1.0,
            marker={"color": colour, "line": {"width": 0}},
            showlegend=False,
            hovertext=[told(p) for p in mine],
            hoverinfo="text",
        )
    every = parallel("timeline.every", step=step) if step > 1 else ""
    figure.update_layout(barmode="overlay", bargap=0)
    figure.update_xaxes(title=unit, range=[0, longest * 1.01], rangemode="tozero")
    ticks = list(range(0, s.sms, max(1, s.sms // 6)))
    figure.update_yaxes(
        range=[s.sms * s.slots - 0.5, -0.5],
        title=parallel("timeline.sm"),
        tickvals=[t * s.slots for t in ticks],
        ticktext=[str(t) for t in ticks],
    )
    remark = ", ".join(part for part in (remark, every) if part)
    figure = styled(figure, SHORT, title, kind, remark)
    return figure.update_xaxes(showgrid=True).update_yaxes(showgrid=False)


def large(figure: go.Figure, height: int, wide: int) -> go.Figure:
    """The same for a lecture hall: type of 24 px, thicker lines, larger signs. Title, kind and
    remark share a line of ``wide`` characters; what has no room there is the remark, and then the
    kind stands below."""
    for trace in figure.data:
        if trace.type == "scatter":
            trace.line.width = 2 * (trace.line.width or 2)
            trace.marker.size = 1.7 * (trace.marker.size or 8)
            trace.marker.line.width = 4
    title, kind, remark = (figure.layout.meta[key] for key in ("title", "kind", "remark"))
    told = f" · {kind}" if len(f"{title} · {kind}") <= wide else f"<br>{wrapped(kind, wide)}"
    if remark and len(f"{title}{told} · {remark}") <= wide:
        told += f" · {remark}"
    text = f'<b>{title}</b><span style="font-size:24px">{told}</span>'
    more = told.count("<br>")  # Plotly lifts a title of several lines
    figure.update_layout(template="plotly+fa+fa-hall", height=height, title_text=text)
    figure.update_layout(margin={"t": 64 + 30 * more}, title_pad={"t": 18 + 8 * more})
    upright = figure.layout.yaxis.title.text
    if len(upright) > LONG:  # in two lines: it is longer than the axis
        figure.update_yaxes(title_text=upright.replace(", ", ",<br>"))
        figure.update_layout(margin={"l": 164})
    for axis in (figure.layout.xaxis, figure.layout.yaxis):
        if axis.tickvals and len(axis.tickvals) > 5:
            every = slice(0, None, -(-len(axis.tickvals) // 5))
            texts = axis.ticktext[every] if axis.ticktext else None
            axis.update(tickvals=axis.tickvals[every], ticktext=texts, tickangle=0)
    return figure


def _turns(place: np.ndarray, start: np.ndarray) -> np.ndarray:
    """(programs,) how many programs ran before on the same place."""
    order = np.lexsort((start, place))
    new = np.concatenate([[True], np.diff(place[order]) > 0])
    first = np.maximum.accumulate(np.where(new, np.arange(len(order)), 0))
    turn = np.empty(len(order), int)
    turn[order] = np.arange(len(order)) - first
    return turn


def decode(rows: Sequence[Mapping], kind: Kind, remark: str) -> go.Figure:
    """Measured time over the number of parts, and the simulated share of the card that works; rows
    without ``splits`` are of other methods: a line each."""
    figure = go.Figure()
    ours = [r for r in rows if "splits" in r]
    x = [str(r["splits"]) for r in ours]
    figure.add_bar(
        x=x,
        y=[100 * r["busy"] for r in ours],
        name=parallel("chart.busy"),
        yaxis="y2",
        marker={"color": "rgba(86,169,220,.35)"},
        hoverinfo="text",
        hovertext=[
            parallel("chart.busy_hover", n=r["programs"], share=100 * r["busy"]) for r in ours
        ],
    )
    timed = [r for r in ours if "median_ms" in r]
    figure.add_scatter(
        x=[str(r["splits"]) for r in timed],
        y=[r["median_ms"] * 1e3 for r in timed],
        name=parallel("chart.time"),
        mode="lines+markers",
        hoverinfo="text",
        hovertext=[_took(r) for r in timed],
        line={"color": "#d55e00", "width": 2},
        marker={"size": 9},
    )
    for r in rows[len(ours) :]:
        figure.add_scatter(
            x=x,
            y=[r["median_ms"] * 1e3] * len(x),
            mode="lines",
            name=parallel("chart.other", method=r["method"]),
            line=SDPA_LOOK[r["method"]],
            hoverinfo="text",
            hovertext=[_took(r)] * len(x),
        )
    for r in (r for r in timed if r["rule"]):
        figure.add_scatter(
            x=[str(r["splits"])],
            y=[r["median_ms"] * 1e3],
            name=parallel("chart.rule"),
            mode="markers",
            hoverinfo="text",
            hovertext=[parallel("chart.rule_hover", took=_took(r))],
            marker={"size": 17, "symbol": "circle-open", "color": "#d55e00", "line": {"width": 2}},
        )
    figure.update_xaxes(title=parallel("chart.x"), type="category")
    figure = styled(figure, TALL, parallel("chart"), kind, remark)
    figure.update_layout(
        margin={"r": 64},
        yaxis={"title": "µs", "rangemode": "tozero", "overlaying": "y2", "side": "left"},
        yaxis2={
            **{"title": parallel("chart.y"), "range": [0, 105], "side": "right"},
            **{"showgrid": False, "showline": False, "zeroline": True},
        },
    )
    return figure


def _took(r: Mapping) -> str:
    """What hovering says of a measured time."""
    time, p20, p80 = (1e3 * r[key] for key in ("median_ms", "p20_ms", "p80_ms"))
    return parallel("chart.took", time=time, p20=p20, p80=p80, source=wrapped(r["source"], HOVER))
