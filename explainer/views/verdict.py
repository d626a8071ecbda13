"""The head of a run's report: who is right, whether the tiles are the picture's. Pure."""

from __future__ import annotations

import math
from collections.abc import Mapping
from urllib.parse import urlencode

from explainer.algorithms.inputs import INPUTS
from explainer.base.amounts import count, listed, power, scientific
from explainer.base.formats import FORMATS
from explainer.engine.requests import METHODS, ORDERS, STORE_S, RunRequest
from explainer.engine.results import SIGNED_N, SIGNED_VALUES, Result, Row, ran
from explainer.views import gradients_run_report
from explainer.views.downloads import kind, scored
from explainer.views.html import card, div, filled, mark, table, tag, words

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
        return "the only head"
    if result["heads_judged"] == 1:  # the last one is the picture's
        return first
    return "the first and the last head" if first == "the first head" else f"{first} and the last"


def picture(query: Mapping) -> str:
    """Which head, in the first sequence of the batch, is the picture's."""
    return f"head {query['head']}" if "head" in query else "the first head"


def headline(result: Result) -> str:
    """One sentence: right or not, of all methods or of those that ran, and the picture."""
    wrong = [METHODS[row["method"]] for row in ran(result["rows"]) if not row["right"]]
    if wrong:
        return f"Not right here: {', '.join(wrong)}."
    kernels = [row for row in ran(result["rows"]) if row["method"] in ORDERS]
    same = agrees(result)
    if same is False:
        names = [METHODS[r["method"]] for r in kernels if r.get("same") and not r["same"]["agrees"]]
        return f"Right, but {listed(names)} differ{'s' * (len(names) == 1)} from the picture."
    missing = _missing(result)
    if same and len(ran(result["rows"])) <= 2 and len(kernels) == 1:
        return f"The kernel is right, and it is the picture{missing or '.'}"
    rest = _picture(result, kernels, same)
    return f"{_who(result)} right{rest}{missing or '.'}"


def _who(result: Result) -> str:
    rows = ran(result["rows"])
    if len(rows) == 1:
        return f"{METHODS[rows[0]['method']]} is"
    if len(rows) < len(result["rows"]):
        return f"{'Both' if len(rows) == 2 else f'All {len(rows)}'} methods that ran are"
    return "Every method is"


def _picture(result: Result, kernels: list[Row], same: bool | None) -> str:
    """What became of the comparison with the picture, as the second half of the sentence."""
    if same:
        left = sum(row.get("same") is None for row in kernels)
        if left:
            return ", and the tiles that could be compared are the picture's"
        return (
            ", and the kernels are the picture" if len(kernels) > 1 else ", and it is the picture"
        )
    if kernels:
        return "; the tiles were too many to compare one by one"
    whole = ("naive", "naive_compiled", "sdpa_math")
    tiled = any(row["method"] not in whole for row in ran(result["rows"]))
    if tiled:
        return "; none of them shows its tiles, so none was compared with the picture"
    return "; no kernel with tiles was run"


def _missing(result: Result) -> str:
    """How many methods did not run, as the end of the sentence; "" when all did."""
    n = len(result["rows"]) - len(ran(result["rows"]))
    if not n:
        return ""
    if result["machine"]["interpreted"] and not backward(result):
        return f"; {n} need{'s' * (n == 1)} a GPU."
    return f"; {n} did not run."


def times_naive(row: Row, naive: float | None) -> str:
    """The ratio of the peers' rule; where naive has no error, or none that is known, a dash."""
    naive = row.get("naive_error", naive)
    return f"{row['error'] / naive:.2f} ×" if naive else "–"


def allowed(result: Result) -> str:
    """The first rule in numbers, of the last method that has tiles or of the last of all."""
    rows = ran(result["rows"])
    row = ([row for row in rows if row["method"] in ORDERS] or rows)[-1]
    terms = (scientific(row["terms"][key]) for key in TERMS)
    if backward(result):
        return (
            "▏Allowed: 2 × naive's error under PyTorch's autograd + what rounding P, dS and the "
            f"gradient costs + what errors of S cost. {METHODS[row['method']]}: "
            f"{' + '.join(terms)}. Each gradient is below."
        )
    return (
        "▏Allowed: 2 × naive's error + what rounding P and O costs + what rounding S costs. "
        f"{METHODS[row['method']]}: {' + '.join(terms)}. Every term is below."
    )


def rules(result: Result) -> str:
    """The two rules of judging.py as they are applied here, and their numbers for each method; of
    the backward pass each gradient's."""
    if backward(result):
        return gradients_run_report.gradients(result)
    rows = ran(result["rows"])
    lines = [
        (
            METHODS[row["method"]], scientific(row["error"]),
            times_naive(row, result["naive_error"]),
            *(scientific(row["terms"][key]) for key in TERMS), scientific(row["allowed"]),
            f"{row['error'] / row['allowed']:.2f}" if row["allowed"] else "–",
            *(scientific(row["signed"][key]) if row["signed"] else "–" for key in SIGNED),
        )
        for row in rows
    ]  # fmt: skip
    head = (
        "Method", "error", "÷ naive's", "2 × naive's", "P and O", "S", "allowed", "÷ allowed",
        "along O", "allowed",
    )  # fmt: skip
    what = "What is allowed"
    texts = (words(_first_rule(result), "fa-fine"), words(_second_rule(rows), "fa-fine"))
    return card(
        "rules", what, kind(result), "the rules of the verdict",
        table(*filled(head, lines), what), *texts,
    )  # fmt: skip


def _first_rule(result: Result) -> str:
    q = result["query"]
    u = power(2, int(math.log2(FORMATS[q["dtype"]].unit_roundoff)))
    visits = f"FA-1 rounds O at each of its {-(-int(q['n']) // int(q['bc']))} visits, others once"
    text = (
        f"|O − O in float64| ≤ 2 × naive's error + u (1 + √visits) max Σ P|V|, since P and O are "
        f"rounded ({visits}; u = {u}) + 3 · {power(2, -24)} max Σ P (‖q‖‖k‖/√d + 1)(|V| + |O|), "
        "since S is made in fp32."
    )
    stored = [METHODS[row["method"]] for row in ran(result["rows"]) if row["method"] in STORE_S]
    if stored and q["dtype"] != "fp32":
        verb = "keeps" if len(stored) == 1 else "keep"
        text += f" {listed(stored)} {verb} S in {q['dtype']}: + u max Σ P|S|(|V| + |O|)."
    if result["naive_error"] is None:
        text += " In place of naive's error, which is not known, stands u max Σ P|V|."
    return text


def _second_rule(rows: list[Row]) -> str:
    signed = {METHODS[row["method"]]: row["signed"] for row in rows if row["signed"]}
    if not signed:
        return (
            "Whether the error points along O is judged for fused methods in fp16 and bf16 on "
            f"random data, from N = {SIGNED_N} and {SIGNED_VALUES:,} values of O on: elsewhere "
            "roundings are not independent, or the rule above is sharp enough."
        )
    worst = max(signed, key=lambda name: signed[name]["error"] / signed[name]["allowed"])
    share = signed[worst]["error"] / signed[worst]["allowed"]
    return (
        "Right kernels round without a sign, so the error e may not point along the true O, t: "
        "|Σ e·t / Σ t²| ≤ u √visits (1/8 + 1/√(values of O)) + N/16 · "
        f"{power(2, -24)}. {worst} comes nearest, at {share:.2f} of it."
    )


def about(query: Mapping) -> str:
    """Which numbers Q, K and V are, and the factor on the logits when there is one."""
    data = query.get("data", "")
    parts = [INPUTS.get(data, data)]
    text = query.get("text", "")
    if data == "sentence" and text:
        cut = text if len(text) <= SHOWN_WORDS else text[:SHOWN_WORDS] + "…"
        parts = [f"Sentence “{cut}”"]
    if data != "own" and "seed" in query:
        parts.append(f"seed {query['seed']}")
    if "gain" in query:
        parts.append(f"logits × {float(query['gain']):g}")
    return ", ".join(parts)


def tiles(counts: Mapping[str, int]) -> str:
    """Tiles of one head: those of FA-1 and FA-2, Standard's in brackets; "" without any."""
    flash = max((n for name, n in counts.items() if name != "standard"), default=0)
    standard = counts.get("standard", 0)
    if not flash:
        return f"{count(standard, 'tile')} a head" if standard else ""
    more = f" (Standard: {standard:,})" if standard and standard != flash else ""
    return f"{count(flash, 'tile')} a head{more}"


def verdict(result: Result) -> str:
    """The card above the four questions."""
    q, machine = result["query"], result["machine"]
    good = all(row["right"] for row in ran(result["rows"])) and agrees(result) is not False
    parts = [
        f"B = {q['b']}", f"H = {q['h']}", picture(q) if "head" in q else "",
        f"N = {int(q['n']):,}", f"d = {q['d']}",
        *(f"{label} = {q[key]}" for key, label in (("br", "Br"), ("bc", "Bc")) if key in q),
        scored(q), q["dtype"], "both passes" if backward(result) else "", about(q),
        tiles(result["tiles"]),
    ]  # fmt: skip
    versions = " · ".join(f"{k} {v}" for k, v in machine["versions"].items())
    link = tag("a", "Step through it", href=f"?{urlencode(lesson(result))}", class_="fa-run-link")
    problem = " · ".join(part for part in parts if part)
    return div(
        "fa-run-verdict",
        mark(good),
        div("fa-run-words", tag("b", headline(result)), tag("span", problem)),
        div("fa-run-where", tag("b", machine["device"]), tag("span", versions)),
        link,
    )
