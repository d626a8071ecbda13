"""Lessons 1.3 to 1.5: softmax and its axis, one word that asks, and attention as matrices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from explainer.algorithms.inputs import row_names
from explainer.base.amounts import format_fixed
from explainer.learn.blocks import Block, picture, t
from explainer.learn.linear_algebra import address, attend, make_problem, softmax
from explainer.trace import trace

Item = dict[str, Any]

LOGITS = np.array([[2.0, 1.0, 0.0, -1.0], [0.5, 0.5, 0.5, 0.5], [-1.0, 3.0, 0.0, 1.0]])

# Toy vectors whose scores are easy to follow: those of “cat” are 2.1, 6.5 and 3.4.
WORDS = ("The", "cat", "sat")
Q = np.array([[3.0, 1.0, 1.0, 2.0], [1.0, 6.0, 3.0, 1.0], [2.0, 3.0, 4.0, 2.0]])
K = np.array([[0.2, 0.5, 0.3, 0.1], [0.0, 2.0, 0.0, 1.0], [1.0, 0.5, 0.6, 1.0]])
V = np.array([[1.0, 0.0, 0.0, 2.0], [0.0, 4.0, 1.0, 0.0], [2.0, 1.0, 3.0, 1.0]])

SENTENCE = {"order": "standard", "inputs": "sentence", "gain": 3.0}
SIX = make_problem(6, 4, 6, **SENTENCE)
FOUR = make_problem(4, 4, 4, **SENTENCE, text="der Hund schläft tief")


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


# ---- attention


def _called(words: Sequence[str], at: int) -> str:
    """The word, and which of them it is where the sentence has it twice."""
    if words.count(words[at]) < 2:
        return t("attending.attention.called", word=words[at])
    return t("attending.attention.called_of_two", word=words[at], n=at + 1)


def _attention(who: str, row: int) -> list[Block]:
    cross = who == "cross"
    asking, answering = trace(FOUR if cross else SIX), trace(SIX)
    askers, words = (row_names(p) or () for p in (FOUR if cross else SIX, SIX))
    r = min(row, len(askers) - 1)  # the second sentence has fewer
    S, P, O = attend(asking.Q, answering.K, answering.V)
    called = t.named("attending.all")
    mine = {"rows": askers, "row": r, "pick": "row"}
    lines = [
        [
            grid(f"Q  {len(askers)} × 4", asking.Q, "q", digits=1, **mine),
            sign("·"),
            grid(f"Kᵀ  4 × {len(words)}", answering.K.T, "k", digits=1, cols=words),
            sign("÷ √d ="),
            grid(
                f"{called['S']}  {len(askers)} × {len(words)}",
                S,
                "s",
                digits=1,
                heat=heat(S),
                row=r,
                cols=words,
            ),
        ],
        [
            sign("softmax →"),
            grid(
                f"{called['P']}  {len(askers)} × {len(words)}",
                P,
                "s",
                heat=[0.0, 1.0],
                cols=words,
                **mine,
            ),
            sign("×"),
            grid(f"V  {len(words)} × 4", answering.V, "v", digits=1),
            sign("="),
            grid(f"{called['O']}  {len(askers)} × 4", O, "o", digits=1, row=r),
        ],
    ]
    best = int(P[r].argmax())
    looks = {
        "asker": _called(askers, r),
        "best": _called(words, best).rstrip(","),
        "weight": format_fixed(P[r, best], 2),
    }
    lines.append([note(t("attending.attention.note", **looks), aside=True)])
    spoken = t(
        "attending.attention.words",
        **looks,
        nq=len(askers),
        nk=len(words),
        total=P[r].sum(),
    )
    label = t.named("attending.attention.labels")["cross" if cross else "self"]
    return [picture("grids", label, spoken, {"lines": lines, "share": 2.0})]


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


# Matrices of attention by what their rows and columns are; sizes of a small case.
SIZED = (
    (("Q", "Nq", "d"), ("K", "Nk", "d"), ("V", "Nk", "d")),
    (("S", "Nq", "Nk"), ("P", "Nq", "Nk"), ("O", "Nq", "d")),
)
SIZES = {"Nq": FOUR.n, "Nk": SIX.n, "d": SIX.d}  # as the picture has them


def _doubled(doubled: str) -> dict:
    """The question of what changes when one size doubles: a matrix's shape before and after."""
    after = SIZES | {doubled: 2 * SIZES[doubled]}

    def note(name: str, *sides: str) -> str:
        was, now = (" × ".join(str(sizes[side]) for side in sides) for sizes in (SIZES, after))
        given = ", ".join(f"{key} = {size}" for key, size in SIZES.items())
        key = "attending.doubled.same" if now == was else "attending.doubled.other"
        changed = {} if now == was else {"now": now}
        return t(key, given=given, name=name, was=was, **changed)

    return {
        "notes": tuple(tuple(note(*x) for x in row) for row in SIZED),
        "answer": tuple(
            (r, c) for r, row in enumerate(SIZED) for c, x in enumerate(row) if doubled in x[1:]
        ),
    }


FIGURES = {"softmax": _axes, "cat": lambda: {"place": address(CAT_STEP, 1, "scores")}}
QUESTIONS = {"attention": _doubled, "cat": _weight}

WIDGETS = {
    "softmax": _softmax,
    "cat": _cat,
    "attention": _attention,
}
