"""1.4: one word's query meets three keys, product by product; then the same as matrices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from explainer.learn import example
from explainer.learn.kit import (
    Block,
    cells,
    column,
    grid,
    numbers,
    picture,
    row,
    shares,
    sign,
    table,
    words,
    words_of,
)
from explainer.learn.linear_algebra import address, attend, softmax

t = words_of(__name__)
WORDS = example.WORDS[:3]
Q, K, V = example.Q[:3], example.K[:3], example.V[:3]


def _sum(word: int, key: int) -> tuple[str, str, str]:
    """A key, the products that its logit is made of (those with a 0 left out), and the logit."""
    pairs = [(q, k) for q, k in zip(Q[word], K[key], strict=True) if q and k]
    products = " + ".join(f"{q:g} · {k:g}" for q, k in pairs) or "0"
    dot = Q[word] @ K[key]
    return WORDS[key], f"{products} = {dot:g}".replace("-", "−"), f"{dot / 2:g}"


def compute(view: str, word: int) -> Block:
    """The query of one word, or of all."""
    S, P, O = attend(Q, K, V)
    spoken = t(
        "spoken",
        word=WORDS[word],
        logits=S[word],
        weights=P[word],
        output=O[word],
    )
    if view == "all":
        names: dict[str, Any] = {"rows": WORDS, "at": word, "pick": "word"}
        return picture(
            t("label"),
            spoken,
            row(
                grid("Q", Q, "q", digits=0, **names),
                sign("·"),
                grid("Kᵀ", K.T, "k", digits=1, cols=WORDS),
                sign("÷ √4 ="),
                grid("S", S, heat=(0, float(S.max())), digits=1, cols=WORDS, at=word),
            ),
            row(
                sign("softmax →"),
                grid("P", P, heat=(0, 1), cols=WORDS, **names),
                sign("·"),
                grid("V", V, "v", digits=0, rows=WORDS),
                sign("="),
                grid("O", O, "o", at=word),
            ),
        )
    sentence = words(
        WORDS,
        at=word,
        weights=P[word],
        lead="q",
        pick="word",
        rows=[
            cells(example.KINDS, K.T, "k", title="k", lead=Q[word]),
            numbers(t("logit"), S[word], digits=1),
            shares(t("weight"), P[word], digits=3),
            cells(example.MEANINGS, V.T, "v", title="v"),
        ],
    )
    sums = table(t.row("head"), [_sum(word, key) for key in range(3)], at=int(S[word].argmax()))
    output = grid(t("output", word=WORDS[word]), O[[word]].T, "o", rows=example.MEANINGS, key="o")
    return picture(t("label"), spoken, row(sentence, column(sums, output), grow=(3, 2)))


def question(scores: Sequence[float]) -> dict:
    """The question for a word with these logits: the largest weight."""
    x = np.array(scores)
    P, best = softmax(x), int(np.argmax(scores))
    powers = (x / x.sum(), softmax(x * np.log(2)), P / (1 - P))
    return {
        "words": t("question", scores=scores, word=WORDS[best]),
        "answer": float(P[best]),
        "wrong": tuple(float(p[best]) for p in powers),
    }


def figures() -> dict[str, str]:
    """Where Step shows the same row."""
    return {"place": address(example.make_example(side=4, order="standard"), 1, "scores")}
