"""Plot the measurements of a run and of a sweep with Plotly, in the style of every chart."""

from __future__ import annotations

import json
import math
import textwrap
from collections.abc import Callable, Iterable, Sequence
from itertools import product

import plotly.graph_objects as go
import plotly.io as pio

from explainer.algorithms.registry import ALGORITHMS
from explainer.base.amounts import amount, rounded, scientific
from explainer.base.kinds import Kind, required
from explainer.base.paths import ASSETS
from explainer.base.texts import Texts
from explainer.engine.requests import METHODS
from explainer.engine.results import A_DECADE, LOWEST, PointRow, Result, Row, timed

t, shared = Texts("run"), Texts("shared")
# Templates of layouts, styles of lines, signs for Plotly's symbols in a legend outside the figures.
CHARTS = json.loads((ASSETS / "charts.json").read_text(encoding="utf-8"))
# method → (colour, symbol): either tells it apart, and so do the legend's words
METHOD_STYLES = CHARTS["methods"] | {key: (a.colour, a.symbol) for key, a in ALGORITHMS.items()}
HEADROOM = 3.0  # of the roofline above its roof, for the label and what stands higher
SELDOM = 5e-4  # a tail thinner than this is not drawn
SHORT, TALL = 320, 430  # px of a chart's height; run.css keeps a place of each
LINE = 17  # px of a line above a chart, beyond the title and the first
ON_A_PHONE = 48  # characters of 13 px across a chart
BOLD, PLAIN, WIDE = 7.8, 6.3, 330  # px of a character of a title, of a remark, of their line
# The style of every chart, "fa": no paper of its own, so that it stands on a light page and on a
# dark one, whose stylesheet colors the texts; system fonts, legend below. "fa-presented": what is
# larger in presentation mode.
for name, layout in CHARTS["templates"].items():
    pio.templates[name] = go.layout.Template(layout=layout)


def apply_style(
    figure: go.Figure, height: int, title: str, kind: Kind, remark: str = ""
) -> go.Figure:
    """Give a figure the style of every chart: its title, a ``remark``, and the ``kind`` of its
    figures, in lines that fit a phone."""
    is_short = BOLD * len(title) + PLAIN * len(f" · {remark}") < WIDE
    below = wrap(required(kind).text, ON_A_PHONE)
    if remark:
        below = f" · {remark}<br>{below}" if is_short else f"<br>{below}<br>{remark}"
    else:
        below = f"<br>{below}"
    text = f'<b>{title}</b><span style="font-size:13px">{below}</span>'
    top = CHARTS["templates"]["fa"]["margin"]["t"] + LINE * (below.count("<br>") - 1)
    meta = {"title": title, "kind": kind.text, "remark": remark}
    figure.update_layout(meta=meta, margin={"t": top})
    return figure.update_layout(template="plotly+fa", height=height, title_text=text)


def add_points(
    figure: go.Figure, x: Sequence, y: Sequence, name: str, hover_text: Sequence[str] | str, **style
) -> None:
    """Add a line or points; ``hover_text``: what hovering says of each."""
    figure.add_scatter(x=x, y=y, name=name, hovertext=hover_text, hoverinfo="text", **style)


def wrap(text: str, width: int) -> str:
    """Break a text into lines of at most so many characters, where the words allow it."""
    return "<br>".join(textwrap.wrap(text, width, break_long_words=False, break_on_hyphens=False))


def log_axis(title: str, **more: object) -> dict:
    """Return the layout of an axis that has a logarithmic scale, and says so."""
    return {"type": "log", "title": shared("log_axis", title=title), **more}


def lengths_axis(figure: go.Figure, lengths: Iterable[int]) -> None:
    """Set a log axis of N; all of the ticks would run into each other on a phone."""
    ticks = sorted(set(lengths))[::2]
    names = [f"{n // 1024} k" if n >= 1024 else str(n) for n in ticks]
    figure.update_xaxes(log_axis("N", tickvals=ticks, ticktext=names, tickangle=0))


def _marker(method: str, size: int) -> dict:
    colour, symbol = METHOD_STYLES[method]
    return {"color": colour, "symbol": symbol, "size": size, "line": {"width": 1.5}}


def _curve(method: str, size: int) -> dict:
    """Return the style of a method's line and of the markers on it."""
    line = {"color": METHOD_STYLES[method][0]}
    return {"mode": "lines+markers", "line": line, "marker": _marker(method, size)}


def plot_errors(rows: Iterable[Row], kind: Kind) -> go.Figure | None:
    """Plot how many elements of O, or of the gradients, are how far from float64, by method; None
    when no row was judged."""
    judged = [row for row in rows if "histogram" in row]
    if not judged:
        return None
    both = "gradients" in judged[0]
    of = t("gradients") if both else "O"
    figure = go.Figure()
    used = [
        k
        for row in judged
        for k, c in enumerate(row["histogram"]["counts"])
        if c > SELDOM * sum(row["histogram"]["counts"])
    ]
    first, last = (min(used), max(used)) if used else (0, A_DECADE)
    x = [10 ** (LOWEST + (k + 0.5) / A_DECADE) for k in range(first, last + 1)]
    for row in judged:
        counts, exact = row["histogram"]["counts"], row["histogram"]["exact"]
        method, total = METHODS[row["method"]], max(1, sum(counts) + exact)
        y = [100 * count / total for count in counts[first : last + 1]]
        share = 100 * exact / total
        name = t("histogram.exact", name=method, share=share) if share >= 0.5 else method
        values = {"name": method, "of": of}
        texts = [
            t("histogram.hover", **values, share=rounded(share), error=scientific(error))
            for error, share in zip(x, y, strict=True)
        ]
        add_points(figure, x, y, name, texts, **_curve(row["method"], 6), line_shape="hvh")
    apart = t("histogram.x_gradients" if both else "histogram.x")
    figure.update_xaxes(log_axis(apart, exponentformat="power", dtick=1))
    figure.update_yaxes(title=t("histogram.y", of=of), rangemode="tozero")
    return apply_style(figure, TALL, t("histogram"), kind, t("histogram.remark"))


def plot_roofline(result: Result, kind: Kind) -> go.Figure | None:
    """Plot TFLOP/s over FLOPs per compulsory byte of each method, under the card's measured
    ceilings; None without them."""
    rows, ceilings = timed(result["rows"]), result["ceilings"]
    if not rows or not ceilings:
        return None
    across = [row["flops"] / row["least_bytes"] for row in rows]
    peak, hbm, l2 = (ceilings[key] / 1e12 for key in ("flops", "hbm_bytes_per_s", "l2_bytes_per_s"))
    figure = go.Figure()
    low, high = min([*across, 4.0]) / 2, max([*across, 2000.0]) * 2
    for name, rate, dash in (
        (t("roofline.memory", rate=hbm), hbm, "solid"),
        (t("roofline.l2", rate=l2), l2, "dash"),
    ):
        line = {"color": "#7b8494", "dash": dash}
        x, y = [low, peak / rate, high], [rate * low, peak, peak]
        add_points(figure, x, y, name, name, mode="lines", line=line)
    for row, x in zip(rows, across, strict=True):
        name, speed = METHODS[row["method"]], row["tflops"]
        least = amount(row["least_bytes"])
        text = t("roofline.hover", name=name, speed=speed, x=x, least=least)
        style = {"mode": "markers", "marker": _marker(row["method"], 12)}
        add_points(figure, [x], [speed], name, [text], **style)
    text = t("roofline.peak", peak=peak)
    figure.add_annotation(x=1, xanchor="right", y=math.log10(peak), text=text)
    speeds = [peak, hbm * low, *(row["tflops"] for row in rows)]
    whole = {"tickformat": ",", "dtick": 1}
    for update, title, ends in (
        (figure.update_xaxes, t("roofline.x"), (low, high)),
        (figure.update_yaxes, "TFLOP/s", (min(speeds) / 1.5, max(speeds) * HEADROOM)),
    ):
        update(log_axis(title, range=[math.log10(end) for end in ends], **whole))
    return apply_style(figure, TALL, t("roofline"), kind, t("roofline.remark"))


SWEPT = (  # title, unit, what of a row, log or linear
    (t("sweep.time"), "ms", lambda r: r["median_ms"], "log"),
    (t("sweep.speed"), "TFLOP/s", lambda r: r["tflops"], "linear"),
    (t("sweep.memory"), "MiB", lambda r: max(r["peak_bytes"], 1) / 2**20, "log"),
)


def plot_sweep(rows: Iterable[PointRow], kind: Kind) -> tuple[go.Figure | None, ...]:
    """Plot time, TFLOP/s and peak memory over N (log): full dotted, the mask solid."""
    points = timed(rows)
    return tuple(_plot_metric(points, kind, *what) if points else None for what in SWEPT)


def masks_of(rows: Iterable[PointRow]) -> tuple[str, ...]:
    """Return the masks of a sweep's rows, full first."""
    return tuple(sorted({row["mask"] for row in rows} | {"full"}, key=lambda mask: mask != "full"))


def _plot_metric(
    rows: list[PointRow],
    kind: Kind,
    title: str,
    unit: str,
    value: Callable[[PointRow], float],
    scale: str,
) -> go.Figure:
    figure = go.Figure()
    for method, mask in product(METHODS, masks_of(rows)):
        mine = [r for r in rows if (r["method"], r["mask"]) == (method, mask)]
        mine.sort(key=lambda r: r["n"])
        texts = [_hover_text(r, f"{rounded(value(r))} {unit}", unit == "ms") for r in mine]
        add_points(
            figure,
            [r["n"] for r in mine],
            [value(r) for r in mine],
            f"{METHODS[method]}, {mask}",
            texts,
            **_curve(method, 7),
            line_dash="dot" if mask == "full" else "solid",
            error_y=_spread(mine) if unit == "ms" else None,
        )
    lengths_axis(figure, (row["n"] for row in rows))
    axis = {"title": unit}
    if scale == "log":
        found = [math.log10(value(row)) for row in rows]
        ticks = [10.0**k for k in range(math.floor(min(found)), math.ceil(max(found)) + 1)]
        axis = log_axis(unit, tickvals=ticks, ticktext=[rounded(x) for x in ticks])
    figure.update_yaxes(axis).update_layout(showlegend=False)
    return apply_style(figure, TALL, title, kind)


def _hover_text(row: PointRow, figure: str, spread: bool) -> str:
    """Say a point's method, place and figure; of a time its ``spread``."""
    method, mask, n = METHODS[row["method"]], row["mask"], row["n"]
    text = t("sweep.hover", method=method, mask=mask, n=n, figure=figure)
    if spread:
        text += t("sweep.spread", p20=rounded(row["p20_ms"]), p80=rounded(row["p80_ms"]))
    return text


def legend(rows: Iterable[PointRow]) -> list[tuple[str, str, str]]:
    """Return (sign, colour, method's name) of the methods that have a curve."""
    there = {row["method"] for row in timed(rows)}
    return [
        (CHARTS["signs"][METHOD_STYLES[m][1]], METHOD_STYLES[m][0], METHODS[m])
        for m in METHODS
        if m in there
    ]


def _spread(rows: Sequence[PointRow]) -> dict:
    """Return the bars from the 20th to the 80th percentile."""
    return CHARTS["spread"] | {
        "array": [r["p80_ms"] - r["median_ms"] for r in rows],
        "arrayminus": [r["median_ms"] - r["p20_ms"] for r in rows],
    }
