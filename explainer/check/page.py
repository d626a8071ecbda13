"""A verdict as HTML: the picture of the app's view, and a page of its own for ``--html``."""

from urllib.parse import urlencode

from explainer.algorithms.schedule import schedule
from explainer.base.amounts import scientific
from explainer.base.paths import ASSETS
from explainer.base.texts import Texts
from explainer.check.terminal import (
    ENVIRONMENT,
    MOST,
    SIGNS,
    agreement,
    alphas,
    cause_lines,
    cells,
    decimals,
    line_of,
    numbers,
)
from explainer.check.verdict import Verdict, title, weight

t = Texts("check")
PHASES = {"m": "max", "l": "sum", "O": "output", "lse": "store"}  # in which a tensor is known


def _rows(verdict: Verdict) -> list[dict]:
    """Return the rows of the first wrong tile: their m, l and O, yours and true."""
    tile = verdict.tile
    assert tile and tile.what
    alpha = alphas(verdict)
    names = [name for name in ("m", "l", "O", "lse") if name in tile.mine]
    places = {x: decimals(tile.mine[x], tile.true[x], tile.wrong[x]) for x in names}
    rows = []
    for n in range(min(len(tile.true["O"]), MOST)):
        tensors = {
            name: {
                "mine": numbers(tile.mine[name][n], places[name]),
                "true": numbers(tile.true[name][n], places[name]),
                "wrong": bool(tile.wrong[name][n]),
            }
            for name in names
        }
        is_wrong = any(x["wrong"] for x in tensors.values())
        own = "" if alpha is None else numbers(alpha[n])[0]
        rises = alpha is not None and bool(alpha[n] < 1)
        facts = {"alpha": own, "rises": rises, "wrong": is_wrong}
        rows.append({"row": tile.first_row + n, **facts, **tensors})
    return rows


def place(verdict: Verdict) -> str:
    """Return the address of the first wrong tile on the Step page; "" where Step has no such."""
    tile, problem = verdict.tile, verdict.case and verdict.case.problem
    if not (tile and tile.what and problem):
        return ""
    at = (k for k, visit in enumerate(schedule(problem)) if (visit.i, visit.j) == (tile.i, tile.j))
    where = {"step": str(next(at)), "phase": PHASES[tile.what]}
    return urlencode(problem.to_query() | where)


def headline(verdict: Verdict) -> str:
    """Return the verdict in a few words."""
    first, names = verdict.first, t.named("tensor")
    if not verdict.runs:
        return t("page.broken")
    if not first:
        return t("page.right" if verdict.right else "page.case")
    key = "page.wrong" if None not in (first["i"], first["j"]) else "page.gradient"
    if key == "page.gradient":
        return t("page.gradient", what=names[first["what"]])
    return t("page.wrong", what=names[first["what"]], i=first["i"], j=first["j"])


def picture(verdict: Verdict) -> dict[str, object]:
    """Return what the page draws: ``headline``, ``sentence``, the picture as ``html``, and the
    tile's ``place`` on the Step page."""
    lines = [weight(verdict), *cause_lines(verdict)] if verdict.first else [verdict.sentence]
    rows = _rows(verdict) if verdict.tile and verdict.first else []
    drawn = cells(verdict) if verdict.case else []
    shown = drawn if drawn and max(len(drawn), len(drawn[0])) <= MOST else []
    html = ENVIRONMENT.get_template("verdict.html").render(
        cells=shown,
        signs=SIGNS,
        rows=rows,
        rises=bool(rows) and all(row["wrong"] == row["rises"] for row in rows),
        agreement=agreement(verdict) if verdict.tile and verdict.first else "",
        line=line_of(verdict),
        cases=sorted(verdict.cases, key=lambda x: x.right),
        names=t.named("case"),
        words=t.named("page.words"),
        tensors=t.named("tensor"),
        notes=verdict.notes if verdict.runs else [],
        scientific=scientific,
    )
    return {
        "headline": headline(verdict),
        "sentence": " ".join(filter(None, lines)),
        "file": verdict.file,
        "problem": title(verdict) if verdict.case else "",
        "place": place(verdict),
        "status": verdict.status,
        "html": html,
    }


def document(verdict: Verdict) -> str:
    """Return one offline page with the picture."""
    sheets = [(ASSETS / "css" / f"{name}.css").read_text("utf-8") for name in ("tokens", "yours")]
    page = ENVIRONMENT.get_template("report.html")
    return page.render(css="\n".join(sheets), **picture(verdict))
