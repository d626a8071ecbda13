"""The code that the pages show beside the picture: the trace's and the kernels' own lines.

Cut out of the source files by their ``# phase:`` markers, so what lights up cannot drift from what
runs. A lost marker is an error, not a gap.
"""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass
from functools import lru_cache

from explainer.algorithms.registry import ALGORITHMS
from explainer.algorithms.transfers import PHASES
from explainer.base.paths import ROOT

PHASE = re.compile(r"\s*# phase: (\w+)(.*)")
STAGE = re.compile(r'def (scores|softmax|output)_kernel|step\.stage == "(\w+)"')
END = "# phases end"


class ListingError(RuntimeError):
    """A marker that the listing is cut out by is not where it should be."""


@dataclass(frozen=True)
class Line:
    """One line of code: its text, the phase that lights it, standard attention's stage, and
    whether it runs only at the first visit of a row or key block (``first``)."""

    text: str
    phase: str | None = None
    stage: str | None = None
    first: bool = False


def _between(text: str, start: str, stop: str, name: str) -> list[str]:
    try:
        begin = text.index(start)
        return text[begin : text.index(stop, begin + len(start))].rstrip().splitlines()
    except ValueError:
        raise ListingError(f"{name}: {start.strip()!r} … {stop.strip()!r} is gone") from None


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def cut(lines: list[str], order: str) -> tuple[Line, ...]:
    """Lines with their phases. A phase ends at the next marker, at an empty line, or where the
    code is indented less; what follows ``# phases end`` is left out until then."""
    out: list[Line] = []
    staged = any(line.stage for line in ALGORITHMS[order].pseudocode)
    phase, first, depth, stage, hidden = None, False, 0, None, False
    for text in lines:
        if not text.strip() or _indent(text) < depth:
            phase, first, depth, hidden = None, False, 0, False
        if staged and (found := STAGE.search(text)):
            stage = found[1] or found[2]
        elif staged and text.strip() == "else:" and stage == "softmax":
            stage = "output"
        marker = PHASE.match(text)
        if marker:
            phase, depth, hidden = marker[1], _indent(text), False
            first = phase == "load" and "once" in marker[2]
        elif text.strip().startswith(END):
            phase, depth, hidden = None, _indent(text), True
        if not hidden:
            out.append(Line(text, phase, stage if phase else None, first))
    return tuple(out)


def numpy_lines(order: str, source: str | None = None) -> tuple[Line, ...]:
    """The loop of ``explainer/algorithms/`` that computes this order's trace."""
    name = f"{order}.py"
    text = source or (ROOT / "explainer" / "algorithms" / name).read_text(encoding="utf-8")
    return _checked(order, "NumPy", cut(_between(text, "def compute(", "\n\n\n", name), order))


def triton_lines(order: str, source: str | None = None) -> tuple[Line, ...]:
    """The kernels of this order, as they run on the GPU."""
    name = f"{order}.py"
    text = source or (ROOT / "kernels" / name).read_text(encoding="utf-8")
    lines = _between(text, "# kernel: begin", "# kernel: end", name)[1:]
    while lines and not lines[0].strip():
        lines.pop(0)
    return _checked(order, "Triton", cut(lines, order))


def _checked(order: str, kind: str, lines: tuple[Line, ...]) -> tuple[Line, ...]:
    """Every phase that lights a line of pseudocode must light one here, in every stage."""
    pseudocode = ALGORITHMS[order].pseudocode
    wanted = {(line.stage, line.phase) for line in pseudocode if line.phase in PHASES}
    missing = wanted - {(line.stage, line.phase) for line in lines}
    if missing:
        raise ListingError(f"{kind}, {order}: no line is marked for {sorted(map(str, missing))}")
    return lines


@lru_cache(maxsize=1)
def listings() -> dict[str, dict[str, list[dict]]]:
    """{order: {"numpy": […], "triton": […]}}, lines as plain values for the browser."""
    return {
        order: {
            "numpy": [asdict(line) for line in numpy_lines(order)],
            "triton": [asdict(line) for line in triton_lines(order)],
        }
        for order in ALGORITHMS
    }
