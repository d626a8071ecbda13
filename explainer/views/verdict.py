"""The head of a run's report: who is right, whether the tiles are the picture's. Pure."""

from __future__ import annotations

import math
from collections.abc import Mapping
from urllib.parse import urlencode

from explainer.algorithms.inputs import INPUTS
from explainer.algorithms.registry import BASELINE
from explainer.base.amounts import listed, power, scientific
from explainer.base.texts import Texts
from explainer.engine.requests import METHODS, ORDERS, STORE_S, RunRequest
from explainer.engine.results import SIGNED_N, SIGNED_VALUES, Result, Row, ran
from explainer.views import gradients_run_report
from explainer.views.downloads import kind, scored
from explainer.views.html import card, div, filled, mark, table, tag, words
from kernels.spec.formats import FORMATS

say = Texts("run")
TERMS, SIGNED = ("naive", "rounding", "scores"), ("error", "allowed")
SHOWN_WORDS = 40  # characters of a sentence of the user's own


def agrees(result: Result) -> bool | None:
    """Whether the kernels' tiles are the picture's; None when nothing was compared with it."""
    compared = [row["same"]["agrees"] for row in ran(result["rows"]) if row.get("same")]
    return all(compared) if compared else None


def several_heads(query: Mapping) -> bool:
    """Whether there are heads beside the one that the picture shows."""
    return int(query["b"]) * int(query["h"]) > 1


def backward(result: Result) -> bool:
    """Whether both passes were run, and the gradients judged."""
    return "pass" in result["query"]


def lesson(result: Result) -> dict:
    """The Step page's keys of a run's query, as it has them itself."""
    query = result["query"]
    there = {key: query[key] for key in ("pass",) if key in query}
    return RunRequest.from_query(query).problem.to_query() | there


def judged(result: Result) -> str:
    """Which heads the errors are of."""
    first = picture(result["query"])
    if not several_heads(result["query"]):
        return say("head.only")
    if result["heads_judged"] == 1:  # the last one is the picture's
        return first
    if "head" not in result["query"]:
        return say("head.first_last")
    return say("head.and_last", first=first)


def picture(query: Mapping) -> str:
    """Which head, in the first sequence of the batch, is the picture's."""
    return say("head.number", head=query["head"]) if "head" in query else say("head.first")


def headline(result: Result) -> str:
    """One sentence: right or not, of all methods or of those that ran, and the picture."""
    wrong = [METHODS[row["method"]] for row in ran(result["rows"]) if not row["right"]]
    if wrong:
        return say("verdict.wrong", methods=", ".join(wrong))
    kernels = [row for row in ran(result["rows"]) if row["method"] in ORDERS]
    same = agrees(result)
    if same is False:
        names = [METHODS[r["method"]] for r in kernels if r.get("same") and not r["same"]["agrees"]]
        key = "verdict.differs" if len(names) == 1 else "verdict.differ"
        return say(key, names=listed(names))
    missing = _missing(result)
    if same and len(ran(result["rows"])) <= 2 and len(kernels) == 1:
        return say("verdict.kernel", missing=missing)
    return say(
        "verdict", who=_who(result), picture=_picture(result, kernels, same), missing=missing
    )


def _who(result: Result) -> str:
    rows = ran(result["rows"])
    if len(rows) == 1:
        return say("who.one", name=METHODS[rows[0]["method"]])
    if len(rows) == len(result["rows"]):
        return say("who.every")
    return say("who.both") if len(rows) == 2 else say("who.some", n=len(rows))


def _picture(result: Result, kernels: list[Row], same: bool | None) -> str:
    """What became of the comparison with the picture, as the second half of the sentence."""
    if same:
        left = sum(row.get("same") is None for row in kernels)
        if left:
            return say("verdict.compared")
        return say("verdict.pictures" if len(kernels) > 1 else "verdict.picture")
    if kernels:
        return say("verdict.many")
    whole = ("naive", "naive_compiled", "sdpa_math")
    tiled = any(row["method"] not in whole for row in ran(result["rows"]))
    if tiled:
        return say("verdict.unseen")
    return say("verdict.no_kernel")


def _missing(result: Result) -> str:
    """How many methods did not run, as the end of the sentence."""
    n = len(result["rows"]) - len(ran(result["rows"]))
    if not n:
        return say("verdict.end")
    if result["machine"]["interpreted"] and not backward(result):
        return say("verdict.needs" if n == 1 else "verdict.need", n=n)
    return say("verdict.missing", n=n)


def times_naive(row: Row, naive: float | None) -> str:
    """The ratio of the peers' rule; where naive has no error, or none that is known, a dash."""
    naive = row.get("naive_error", naive)
    return f"{row['error'] / naive:.2f} ×" if naive else "–"


def allowed(result: Result) -> str:
    """The first rule in numbers, of the last method that has tiles or of the last of all."""
    rows = ran(result["rows"])
    row = ([row for row in rows if row["method"] in ORDERS] or rows)[-1]
    terms = " + ".join(scientific(row["terms"][key]) for key in TERMS)
    key = "allowed.backward" if backward(result) else "allowed"
    return say(key, method=METHODS[row["method"]], terms=terms)


def rules(result: Result) -> str:
    """The two rules of judging.py as they are applied here, and their numbers for each method; of
    the backward pass each gradient's."""
    if backward(result):
        return gradients_run_report.gradients(result)
    rows = ran(result["rows"])
    lines = [
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
    what = say("rules")
    texts = (words(_first_rule(result), "fa-fine"), words(_second_rule(rows), "fa-fine"))
    body = table(*filled(say.row("rules.head"), lines), what)
    return card("rules", what, kind(result), say("rules.remark"), body, *texts)


def _first_rule(result: Result) -> str:
    q = result["query"]
    u = power(2, int(math.log2(FORMATS[q["dtype"]].unit_roundoff)))
    stored = [METHODS[row["method"]] for row in ran(result["rows"]) if row["method"] in STORE_S]
    more = ""
    if stored and q["dtype"] != "fp32":
        key = "rules.stores" if len(stored) == 1 else "rules.store"
        more = say(key, names=listed(stored), dtype=q["dtype"])
    if result["naive_error"] is None:
        more += say("rules.no_naive")
    visits = -(-int(q["n"]) // int(q["bc"]))
    return say("rules.first", visits=visits, u=u, u32=power(2, -24), more=more)


def _second_rule(rows: list[Row]) -> str:
    signed = {METHODS[row["method"]]: row["signed"] for row in rows if row["signed"]}
    if not signed:
        return say("rules.unsigned", n=SIGNED_N, values=SIGNED_VALUES)
    worst = max(signed, key=lambda name: signed[name]["error"] / signed[name]["allowed"])
    share = signed[worst]["error"] / signed[worst]["allowed"]
    return say("rules.signed", u32=power(2, -24), worst=worst, share=share)


def about(query: Mapping) -> str:
    """Which numbers Q, K and V are, and the factor on the logits when there is one."""
    data = query.get("data", "")
    parts = [INPUTS.get(data, data)]
    text = query.get("text", "")
    if data == "sentence" and text:
        cut = text if len(text) <= SHOWN_WORDS else text[:SHOWN_WORDS] + "…"
        parts = [say("about.sentence", text=cut)]
    if data != "own" and "seed" in query:
        parts.append(say("about.seed", seed=query["seed"]))
    if "gain" in query:
        parts.append(say("about.gain", gain=float(query["gain"])))
    return ", ".join(parts)


def tiles(counts: Mapping[str, int]) -> str:
    """Tiles of one head: those of FA-1 and FA-2, Standard's in brackets; "" without any."""
    flash = max((n for name, n in counts.items() if name != BASELINE), default=0)
    standard = counts.get(BASELINE, 0)
    if not flash:
        return say("verdict.tiles", n=standard) if standard else ""
    if standard and standard != flash:
        return say("verdict.tiles_standard", n=flash, standard=standard)
    return say("verdict.tiles", n=flash)


def verdict(result: Result) -> str:
    """The card above the four questions."""
    q, machine = result["query"], result["machine"]
    good = all(row["right"] for row in ran(result["rows"])) and agrees(result) is not False
    parts = [
        f"B = {q['b']}",
        f"H = {q['h']}",
        picture(q) if "head" in q else "",
        f"N = {int(q['n']):,}",
        f"d = {q['d']}",
        *(f"{label} = {q[key]}" for key, label in (("br", "Br"), ("bc", "Bc")) if key in q),
        scored(q),
        q["dtype"],
        say("verdict.passes") if backward(result) else "",
        about(q),
        tiles(result["tiles"]),
    ]
    versions = " · ".join(f"{k} {v}" for k, v in machine["versions"].items())
    link = tag("a", say("verdict.link"), href=f"?{urlencode(lesson(result))}", class_="fa-run-link")
    problem = " · ".join(part for part in parts if part)
    return div(
        "fa-run-verdict",
        mark(good),
        div("fa-run-words", tag("b", headline(result)), tag("span", problem)),
        div("fa-run-where", tag("b", machine["device"]), tag("span", versions)),
        link,
    )
