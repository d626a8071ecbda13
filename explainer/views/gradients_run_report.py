"""What a run of both passes found beside a forward run's, as HTML; every text is escaped."""

from __future__ import annotations

from collections.abc import Sequence

from explainer.base.amounts import listed, milliseconds, scientific
from explainer.engine.requests import METHODS
from explainer.engine.results import Result, Row, Same, ran
from explainer.memory.mask_work import PRODUCTS
from explainer.views.downloads import kind
from explainer.views.html import card, filled, table, words

NAMES = ("dQ", "dK", "dV")
SURE = "deterministic"


def tiles_of(same: Same) -> str:
    """How far the kernel's tiles are from the picture's, as the end of a sentence."""
    if same["largest"] is None:
        return "dQ, dK and dV stand in other tiles than in the picture."
    apart = ", ".join(f"|Δ{name}| ≤ {scientific(same['errors'][name])}" for name in NAMES)
    share = f"{100 * same['largest']:.2g} %"
    return (
        f"{same['values']:,} values of dQ, dK and dV in {same['tiles']:,} tiles: {apart}, at most "
        f"{share} of what rounding explains."
    )


def both_passes(rows: Sequence[Row]) -> str:
    """Of what the times are; what deterministic mode costs where that was timed."""
    products = {pass_: len(made) for pass_, made in PRODUCTS.items()}
    more = sum(products.values()) / products["forward"]
    text = f"Time of the forward and the backward pass together, FLOPs {more:g} × the forward's."
    slow = next((row for row in rows if "deterministic_ms" in row), None)
    if slow:
        ratio = slow["deterministic_ms"] / slow["median_ms"]
        text += (
            f" {METHODS[slow['method']]} in deterministic mode takes "
            f"{milliseconds(slow['deterministic_ms'])}, {ratio:.2f} × as long."
        )
    return text


def gradients(result: Result) -> str:
    """Each gradient's error beside naive attention's, and what is allowed of it."""
    lines = [
        (f"{METHODS[row['method']]}, {name}", scientific(g["error"]),
         scientific(g["naive_error"]) if g["naive_error"] is not None else "–",
         f"{g['error'] / g['naive_error']:.2f} ×" if g["naive_error"] else "–",
         *(scientific(term) for term in g["terms"].values()), scientific(g["allowed"]),
         f"{g['error'] / g['allowed']:.2f}" if g["allowed"] else "–")
        for row in ran(result["rows"]) for name, g in row["gradients"].items()
    ]  # fmt: skip
    head = ("", "error", "naive's", "÷ naive's", "2 × naive's", "rounding", "scores", "allowed",
            "÷ allowed")  # fmt: skip
    text = (
        "The peers' rule: |dX − dX in float64| ≤ 2 × that of naive attention under PyTorch's "
        "autograd in the same dtype + what rounding P, dS and dX may do, and an error of each "
        "score. dO is random, drawn with the seed; the sums are judged with all query heads of a "
        "key head."
    )
    return card("rules", "dQ, dK and dV", kind(result), "the rule of the verdict",
                table(*filled(head, lines), "Each gradient"), words(text, "fa-fine"))  # fmt: skip


def repeated(result: Result) -> str:
    """The same gradients once more: how many numbers differ in a bit, and in deterministic mode."""
    lines, rows = [], ran(result["rows"])
    for row in rows:
        again = row["repeat"]
        modes = [("", again["differ"]), (f", {SURE}", again[SURE])]
        lines += [
            (f"{METHODS[row['method']]}{mode}", *(f"{differ[name]:,}" for name in NAMES))
            for mode, differ in modes if differ is not None
        ]  # fmt: skip
    differ = [METHODS[r["method"]] for r in rows if any(r["repeat"]["differ"].values())]
    if differ:
        text = (
            f"{listed(differ)} gave other bits the second time: dQ is added up by atomics, in the "
            "order in which the programs come."
        )
    elif result["machine"].get("interpreted"):
        text = "The interpreter runs one program after the other, so every order is the same."
    else:
        text = "Every method gave the same bits twice."
    fine = (
        "deterministic=True, or torch.use_deterministic_algorithms(True), has dQ in a pass of its "
        "own that adds in one order, for 7 products in place of 5."
    )
    remark = f"numbers that differ in a bit, of {rows[0]['repeat']['values']:,}"
    return card("repeat", "The same twice?", kind(result), remark,
                table(("", *NAMES), lines, "Bits that differ"), words(text),
                words(fine, "fa-fine"))  # fmt: skip
