"""Say who is right in a run, whether its tiles are the picture's, and by which rules."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from explainer.algorithms.inputs import INPUTS
from explainer.algorithms.registry import BASELINE
from explainer.base.amounts import listed, power, scientific
from explainer.base.texts import Texts
from explainer.engine.requests import METHODS, STORE_S, RunRequest
from explainer.engine.results import SIGNED_N, SIGNED_VALUES, Result, Row, ran
from explainer.views.downloads import describe_scores
from kernels.spec.formats import FORMATS

t = Texts("run")
TERMS, SIGNED = ("naive", "rounding", "scores"), ("error", "allowed")
MOST_CHARACTERS = 40  # of a sentence of the visitor's own


def agrees(result: Result) -> bool | None:
    """Return whether the kernels' tiles are the picture's; None when nothing was compared."""
    compared = [same["agrees"] for row in ran(result["rows"]) if (same := row.get("same"))]
    return all(compared) if compared else None


def is_right(result: Result) -> bool:
    """Return whether every method that ran is right."""
    return all(row["right"] for row in ran(result["rows"]))


def has_several_heads(query: Mapping) -> bool:
    """Return whether there are heads beside the one that the picture shows."""
    return int(query["b"]) * int(query["h"]) > 1


def has_backward(result: Result) -> bool:
    """Return whether both passes were run, and the gradients judged."""
    return "pass" in result["query"]


def step_query(result: Result) -> dict:
    """Return the Step page's keys of a run's query."""
    query = result["query"]
    pass_ = {key: query[key] for key in ("pass",) if key in query}
    return RunRequest.from_query(query).problem.to_query() | pass_


def judged_heads(result: Result) -> str:
    """Name the heads that the errors are of."""
    first = picture_head(result["query"])
    if not has_several_heads(result["query"]):
        return t("head.only")
    if result["heads_judged"] == 1:  # the last one is the picture's
        return first
    if "head" not in result["query"]:
        return t("head.first_last")
    return t("head.and_last", first=first)


def picture_head(query: Mapping) -> str:
    """Name the picture's head, in the first sequence of the batch."""
    return t("head.number", head=query["head"]) if "head" in query else t("head.first")


def times_naive(row: Row, naive: float | None) -> str:
    """Format the error in units of naive's; a dash where naive has no error, or an unknown one."""
    naive = row.get("naive_error", naive)
    return f"{row['error'] / naive:.2f} ×" if naive else "–"


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
            times_naive(row, result["naive_error"]),
            *(scientific(row["terms"][key]) for key in TERMS),
            scientific(row["allowed"]),
            f"{row['error'] / row['allowed']:.2f}" if row["allowed"] else "–",
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
            f"{g['error'] / g['naive_error']:.2f} ×" if g["naive_error"] else "–",
            *(scientific(g["terms"][key]) for key in TERMS),
            scientific(g["allowed"]),
            f"{g['error'] / g['allowed']:.2f}" if g["allowed"] else "–",
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


def describe_inputs(query: Mapping) -> str:
    """Say which numbers Q, K and V are, and the factor on the logits when there is one."""
    data = query.get("data", "")
    parts = [INPUTS.get(data) or data]
    text = query.get("text", "")
    if data == "sentence" and text:
        cut = text if len(text) <= MOST_CHARACTERS else text[:MOST_CHARACTERS] + "…"
        parts = [t("about.sentence", text=cut)]
    if data != "own" and "seed" in query:
        parts.append(t("about.seed", seed=query["seed"]))
    if "gain" in query:
        parts.append(t("about.gain", gain=float(query["gain"])))
    return ", ".join(parts)


def describe_tiles(counts: Mapping[str, int]) -> str:
    """Say how many tiles one head has: those of FA-1 and FA-2, Standard's in brackets."""
    flash = max((n for name, n in counts.items() if name != BASELINE), default=0)
    standard = counts.get(BASELINE, 0)
    if not flash:
        return t("verdict.tiles", n=standard) if standard else ""
    if standard and standard != flash:
        return t("verdict.tiles_standard", n=flash, standard=standard)
    return t("verdict.tiles", n=flash)


def describe_problem(result: Result) -> str:
    """Say which problem was run."""
    q = result["query"]
    parts = [
        f"B = {q['b']}",
        f"H = {q['h']}",
        picture_head(q) if "head" in q else "",
        f"N = {int(q['n']):,}",
        f"d = {q['d']}",
        *(f"{label} = {q[key]}" for key, label in (("br", "Br"), ("bc", "Bc")) if key in q),
        describe_scores(q),
        q["dtype"],
        t("verdict.passes") if has_backward(result) else "",
        describe_inputs(q),
        describe_tiles(result["tiles"]),
    ]
    return " · ".join(part for part in parts if part)
