"""Masks, scores and attention by definition, score by score, for tests: shares no code with what
they judge. And random ones to judge with."""

import math
import random
from dataclasses import replace

import numpy as np

from explainer.problem import Problem
from kernels.spec.predicates import PREDICATES

PRESETS = (
    "causal",
    "full",
    "causal&window:5,0",
    "causal&window:4,0|causal&prefix:1",
    "causal|prefix:6",
    "causal&chunk:4",
    "causal&document:0,6,11",
    "window:2,2|global:1",
)


def keeps(text: str, i: np.ndarray, j: np.ndarray) -> np.ndarray:
    """Does one predicate keep key j for query i?"""
    name, _, rest = text.partition(":")
    if name == "block":
        size, *spans = rest.split(",")
        br, bc = map(int, size.split("x"))
        kept = np.zeros(np.broadcast(i, j).shape, bool)
        for span in spans:
            row, _, keys = span.partition(".")
            first, _, last = keys.partition("-")
            kept |= (
                (i // br == int(row)) & (int(first) <= j // bc) & (j // bc <= int(last or first))
            )
        return kept
    numbers = [int(x) for x in rest.split(",") if x]
    if name == "document":
        return sum((s <= i) * 1 for s in numbers) == sum((s <= j) * 1 for s in numbers)
    a, b = (*numbers, 0, 0)[:2]
    return {
        "full": lambda: (i == i) & (j == j),
        "causal": lambda: j <= i,
        "window": lambda: (i - j <= a) & (j - i <= b),
        "dilated": lambda: (i - j) % a == 0,
        "prefix": lambda: (i == i) & (j < a),
        "global": lambda: (j < a) | (i < a),
        "chunk": lambda: i // a == j // a,
    }[name]()


def tiles(kept: np.ndarray, br: int, bc: int) -> list[list[np.ndarray]]:
    """Cut what is kept of all scores into tiles, row by row."""
    rows = [kept[r : r + br] for r in range(0, len(kept), br)]
    return [[row[:, c : c + bc] for c in range(0, kept.shape[1], bc)] for row in rows]


def computed_tiles(problem: Problem) -> list[tuple[int, int]]:
    """The tiles (i, j) in which a score is kept, row by row."""
    every = tiles(seen(problem), problem.block_q, problem.block_k)
    return [(i, j) for i, row in enumerate(every) for j, tile in enumerate(row) if tile.any()]


def sees(text: str, i: np.ndarray, j: np.ndarray) -> np.ndarray:
    """Does any term of the mask keep key j for query i?"""
    terms = [[keeps(p.strip(), i, j) for p in term.split("&")] for term in text.split("|")]
    return np.logical_or.reduce([np.logical_and.reduce(term) for term in terms])


def seen(problem: Problem) -> np.ndarray:
    """(n, n) bool: which keys a query may see."""
    at = np.arange(problem.n)
    return sees(str(problem.mask), at[:, None], at[None, :])


def scores(problem: Problem, Q: np.ndarray, K: np.ndarray) -> np.ndarray:
    """(n, n) float64: scaled and changed, before the mask; of head 0 of 1."""
    s = Q.astype(np.float64) @ K.astype(np.float64).T / math.sqrt(problem.d)
    far = np.arange(problem.n)[:, None] - np.arange(problem.n)[None, :]
    return modified(s, str(problem.score), far, problem.head, problem.q_heads)


def modified(s: np.ndarray, text: str, far: np.ndarray, head: int, heads: int) -> np.ndarray:
    """float64 scores changed one after the other; ``far``: how far each query stands behind its
    key."""
    for step in text.split("&"):
        name, _, rest = step.strip().partition(":")
        numbers = np.array([float(x) for x in rest.split(",") if x])
        if name == "scale":
            s = s * numbers[0]
        elif name == "softcap":
            s = numbers[0] * np.tanh(s / numbers[0])
        elif name == "alibi":
            s = s - far * 2.0 ** (-8.0 * (head + 1) / heads)
        elif name == "bias":
            s = s + numbers[np.clip(far, 0, len(numbers) - 1)]
    return s


def softmax(problem: Problem, s: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """m, l and P of whole rows of masked scores; a row that sees nothing has P = 0."""
    sink = -np.inf if problem.sink is None else problem.sink
    m = np.maximum(s.max(axis=1, initial=-np.inf), sink)
    base = np.where(np.isneginf(m), 0.0, m)
    weights = np.exp(s - base[:, None])
    l = weights.sum(axis=1) + np.exp(sink - base)
    return m, l, weights / np.where(l > 0, l, 1)[:, None]


def left(problem: Problem) -> np.ndarray:
    """What dropout multiplies each weight by: Philox4x32-10 in whole numbers, place by place."""
    p, n = problem, problem.n
    if not p.dropout:
        return np.ones((n, n))

    def drawn(offset: int) -> float:
        c, key = [offset & 0xFFFFFFFF, offset >> 32, 0, 0], [p.seed & 0xFFFFFFFF, p.seed >> 32]
        for _ in range(10):
            a, b = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
            c = [(b >> 32) ^ c[1] ^ key[0], b % 2**32, (a >> 32) ^ c[3] ^ key[1], a % 2**32]
            key = [(key[0] + 0x9E3779B9) % 2**32, (key[1] + 0xBB67AE85) % 2**32]
        return min(c[0], 2**32 - 1 - c[0]) / 2**31

    places = (p.head * n * n + k for k in range(n * n))
    kept = [drawn(place) >= p.dropout for place in places]
    return np.array(kept).reshape(n, n) / (1 - p.dropout)


NAMES = sorted(PREDICATES.keys() - {"full"})


def draw_predicate(r: random.Random, n: int, name: str = "") -> str:
    """One predicate, of numbers that matter among n positions."""
    name = name or r.choice(NAMES)
    if name == "window":
        return f"window:{r.randint(0, n)},{r.choice([0, r.randint(0, n)])}"
    if name == "dilated":
        return f"dilated:{r.randint(1, 9)}"
    if name in ("prefix", "global", "chunk"):
        return f"{name}:{r.randint(1, n)}"
    if name == "document":
        starts = sorted(r.sample(range(1, n + 8), r.randint(0, min(5, n))))
        return "document:" + ",".join(map(str, [0, *starts]))
    if name == "block":
        rows, keys = r.randint(1, n), r.randint(1, n)
        spans = []
        for _ in range(r.randint(1, 6)):
            first = r.randint(0, n // keys)
            spans.append(f"{r.randint(0, n // rows)}.{first}-{first + r.randint(0, 2)}")
        return f"block:{rows}x{keys}," + ",".join(spans)
    assert not PREDICATES[name].numbers, f"draw_predicate does not know the numbers of {name}"
    return name


def draw_mask(r: random.Random, n: int) -> str:
    """Up to two terms of up to three predicates."""
    terms = ["&".join(draw_predicate(r, n) for _ in range(r.randint(1, 3))) for _ in range(2)]
    return "|".join(terms[: r.randint(1, 2)])


def drawn_masks(count: int, n: int, seed: int = 1) -> list[str]:
    """So many random masks; always the same."""
    draw = random.Random(seed)
    return [draw_mask(draw, n) for _ in range(count)]


def drawn(count: int, seed: int = 2) -> list[Problem]:
    """Small Problems with such masks, some with a score, some with a sink; always the same."""
    draw = random.Random(seed)
    found = []
    for text in drawn_masks(count, 21, seed):
        n = draw.randint(2, 21)
        p = Problem(
            n=n,
            d=draw.randint(1, 9),
            block_q=draw.randint(1, min(n, 7)),
            block_k=draw.randint(1, min(n, 7)),
            mask=text,
            order=draw.choice(("fa1", "fa2")),
            dtype=draw.choice(("fp32", "fp32", "fp16", "bf16")),
            seed=draw.randint(0, 99),
        )
        if draw.random() < 0.4:
            p = replace(p, score=draw.choice(("softcap:2", "alibi", "scale:0.5&bias:1,0.5,-1")))
        found.append(replace(p, sink=draw.choice((None, None, -1.0, 1.5))))
    return found
