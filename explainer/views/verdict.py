"""The head of a run's report: who is right, whether the tiles are the picture's. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import urlencode

from explainer.algorithms.inputs import INPUTS
from explainer.base.amounts import count, listed
from explainer.engine.requests import METHODS, ORDERS
from explainer.engine.results import Result, Row, ran
from explainer.views.html import div, mark, tag

SHOWN_WORDS = 40  # characters of a sentence of the user's own


def agrees(result: Result) -> bool | None:
    """Whether the kernels' tiles are the picture's; None when nothing was compared with it."""
    compared = [row["same"]["agrees"] for row in ran(result["rows"]) if row.get("same")]
    return all(compared) if compared else None


def several_heads(query: Mapping) -> bool:
    """Whether there are heads beside the one that the picture shows."""
    return int(query["b"]) * int(query["h"]) > 1


def lesson(result: Result) -> dict:
    """The Step page's keys of a run's query."""
    return {k: v for k, v in result["query"].items() if k not in ("b", "h", "methods")}


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
    if result["machine"]["interpreted"]:
        return f"; {n} need{'s' * (n == 1)} a GPU."
    return f"; {n} did not run."


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
        f"B = {q['b']}", f"H = {q['h']}", f"N = {int(q['n']):,}", f"d = {q['d']}",
        *(f"{label} = {q[key]}" for key, label in (("br", "Br"), ("bc", "Bc")) if key in q),
        q["mask"], q["dtype"], about(q), tiles(result["tiles"]),
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
