"""6.3: which scores are needed: windows, packed documents, listed blocks, by tiles."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from explainer.algorithms import tiling
from explainer.algorithms.schedule import schedule
from explainer.learn.blocks import Block, t
from explainer.learn.linear_algebra import address, make_problem
from explainer.learn.scene import Shape, box, captions, draw_text, knob, panel, scene
from explainer.learn.variants import DOCUMENT, SIZES, at_size
from explainer.learn.widgets import read_controls
from explainer.problem import Problem

N, TILE, CELL = 32, 4, 8
KINDS = t.named("windows.kinds")
STARTS = (0, 9, 14, 25)  # of the documents on screen
FAR = 65_536


def problem(kind: str, width: int = 10) -> Problem:
    """N tokens under this mask; ``width`` keys in a window, the query's own among them."""
    mask = {
        "causal": "causal",
        "window": f"causal&window:{width - 1},0",
        "documents": "causal&document:" + ",".join(map(str, STARTS)),
        "block": SIZES["block"](N),
    }[kind]
    return make_problem(N, 8, TILE, mask=mask)


def runs(seen: np.ndarray) -> list[tuple[int, int]]:
    """(first, count) of every run of True in a row (N,)."""
    edges = np.flatnonzero(np.diff(np.concatenate(([0], seen.astype(int), [0]))))
    return [(int(a), int(b - a)) for a, b in zip(edges[::2], edges[1::2], strict=True)]


def _map(p: Problem, kind: str, width: int) -> list[Shape]:
    keep = p.mask.keep(p.n, p.n)
    shapes, y = [draw_text(0, 14, t("windows.axes"), "is-quiet")], 24
    side = TILE * CELL
    for i, row in enumerate(tiling.kinds(p)):
        for j, found in enumerate(row):
            name = tiling.KINDS[found]
            look = {"skipped": "is-line", "partial": "is-pale", "full": "is-pale"}[name]
            hue = "plain" if name == "skipped" else "q"
            shapes.append(
                box(
                    j * side,
                    y + i * side,
                    side - 1.5,
                    side - 1.5,
                    look=look,
                    hue=hue,
                    key=f"t {i} {j}",
                )
            )
    for i, row in enumerate(keep):
        shapes += [
            box(a * CELL, y + i * CELL + 1, count * CELL - 1.5, CELL - 2, hue="q", look="is-full")
            for a, count in runs(row)
        ]
    if kind == "window":
        shapes.append(
            knob(0, y + N * CELL + 16, N * CELL, read_controls("windows")["width"], width)
        )
    return shapes


def counts(p: Problem) -> dict[str, int]:
    """Tiles by kind, full, partial and skipped."""
    return tiling.counts(p)


def _sentences(p: Problem, kind: str) -> list[Shape]:
    found, total = counts(p), p.Tr * p.Tc
    loaded = found["full"] + found["partial"]
    tile = 2 * TILE * p.d * 2
    scores = p.mask.visible(p.n, p.n)
    mask = at_size(kind, FAR)
    share = mask.visible(FAR, FAR) / FAR**2
    size = t.named("windows.sizes") | {"documents": t("windows.documents", n=DOCUMENT)}
    return captions(
        "windows.counts",
        scores=scores,
        all=N * N,
        skipped=found["skipped"],
        tiles=total,
        cut=found["partial"],
        whole=found["full"],
        loads=loaded * tile,
        whole_bytes=total * tile,
        far=FAR,
        size=size[kind],
        share=share,
    )


def _windows(what: str, width: int) -> list[Block]:
    p = problem(what, width)
    found = counts(p)
    words = t(
        "windows.spoken",
        kind=KINDS[what],
        scores=p.mask.visible(N, N),
        all=N * N,
        tiles=p.Tr * p.Tc,
        skipped=found["skipped"],
        cut=found["partial"],
        whole=found["full"],
    )
    return [
        scene(
            t("windows.title"),
            words,
            panel(490, 350, _map(p, what, width), _sentences(p, what)),
        )
    ]


WIDGETS = {
    "windows": _windows,
}

SMALL = make_problem(20, 8, 4, mask="causal")


def _note(p: Problem, i: int, j: int) -> str:
    """How many scores of a tile are needed, and what follows."""
    rows, keys = (slice(side * k, side * (k + 1)) for side, k in ((p.block_q, i), (p.block_k, j)))
    needed = int(p.mask.keep(p.n, p.n)[rows, keys].sum())
    if needed:
        return t("windows.needed", i=i, j=j, needed=needed)
    return t("windows.idle", i=i, j=j)


def _question(mask: str) -> dict:
    p = replace(SMALL, mask=mask)
    cells = tuple(tuple(f"{i}, {j}" for j in range(p.Tc)) for i in range(p.Tr))
    computed = tuple(
        (i, j)
        for i, row in enumerate(tiling.kinds(p))
        for j, kind in enumerate(row)
        if tiling.KINDS[kind] != "skipped"
    )
    return {
        "answer": computed,
        "cells": cells,
        "notes": tuple(tuple(_note(p, i, j) for j in range(p.Tc)) for i in range(p.Tr)),
    }


def _place() -> str:
    """The first tile that a window cuts, on the Step page."""
    p = replace(SMALL, n=16, mask="causal&window:5,0")
    cut = next(k for k, x in enumerate(schedule(p)) if x.kind == "partial" and x.j)
    return address(p, cut, "mask")


FIGURES = {"windows": lambda: {"place": _place()}}
QUESTIONS = {"windows": _question}
