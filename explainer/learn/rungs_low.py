"""What rungs 1 to 9 share (text, addresses, controls, a little mathematics); words of rungs 1–5."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from functools import lru_cache
from urllib.parse import urlencode

import numpy as np

from explainer.base.amounts import shown
from explainer.learn.blocks import Control
from explainer.learn.content import CHOICE, CLICK, NUMBER, ORDER, Question, Rung
from explainer.problem import Problem

# "cat" rung: one row of scores a visit, so that one query can be followed through all three passes
CAT = Problem(
    n=3, d=4, block_q=1, block_k=3, causal=False, order="standard", inputs="sentence",
    text="the cat sat", gain=3.0,
)  # fmt: skip

SPREAD_D = (1, 4, 16, 64, 256)
KEYS_EACH = 8  # keys that share one query's weight in the experiment with random vectors

A = np.array([[1, 2, 0, -1], [3, -1, 2, 1], [0, 1, -2, 2]])
B = np.array([[2, 0, 1], [-1, -1, 0], [0, 3, 3], [1, 0, 2]])
LOOPS = {
    "ijk": "i, j, k: cell after cell",
    "ikj": "i, k, j: row after row",
    "kij": "k, i, j: a little of every cell",
}
PRODUCTS = A.shape[0] * A.shape[1] * B.shape[1]


def products(a: np.ndarray, b: np.ndarray, digits: int) -> str:
    """The sum that a dot product is, written out."""
    pairs = zip(a, b, strict=True)
    return " + ".join(f"({shown(x, digits)})·({shown(y, digits)})" for x, y in pairs)


def address(problem: Problem, step: int, phase: str) -> str:
    """The query of a Problem and a place in it, as it stands in the address after "?"."""
    return urlencode(problem.to_query() | {"step": str(step), "phase": phase})


def whole(value: float | str) -> int:
    """A control's value as a whole number: a slider's steps are not enforced elsewhere."""
    return int(float(value) + 0.5)


def softmax(x: np.ndarray, axis: int = -1) -> np.ndarray:
    """Of ``x``, any shape and dtype, along ``axis``; rows of −inf alone become NaN, as 0/0 is."""
    with np.errstate(invalid="ignore"):
        weights = np.exp(x - x.max(axis=axis, keepdims=True))
    return weights / weights.sum(axis=axis, keepdims=True)


def slider(key: str, label: str, value: float, low: float, high: float, step: float) -> Control:
    """A number to drag."""
    return Control(key, label, "range", value, low, high, step)


def pick(key: str, label: str, value: str, choices: Iterable[tuple[str, str]]) -> Control:
    """(value, label) to choose from."""
    return Control(key, label, "choice", value, choices=tuple(choices))


@lru_cache(maxsize=len(SPREAD_D))
def spread(d: int) -> dict[str, float]:
    """Random normal vectors of d numbers, 500 queries with 8 keys each: the standard deviation of
    their dot products, and a query's largest softmax weight on average, raw and divided by √d."""
    rng = np.random.default_rng(d)
    q = rng.standard_normal((500, 1, d), dtype=np.float32)
    k = rng.standard_normal((500, KEYS_EACH, d), dtype=np.float32)
    raw = np.einsum("qid,qkd->qk", q, k).astype(float)
    scaled = raw / np.sqrt(d)
    return {
        "raw": float(raw.std()),
        "scaled": float(scaled.std()),
        "raw_top": float(softmax(raw).max(axis=1).mean()),
        "scaled_top": float(softmax(scaled).max(axis=1).mean()),
    }


def measures(a: np.ndarray, b: np.ndarray) -> dict[str, float | None]:
    """Norms, dot product and cosine of two vectors; the cosine is None beside a zero vector."""
    norms = float(np.sqrt((a * a).sum())), float(np.sqrt((b * b).sum()))
    dot = float((a * b).sum())
    cosine = dot / (norms[0] * norms[1]) if norms[0] * norms[1] else None
    return {"norm_a": norms[0], "norm_b": norms[1], "dot": dot, "cosine": cosine}


def product(order: str, done: int) -> tuple[np.ndarray, tuple[int, int, int] | None]:
    """A B after ``done`` multiply-adds of the three loops nested as in ``order``, and the last
    (i, j, k) done."""
    sizes = {"i": A.shape[0], "j": B.shape[1], "k": A.shape[1]}
    C, last = np.zeros((sizes["i"], sizes["j"]), A.dtype), None
    for at in itertools.islice(itertools.product(*(range(sizes[x]) for x in order)), done):
        place = dict(zip(order, at, strict=True))
        last = i, j, k = place["i"], place["j"], place["k"]
        C[i, j] += A[i, k] * B[k, j]
    return C, last


def _dot() -> Rung:
    question = Question(
        "dot-spread",
        NUMBER,
        "Two vectors of d = 64 random numbers each: mean 0, spread 1. By what number does "
        "attention divide their dot product, so that its spread is 1 again?",
        answer=8.0,
        tolerance=0.05,
        reasons=(
            "64 products of variance 1 add up to variance 64, and the spread is its root, 8.",
            "Variances add: 64 products give variance 64. The spread is the square root of that.",
        ),
    )
    return Rung(
        "dot",
        "Norm and dot product",
        "A vector is a list of numbers. Its norm is its length: square the numbers, add them, take "
        "the root. The dot product of two vectors multiplies them place by place and adds. It is "
        "large when both are long and point the same way, 0 at a right angle, negative when they "
        "point apart. Divided by both norms it is the cosine of the angle. Attention asks with dot "
        "products: how well does this query match that key? With more numbers the sums spread "
        "wider: by √d for random vectors. That is why attention divides by √d.",
        "dot",
        question,
        "n=16&d=8&br=4&bc=4&mask=causal&order=fa2&step=3&phase=scores",
        "Dot products of four queries with four keys",
    )


def _matmul() -> Rung:
    question = Question(
        "matmul-cell",
        CLICK,
        "C = A B, with the numbers of the widget. Rows and columns count from 0. Click the cell of "
        "C that is row 2 of A times column 0 of B.",
        cells=(("−1", "−2", "−1"), ("8", "7", "11"), ("1", "−7", "−2")),
        answer=((2, 0),),
        reasons=(
            "The row comes from A, the column from B, so it stands in row 2, column 0.",
            "The row of A gives the row of C, the column of B gives the column of C.",
        ),
    )
    return Rung(
        "matmul",
        "Matrix product",
        "A matrix is numbers in rows and columns. The product C = A B holds many dot products: "
        "cell (i, j) is row i of A times column j of B. So the rows of A must be as long as the "
        "columns of B. Three loops compute it: over i, over j, and over k, the place in the dot "
        "product. They may be nested in any order: the same products are added, only at another "
        "time. FlashAttention builds on that freedom: the order decides what must be kept and what "
        "must be moved. (Floating-point sums may differ in their last bits.)",
        "matmul",
        question,
        "n=16&d=8&br=4&bc=4&mask=full&order=fa2&step=0&phase=scores",
        "A tile of Q times a tile of K",
    )


def _softmax() -> Rung:
    question = Question(
        "softmax-axis",
        CHOICE,
        "Scores S have a row for each query and a column for each key. Along which axis does "
        "attention take the softmax?",
        options=(
            (
                "Down each column",
                "Then each key would share itself out among the queries, and a query's weights "
                "would not add up to 1.",
            ),
            (
                "Along each row",
                "Each query shares a weight of 1 among its keys. In PyTorch: dim = −1.",
            ),
            (
                "Over the whole matrix",
                "Then all queries would share one weight of 1 among them.",
            ),
        ),
        answer=1,
    )
    return Rung(
        "softmax",
        "Softmax, and what the axis means",
        "Softmax turns numbers into shares. Take exp of each, so all are positive, then divide by "
        "their sum, so they add up to 1. The axis says which numbers share: along a row, each row "
        "adds up to 1; down a column, each column does. Attention goes along rows: one query, all "
        "its keys. A gain multiplies the numbers first. A large one lets the winner take nearly "
        "all; a small one makes all shares alike. A temperature is the same thing upside down: "
        "1 / gain.",
        "softmax",
        question,
        "n=16&d=8&br=4&bc=4&mask=full&order=standard&step=16&phase=sum",
        "Softmax along whole rows",
    )


def _cat() -> Rung:
    lines = (
        ("Take the query vector q of the word", "Everything is asked by it."),
        ("Take its dot product with the key of each word", "One score for each key."),
        ("Divide the scores by √d", "Before the softmax: it keeps their spread near 1."),
        ("Take the softmax of the scores", "Now they are weights that add up to 1."),
        ("Add up the value vectors, each times its weight", "The result is the word's output."),
    )
    question = Question(
        "cat-order", ORDER, "Put the steps of attention for one word in order.", options=lines
    )
    return Rung(
        "cat",
        "The cat sat",
        "Each word has three vectors: a query (what it looks for), a key (what it offers to be "
        "found by) and a value (what it passes on). Follow one word. Its query meets every key: "
        "one score each, divided by √d. Softmax turns the scores into weights. The output is the "
        "sum of all values, each times its weight. Now do so for all words at once: the queries "
        "become the rows of Q, and the same steps are S = Q Kᵀ / √d, P = softmax of S along rows, "
        "O = P V. Toy vectors: here they are made by chance, in a model they are learned.",
        "cat",
        question,
        address(CAT, 1, "scores"),
        "“cat” meets the keys",
    )


def _attention() -> Rung:
    question = Question(
        "attention-kept",
        NUMBER,
        "Six words, causal. How many of the 6 × 6 = 36 scores are kept?",
        answer=21.0,
        reasons=(
            "1 + 2 + 3 + 4 + 5 + 6 = 21. The diagonal stays, so it is more than half.",
            "Row 0 keeps 1 score, row 1 keeps 2, and so on up to 6. Add them.",
        ),
    )
    return Rung(
        "attention",
        "Attention in one picture",
        "Step by step: Q Kᵀ / √d gives the scores S, a row for each query, a column for each "
        "key. In causal attention a word may not look at later words: their scores become −∞. "
        "Softmax along the rows gives P; exp(−∞) is 0, so a hidden key gets no weight at all. P "
        "times V gives the output O. S and P have N × N cells; Q, K, V and O only N × d. For 6 "
        "words that is nothing. For 16,384 it is 268 million scores for every head, and that is "
        "what the rest of this ladder is about.",
        "attention",
        question,
        "n=6&d=4&br=6&bc=6&mask=causal&order=standard&data=sentence&gain=3.0&step=1&phase=exp",
        "The same six words on the Step page",
    )


BASICS = (_dot(), _matmul(), _softmax(), _cat(), _attention())
