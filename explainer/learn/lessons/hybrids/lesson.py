"""Linear attention on our sentence, and what a layer keeps, by the length of the text."""

import numpy as np

from explainer.base.facts import number
from explainer.learn.example import WORDS, K, Q, V
from explainer.learn.kit import Block, Words
from explainer.learn.linear_algebra import attend
from explainer.learn.variants import HEADS, WIDE, feature, linear, linear_bytes, per_token

t = Words(__name__)

NS = tuple(2**p for p in range(10, 21))


def linear_weights(word: int) -> np.ndarray:
    """Return the weights (words,) that linear attention gives to the word's visible keys."""
    found = np.zeros(len(WORDS))
    found[: word + 1] = feature(K[: word + 1]) @ feature(Q[word])
    return found / found.sum()


def state_bytes(kind: str, n: int) -> float:
    """Return the bytes per layer that decoding keeps after n tokens, on average over the layers:
    "softmax", "linear", or "hybrid", one softmax layer after each few linear ones."""
    whole, state = n * per_token(HEADS), linear_bytes()
    few = number("hybrid.qwen")
    return {"softmax": whole, "linear": state, "hybrid": (few * state + whole) / (few + 1)}[kind]


def compute(word: int) -> Block:
    """Show both kinds of weights of a word, and what layers keep."""
    _, P, O = attend(Q, K, V, np.tri(len(WORDS), dtype=bool))
    off = float(np.abs(linear(Q, K, V) - O)[word].max())
    kinds = ("softmax", "hybrid", "linear")
    return t.picture(
        word=WORDS[word],
        at=word,
        best=WORDS[int(P[word].argmax())],
        softmax=P[word],
        most=P[word].max(),
        linear=linear_weights(word),
        highest=linear_weights(word).max(),
        hidden=range(word + 1, len(WORDS)),
        off=off,
        is_bad=off > 0.5,
        lines=[[state_bytes(kind, n) for n in NS] for kind in kinds],
        sizes=[2.0**p for p in (20, 25, 30)],
    )


def question(n: int, every: int) -> dict:
    """How many times less a hybrid keeps than softmax in every layer, with the states neglected;
    and: all layers linear, one layer less, as many times as linear layers."""
    return {"answer": every, "wrong": (n / WIDE, every / (every - 1), every - 1)}
