"""One word's query meets three keys, product by product; then the same as matrices."""

from collections.abc import Sequence

import numpy as np

from explainer.learn import example
from explainer.learn.kit import Block, Words
from explainer.learn.linear_algebra import address, attend, softmax

t = Words(__name__)
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
    return t.picture(
        "label",
        "spoken",
        view,
        at=word,
        word=WORDS[word],
        lead=Q[word],
        logits=S[word],
        weights=P[word],
        output=O[word],
        column=O[[word]].T,
        best=int(S[word].argmax()),
        sums=[_sum(word, key) for key in range(3)],
        K=K.T,
        values=V.T,
        S=S,
        P=P,
        O=O,
        high=S.max(),
        kinds=example.KINDS,
        meanings=example.MEANINGS,
    )


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
