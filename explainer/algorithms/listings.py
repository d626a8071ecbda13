"""The code that the pages show beside the picture: the trace's and the kernels' own lines.

Cut out of the source files by their ``# phase:`` markers, so what lights up cannot drift from what
runs. A lost marker is an error, not a gap.
"""

import re
from functools import cache
from pathlib import Path
from typing import Any

from explainer.algorithms.registry import ALGORITHMS, OF_PASS
from explainer.algorithms.transfers import PASSES
from explainer.base.paths import ROOT

PHASE = re.compile(r"\s*# phase: (\w+)(.*)")
STAGE = re.compile(r'def (\w+)_kernel|\bstage == "(\w+)"')
# A function of another file stands here.
SHARED = re.compile(r"# (?:kernel|loop): (\w+)\.(\w+)")
OF_KERNEL = {"delta": "D"}  # the stage of a kernel that is not called as its stage is
END = "# phases end"


# kind of listing → how its lines are marked, and the folder of its files
SOURCES = {
    "numpy": ("loop", ROOT / "explainer" / "algorithms"),
    "triton": ("kernel", ROOT / "kernels"),
}


class ListingError(RuntimeError):
    """A marker that the listing is cut out by is not where it should be."""


Line = dict[str, Any]  # "text", and what it has of "phase", "stage" and "first"


def _between(text: str, start: str, stop: str, name: str) -> list[str]:
    try:
        begin = text.index(start)
        return text[begin : text.index(stop, begin + len(start))].rstrip().splitlines()
    except ValueError:
        raise ListingError(f"{name}: {start.strip()!r} … {stop.strip()!r} is gone") from None


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def cut(lines: list[str], order: str, pass_: str = "forward") -> list[Line]:
    """Lines of code, each with the ``phase`` that lights it, in which ``stage``, and ``first``
    where it runs only at the first visit of a row or key block. A phase ends at the next marker, at
    an empty line, or where the code is indented less; what follows ``# phases end`` is left out
    until then. A stage begins where it is asked for, or with its kernel, and the last one at an
    ``else``; it ends where the code is indented no more than there."""
    out: list[Line] = []
    pseudocode = OF_PASS[pass_][order].texts["pseudocode"]
    stages = [line["stage"] for line in pseudocode if "stage" in line]
    phase, first, depth, hidden = None, False, 0, False
    stage, begun = None, 0
    for text in lines:
        if not text.strip() or _indent(text) < depth:
            phase, first, depth, hidden = None, False, 0, False
        found = STAGE.search(text)
        named = found and (found[2] or OF_KERNEL.get(found[1], found[1]))
        if named in stages:
            stage, begun = named, _indent(text)
        elif stage and text.strip() and _indent(text) <= begun and text[0] != ")":
            stage = stages[-1] if text.strip() == "else:" else None
        marker = PHASE.match(text)
        if marker:
            phase, depth, hidden = marker[1], _indent(text), False
            first = phase == "load" and "once" in marker[2]
        elif text.strip().startswith(END):
            phase, depth, hidden = None, _indent(text), True
        if not hidden:
            about = {"phase": phase, "stage": phase and stage, "first": first}
            out.append({"text": text} | {k: v for k, v in about.items() if v})
    return out


def _named(order: str, pass_: str) -> str:
    key = OF_PASS[pass_][order].key  # a variant has the backward pass of another
    return f"{key}.py" if pass_ == "forward" else f"{key}_{pass_}.py"


def code_lines(
    kind: str, order: str, pass_: str = "forward", source: str | None = None
) -> list[Line]:
    """Cut one of SOURCES out of the order's file: the loop that computes its trace, or its kernels
    as they run on the GPU, of which the backward pass has FA-2's alone.

    It stands between ``# loop: begin`` and ``# loop: end``, or the same of ``kernel``. Every phase
    that lights a line of pseudocode must light one here, in every stage.
    """
    mark, folder = SOURCES[kind]
    name = _named(order, pass_)
    text = source or (folder / name).read_text(encoding="utf-8")
    code = _between(text, f"# {mark}: begin", f"# {mark}: end", name)[1:]
    code = [part for line in code for part in _shared(line, folder)]
    while code and not code[0].strip():
        code.pop(0)
    lines, phases = cut(code, order, pass_), PASSES[pass_].phases
    wanted, marked = (
        {(line.get("stage"), phase) for line in found if (phase := line.get("phase")) in phases}
        for found in (OF_PASS[pass_][order].texts["pseudocode"], lines)
    )
    missing = wanted - marked
    if missing:
        raise ListingError(f"{name}: no line is marked for {sorted(map(str, missing))}")
    return lines


def _shared(line: str, folder: Path) -> list[str]:
    """Return the line, or the function of another file that it names."""
    found = SHARED.fullmatch(line)
    if not found:
        return [line]
    text = (folder / f"{found[1]}.py").read_text(encoding="utf-8")
    begin = text.rindex("\n\n\n", 0, text.index(f"def {found[2]}(")) + 3
    return text[begin : text.index("\n\n\n", begin)].splitlines()


@cache
def listings() -> dict[str, dict]:
    """{order: {"numpy": […], "triton": […]}} of the forward pass, lines as plain values for the
    browser, and under ``backward`` the same of the backward pass, where there is a kernel."""

    def of(order: str, pass_: str) -> dict[str, list[Line]]:
        return {
            kind: code_lines(kind, order, pass_)
            for kind, (_, folder) in SOURCES.items()
            if (folder / _named(order, pass_)).exists()
        }

    forward, backward = ({order: of(order, pass_) for order in ALGORITHMS} for pass_ in PASSES)
    return forward | {"backward": backward}
