"""Lessons 1.3 to 1.5: softmax and its axis, one word that asks, and attention as matrices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from explainer.base.amounts import format_fixed
from explainer.learn.blocks import Block, picture, t
from explainer.learn.linear_algebra import address, attend, make_problem, softmax

Item = dict[str, Any]

LOGITS = np.array([[2.0, 1.0, 0.0, -1.0], [0.5, 0.5, 0.5, 0.5], [-1.0, 3.0, 0.0, 1.0]])

# Toy vectors whose scores are easy to follow: those of “cat” are 2.1, 6.5 and 3.4.
WORDS = ("The", "cat", "sat")
Q = np.array([[3.0, 1.0, 1.0, 2.0], [1.0, 6.0, 3.0, 1.0], [2.0, 3.0, 4.0, 2.0]])
K = np.array([[0.2, 0.5, 0.3, 0.1], [0.0, 2.0, 0.0, 1.0], [1.0, 0.5, 0.6, 1.0]])
V = np.array([[1.0, 0.0, 0.0, 2.0], [0.0, 4.0, 1.0, 0.0], [2.0, 1.0, 3.0, 1.0]])

SENTENCE = {"order": "standard", "inputs": "sentence", "gain": 3.0}


def grid(name: str, cells: np.ndarray, hue: str = "plain", **more: object) -> Item:
    """One matrix of the picture "grids"; what is no number is written out."""
    rows = [[_cell(x) for x in row] for row in np.asarray(cells, float)]
    return {
        "name": name,
        "cells": rows,
        "hue": hue,
        "most": float(np.abs(np.nan_to_num(cells, posinf=0, neginf=0)).max()) or 1.0,
        **more,
    }


def _cell(x: float) -> float | str:
    if np.isfinite(x):
        return round(float(x), 6)
    return "NaN" if np.isnan(x) else "∞" if x > 0 else "−∞"


def sign(words: str) -> Item:
    """What happens between two matrices."""
    return {"kind": "sign", "words": words}


def note(words: str, tone: str = "", aside: bool = False) -> Item:
    """A sentence below them; ``tone`` "" | "good" | "bad"; on a slide only without ``aside``."""
    return {"kind": "note", "words": words, "tone": tone, **({"aside": True} if aside else {})}


def heat(x: np.ndarray) -> list[float]:
    """The scale of a lesson's heat: the least and the largest finite number."""
    x = x[np.isfinite(x)]
    return [float(x.min()), float(x.max())]


# ---- softmax


def out_of_range(ndim: int, dim: int) -> str:
    """What PyTorch says to an axis that an input of ``ndim`` axes does not have, "" if it has."""
    low, high = -ndim, ndim - 1
    if low <= dim <= high:
        return ""
    return t("attending.softmax.out_of_range", low=low, high=high, dim=dim)


def _softmax(input: str, dim: int, gain: float) -> list[Block]:
    x = (LOGITS if input == "matrix" else LOGITS[2:]) * gain
    ndim = 2 if input == "matrix" else 1
    names = [t("attending.row", n=r) for r in range(len(x))] if ndim == 2 else None
    cols = [t("attending.column", n=c) for c in range(x.shape[1])]
    start = grid("x", x, "s", rows=names, cols=cols, heat=heat(LOGITS * gain))
    code = f"softmax(x, dim={dim})".replace("-", "−")
    if error := out_of_range(ndim, dim):
        lines = [[start], [note(error, "bad")], [note(t("attending.softmax.vector_has"))]]
        words = t("attending.softmax.refused", n=x.shape[1], code=code, error=error)
        return [picture("grids", code, words, {"lines": lines})]
    axis = (dim % ndim) if ndim == 2 else 1  # the vector is drawn as a row
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    P = softmax(x, axis)
    sums = {"rows": [f"{s:.2f}" for s in P.sum(1)], "one": "rows" if axis else "cols"}
    if ndim == 2:
        sums["cols"] = [f"{s:.2f}" for s in P.sum(0)]
    line = [
        start,
        sign("exp →"),
        grid("exp(x − m)", e, "s", digits=2, cols=cols if ndim == 1 else None, heat=[0.0, 1.0]),
        sign(t("attending.softmax.sum")),
        grid(t("attending.softmax.shares"), P, "s", heat=[0.0, 1.0], sums=sums),
    ]
    way = "rows" if axis else "columns"
    along = t.named("attending.softmax.along")[way]
    most = t.named("attending.softmax.most")[way]
    wording = "attending.softmax.words_matrix" if ndim == 2 else "attending.softmax.words_vector"
    words = t(wording, code=code, along=along, most=format_fixed(P.max(), 2))
    says = note(f"{along} {most}", "good")
    return [picture("grids", code, words, {"lines": [line, [says]]})]


# ---- the cat sat


def _cat(view: str, word: int) -> list[Block]:
    everyone = view == "all"
    S, P, O = attend(Q, K, V)
    rows = slice(None) if everyone else slice(word, word + 1)
    names = WORDS if everyone else [WORDS[word]]
    mine = {"rows": names, "row": word if everyone else 0} | ({"pick": "word"} if everyone else {})
    called = t.named("attending.all" if everyone else "attending.one")
    lines = [
        [
            {
                "kind": "words",
                "words": WORDS,
                "row": word,
                "weights": P[word].tolist(),
                "pick": "word",
                "labels": [t("attending.cat.weight", x=x) for x in P[word]],
            }
        ],
        [
            grid(called["Q"], Q[rows], "q", digits=0, **mine),
            sign("·"),
            grid("Kᵀ", K.T, "k", digits=1, cols=WORDS),
            sign("÷ √4 ="),
            grid(
                called["S"],
                S[rows],
                "s",
                digits=2 if everyone else 1,
                cols=WORDS,
                row=mine["row"],
                heat=heat(S),
            ),
        ],
        [
            grid(called["P"], P[rows], "s", digits=3, cols=WORDS, heat=[0.0, 1.0], **mine),
            sign("×"),
            grid("V", V, "v", digits=0, rows=WORDS),
            sign("="),
            grid(called["O"], O[rows], "o", row=mine["row"]),
        ],
    ]
    asks = t("attending.cat.asks", word=WORDS[word])
    words = t(
        "attending.cat.words",
        word=WORDS[word],
        scores=", ".join(f"{x:.1f}" for x in S[word]),
        weights=", ".join(f"{x:.3f}" for x in P[word]),
        output=", ".join(f"{x:.2f}" for x in O[word]),
    )
    label = t("attending.cat.all") if everyone else asks
    return [picture("grids", label, words, {"lines": lines, "share": 1.6})]


def _weight(scores: Sequence[float]) -> dict:
    """The question for a word with these scores: the largest weight."""
    x = np.array(scores)
    P, best = softmax(x), int(np.argmax(scores))
    powers = (x / x.sum(), softmax(x * np.log(2)), P / (1 - P))
    wording = ", ".join(f"{x:.1f}" for x in scores)
    return {
        "words": t("attending.cat.question", scores=wording, word=WORDS[best]),
        "answer": float(P[best]),
        "wrong": tuple(float(p[best]) for p in powers),
    }


CAT_STEP = make_problem(3, 4, 1, block_k=3, **SENTENCE, text="the cat sat")


def _axes() -> dict[str, str]:
    """What the softmax of two rows, the second 3 above the first, gives along either axis; and what
    a query's weights add up to along a wrong one, all scores alike."""
    x = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    (lower, *_), (upper, *_) = softmax(x, 0)
    alike = np.zeros((2, 8, 4, 6))  # batch, heads, queries, keys
    axes = {
        "sum0": (alike, 0, 3),
        "sum1": (alike, 1, 3),
        "sum2": (alike, 2, 3),
        "moved0": (np.zeros((4, 6, 8)), 0, 1),
        "moved2": (np.zeros((4, 6, 8)), 2, 1),
        "turned": (np.zeros((6, 4)), 1, 0),
    }
    sums = {key: f"{softmax(x, dim).sum(keys).flat[0]:g}" for key, (x, dim, keys) in axes.items()}
    return {
        "rows": ", ".join(format_fixed(w, 2) for w in softmax(x, 1)[0]),
        "lower": format_fixed(lower, 2),
        "upper": format_fixed(upper, 2),
        **sums,
    }


FIGURES = {"softmax": _axes, "cat": lambda: {"place": address(CAT_STEP, 1, "scores")}}
QUESTIONS = {"cat": _weight}

WIDGETS = {
    "softmax": _softmax,
    "cat": _cat,
}
