"""Say who is right in a run, whether its tiles are the picture's, and by which rules."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from explainer.algorithms.inputs import INPUTS
from explainer.algorithms.registry import BASELINE
from explainer.base.amounts import listed, power, scientific
from explainer.base.texts import Texts
from explainer.engine.requests import METHODS, ORDERS, STORE_S, RunRequest
from explainer.engine.results import SIGNED_N, SIGNED_VALUES, Result, Row, ran
from explainer.views import gradients_run_report
from explainer.views.downloads import describe_scores, known_columns
from kernels.spec.formats import FORMATS
from kernels.spec.methods import WHOLE

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


def headline(result: Result) -> str:
    """Say in a sentence whether all methods, or those that ran, are right and are the picture."""
    rows = ran(result["rows"])
    wrong = [METHODS[row["method"]] for row in rows if not row["right"]]
    if wrong:
        return t("verdict.wrong", methods=", ".join(wrong))
    kernels = [row for row in rows if row["method"] in ORDERS]
    same = agrees(result)
    if same is False:
        names = [
            METHODS[row["method"]]
            for row in kernels
            if (compared := row.get("same")) and not compared["agrees"]
        ]
        return t("verdict.differs" if len(names) == 1 else "verdict.differ", names=listed(names))
    missing = _missing(result)
    if same and len(rows) <= 2 and len(kernels) == 1:
        return t("verdict.kernel", missing=missing)
    picture = _compared_with_picture(rows, kernels, same)
    return t("verdict", who=_who(result), picture=picture, missing=missing)


def _who(result: Result) -> str:
    """Name the methods that ran, as the sentence's subject."""
    rows = ran(result["rows"])
    if len(rows) == 1:
        return t("who.one", name=METHODS[rows[0]["method"]])
    if len(rows) == len(result["rows"]):
        return t("who.every")
    return t("who.both") if len(rows) == 2 else t("who.some", n=len(rows))


def _compared_with_picture(rows: list[Row], kernels: list[Row], same: bool | None) -> str:
    """Say how the comparison with the picture ended, as the second half of the sentence."""
    if same:
        if any(row.get("same") is None for row in kernels):
            return t("verdict.compared")
        return t("verdict.pictures" if len(kernels) > 1 else "verdict.picture")
    if kernels:
        return t("verdict.many")
    tiled = any(row["method"] not in WHOLE for row in rows)
    return t("verdict.unseen") if tiled else t("verdict.no_kernel")


def _missing(result: Result) -> str:
    """Say how many methods did not run, as the end of the sentence."""
    n = len(result["rows"]) - len(ran(result["rows"]))
    if not n:
        return t("verdict.end")
    if result["machine"].get("interpreted") and not has_backward(result):
        return t("verdict.needs" if n == 1 else "verdict.need", n=n)
    return t("verdict.missing", n=n)


def times_naive(row: Row, naive: float | None) -> str:
    """Format the error in units of naive's; a dash where naive has no error, or an unknown one."""
    naive = row.get("naive_error", naive)
    return f"{row['error'] / naive:.2f} ×" if naive else "–"


def allowed_error(result: Result) -> str:
    """Say the first rule in numbers, of the last method that has tiles or of the last of all."""
    rows = ran(result["rows"])
    row = ([row for row in rows if row["method"] in ORDERS] or rows)[-1]
    terms = " + ".join(scientific(row["terms"][key]) for key in TERMS)
    key = "allowed.backward" if has_backward(result) else "allowed"
    return t(key, method=METHODS[row["method"]], terms=terms)


def rules(result: Result) -> dict:
    """Return the card of the two rules of judging.py and their numbers for each method; of the
    backward pass each gradient's."""
    if has_backward(result):
        return gradients_run_report.rules(result)
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
    title = t("rules")
    head, cells = known_columns(t.row("rules.head"), cells)
    return {
        "title": title,
        "caption": title,
        "remark": t("rules.remark"),
        "head": head,
        "rows": cells,
        "texts": [_first_rule(result), _second_rule(rows)],
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
