"""One word's query, all keys, its weights and its output; then all rows at once."""

import numpy as np

from explainer.learn.example import KINDS, MEANINGS, WORDS, K, Q, V, make_example
from explainer.learn.kit import Block, Words
from explainer.learn.linear_algebra import address, attend

t = Words(__name__)


def compute(step: int, word: int) -> Block:
    """What is there after a number of beats: the vectors, logits, weights, the output, all rows."""
    S, P, O = attend(Q, K, V)
    return t.picture(
        at=word,
        word=WORDS[word],
        logits=S[word],
        weights=P[word],
        output=O[word],
        Q=Q[word],
        keys=K.T,
        values=V.T,
        column=O[[word]].T,
        best=WORDS[int(P[word].argmax())],
        P=P,
        kinds=KINDS,
        meanings=MEANINGS,
        **{f"has_{k}": step >= k for k in range(1, 6)},
    )


def question(asker: str, hidden: str) -> dict:
    """The word with the largest weight once another is masked, among four."""
    asks, gone = WORDS.index(asker), WORDS.index(hidden)
    _, P, _ = attend(Q, K, V, np.arange(len(WORDS)) != gone)
    best, *others = (int(k) for k in np.argsort(-P[asks]) if k != gone)
    at = (asks + gone) % 3
    offered = others[:2]
    offered.insert(at, best)
    return {
        "options": tuple(
            (
                WORDS[k],
                t("weight", hidden=hidden, word=WORDS[k], weight=P[asks, k])
                + (t("most", right=P[asks, best]) if k != best else ""),
            )
            for k in offered
        ),
        "answer": at,
    }


def figures() -> dict[str, str]:
    """Where Step shows the same numbers."""
    return {"place": address(make_example(order="standard"), 0, "scores")}
