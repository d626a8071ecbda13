"""Learned sparse attention on our sentence: an indexer ranks the keys, the best k enter softmax."""

import numpy as np

from explainer.base.facts import number
from explainer.learn.example import WORDS, K, Q, V
from explainer.learn.kit import Block, Words
from explainer.learn.linear_algebra import attend
from kernels.spec.formats import FORMATS

t = Words(__name__)

FAR = 131_072  # tokens of the comparison


def index_scores(word: int) -> np.ndarray:
    """Return the indexer's score of each visible key: ReLU of a dot product in e4m3."""
    q, k = (FORMATS["e4m3"].round_to(x) for x in (Q[word], K[: word + 1]))
    return np.maximum(k @ q, 0)


def chosen(word: int, k: int) -> list[int]:
    """Return the k keys that the indexer ranks best, in their order."""
    ranked = np.argsort(-index_scores(word), kind="stable")
    return sorted(ranked[:k].tolist())


def sparse(word: int, k: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return (P over all words, O, O of full attention) of the word over its k chosen keys."""
    keep = np.zeros((1, len(WORDS)), bool)
    keep[0, chosen(word, k)] = True
    causal = (np.arange(len(WORDS)) <= word)[None]
    _, P, O = attend(Q[[word]], K, V, keep)
    return P[0], O[0], attend(Q[[word]], K, V, causal)[2][0]


def compute(word: int, k: int) -> Block:
    """Show the ranking, the weights of the chosen keys, and what it costs at FAR tokens."""
    k = min(k, word + 1)
    P, O, full = sparse(word, k)
    index = np.zeros(len(WORDS))
    index[: word + 1] = index_scores(word)
    off, keys = float(np.abs(O - full).max()), chosen(word, k)
    return t.picture(
        word=WORDS[word],
        at=word,
        weights=P,
        hidden=[j for j in range(len(WORDS)) if j not in keys],
        index=index,
        k=k,
        keys=[WORDS[j] for j in keys],
        off=off,
        tone="good" if off < 0.5 else "bad",
        best=number("dsa.keys"),
    )


def question(n: int, k: int) -> dict:
    """How many times fewer keys enter a causal model's softmax in all; and: of one last query, both
    ways, the other way around. Each of n queries takes the best k of those it sees."""
    whole = n * (n + 1) / 2
    visible = k * (k + 1) / 2 + (n - k) * k
    return {"answer": whole / visible, "wrong": (n / k, n * n / visible, visible / whole)}
