"""The Memory page's views as HTML: pure functions of a workload; every text is escaped."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from explainer.algorithms import traffic
from explainer.algorithms.algorithm import ASKED, CONVENTIONS, LEAST
from explainer.algorithms.registry import ALGORITHMS, LABELS
from explainer.base.amounts import amount, rounded
from explainer.base.cards import CARDS
from explainer.base.kinds import Kind, cited, computed, counted, recorded
from explainer.base.records import about
from explainer.memory import capacity, tile_choices, traffic_series
from explainer.memory.workload import Workload
from explainer.views import drawings, gradients_report
from explainer.views.html import card, div, figures_of, memory_page, said, table, tag, words

SIGNS = {"l": "ℓ"}

# ---- round trips


def trips(w: Workload) -> str:
    """The least that standard attention's three launches and the fused kernel's one move, all
    heads; beside it what they ask for."""
    heads = w.batch * w.heads
    plans = {order: traffic.launches(w.problem(order), LEAST) for order in ALGORITHMS}
    least, asked = (
        {o: heads * traffic.both(traffic.summed(w.problem(o), way)) for o in ALGORITHMS}
        for way in (LEAST, ASKED)
    )
    widest = heads * max(
        n for order in ("standard", "fa2") for _, m in plans[order] for b in m.values() for n in b
    )
    square = heads * w.n * w.n * w.itemsize
    first = (
        f"Standard attention's least is {amount(least['standard'])} in three launches, the fused "
        f"kernel's {amount(least['fa2'])} in one: "
        f"{rounded(least['standard'] / least['fa2'])} times less."
    )
    note = (
        f"S alone is {amount(w.n * w.n * w.itemsize)} per head and {amount(square)} for "
        f"B × H = {heads}; it is written, read, written again as P, and read. Drawn is the least: "
        f"{CONVENTIONS[LEAST]}. What the kernels ask for, tile by tile in tiles of {w.block_q} × "
        f"{w.block_k}, is {amount(asked['standard'])} (standard), {amount(asked['fa1'])} (FA-1) "
        f"and {amount(asked['fa2'])} (FA-2); L2 answers most of it (see Traffic)."
    )
    drawn = drawings.trips(
        {
            f"Standard: 3 launches, least {amount(least['standard'])}": plans["standard"],
            f"FA-2: 1 launch, least {amount(least['fa2'])}": plans["fa2"],
        },
        heads,
        widest,
    )
    listed = [
        {
            "order": order, "launch": name, "tensor": tensor, "read": heads * read,
            "written": heads * written, "origin": LEAST,
        }
        for order, plan in plans.items()
        for name, moved in plan
        for tensor, (read, written) in moved.items()
    ]  # fmt: skip
    head = ("Algorithm", "launch", "tensor", "bytes read", "bytes written")
    remark = "arrows as wide as their bytes, the same scale for both"
    kind = computed("the loop's transfers added up")
    return memory_page(
        said(first, kind),
        card("trips-card", "Round trips to HBM", kind, remark, drawn, words(note)),
        figures_of("round-trips", kind, head, listed, "Every arrow as a table"),
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
    tile = f"{w.block_q} × {w.block_k}"
    fa1, fa2 = (
        _times(tile_choices.ratio(w, o, w.block_q, w.block_k, pass_)) for o in ("fa1", "fa2")
    )
    least = {o: traffic.least(w.n, w.d, w.dtype, o, w.mask, pass_) for o in ("standard", "fa2")}
    where = "backward pass, " * (pass_ == "backward")
    text = (
        f"One head, {where}N = {w.n:,}, tiles of {tile}: FA-2 asks for {fa2} of standard "
        f"attention's bytes, FA-1 for {fa1}. FA-2's least, {amount(least['fa2'])}, is "
        f"{rounded(least['standard'] / least['fa2'])} times below standard's."
    )
    kind, measured = computed(), traffic_series.gains(w)
    if measured and pass_ == "forward":
        l2, dram = (rounded(measured[key]) for key in (traffic_series.L2, traffic_series.DRAM))
        text += f" Measured: {l2} times fewer bytes at L2, {dram} times at DRAM."
        kind += recorded("traffic_nvidia_h200", "Nsight Compute")
    return memory_page(said(text, kind), _key(rows), view="traffic")


def _times(ratio: float) -> str:
    if ratio < 0.01:
        return "less than 1 %"
    return f"{100 * ratio:.0f} %" if ratio < 10 else f"{ratio:,.0f} times"


SIGNS_OF = {  # origin → its sign in the charts, and in words
    ASKED: ("━", "thick: asked, computed"),
    traffic_series.COUNTED: ("○", "asked, counted"),
    traffic_series.L2: ("+", "measured at L2 (ncu)"),
    LEAST: ("─", "thin: least, computed"),
    traffic_series.DRAM: ("×", "measured at DRAM (ncu)"),
}


def _key(rows: Sequence[Mapping]) -> str:
    """The legend: what none of the rows is has no place in it."""
    there = {r["origin"] for r in rows}
    key = [(a.sign, a.colour, a.label) for a in reversed(ALGORITHMS.values())]
    key += [(sign, "currentColor", text) for x, (sign, text) in SIGNS_OF.items() if x in there]
    items = (
        tag("span", tag("i", sign, style=f"color:{colour}", aria_hidden="true") if sign else "",
            text)
        for sign, colour, text in key
    )  # fmt: skip
    return div("fa-legend", *items)


def traffic_tail(w: Workload, rows: Sequence[Mapping], pass_: str = "forward") -> str:
    """Computed against measured; the paper's block rule against today's tiles; the figures. Of the
    backward pass what it asks for beside the forward pass."""
    kinds = [Kind(_kind_of(r["origin"]).text, r["source"]) for r in rows]
    listed = [{key: value for key, value in r.items() if key != "source"} for r in rows]
    return memory_page(
        gradients_report.passes(w) if pass_ == "backward" else
        div("fa-run-cards", _distance(w), _rule(w)),
        figures_of("traffic", kinds, ("Algorithm", "N", "side", "bytes of one head", "origin"),
                   listed, "Every point of both charts as a table"),
        view="traffic-figures",
    )  # fmt: skip


def _kind_of(origin: str) -> Kind:
    if origin == traffic_series.COUNTED:
        return counted(about("counted"))
    if origin in (traffic_series.L2, traffic_series.DRAM):
        return recorded("traffic_nvidia_h200", "Nsight Compute")
    return computed("the loop's transfers added up")


def _distance(w: Workload) -> str:
    ways = words(" ".join(f"{way.capitalize()}: {what}." for way, what in CONVENTIONS.items()))
    found = traffic_series.distances(w)
    ncu = recorded("traffic_nvidia_h200", "Nsight Compute")
    if not found:
        text = (
            "Nothing was measured for this N, d, tile, mask or precision: ncu ran on one head in "
            f"fp16 without mask, in square tiles: {traffic_series.profiled_sizes()}."
        )
        return card("distance", "Nothing measured to compare", ncu, "", ways, words(text))
    rows = [
        (LABELS[d.order], amount(d.asked), amount(d.l2), f"{d.l2 / d.asked:.3f}", amount(d.least),
         amount(d.dram), f"{d.dram / d.least:.3f}")
        for d in found
    ]  # fmt: skip
    head = ("", "asked", "at L2", "÷ asked", "least", "at DRAM", "÷ least")
    reasons = (
        [f"{LABELS[d.order]} at L2: {d.why_l2 or 'what was asked, within 1 %'}." for d in found]
        + [f"{LABELS[d.order]} at DRAM: {d.why_dram}." for d in found]
    )  # fmt: skip
    caches = (
        f"K and V of a head are {amount(2 * w.n * w.d * w.itemsize)}, and the L2 of the H200, "
        f"where this was measured, is {amount(CARDS['h200'].l2_bytes)}: every row block but the "
        "first finds them there. So DRAM sees near FA-2's least, whatever the tile. Caches were "
        "empty when a kernel began."
    )
    return card("distance", "Computed and measured", computed() + ncu, "", ways, words(caches),
                tag("ul", *(tag("li", reason) for reason in reasons)),
                table(head, rows, "Asked beside L2, least beside DRAM, one head"))  # fmt: skip


def _rule(w: Workload) -> str:
    br, bc = tile_choices.paper_rule(w)
    best = tile_choices.best(w)
    rows = [("Paper", br, bc, "fa1")]
    rows.append(("This page", w.block_q, w.block_k, "fa2"))
    if best and max(best["block_m"], best["block_n"]) <= w.n:
        rows.append((f"Fastest at {best['n']:,}", best["block_m"], best["block_n"], "fa2"))
    shown = []
    for name, m, n, order in rows:
        moved = traffic.asked(w.n, w.d, w.mask, w.dtype, order, m, n)
        constant = moved / tile_choices.theory(w)
        percent = _times(tile_choices.ratio(w, order, m, n))
        shown.append(
            (f"{name}, {LABELS[order]}", f"{m} × {n}", amount(moved), percent, f"{constant:.1f}")
        )
    text = (
        f"Bc = ⌈M/4d⌉, Br = min(Bc, d), with M = {w.hardware.shared_bytes // w.itemsize:,} "
        f"elements of shared memory. Θ(N²d²/M) promises that {amount(tile_choices.theory(w))} "
        "times a constant are asked. Today's kernels keep O and S in registers, of which an SM has "
        f"{amount(w.hardware.registers_per_sm_bytes)}, so registers limit their tiles too. "
        "Of standard's: of what standard attention asks for in the same tile."
    )
    head = ("", "Br × Bc", "asked", "of standard's", "÷ theory")
    return card("rule", "The paper's block rule", computed(), w.hardware.name, words(text),
                table(head, shown, "Block rules"))  # fmt: skip


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
    kind = computed("the tensors' sizes added up")
    return kind + recorded(what="peaks") if any(r["measured"] for r in rows) else kind


# Of each pass: what is at work in it, for standard attention and the fused kernel.
AT_WORK = {"forward": ("standard", "fused"), "backward": ("standard_back", "fused_back")}


def capacity_head(w: Workload, pass_: str = "forward") -> str:
    """How far either gets on the chosen card in this pass, and what is kept for the backward."""
    far = tuple(capacity.longest(w, form, w.card) for form in AT_WORK[pass_])
    standard, fused = (f"{capacity.rounded(n):,}" for n in far)
    kept, lse = (capacity.kept(w, order) for order in ("standard", "fa2"))
    text = (
        f"With B × H = {w.batch * w.heads} and d = {w.d} in {w.dtype}, {w.hardware.name} is full "
        f"at N = {standard} for standard attention and at {fused} for the fused kernel. "
        f"N = {w.n:,} {_fit(w, *far)}."
    )
    if pass_ == "backward":
        text = (
            f"Between the passes autograd keeps, beside Q, K, V and O, P for standard attention, "
            f"{amount(kept)} at N = {w.n:,}, and lse for FlashAttention, {amount(lse)}. In the "
            f"backward pass {w.hardware.name} is full at N = {standard} for standard attention and "
            f"at {fused} for the fused kernel."
        )
    return memory_page(said(text, computed() + cited(w.hardware.source)), view="capacity")


def _fit(w: Workload, standard: int, fused: int) -> str:
    """Whether the workload's own N fits the card, which is full at these."""
    if w.n <= standard:
        return "fits with either"
    return "fits only with the fused kernel" if w.n <= fused else "fits with neither"


def capacity_tail(w: Workload, rows: Sequence[Mapping], pass_: str = "forward") -> str:
    """The N at which each card runs out, and the figures; what is kept for the backward pass."""
    shown = [
        (f"{c.name}, {amount(c.hbm_bytes)}" + (" ◂" if key == w.card else ""),
         *(f"{capacity.rounded(capacity.longest(w, form, key)):,}" for form in AT_WORK[pass_]))
        for key, c in CARDS.items()
    ]  # fmt: skip
    note = (
        "The longest N whose tensors fit, Q, K and V included, nothing else on the card, rounded "
        "down to three digits: the memory is known no better, and a driver keeps some. Twice the "
        "memory is twice the N for FlashAttention, and √2 times for what holds N × N numbers."
    )
    kinds = [Kind(capacity_kind([r]).text, r["source"]) for r in rows]
    named = [{"form": capacity.FORMS[pass_][r["form"]], "n": r["n"], "bytes": r["bytes"],
              "measured": r["measured"]} for r in rows]  # fmt: skip
    sheets = cited("the memory of each card as its driver reports it")
    ends = card(
        "runs-out", "Where each card runs out", computed() + sheets, "", words(note),
        table(("Card", "standard", "FlashAttention"), shown, "The longest N of each card"),
    )  # fmt: skip
    return memory_page(
        div("fa-run-cards", gradients_report.kept(w), ends) if pass_ == "backward" else ends,
        figures_of("capacity", kinds, ("Form", "N", "bytes", "measured"), named,
                   "Every point of the chart as a table"),
        view="capacity-figures",
    )  # fmt: skip
