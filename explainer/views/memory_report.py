"""Render the Memory page's round trips, traffic and capacity."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from explainer.algorithms import traffic
from explainer.algorithms.algorithm import COMPULSORY, CONVENTIONS, REQUESTED
from explainer.algorithms.registry import ALGORITHMS, BASELINE, LABELS, MAIN, PLACED
from explainer.base.amounts import amount, listed
from explainer.base.cards import CARDS
from explainer.base.kinds import Kind, cited, computed, counted, recorded
from explainer.base.records import about
from explainer.base.texts import Texts
from explainer.memory import capacity, tile_choices, traffic_series
from explainer.memory.workload import Workload
from explainer.views import charts, drawings, gradients_report
from explainer.views.templates import render
from explainer.views.view import View

t = Texts("memory")
COMPARED = (BASELINE, "fa2")  # what the pictures set side by side


def render_trips(w: Workload) -> View:
    """Render the compulsory bytes of standard attention's three launches and of the fused kernel's
    one, all heads; beside them the requested bytes."""
    heads = w.batch * w.heads
    plans = {order: traffic.launches(w.problem(order), COMPULSORY) for order in MAIN}
    compulsory, requested = (
        {o: heads * traffic.both(traffic.summed(w.problem(o), way)) for o in MAIN}
        for way in (COMPULSORY, REQUESTED)
    )
    widest = heads * max(
        n for order in COMPARED for _, m in plans[order] for both in m.values() for n in both
    )
    rows = [
        {
            "order": order,
            "launch": name,
            "tensor": tensor,
            "read": heads * read,
            "written": heads * written,
            "origin": COMPULSORY,
        }
        for order, plan in plans.items()
        for name, moved in plan
        for tensor, (read, written) in moved.items()
    ]
    return View(
        render(
            "memory/trips",
            w=w,
            kind=computed(t("transfers")),
            heads=heads,
            compulsory=[compulsory[order] for order in COMPARED],
            requested=listed([f"{amount(requested[o])} ({LABELS[o]})" for o in MAIN]),
            square=w.n * w.n * w.itemsize,
            convention=CONVENTIONS[COMPULSORY],
            drawings=[
                [drawings.launch_drawing(*launch, heads, widest) for launch in plans[order]]
                for order in COMPARED
            ],
            rows=rows,
        )
    )


# ---- traffic


def _kind_of(origin: str) -> Kind:
    """Return of what kind the bytes of this origin are."""
    if origin == traffic_series.COUNTED:
        return counted(about("counted"))
    if origin in (traffic_series.L2, traffic_series.DRAM):
        return recorded("traffic_nvidia_h200", t("traffic.ncu"))
    return computed(t("transfers"))


def _traffic_kind(rows: Sequence[Mapping]) -> Kind:
    """Return of what kinds the points of a chart of these rows are."""
    there = {r["origin"] for r in rows}
    first, *more = (_kind_of(origin) for origin in traffic_series.SOURCES if origin in there)
    return sum(more, start=first)


def _format_ratio(ratio: float) -> str:
    """Format bytes in units of standard attention's."""
    if ratio < 0.01:
        return t("traffic.tiny")
    return f"{100 * ratio:.0f} %" if ratio < 10 else t("traffic.times", ratio=ratio)


SIGNS = {  # origin → its sign in the charts, and which of the texts names it
    REQUESTED: ("━", REQUESTED),
    traffic_series.COUNTED: ("○", "counted"),
    traffic_series.L2: ("+", "l2"),
    COMPULSORY: ("─", COMPULSORY),
    traffic_series.DRAM: ("×", "dram"),
}


def render_traffic(w: Workload, pass_: str = "forward") -> View:
    """Render the traffic over N and over the tile's side; below, forward, computed against measured
    bytes and the paper's block rule against today's tiles, backward both passes."""
    by_n, by_side = (f(w, pass_) for f in (traffic_series.by_n, traffic_series.by_side))
    rows = [*by_n, *by_side]
    origins = {r["origin"] for r in rows}
    gains = traffic_series.gains(w) if pass_ == "forward" else None
    ncu = recorded("traffic_nvidia_h200", t("traffic.ncu"))
    head = render(
        "memory/traffic_head",
        w=w,
        pass_=pass_,
        kind=computed() + ncu if gains else computed(),
        ratios=[
            (
                LABELS[order],
                _format_ratio(tile_choices.ratio(w, order, w.block_q, w.block_k, pass_)),
            )
            for order in reversed(PLACED)
        ],
        compulsory=[
            traffic.compulsory_bytes(w.n, w.d, w.dtype, order, w.mask, pass_)
            for order in (BASELINE, PLACED[-1])
        ],
        gains=gains and [gains[traffic_series.L2], gains[traffic_series.DRAM]],
        algorithms=[ALGORITHMS[order] for order in reversed(MAIN)],
        signs=[sign for origin, sign in SIGNS.items() if origin in origins],
    )
    figures = (
        charts.plot_traffic(
            by_n,
            "n",
            t("traffic.by_n"),
            _traffic_kind(by_n),
            t("traffic.by_n_remark", br=w.block_q, bc=w.block_k),
            w.n,
        ),
        charts.plot_traffic(
            by_side,
            "side",
            t("traffic.by_side"),
            _traffic_kind(by_side),
            t("traffic.by_side_remark", n=w.n),
            w.block_q,
        ),
    )
    below = (
        {"passes": gradients_report.render_passes(w)} if pass_ == "backward" else _comparisons(w)
    )
    tail = render(
        "memory/traffic_tail",
        w=w,
        pass_=pass_,
        kinds=[Kind(_kind_of(r["origin"]).text, r["source"]) for r in rows],
        rows=[{key: value for key, value in r.items() if key != "source"} for r in rows],
        **below,
    )
    return View(head, figures, tail)


def _comparisons(w: Workload) -> dict:
    """Return the values of the forward pass's two cards."""
    br, bc = tile_choices.paper_rule(w)
    best = tile_choices.best(w)
    paper, ours = PLACED  # the paper's rule is that of the loop with its keys outside
    tiles = [
        (t("rule.paper", order=LABELS[paper]), br, bc, paper),
        (t("rule.page", order=LABELS[ours]), w.block_q, w.block_k, ours),
    ]
    if best and max(best["block_m"], best["block_n"]) <= w.n:
        name = t("rule.fastest", n=best["n"], order=LABELS[ours])
        tiles.append((name, best["block_m"], best["block_n"], ours))
    theory = tile_choices.theory(w)
    rules = []
    for name, m, n, order in tiles:
        moved = traffic.requested_bytes(w.n, w.d, w.mask, w.dtype, order, m, n)
        ratio = _format_ratio(tile_choices.ratio(w, order, m, n))
        rules.append(
            {"name": name, "tile": (m, n), "bytes": moved, "ratio": ratio, "of": moved / theory}
        )
    return {
        "conventions": CONVENTIONS,
        "computed": computed(),
        "ncu": recorded("traffic_nvidia_h200", t("traffic.ncu")),
        "distances": traffic_series.distances(w),
        "sizes": traffic_series.profiled_sizes(),
        "labels": LABELS,
        "l2_bytes": CARDS["h200"].l2_bytes,
        "rules": rules,
        "theory": theory,
    }


# ---- capacity


# Of each pass: what is at work in it, for standard attention and the fused kernel.
AT_WORK = {"forward": ("standard", "fused"), "backward": ("standard_back", "fused_back")}


def _capacity_kind(rows: Sequence[Mapping]) -> Kind:
    """Return of what kind these rows are."""
    kind = computed(t("sizes"))
    return kind + recorded(what=t("capacity.peaks")) if any(r["measured"] for r in rows) else kind


def render_capacity(w: Workload, pass_: str = "forward") -> View:
    """Render the memory needed over N and where each card runs out; of the backward pass also what
    is saved for it."""
    forms = capacity.FORMS[pass_]
    rows = capacity.rows(w, pass_)
    longest = {card: [capacity.longest(w, form, card) for form in AT_WORK[pass_]] for card in CARDS}
    head = render(
        "memory/capacity_head",
        w=w,
        pass_=pass_,
        kind=computed() + cited(w.hardware.source),
        longest=longest[w.card],
        saved=[capacity.saved_bytes(w, order) for order in COMPARED],
        rounded=capacity.round_down,
    )
    tail = render(
        "memory/capacity_tail",
        w=w,
        saved=gradients_report.render_saved(w) if pass_ == "backward" else None,
        kind=computed() + cited(t("capacity.sheets")),
        cards=CARDS,
        longest=longest,
        rounded=capacity.round_down,
        kinds=[Kind(_capacity_kind([r]).text, r["source"]) for r in rows],
        rows=[
            {
                "form": forms[r["form"]],
                "n": r["n"],
                "bytes": r["bytes"],
                "measured": r["measured"],
            }
            for r in rows
        ],
    )
    chart = charts.plot_capacity(rows, w.card, _capacity_kind(rows), w.n, pass_)
    return View(head, (chart,), tail)
