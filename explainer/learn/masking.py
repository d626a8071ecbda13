"""Lesson 1.7: a mask on the scores, three ways to put it on, and a word that is changed to see
which outputs move."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from explainer.base.amounts import format_fixed
from explainer.learn.attending import grid, heat, note, sign
from explainer.learn.blocks import Block, picture, t
from explainer.learn.linear_algebra import make_problem, softmax
from explainer.trace import trace

Numbers = dict[str, np.ndarray]

BIG = np.float32(-1e9)  # what some code adds in place of −∞
WORDS = ("the", "cat", "sat", "down")
OTHER = "mouse"  # what stands in the place of a word that is changed
# The four words, and the fifth that is put in the place of one of them.
FIVE = make_problem(
    5, 4, 5, order="standard", inputs="sentence", gain=2.0, text=" ".join((*WORDS, OTHER))
)
SHAPES = t.named("masking.shapes")
NEW = 2  # queries of the last two shapes: the keys of the others are in a cache


def keep(shape: str, n: int = len(WORDS)) -> np.ndarray:
    """1 where a query (row) may see a key (column), else 0, float32: (n, n), of the shapes with new
    words (2, n)."""
    lower = np.tril(np.ones((n, n), np.float32))
    if shape == "none":
        return np.ones_like(lower)
    if shape == "padded":
        lower[:, 0] = 0
    return {"new": lower[n - NEW :], "corner": lower[:NEW]}.get(shape, lower)


@lru_cache(maxsize=8)
def _scores(changed: int | None) -> tuple[np.ndarray, np.ndarray]:
    """S (4, 4) and V (4, d) of the four words, one of them changed."""
    run = trace(FIVE)
    rows = [len(WORDS) if k == changed else k for k in range(len(WORDS))]
    return run.S[np.ix_(rows, rows)], run.V[rows]


def masked(way: str, shape: str = "causal", changed: int | None = None) -> Numbers:
    """Attention with a mask put on in this way, float32: ``keep`` and ``added`` (nq, 4), ``P``,
    ``O`` (nq, d). ``way``: inf, big (−1e9), or times (P is multiplied by 0/1 after the softmax).
    """
    S, V = _scores(changed)
    seen = keep(shape)
    S = S[len(S) - len(seen) :]
    hidden = {"inf": np.float32(-np.inf), "big": BIG, "times": np.float32(0)}[way]
    added = S + np.where(seen == 1, np.float32(0), hidden)
    P = softmax(added) * (seen if way == "times" else np.float32(1))
    return {"keep": seen, "added": added, "P": P, "O": P @ V}


def moved(way: str, shape: str, changed: int | None) -> np.ndarray:
    """(nq,) how far each output moves when that word is changed: the largest difference."""
    before, after = masked(way, shape)["O"], masked(way, shape, changed)["O"]
    return np.abs(np.nan_to_num(after) - np.nan_to_num(before)).max(axis=1)


def outcome(way: str, shape: str, m: Numbers) -> tuple[str, str]:
    """("good" or "bad", one sentence): what this way of masking comes to."""
    blind = np.flatnonzero(m["keep"].sum(axis=1) == 0)
    if shape == "corner":
        return "bad", t("masking.bad_corner")
    if way == "times" and not m["keep"].all():
        return "bad", t("masking.bad_times", sum=m["P"][0].sum())
    if not len(blind):
        return "good", t("masking.good" if m["keep"].all() else "masking.good_hidden")
    if way == "big":
        return "bad", t("masking.bad_big", weight=m["P"][0, 0])
    return "bad", t("masking.bad_inf")


def _mask(shape: str, way: str, poke: int | str) -> list[Block]:
    changed = int(poke) if poke != "none" else None
    m = masked(way, shape, changed)
    words = [OTHER if k == changed else word for k, word in enumerate(WORDS)]
    asking = words[len(words) - len(m["keep"]) :]
    far = moved(way, shape, changed)
    hidden = m["keep"] == 0
    S = np.where(hidden & (way != "times"), np.float32(-np.inf), m["added"])
    scores = grid(
        t("masking.scores" if way == "times" else "masking.scores_hidden"),
        S,
        "s",
        rows=asking,
        cols=words,
        heat=heat(_scores(None)[0]),
    )
    if way == "big":
        scores["cells"] = [["−1e9" if x == "−∞" else x for x in row] for row in scores["cells"]]
    sums = {"rows": [format_fixed(s, 2) for s in m["P"].sum(axis=1)], "one": "rows"}
    went = [(r, c) for r in np.flatnonzero(far > 0).tolist() for c in range(m["O"].shape[1])]
    tone, what = outcome(way, shape, m)
    if changed is not None:
        names = [asking[r] for r in np.flatnonzero(far > 0)]
        which = {"moved": ", ".join(f"“{name}”" for name in names)} if names else {}
        key = "masking.moved" if names else "masking.moved_none"
        what = t(key, word=WORDS[changed], other=OTHER, **which)
        tone = "good" if way != "times" and shape != "corner" else ""
    lines = [
        [
            scores,
            sign("× 0/1 →" if way == "times" else "softmax →"),
            grid(t("masking.weights"), m["P"], "s", cols=words, heat=[0.0, 1.0], sums=sums),
            sign("· V ="),
            grid(t("masking.output"), m["O"], "o", changed=went if changed is not None else []),
        ],
        [note(what, tone)],
    ]
    wording = t(
        "masking.words",
        shape=SHAPES[shape],
        kept=int(m["keep"].sum()),
        all=m["keep"].size,
        what=what,
    )
    data = {"lines": lines, "share": 1.75}
    return [picture("grids", t("masking.label", shape=SHAPES[shape]), wording, data)]


def _note(query: int, key: int) -> str:
    """What a cell holds, and what a mask that is wrong there would do."""
    if key == query:
        return t("masking.note_itself", query=query, at=key)
    side = "masking.note_later" if key > query else "masking.note_earlier"
    return t(side, query=query, at=key, n=abs(key - query))


def _hidden(first: int, last: int) -> dict:
    """The question for the queries of the tokens ``first`` to ``last``, as many keys as tokens:
    which scores a causal mask hides. What stands in the cells is of no account."""
    new, keys = last - first + 1, last + 1
    rng = np.random.default_rng(keys)
    cells = tuple(
        tuple(f"{x:.1f}".replace("-", "−") for x in row) for row in rng.normal(size=(new, keys))
    )
    seen = first + np.arange(new)[:, None] >= np.arange(keys)
    return {
        "cells": cells,
        "rows": tuple(str(token) for token in range(first, keys)),
        "notes": tuple(tuple(_note(first + r, c) for c in range(keys)) for r in range(new)),
        "answer": tuple((int(r), int(c)) for r, c in np.argwhere(~seen)),
    }


ZERO = format_fixed(
    softmax(np.array([1.0, 2.0, 0.0]))[2], 2
)  # of a key whose score became 0, not −∞
FIGURES = {"mask": lambda: {"zero": ZERO}}
QUESTIONS = {"mask": _hidden}

WIDGETS = {
    "mask": _mask,
}
