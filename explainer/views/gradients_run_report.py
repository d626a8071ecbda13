"""Say what a run of both passes found beside a forward run."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup

from explainer.base.amounts import listed, milliseconds, scientific
from explainer.base.texts import Texts
from explainer.engine.requests import METHODS
from explainer.engine.results import Result, Row, Same, ran
from explainer.memory.mask_work import PRODUCTS
from explainer.views.downloads import kind_of, known_columns
from explainer.views.templates import render

t = Texts("run")
NAMES = ["dQ", "dK", "dV"]


def describe_tiles(same: Same) -> str:
    """Say how far the kernel's tiles are from the picture's, as the end of a sentence."""
    if same["largest"] is None:
        return t("same.gradients_elsewhere")
    errors = {name: same["errors"][name] or 0.0 for name in NAMES}
    apart = ", ".join(f"|Δ{name}| ≤ {scientific(error)}" for name, error in errors.items())
    share = f"{100 * same['largest']:.2g} %"
    tiles, values = same["tiles"], same["values"]
    return t("same.gradients", values=values, tiles=tiles, apart=apart, share=share)


def describe_times(rows: Sequence[Row], is_alone: bool = False) -> str:
    """Say of what the times are, of both passes or of the backward pass alone, and what
    deterministic mode costs where that was timed."""
    products = {pass_: len(made) for pass_, made in PRODUCTS.items()}
    work = products["backward"] if is_alone else sum(products.values())
    text = t("fast.alone" if is_alone else "fast.passes", more=work / products["forward"])
    slow = next((row for row in rows if "deterministic_ms" in row), None)
    if slow:
        ms, ratio = slow["deterministic_ms"], slow["deterministic_ms"] / slow["median_ms"]
        name = METHODS[slow["method"]]
        text += t("fast.deterministic", method=name, time=milliseconds(ms), ratio=ratio)
    return text


def rules(result: Result) -> dict:
    """Return the card of each gradient's error beside naive attention's, and what is allowed."""
    cells = [
        (
            f"{METHODS[row['method']]}, {name}",
            scientific(g["error"]),
            scientific(g["naive_error"]) if g["naive_error"] is not None else "–",
            f"{g['error'] / g['naive_error']:.2f} ×" if g["naive_error"] else "–",
            *(scientific(g["terms"][key]) for key in ("naive", "rounding", "scores")),
            scientific(g["allowed"]),
            f"{g['error'] / g['allowed']:.2f}" if g["allowed"] else "–",
        )
        for row in ran(result["rows"])
        for name, g in row["gradients"].items()
    ]
    head, cells = known_columns(t.row("gradients.head"), cells)
    return {
        "title": t("gradients"),
        "remark": t("gradients.remark"),
        "caption": t("gradients.caption"),
        "head": head,
        "rows": cells,
        "texts": [t("gradients.rule")],
    }


def render_repeated(result: Result) -> Markup:
    """Render how many numbers differ in a bit when the same gradients are computed once more, also
    in deterministic mode."""
    runs = ran(result["rows"])
    rows = [
        (f"{METHODS[row['method']]}{mode}", differ)
        for row in runs
        for mode, differ in (
            ("", row["repeat"]["differ"]),
            (t("repeat.mode"), row["repeat"]["deterministic"]),
        )
        if differ is not None
    ]
    differing = [METHODS[r["method"]] for r in runs if any(r["repeat"]["differ"].values())]
    if differing:
        text = t("repeat.differ", names=listed(differing))
    else:
        is_serial = result["machine"].get("interpreted")
        text = t("repeat.interpreted" if is_serial else "repeat.same")
    values = runs[0]["repeat"]["values"]
    kind = kind_of(result)
    return render("run/repeated", kind=kind, values=values, names=NAMES, rows=rows, text=text)
