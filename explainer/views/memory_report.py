"""The Memory page's views as HTML: pure functions of a workload; every text is escaped."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from explainer.algorithms import traffic
from explainer.algorithms.algorithm import COMPULSORY, CONVENTIONS, REQUESTED
from explainer.algorithms.registry import ALGORITHMS, BASELINE, LABELS, MAIN, PLACED
from explainer.base.amounts import amount, listed, rounded
from explainer.base.cards import CARDS
from explainer.base.kinds import Kind, cited, computed, counted, recorded
from explainer.base.records import about
from explainer.base.texts import Texts
from explainer.memory import capacity, tile_choices, traffic_series
from explainer.memory.workload import Workload
from explainer.views import drawings, gradients_report
from explainer.views.html import card, div, figures_of, memory_page, said, table, tag, words

say = Texts("memory")

# ---- round trips


def trips(w: Workload) -> str:
    """The least that standard attention's three launches and the fused kernel's one move, all
    heads; beside it what they ask for."""
    heads = w.batch * w.heads
    plans = {order: traffic.launches(w.problem(order), COMPULSORY) for order in MAIN}
    least, asked = (
        {o: heads * traffic.both(traffic.summed(w.problem(o), way)) for o in MAIN}
        for way in (COMPULSORY, REQUESTED)
    )
    widest = heads * max(
        n for order in (BASELINE, "fa2") for _, m in plans[order] for b in m.values() for n in b
    )
    square = heads * w.n * w.n * w.itemsize
    standard, fused = amount(least[BASELINE]), amount(least["fa2"])
    ratio = rounded(least[BASELINE] / least["fa2"])
    first = say("trips.first", standard=standard, fused=fused, ratio=ratio)
    requested = [f"{amount(asked[order])} ({LABELS[order]})" for order in MAIN]
    note = say(
        "trips.note",
        requested=listed(requested),
        s=amount(w.n * w.n * w.itemsize),
        all=amount(square),
        heads=heads,
        least=CONVENTIONS[COMPULSORY],
        br=w.block_q,
        bc=w.block_k,
    )
    drawn = drawings.trips(
        {
            say("trips.standard", least=standard): plans[BASELINE],
            say("trips.fused", least=fused): plans["fa2"],
        },
        heads,
        widest,
    )
    tensors = [
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
    kind = computed(say("transfers"))
    return memory_page(
        said(first, kind),
        card("trips-card", say("trips"), kind, say("trips.remark"), drawn, words(note)),
        figures_of("round-trips", kind, say.row("trips.head"), tensors, say("trips.caption")),
        view="trips",
    )


# ---- traffic


def traffic_kind(rows: Sequence[Mapping]) -> Kind:
    """Of what the charts of these rows show."""
    there = {r["origin"] for r in rows}
    first, *more = (_kind_of(origin) for origin in traffic_series.SOURCES if origin in there)
    return sum(more, start=first)


def traffic_head(w: Workload, rows: Sequence[Mapping], pass_: str = "forward") -> str:
    """What the curves show, in sentences; the signs that stand in the charts."""
    second, first = PLACED
    share, other = (
        _times(tile_choices.ratio(w, o, w.block_q, w.block_k, pass_)) for o in (first, second)
    )
    once, baseline = (
        traffic.compulsory_bytes(w.n, w.d, w.dtype, o, w.mask, pass_) for o in (first, BASELINE)
    )
    text = say(
        "traffic.finding_backward" if pass_ == "backward" else "traffic.finding",
        n=w.n,
        tile=f"{w.block_q} × {w.block_k}",
        first=LABELS[first],
        share=share,
        second=LABELS[second],
        other=other,
        least=amount(once),
        ratio=rounded(baseline / once),
    )
    kind, measured = computed(), traffic_series.gains(w)
    if measured and pass_ == "forward":
        l2, dram = (rounded(measured[key]) for key in (traffic_series.L2, traffic_series.DRAM))
        text += say("traffic.measured", l2=l2, dram=dram)
        kind += recorded("traffic_nvidia_h200", say("traffic.ncu"))
    return memory_page(said(text, kind), _key(rows), view="traffic")


def _times(ratio: float) -> str:
    if ratio < 0.01:
        return say("traffic.tiny")
    return f"{100 * ratio:.0f} %" if ratio < 10 else say("traffic.times", ratio=ratio)


SIGNS_OF = {  # origin → its sign in the charts, and which of the texts says it
    REQUESTED: ("━", REQUESTED),
    traffic_series.COUNTED: ("○", "counted"),
    traffic_series.L2: ("+", "l2"),
    COMPULSORY: ("─", COMPULSORY),
    traffic_series.DRAM: ("×", "dram"),
}


def _key(rows: Sequence[Mapping]) -> str:
    """The legend: what none of the rows is has no place in it."""
    there = {r["origin"] for r in rows}
    key = [(a.sign, a.colour, a.label) for a in (ALGORITHMS[key] for key in reversed(MAIN))]
    texts = say.named("traffic.key")
    key += [(sign, "currentColor", texts[t]) for x, (sign, t) in SIGNS_OF.items() if x in there]
    items = (
        tag(
            "span",
            tag("i", sign, style=f"color:{colour}", aria_hidden="true") if sign else "",
            text,
        )
        for sign, colour, text in key
    )
    return div("fa-legend", *items)


def traffic_tail(w: Workload, rows: Sequence[Mapping], pass_: str = "forward") -> str:
    """Computed against measured; the paper's block rule against today's tiles; the figures. Of the
    backward pass what it asks for beside the forward pass."""
    kinds = [Kind(_kind_of(r["origin"]).text, r["source"]) for r in rows]
    points = [{key: value for key, value in r.items() if key != "source"} for r in rows]
    return memory_page(
        gradients_report.passes(w)
        if pass_ == "backward"
        else div("fa-run-cards", _distance(w), _rule(w)),
        figures_of("traffic", kinds, say.row("traffic.head"), points, say("traffic.caption")),
        view="traffic-figures",
    )


def _kind_of(origin: str) -> Kind:
    if origin == traffic_series.COUNTED:
        return counted(about("counted"))
    if origin in (traffic_series.L2, traffic_series.DRAM):
        return recorded("traffic_nvidia_h200", say("traffic.ncu"))
    return computed(say("transfers"))


def _distance(w: Workload) -> str:
    ways = words(gradients_report.ways())
    found = traffic_series.distances(w)
    ncu = recorded("traffic_nvidia_h200", say("traffic.ncu"))
    if not found:
        text = say("distance.none_why", sizes=traffic_series.profiled_sizes())
        return card("distance", say("distance.none"), ncu, "", ways, words(text))
    rows = [
        (
            LABELS[d.order],
            amount(d.requested),
            amount(d.l2),
            f"{d.l2 / d.requested:.3f}",
            amount(d.compulsory),
            amount(d.dram),
            f"{d.dram / d.compulsory:.3f}",
        )
        for d in found
    ]
    near = say("distance.near")
    reasons = [say("distance.l2", name=LABELS[d.order], why=d.why_l2 or near) for d in found]
    reasons += [say("distance.dram", name=LABELS[d.order], why=d.why_dram) for d in found]
    kv, l2 = amount(2 * w.n * w.d * w.itemsize), amount(CARDS["h200"].l2_bytes)
    return card(
        "distance",
        say("distance"),
        computed() + ncu,
        "",
        ways,
        words(say("distance.caches", kv=kv, l2=l2)),
        tag("ul", *(tag("li", reason) for reason in reasons)),
        table(say.row("distance.head"), rows, say("distance.caption")),
    )


def _rule(w: Workload) -> str:
    br, bc = tile_choices.paper_rule(w)
    best = tile_choices.best(w)
    paper, ours = PLACED  # the paper's rule is that of the loop with its keys outside
    rows = [(say("rule.paper", order=LABELS[paper]), br, bc, paper)]
    rows.append((say("rule.page", order=LABELS[ours]), w.block_q, w.block_k, ours))
    if best and max(best["block_m"], best["block_n"]) <= w.n:
        name = say("rule.fastest", n=best["n"], order=LABELS[ours])
        rows.append((name, best["block_m"], best["block_n"], ours))
    shown = []
    for name, m, n, order in rows:
        moved = traffic.requested_bytes(w.n, w.d, w.mask, w.dtype, order, m, n)
        constant = moved / tile_choices.theory(w)
        percent = _times(tile_choices.ratio(w, order, m, n))
        shown.append((name, f"{m} × {n}", amount(moved), percent, f"{constant:.1f}"))
    text = say(
        "rule.note",
        m=w.hardware.shared_bytes // w.itemsize,
        theory=amount(tile_choices.theory(w)),
        registers=amount(w.hardware.registers_per_sm_bytes),
    )
    return card(
        "rule",
        say("rule"),
        computed(),
        w.hardware.name,
        words(text),
        table(say.row("rule.head"), shown, say("rule.caption")),
    )


# ---- capacity


def capacity_rows(w: Workload, pass_: str = "forward") -> list[dict]:
    """The chart's rows: curves computed, peaks measured."""
    rows = [
        {"form": form, "n": n, "bytes": size, "measured": False, "source": "computed"}
        for form in capacity.FORMS[pass_]
        for n, size in capacity.curve(w, form)
    ]
    return rows + [
        {"form": form, "n": n, "bytes": size, "measured": True, "source": where}
        for n, form, size, where in capacity.measured(w)
        if form in capacity.FORMS[pass_]
    ]


def capacity_kind(rows: Sequence[Mapping]) -> Kind:
    """Of what these rows show."""
    kind = computed(say("sizes"))
    return kind + recorded(what=say("capacity.peaks")) if any(r["measured"] for r in rows) else kind


# Of each pass: what is at work in it, for standard attention and the fused kernel.
AT_WORK = {"forward": ("standard", "fused"), "backward": ("standard_back", "fused_back")}


def capacity_head(w: Workload, pass_: str = "forward") -> str:
    """How far either gets on the chosen card in this pass, and what is kept for the backward."""
    far = tuple(capacity.longest(w, form, w.card) for form in AT_WORK[pass_])
    standard, fused = (f"{capacity.rounded(n):,}" for n in far)
    kept, lse = (capacity.kept(w, order) for order in ("standard", "fa2"))
    full = {"card": w.hardware.name, "standard": standard, "fused": fused}
    if pass_ == "backward":
        text = say("capacity.finding_backward", **full, p=amount(kept), n=w.n, lse=amount(lse))
    else:
        heads = w.batch * w.heads
        fit = _fit(w, *far)
        text = say("capacity.finding", **full, heads=heads, d=w.d, dtype=w.dtype, fit=fit)
    return memory_page(said(text, computed() + cited(w.hardware.source)), view="capacity")


def _fit(w: Workload, standard: int, fused: int) -> str:
    """Whether the workload's own N fits the card, which is full at these."""
    if w.n <= standard:
        return say("capacity.either", n=w.n)
    return say("capacity.only" if w.n <= fused else "capacity.neither", n=w.n)


def capacity_tail(w: Workload, rows: Sequence[Mapping], pass_: str = "forward") -> str:
    """The N at which each card runs out, and the figures; what is kept for the backward pass."""
    shown = [
        (
            f"{c.name}, {amount(c.hbm_bytes)}" + (" ◂" if key == w.card else ""),
            *(f"{capacity.rounded(capacity.longest(w, form, key)):,}" for form in AT_WORK[pass_]),
        )
        for key, c in CARDS.items()
    ]
    kinds = [Kind(capacity_kind([r]).text, r["source"]) for r in rows]
    named = [
        {
            "form": capacity.FORMS[pass_][r["form"]],
            "n": r["n"],
            "bytes": r["bytes"],
            "measured": r["measured"],
        }
        for r in rows
    ]
    ends = card(
        "runs-out",
        say("capacity.ends"),
        computed() + cited(say("capacity.sheets")),
        "",
        words(say("capacity.ends_note")),
        table(say.row("capacity.ends_head"), shown, say("capacity.ends_caption")),
    )
    return memory_page(
        div("fa-run-cards", gradients_report.kept(w), ends) if pass_ == "backward" else ends,
        figures_of("capacity", kinds, say.row("capacity.head"), named, say("capacity.caption")),
        view="capacity-figures",
    )
