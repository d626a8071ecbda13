"""Say who is right in a run, whether its tiles are the picture's, and by which rules."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from explainer.base.amounts import listed, power, scientific
from explainer.base.texts import Texts
from explainer.engine.requests import METHODS, STORE_S, RunRequest
from explainer.engine.results import SIGNED_N, SIGNED_VALUES, Result, Row, ran
from kernels.spec.formats import FORMATS

t = Texts("run")
TERMS, SIGNED = ("naive", "rounding", "scores"), ("error", "allowed")


def agrees(result: Result) -> bool | None:
    """Return whether the kernels' tiles are the picture's; None when nothing was compared."""
    compared = [same["agrees"] for row in ran(result["rows"]) if (same := row.get("same"))]
    return all(compared) if compared else None


def is_right(result: Result) -> bool:
    """Return whether every method that ran is right."""
    return all(row["right"] for row in ran(result["rows"]))


def has_backward(result: Result) -> bool:
    """Return whether both passes were run, and the gradients judged."""
    return "pass" in result["query"]


def step_query(result: Result) -> dict:
    """Return the Step page's keys of a run's query."""
    query = result["query"]
    pass_ = {key: query[key] for key in ("pass",) if key in query}
    return RunRequest.from_query(query).problem.to_query() | pass_


def _judged(one: Mapping, naive: float | None) -> tuple[str, ...]:
    """Format an error in units of naive's, what rounding may cost in parts and in all, and the
    share of it that the error is; a dash where naive has no error, or an unknown one."""
    return (
        f"{one['error'] / naive:.2f} ×" if naive else "–",
        *(scientific(one["terms"][key]) for key in TERMS),
        scientific(one["allowed"]),
        f"{one['error'] / one['allowed']:.2f}" if one["allowed"] else "–",
    )


def rules(result: Result) -> dict:
    """Return head, rows and caption of the two rules of judging.py in numbers for each method, of
    the backward pass for each gradient, and as texts what the rules are."""
    if has_backward(result):
        return _gradient_rules(result)
    rows = ran(result["rows"])
    cells = [
        (
            METHODS[row["method"]],
            scientific(row["error"]),
            *_judged(row, row.get("naive_error", result["naive_error"])),
            *(scientific(row["signed"][key]) if row["signed"] else "–" for key in SIGNED),
        )
        for row in rows
    ]
    return {
        "caption": t("rules"),
        "head": t.row("rules.head"),
        "rows": cells,
        "texts": [_first_rule(result), _second_rule(rows)],
    }


def _gradient_rules(result: Result) -> dict:
    cells = [
        (
            f"{METHODS[row['method']]}, {name}",
            scientific(g["error"]),
            scientific(g["naive_error"]) if g["naive_error"] is not None else "–",
            *_judged(g, g["naive_error"]),
        )
        for row in ran(result["rows"])
        for name, g in row["gradients"].items()
    ]
    return {
        "caption": t("gradients.caption"),
        "head": t.row("gradients.head"),
        "rows": cells,
        "texts": [t("gradients.rule")],
    }


def _first_rule(result: Result) -> str:
    """Say how large an error may be."""
    q = result["query"]
    u = power(2, int(math.log2(FORMATS[q["dtype"]].unit_roundoff)))
    stored = [METHODS[row["method"]] for row in ran(result["rows"]) if row["method"] in STORE_S]
    more = ""
    if stored and q["dtype"] != "fp32":
        key = "rules.stores" if len(stored) == 1 else "rules.store"
        more = t(key, names=listed(stored), dtype=q["dtype"])
    if result["naive_error"] is None:
        more += t("rules.no_naive")
    visits = -(-int(q["n"]) // int(q["bc"]))
    return t("rules.first", visits=visits, u=u, u32=power(2, -24), more=more)


def _second_rule(rows: Sequence[Row]) -> str:
    """Say how far the error may point along O, and which method comes nearest to that."""
    shares = {
        METHODS[row["method"]]: row["signed"]["error"] / row["signed"]["allowed"]
        for row in rows
        if row["signed"]
    }
    if not shares:
        return t("rules.unsigned", n=SIGNED_N, values=SIGNED_VALUES)
    worst = max(shares, key=lambda name: shares[name])
    return t("rules.signed", u32=power(2, -24), worst=worst, share=shares[worst])
