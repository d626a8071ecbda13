"""The Memory page's views as HTML: pure functions of a workload; every text is escaped."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from explainer.algorithms import traffic
from explainer.algorithms.registry import ALGORITHMS, LABELS
from explainer.base.amounts import amount, rounded
from explainer.base.cards import CARDS
from explainer.base.kinds import Kind, cited, computed, counted, recorded
from explainer.base.records import about
from explainer.memory import capacity, tile_choices, traffic_series
from explainer.memory.levels import FP32
from explainer.memory.workload import MIN_BLOCK, Workload
from explainer.views import drawings
from explainer.views.html import card, div, figures_of, memory_page, said, table, tag, words

SIGNS = {"l": "ℓ"}

# ---- round trips


def trips(w: Workload) -> str:
    """Standard attention's three launches and the fused kernel's one, bytes of all heads."""
    heads = w.batch * w.heads
    plans = {order: traffic.launches(w.problem(order)) for order in ALGORITHMS}
    totals = {
        order: heads * sum(sum(both) for _, moved in plan for both in moved.values())
        for order, plan in plans.items()
    }
    widest = heads * max(
        n for order in ("standard", "fa2") for _, m in plans[order] for b in m.values() for n in b
    )
    square = heads * w.n * w.n * w.itemsize
    times = totals["standard"] / totals["fa2"]
    compared = f"{times:.1f} times less" if times >= 1 else f"{1 / times:.1f} times more"
    first = (
        f"Standard attention asks memory for {amount(totals['standard'])} in three launches; the "
        f"fused kernel asks for {amount(totals['fa2'])} in one, {compared}."
    )
    note = (
        f"S alone is {amount(w.n * w.n * w.itemsize)} a head and {amount(square)} for "
        f"B × H = {heads}; it is written, read, written again as P, and read. FA-1, keys outside, "
        f"would ask for {amount(totals['fa1'])}. Bytes asked of memory: L2 answers part of them "
        "(see Traffic). In standard attention each matrix is moved once a pass, its best case."
    )
    drawn = drawings.trips(
        {
            f"Standard: 3 launches, {amount(totals['standard'])}": plans["standard"],
            f"FA-2: 1 launch, {amount(totals['fa2'])}": plans["fa2"],
        },
        heads,
        widest,
    )
    listed = [
        {
            "order": order, "launch": name, "tensor": tensor, "read": heads * read,
            "written": heads * written,
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
    kind = computed("the loop's transfers added up")
    if traffic_series.COUNTED in there:
        kind += counted(about("counted"))
    if there & {traffic_series.L2, traffic_series.DRAM}:
        kind += recorded("traffic_nvidia_h200", "Nsight Compute")
    return kind


def traffic_head(w: Workload, rows: Sequence[Mapping]) -> str:
    """What the curves show, in sentences; the signs that stand in the charts."""
    fa1, fa2 = (tile_choices.ratio(w, order, w.block_q, w.block_k) for order in ("fa1", "fa2"))
    even = {order: tile_choices.break_even(w, order) for order in ("fa1", "fa2")}
    first = (
        f"In tiles of {w.block_q} × {w.block_k} one head of N = {w.n:,} moves "
        f"{_times(fa2)} with FA-2 and {_times(fa1)} with FA-1, of what standard attention moves."
    )
    breaks = " and ".join(
        f"{name} wins {from_(even[order])}" if even[order] else f"{name} wins in no square tile"
        for order, name in LABELS.items()
        if order in even
    )
    text = f"{first} Break-even in square tiles: {breaks}."
    return memory_page(said(text, computed()), _key(rows), view="traffic")


def from_(side: int) -> str:
    """“from 32 × 32 on”; blocks are at least 16."""
    return "in every one" if side == MIN_BLOCK else f"from {side} × {side} on"


def _times(ratio: float) -> str:
    if ratio < 0.01:
        return "less than 1 %"
    return f"{100 * ratio:.0f} %" if ratio < 10 else f"{ratio:,.0f} times"


SIGNS_OF = {  # origin → its sign in the charts, and in words
    traffic_series.COMPUTED: ("", "lines: computed"),
    traffic_series.COUNTED: ("○", "counted in the interpreter"),
    traffic_series.L2: ("+", "measured at L2 (ncu)"),
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


def traffic_tail(w: Workload, rows: Sequence[Mapping]) -> str:
    """Requests against DRAM; the paper's block rule against today's tiles; the figures."""
    kinds = [Kind(traffic_kind([r]).text, r["source"]) for r in rows]
    listed = [{key: value for key, value in r.items() if key != "source"} for r in rows]
    return memory_page(
        div("fa-run-cards", _distance(w, rows), _rule(w)),
        figures_of("traffic", kinds, ("Algorithm", "N", "side", "bytes of one head", "origin"),
                   listed, "Every point of both charts as a table"),
        view="traffic-figures",
    )  # fmt: skip


def _distance(w: Workload, rows: Sequence[Mapping]) -> str:
    mine = (r for r in rows if r["n"] == w.n and r["side"] in (None, w.block_q))
    at = {(r["order"], r["origin"]): r["bytes"] for r in mine} if w.block_q == w.block_k else {}
    requested, dram = at.get(("fa2", traffic_series.L2)), at.get(("fa2", traffic_series.DRAM))
    ncu = recorded("traffic_nvidia_h200", "Nsight Compute")
    if requested and dram:
        asked = traffic.requested(w.n, w.d, w.mask, w.dtype, "fa2", w.block_q, w.block_k)
        off = requested / asked - 1
        same = "the very same number" if not off else f"{100 * off:+.2f} %"
        text = (
            f"At N = {w.n:,} the FA-2 kernel asks for {asked:,} bytes by our count; {requested:,} "
            f"passed between L2 and the multiprocessors: {same}. Only {amount(dram)} came "
            f"from HBM, {rounded(requested / dram)} times fewer: K and V of a head are "
            f"{amount(2 * w.n * w.d * w.itemsize)}, and the L2 of the H200, where this was "
            f"measured, is {amount(CARDS['h200'].l2_bytes)}, so every row block but the first "
            "finds them there. Standard attention's S and P are too large "
            "for that once N² outgrows L2: its DRAM crosses meet their line. Its L2 crosses lie "
            "above it, since its real kernels read Q, K and V again for every tile; the line is "
            "the best case."
        )
    else:
        text = (
            "Nothing was measured for this N, d, tile, mask or precision: ncu ran on one head in "
            f"fp16 without mask, in square tiles: {traffic_series.profiled_sizes()}."
        )
        return card("distance", "Nothing measured to compare", ncu, "", words(text))
    kind = computed() + ncu
    return card("distance", "Why the crosses lie lower", kind, "", words(text))


def _rule(w: Workload) -> str:
    br, bc = tile_choices.paper_rule(w)
    best = tile_choices.best(w)
    rows = [("Paper", br, bc, "fa1")]
    rows.append(("This page", w.block_q, w.block_k, "fa2"))
    if best and max(best["block_m"], best["block_n"]) <= w.n:
        rows.append((f"Fastest at {best['n']:,}", best["block_m"], best["block_n"], "fa2"))
    shown = []
    for name, m, n, order in rows:
        moved = traffic.requested(w.n, w.d, w.mask, w.dtype, order, m, n)
        constant = moved / tile_choices.theory(w)
        percent = _times(tile_choices.ratio(w, order, m, n))
        shown.append(
            (f"{name}, {LABELS[order]}", f"{m} × {n}", amount(moved), percent, f"{constant:.1f}")
        )
    text = (
        f"Bc = ⌈M/4d⌉, Br = min(Bc, d), with M = {w.hardware.shared_bytes // w.itemsize:,} "
        f"elements of shared memory. Θ(N²d²/M) promises {amount(tile_choices.theory(w))} times a "
        f"constant. Today's kernels keep O and S in registers, of which an SM has "
        f"{amount(w.hardware.registers_per_sm_bytes)}, so registers limit their tiles too."
    )
    head = ("", "Br × Bc", "bytes", "of standard", "÷ theory")
    return card("rule", "The paper's block rule", computed(), w.hardware.name, words(text),
                table(head, shown, "Block rules"))  # fmt: skip


# ---- capacity


def capacity_rows(w: Workload) -> list[dict]:
    """The chart's rows: curves computed, peaks measured."""
    rows = [
        {"form": form, "n": n, "bytes": size, "measured": False, "source": "computed"}
        for form in capacity.FORMS
        for n, size in capacity.curve(w, form)
    ]
    return rows + [
        {"form": form, "n": n, "bytes": size, "measured": True, "source": where}
        for n, form, size, where in capacity.measured(w)
    ]


def capacity_kind(rows: Sequence[Mapping]) -> Kind:
    """Of what these rows show."""
    kind = computed("the tensors' sizes added up")
    return kind + recorded(what="peaks") if any(r["measured"] for r in rows) else kind


def capacity_head(w: Workload) -> str:
    """How far each form gets on the chosen card."""
    name = w.hardware.name
    far = {form: capacity.longest(w, form, w.card) for form in capacity.FORMS}
    told = {form: f"{capacity.rounded(n):,}" for form, n in far.items()}
    kept = capacity.beyond_inputs(w, "standard_kept")
    lse = w.batch * w.heads * w.n * FP32
    text = (
        f"With B × H = {w.batch * w.heads} and d = {w.d} in {w.dtype}, {name} is full at "
        f"N = {told['standard']} for standard attention and at {told['fused']} for the fused "
        f"kernel. For the backward pass standard attention keeps S, P and O, {amount(kept)} at "
        f"N = {w.n:,}; FlashAttention keeps O and lse, of which lse is {amount(lse)}. "
        f"N = {w.n:,} {_fit(w, far)}."
    )
    sheet = cited(w.hardware.source)
    return memory_page(said(text, computed() + sheet), view="capacity")


def _fit(w: Workload, far: Mapping[str, int]) -> str:
    """Whether the workload's own N fits the card."""
    if w.n <= far["standard"]:
        return "fits with either"
    return "fits only with the fused kernel" if w.n <= far["fused"] else "fits with neither"


def capacity_tail(w: Workload, rows: Sequence[Mapping]) -> str:
    """The N at which each card runs out, and the figures."""
    shown = [
        (f"{c.name}, {amount(c.hbm_bytes)}" + (" ◂" if key == w.card else ""),
         *(f"{capacity.rounded(capacity.longest(w, form, key)):,}" for form in capacity.SHORT))
        for key, c in CARDS.items()
    ]  # fmt: skip
    note = (
        "The longest N whose tensors fit, Q, K and V included, nothing else on the card, rounded "
        "down to three digits: the memory is known no better, and a driver keeps some. Twice the "
        "memory is twice the N for FlashAttention, and √2 times for what holds N × N numbers. "
        "PyTorch's autograd keeps P alone, but in its forward pass S is there too."
    )
    kinds = [Kind(capacity_kind([r]).text, r["source"]) for r in rows]
    named = [{"form": capacity.FORMS[r["form"]], "n": r["n"], "bytes": r["bytes"],
              "measured": r["measured"]} for r in rows]  # fmt: skip
    sheets = cited("the memory of each card as its driver reports it")
    return memory_page(
        card("runs-out", "Where each card runs out", computed() + sheets, "", words(note),
             table(("Card", *capacity.SHORT.values()), shown, "The longest N of each card")),
        figures_of("capacity", kinds, ("Form", "N", "bytes", "measured"), named,
                   "Every point of the chart as a table"),
        view="capacity-figures",
    )  # fmt: skip
