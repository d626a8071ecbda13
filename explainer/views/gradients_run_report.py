"""What a run of both passes found beside a forward run's, as HTML; every text is escaped."""

from __future__ import annotations

from collections.abc import Sequence

from explainer.base.amounts import listed, milliseconds, scientific
from explainer.base.texts import Texts
from explainer.engine.requests import METHODS
from explainer.engine.results import Result, Row, Same, ran
from explainer.memory.mask_work import PRODUCTS
from explainer.views.downloads import kind
from explainer.views.html import card, filled, table, words

say = Texts("run")
NAMES = ("dQ", "dK", "dV")
SURE = "deterministic"


def tiles_of(same: Same) -> str:
    """How far the kernel's tiles are from the picture's, as the end of a sentence."""
    if same["largest"] is None:
        return say("same.gradients_elsewhere")
    apart = ", ".join(f"|Δ{name}| ≤ {scientific(same['errors'][name])}" for name in NAMES)
    share = f"{100 * same['largest']:.2g} %"
    tiles, values = same["tiles"], same["values"]
    return say("same.gradients", values=values, tiles=tiles, apart=apart, share=share)


def both_passes(rows: Sequence[Row]) -> str:
    """Of what the times are; what deterministic mode costs where that was timed."""
    products = {pass_: len(made) for pass_, made in PRODUCTS.items()}
    more = sum(products.values()) / products["forward"]
    text = say("fast.passes", more=more)
    slow = next((row for row in rows if "deterministic_ms" in row), None)
    if slow:
        took, ratio = slow["deterministic_ms"], slow["deterministic_ms"] / slow["median_ms"]
        name = METHODS[slow["method"]]
        text += say("fast.deterministic", method=name, time=milliseconds(took), ratio=ratio)
    return text


def gradients(result: Result) -> str:
    """Each gradient's error beside naive attention's, and what is allowed of it."""
    lines = [
        (
            f"{METHODS[row['method']]}, {name}",
            scientific(g["error"]),
            scientific(g["naive_error"]) if g["naive_error"] is not None else "–",
            f"{g['error'] / g['naive_error']:.2f} ×" if g["naive_error"] else "–",
            *(scientific(term) for term in g["terms"].values()),
            scientific(g["allowed"]),
            f"{g['error'] / g['allowed']:.2f}" if g["allowed"] else "–",
        )
        for row in ran(result["rows"])
        for name, g in row["gradients"].items()
    ]
    body = table(*filled(say.row("gradients.head"), lines), say("gradients.caption"))
    rule = words(say("gradients.rule"), "fa-fine")
    return card("rules", say("gradients"), kind(result), say("gradients.remark"), body, rule)


def repeated(result: Result) -> str:
    """The same gradients once more: how many numbers differ in a bit, and in deterministic mode."""
    lines, rows = [], ran(result["rows"])
    for row in rows:
        again = row["repeat"]
        modes = [("", again["differ"]), (say("repeat.mode"), again[SURE])]
        lines += [
            (f"{METHODS[row['method']]}{mode}", *(f"{differ[name]:,}" for name in NAMES))
            for mode, differ in modes
            if differ is not None
        ]
    differ = [METHODS[r["method"]] for r in rows if any(r["repeat"]["differ"].values())]
    if differ:
        text = say("repeat.differ", names=listed(differ))
    elif result["machine"].get("interpreted"):
        text = say("repeat.interpreted")
    else:
        text = say("repeat.same")
    remark = say("repeat.remark", values=rows[0]["repeat"]["values"])
    return card(
        "repeat",
        say("repeat"),
        kind(result),
        remark,
        table(("", *NAMES), lines, say("repeat.caption")),
        words(text),
        words(say("repeat.fine"), "fa-fine"),
    )
