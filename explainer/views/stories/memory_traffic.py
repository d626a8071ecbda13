"""Traffic: how many bytes standard attention, FA-1 and FA-2 request, and what is left at DRAM."""

from explainer.algorithms.registry import BASELINE, LABELS
from explainer.base.amounts import amount, format_significant
from explainer.base.records import load
from explainer.base.texts import Texts
from explainer.memory import traffic_series
from explainer.memory.traffic_series import (
    DRAM,
    ORDERS,
    PORTS,
    RECORD,
    SLICES,
    Point,
    Points,
)
from explainer.memory.workload import Workload
from explainer.views.stories.chapter import (
    Chapter,
    Choice,
    Json,
    Table,
    links,
    nearest,
    switch,
    table,
    words,
)
from explainer.views.templates import render_words

t, shared = Texts("memory"), Texts("shared")
PANELS = (PORTS, SLICES, DRAM)
INKS = dict(zip(ORDERS, ("quiet", "ink-o", "accent-ink"), strict=True))
BELOW = 0.8  # of the computed bytes: a circle so far below its line has its reason written beside
Rows = list[Points]  # at every x
TICKS = tuple(16**k for k in range(12))  # of the bytes
SHARED = 1.05  # FA-2's bytes at the ports over those at the slices: an access served several SMs


def chapter(w: Workload, choice: Choice) -> Chapter:
    """Draw bytes over N, or over the side of square tiles, at up to three places of the card."""
    over = switch("over", t("traffic.over"), t.named("traffic.overs"), choice)
    pass_ = switch("pass", shared("pass"), shared.named("passes"), choice)
    is_over_n, way = over["value"] == "n", pass_["value"]
    series = traffic_series.over_n(w) if is_over_n else traffic_series.over_side(w)
    sizes = [x.n if is_over_n else x.block_q for x in series]
    points = [traffic_series.points(x, way) for x in series]
    has_measured = any(point.measured for row in points for point in row.values())
    beats = [_beat(x, way, row, is_over_n) for x, row in zip(series, points, strict=True)]
    return {
        **words(
            "traffic",
            is_over_n=is_over_n,
            is_forward=way == "forward",
            is_plain=w.mask.plain,
            record=load(RECORD) if has_measured else None,
        ),
        "headline": beats[0]["headline"],
        "switches": [over, pass_],
        "beats": beats,
        # Of a tile that is not square the nearest
        "start": nearest(sizes, w.n if is_over_n else w.block_q),
        "words": ["d", "tiles" if is_over_n else "n", "mask", "dtype"],
        "table": [_table(series, points)],
        "links": links(w, "fa2", "saves", "profile"),
        "picture": {"sizes": sizes} | _picture(series, points, is_over_n, has_measured),
    }


# ---- beats


def _fewer(gain: float) -> str:
    """Say how many times fewer, or more."""
    times = max(gain, 1 / gain)
    if format_significant(times, 2) == "1":
        return t("traffic.same")
    return t("traffic.fewer" if gain > 1 else "traffic.more", times=times)


def _beat(w: Workload, pass_: str, row: Points, is_over_n: bool) -> Json:
    """Describe one N or one tile: what is said of it, and the gap that each panel shows."""
    computed, measured = traffic_series.gains(row)
    gains = measured or computed
    notes = t.named("traffic.notes" if pass_ == "forward" else "traffic.notes_backward")
    fa2 = row["fa2"].measured
    if fa2 and fa2[PORTS] < SHARED * fa2[SLICES]:
        notes[SLICES] = ""
    return {
        "label": t("traffic.at_n", n=w.n) if is_over_n else t("traffic.at_tile", side=w.block_q),
        "note": t("traffic.measured_here" if measured else "traffic.computed_here"),
        "headline": t("traffic.headline", requested=_fewer(gains[PORTS]), dram=_fewer(gains[DRAM])),
        "gaps": {
            place: {"figure": _fewer(gain), "note": notes[place]} for place, gain in gains.items()
        },
    }


# ---- picture


def _picture(series: list[Workload], points: Rows, is_over_n: bool, has_measured: bool) -> Json:
    """Return panels on one scale of bytes; L2's slices only where they were measured."""
    found = [
        size
        for row in points
        for p in row.values()
        for size in (*p.computed.values(), *p.measured.values())
    ]
    low, high = min(found) / 6, max(found) * 1.5
    titles, remarks = t.named("traffic.panels"), t.named("traffic.panel_remarks")
    return {
        "first": t(
            "traffic.x" if is_over_n else "traffic.x_tile",
            x=f"{series[0].n:,}" if is_over_n else series[0].block_q,
        ),
        "range": [low, high],
        "falls": not is_over_n,
        "ticks": [[x, amount(x)] for x in TICKS if low < x < high],
        "panels": [
            {
                "place": place,
                "title": titles[place],
                "remark": remarks[place if has_measured else f"{place}_computed"],
                "series": [_series(series, points, order, place) for order in ORDERS],
                "below": _below(points, place),
            }
            for place in PANELS
            if has_measured or place != SLICES
        ],
    }


def _series(series: list[Workload], points: Rows, order: str, place: str) -> Json:
    """Return one algorithm's line and circles: bytes at each x, None where there are none."""
    return {
        "label": LABELS[order],
        "ink": INKS[order],
        "line": [row[order].computed.get(place) for row in points],
        "circles": [row[order].measured.get(place) for row in points],
        "tips": [_tip(x, row[order], place) for x, row in zip(series, points, strict=True)],
    }


def _tip(w: Workload, point: Point, place: str) -> str:
    """Say the exact bytes at one point, and why measured and computed ones differ."""
    computed, measured = point.computed.get(place), point.measured.get(place)
    reason = point.reason(place) if measured and computed else ""
    facts = {"computed": computed, "measured": measured, "reason": reason}
    return render_words("stories/traffic_tip", name=LABELS[point.order], w=w, **facts)["tip"]


def _below(points: Rows, place: str) -> Json | None:
    """Say why standard attention's circles lie below its line at DRAM, and where to point."""
    found = [
        k
        for k, row in enumerate(points)
        if place == DRAM
        and row[BASELINE].measured
        and row[BASELINE].measured[DRAM] < BELOW * row[BASELINE].computed[DRAM]
    ]
    return {"at": found[len(found) // 2], "text": t("traffic.below")} if found else None


def _table(series: list[Workload], points: Rows) -> Table:
    rows = [
        [
            LABELS[p.order],
            w.n,
            f"{w.block_q} × {w.block_k}",
            p.computed[PORTS],
            *(p.measured.get(place) for place in (PORTS, SLICES)),
            p.computed[DRAM],
            p.measured.get(DRAM),
        ]
        for w, row in zip(series, points, strict=True)
        for p in row.values()
    ]
    return table(t, "traffic.table", rows)
