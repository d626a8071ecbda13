"""Lessons 1.1 and 1.2: two arrows and their dot product, random ones by the thousand; a matrix
product in any order of its loops."""

from __future__ import annotations

import itertools
import math
from functools import lru_cache

import numpy as np

from explainer.learn.blocks import Block, picture, t
from explainer.learn.linear_algebra import softmax

PLANE = {"low": [-2, -1], "high": [5, 4], "step": 0.5}  # where the arrows may end
SPREAD_D = (1, 4, 16, 64, 256)
KEYS_EACH = 8  # keys that share one query's weight in the experiment with random vectors
QUERIES = 500
REACH = 3  # spreads of q·k that the histogram shows to either side
BINS = 48

A = np.array([[1, 2, 0, -1], [3, -1, 2, 1], [0, 1, -2, 2]])
B = np.array([[2, 0, 1], [-1, -1, 0], [0, 3, 3], [1, 0, 2]])
LOOPS = {
    "ijk": "for i, for j, for k",
    "ikj": "for i, for k, for j",
    "kij": "for k, for i, for j",
}
PRODUCTS = A.shape[0] * A.shape[1] * B.shape[1]


# ---- dot product


@lru_cache(maxsize=len(SPREAD_D))
def spread(d: int) -> dict[str, dict]:
    """Of 500 random normal queries of d numbers with 8 keys each, "raw" and "scaled" by 1/√d: the
    standard deviation of their dot products, a query's largest softmax weight on average, and the
    shares of BINS bins over ±REACH·√d."""
    rng = np.random.default_rng(d)
    q = rng.standard_normal((QUERIES, 1, d), dtype=np.float32)
    k = rng.standard_normal((QUERIES, KEYS_EACH, d), dtype=np.float32)
    raw = np.einsum("qid,qkd->qk", q, k).astype(float)
    edges = np.linspace(-1, 1, BINS + 1) * REACH * np.sqrt(d)
    found = {}
    for name, x in (("raw", raw), ("scaled", raw / np.sqrt(d))):
        counts, _ = np.histogram(x, edges)
        found[name] = {
            "spread": float(x.std()),
            "top": float(softmax(x).max(axis=1).mean()),
            "shares": [round(float(c) / x.size, 5) for c in counts],
        }
    return found


def _dot(qx: float, qy: float, kx: float, ky: float, d: int) -> list[Block]:
    s, reach = spread(d), REACH * d**0.5
    dot, q_length, k_length = qx * kx + qy * ky, math.hypot(qx, qy), math.hypot(kx, ky)
    where = t("vectors.dot.zero")
    if q_length and k_length:
        angle = np.degrees(np.arccos(np.clip(dot / (q_length * k_length), -1, 1)))
        where = t("vectors.dot.angle", angle=angle, length=dot / k_length)
    words = t(
        "vectors.dot.spoken",
        q_x=qx,
        q_y=qy,
        k_x=kx,
        k_y=ky,
        dot=dot,
        length=k_length,
        where=where,
        many=QUERIES * KEYS_EACH,
        d=d,
        raw=s["raw"]["spread"],
        scaled=s["scaled"]["spread"],
        keys=KEYS_EACH,
        raw_top=s["raw"]["top"],
        scaled_top=s["scaled"]["top"],
    ).replace("-", "−")
    data = {
        "q": [qx, qy],
        "k": [kx, ky],
        "plane": PLANE,
        "d": d,
        "spread": s
        | {
            "many": QUERIES * KEYS_EACH,
            "keys": KEYS_EACH,
            "reach": reach,
            "ticks": [round(reach * x / 3) for x in (-3, -2, -1, 0, 1, 2, 3)],
        },
    }
    return [picture("arrows", t("vectors.dot.title"), words, data)]


# ---- matrix product


def product(order: str, done: int) -> tuple[np.ndarray, np.ndarray, tuple[int, int, int] | None]:
    """A B after ``done`` multiply-adds of the three loops nested as in ``order``: C, how many
    products each of its cells has, and the last (i, j, k) done."""
    sizes = {"i": A.shape[0], "j": B.shape[1], "k": A.shape[1]}
    C, counts = np.zeros((2, sizes["i"], sizes["j"]), A.dtype)
    last = None
    for at in itertools.islice(itertools.product(*(range(sizes[x]) for x in order)), done):
        place = dict(zip(order, at, strict=True))
        last = i, j, k = place["i"], place["j"], place["k"]
        C[i, j] += A[i, k] * B[k, j]
        counts[i, j] += 1
    return C, counts, last


def most_open(order: str, rows: int, depth: int, cols: int) -> int:
    """Cells of C (rows, cols) that are begun and not finished, at most, counted: ``depth`` products
    each, in this order of the loops."""
    sizes, counts, most = {"i": rows, "j": cols, "k": depth}, np.zeros((rows, cols), int), 0
    for at in itertools.product(*(range(sizes[x]) for x in order)):
        place = dict(zip(order, at, strict=True))
        counts[place["i"], place["j"]] += 1
        if place["k"] in (0, depth // 2):  # between, nothing is begun or finished
            most = max(most, int(((counts > 0) & (counts < depth)).sum()))
    return most


def _matmul(step: int) -> list[Block]:
    depth, orders, spoken = A.shape[1], [], []
    for order, title in LOOPS.items():
        C, counts, last = product(order, step)
        finished = int((counts == depth).sum())
        begun = int(((counts > 0) & (counts < depth)).sum())
        orders.append(
            {
                "title": title,
                "C": C.tolist(),
                "counts": counts.tolist(),
                "last": last,
                "finished": finished,
                "open": begun,
            }
        )
        spoken.append(t("vectors.matmul.order", title=title, finished=finished, begun=begun))
    words = t("vectors.matmul.spoken", done=step, all=PRODUCTS, orders=". ".join(spoken))
    if step == PRODUCTS:
        rows = "; ".join(", ".join(f"{x}" for x in row) for row in (A @ B).tolist())
        words += " " + t("vectors.matmul.same", rows=rows).replace("-", "−")
    data = {
        "A": A.tolist(),
        "B": B.tolist(),
        "depth": depth,
        "done": step,
        "all": PRODUCTS,
        "orders": orders,
    }
    return [picture("loops", t("vectors.matmul.title", done=step, all=PRODUCTS), words, data)]


def _open_cells(rows: int, depth: int, cols: int) -> dict:
    """The question for a product of this size: the sums that each order must keep at once."""
    return {
        "answer": tuple(most_open(order, rows, depth, cols) for order in LOOPS),
        "fields": tuple(", ".join(order) for order in LOOPS),
        "wrong": ((1, 1, 1), (1, rows, rows * cols), (depth, depth * cols, rows * depth * cols)),
    }


LEFT, RIGHT = np.array([[1, 2], [3, 4]]), np.array([[2, 0], [1, 3]])
PRODUCTS_OF = {
    "product": str((LEFT @ RIGHT).tolist()),
    "swapped": str((RIGHT @ LEFT).tolist()),
    "cells": str((LEFT * RIGHT).tolist()),
}
FIGURES = {"matmul": lambda: PRODUCTS_OF}
QUESTIONS = {"matmul": _open_cells}

WIDGETS = {
    "dot": _dot,
    "matmul": _matmul,
}
