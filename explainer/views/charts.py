"""Enlarge Plotly's figures for presentation mode."""

from __future__ import annotations

from typing import Any

import plotly.graph_objects as go

from explainer.views.figures import wrap

LONG = 20  # characters of an upright title


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
