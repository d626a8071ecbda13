"""Which scores are visible: windows, packed documents, listed blocks, by tiles."""

from dataclasses import replace

import numpy as np

from explainer.algorithms import tiling
from explainer.algorithms.schedule import schedule
from explainer.learn.kit import Block, Words
from explainer.learn.linear_algebra import address, make_problem
from explainer.learn.variants import DOCUMENT, SIZES, at_size
from explainer.problem import Problem

t = Words(__name__)

N, TILE = 32, 4
LEVELS = {"full": 1.0, "partial": 0.4}  # of the hue
STARTS = (0, 9, 14, 25)  # of the documents on screen
FAR = 65_536
SMALL = make_problem(20, 8, 4, mask="causal")


def problem(kind: str, width: int = 10) -> Problem:
    """Return N tokens under this mask; ``width`` keys in a window, the query's own among them."""
    mask = {
        "causal": "causal",
        "window": f"causal&window:{width - 1},0",
        "documents": "causal&document:" + ",".join(map(str, STARTS)),
        "block": SIZES["block"](N),
    }[kind]
    return make_problem(N, 8, TILE, mask=mask)


def compute(what: str, width: int) -> Block:
    """Show the scores, skipped tiles empty, and count tiles and bytes."""
    p = problem(what, width)
    keep, kinds, found = p.mask.keep(N, N), tiling.kinds(p), tiling.counts(p)
    looks = np.choose(kinds, [LEVELS.get(kind, np.nan) for kind in tiling.KINDS])
    cells = keep * np.kron(looks, np.ones((TILE, TILE)))
    tile = 2 * TILE * p.d * 2
    size = t.named("sizes") | {"documents": t("documents", n=DOCUMENT)}
    return t.picture(
        kind=t.named("kinds")[what],
        cells=[[None if np.isnan(x) else x for x in line] for line in cells],
        scores=int(keep.sum()),
        all=N * N,
        tiles=p.Tr * p.Tc,
        found=found,
        loads=(found["full"] + found["partial"]) * tile,
        whole=p.Tr * p.Tc * tile,
        size=size[what],
        share=at_size(what, FAR).visible(FAR, FAR) / FAR**2,
    )


def _note(p: Problem, i: int, j: int) -> str:
    """Say how many scores of a tile are visible, and what follows."""
    rows, keys = (slice(side * k, side * (k + 1)) for side, k in ((p.block_q, i), (p.block_k, j)))
    visible = int(p.mask.keep(p.n, p.n)[rows, keys].sum())
    return t("needed", i=i, j=j, needed=visible) if visible else t("idle", i=i, j=j)


def question(mask: str) -> dict:
    """The tiles that are computed."""
    p = replace(SMALL, mask=mask)
    places = [(i, j) for i in range(p.Tr) for j in range(p.Tc)]
    kinds = tiling.kinds(p)
    return {
        "answer": tuple((i, j) for i, j in places if tiling.KINDS[kinds[i][j]] != "skipped"),
        "cells": tuple(tuple(f"{i}, {j}" for j in range(p.Tc)) for i in range(p.Tr)),
        "notes": tuple(tuple(_note(p, i, j) for j in range(p.Tc)) for i in range(p.Tr)),
    }


def figures() -> dict[str, str]:
    """Return the address of the first tile that a window cuts, on the Step page."""
    p = replace(SMALL, n=16, mask="causal&window:5,0")
    cut = next(k for k, x in enumerate(schedule(p)) if x.kind == "partial" and x.j)
    return {"place": address(p, cut, "mask")}
