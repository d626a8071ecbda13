"""A verdict as text: the map of tiles, the rows of the first wrong one, the cases; with color on a
terminal, with the same signs without."""

from collections.abc import Callable

import numpy as np
from jinja2 import Environment, FileSystemLoader, StrictUndefined, select_autoescape

from explainer.base.paths import ASSETS
from explainer.base.texts import Texts, fill
from explainer.check.mistakes import MISTAKES, TENSOR_LINES
from explainer.check.verdict import Verdict, title, weight, where

t = Texts("check")
ENVIRONMENT = Environment(
    loader=FileSystemLoader(ASSETS / "check"),
    autoescape=select_autoescape(),
    undefined=StrictUndefined,
)
SIGNS = {"right": "✓", "wrong": "✗", "skipped": "·", "pending": "▫"}
COLORS = {"right": "30;42", "wrong": "97;41", "skipped": "2", "pending": "2"}
MOST = 16  # blocks on a side of the map, and rows below it
COLUMNS = 8
Paint = Callable[[str, str], str]


def painter(is_colored: bool) -> Paint:
    """Return a function that colors a text by an ANSI code, or leaves it."""
    return (lambda text, code: f"\x1b[{code}m{text}\x1b[0m") if is_colored else lambda text, _: text


def cells(verdict: Verdict) -> list[list[str]]:
    """Return the state of each tile of the verdict's case: right, wrong, skipped or pending."""
    case = verdict.case
    assert case
    tr, tc = -(-case.n_q // case.block_q), -(-case.n_k // case.block_k)
    found = {(tile.i, tile.j): "wrong" if tile.rows else "right" for tile in verdict.tiles}
    rest = "pending" if verdict.first or not verdict.runs else "right"
    if verdict.first and not verdict.tile:
        found = _gradient_cells(verdict.first, tr, tc)
    if verdict.tile:
        found[verdict.tile.i, verdict.tile.j] = "wrong"

    marked = {x for x, kind in found.items() if verdict.tile or kind == "wrong"}

    def state(i: int, j: int) -> str:
        last = min((i + 1) * case.block_q, case.n_q) - 1 + case.offset
        is_hidden = case.causal and j * case.block_k > last
        known = found.get((i, j), rest)
        return "skipped" if is_hidden and (i, j) not in marked else known

    return [[state(i, j) for j in range(tc)] for i in range(tr)]


def _gradient_cells(first: dict, tr: int, tc: int) -> dict[tuple[int, int], str]:
    """Return the state of the tiles of a backward pass, keys outside: those before the first wrong
    one are right; where only its row block or its key block is known, all of that are wrong."""
    every = [(i, j) for j in range(tc) for i in range(tr)]
    named = {-1: "right", 0: "wrong", 1: "pending"}
    i, j = first["i"], first["j"]
    if i is None or j is None:
        axis, at = (0, i) if j is None else (1, j)
        assert at is not None
        return {x: named[(x[axis] > at) - (x[axis] < at)] for x in every}
    first_wrong = every.index((i, j))
    return {x: named[(n > first_wrong) - (n < first_wrong)] for n, x in enumerate(every)}


def agreement(verdict: Verdict) -> str:
    """Say which tensors of the first wrong tile agree."""
    tile, names = verdict.tile, t.named("tensor")
    assert tile and tile.what
    right = [names[x] for x in ("m", "l") if x in tile.mine and not tile.wrong[x].any()]
    wrong = ["O", "lse"] if tile.wrong["O"].any() and tile.wrong["lse"].any() else [tile.what]
    values = {"what": " and ".join(names[x] for x in wrong), "right": " and ".join(right)}
    return fill(t.named("agrees")["both" if len(wrong) == 2 else str(len(right))], values)


def line_of(verdict: Verdict) -> tuple[str, int] | None:
    """Return the pass and the line of its algorithm to look at, where it is known."""
    if verdict.cause:
        return MISTAKES[verdict.cause].pass_, MISTAKES[verdict.cause].line
    tile = verdict.tile
    return ("forward", TENSOR_LINES[tile.what]) if tile and "m" in tile.mine and tile.what else None


def cause_lines(verdict: Verdict) -> list[str]:
    """Name the cause, and the line to look at where it is known."""
    found = [t("numbers.none")] if verdict.first else []
    if verdict.cause:
        found = [t("numbers", cause=t.named("cause")[verdict.cause])]
    if place := line_of(verdict):
        found.append(fill(t.named("line")[place[0]], {"line": place[1]}))
    return found


def alphas(verdict: Verdict) -> np.ndarray | None:
    """Return the true α of each row of the first wrong tile; None in a row block's first tile."""
    case, tile = verdict.case, verdict.tile
    assert case and tile
    if tile.j == 0 or case.q.shape[:2] != (1, 1):
        return None
    rows = slice(tile.first_row, tile.first_row + len(tile.true["O"]))
    before, after = (case.part(rows, slice(0, (tile.j + x) * case.block_k)).m for x in (0, 1))
    with np.errstate(invalid="ignore"):
        return np.exp(before - after)


def numbers(x: np.ndarray, decimals: int = 2) -> list[str]:
    """Write the first numbers of a row."""
    rounded = np.round(np.atleast_1d(x)[:COLUMNS], decimals) + 0.0  # no −0.00
    return [f"{v:.{decimals}f}".replace("-", "−") for v in rounded]


def decimals(mine: np.ndarray, true: np.ndarray, wrong: np.ndarray) -> int:
    """Return how many decimals show in each wrong row that it is wrong: two to six."""
    pairs = [(mine[n], true[n]) for n in np.flatnonzero(wrong)[:MOST]]
    differ = (x for x in range(2, 6) if all(numbers(a, x) != numbers(b, x) for a, b in pairs))
    return next(differ, 6)


def _rows(verdict: Verdict) -> list[dict]:
    """Return the rows of the first wrong tensor, or gradient, as texts: yours and the true ones."""
    alpha, label, tile = None, "row", verdict.tile
    if tile and tile.what:
        mine, true, wrong = tile.mine[tile.what], tile.true[tile.what], tile.wrong[tile.what]
        first_row, alpha = tile.first_row, alphas(verdict)
    elif verdict.gradient and verdict.first:
        first_row, mine, true, wrong = verdict.gradient
        label = "row" if verdict.first["what"] == "dQ" else "key"
    else:
        return []
    places, rows = decimals(mine, true, wrong), []
    for n in range(len(true)):
        own, right = (
            " ".join(text.rjust(places + 5) for text in numbers(x[n], places)) for x in (mine, true)
        )
        head = f"  {t(label, row=first_row + n):8}"
        head += f"α {alpha[n]:.2f}  " if alpha is not None else ""
        rows.append({"head": head, "wrong": wrong[n], "mine": own, "true": right})
    return rows


def render(verdict: Verdict, is_colored: bool) -> str:
    """Return the whole verdict as lines of text."""
    drawn = cells(verdict) if verdict.case else []
    return ENVIRONMENT.get_template("verdict.txt").render(
        v=verdict,
        t=t,
        paint=painter(is_colored),
        map=drawn if drawn and max(len(drawn), len(drawn[0])) <= MOST else [],
        states=[state for row in drawn for state in row],
        rows=_rows(verdict),
        most=MOST,
        signs=SIGNS,
        colors=COLORS,
        title=title,
        where=where,
        weight=weight,
        agreement=agreement,
        cause_lines=cause_lines,
    )
