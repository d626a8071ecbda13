"""A matrix product in any order of its loops."""

import itertools
from collections.abc import Iterator

import numpy as np

from explainer.learn.folder import read_data
from explainer.learn.kit import Block, Words

t = Words(__name__)
DATA = read_data("matmul")["data"]
A, B = map(np.array, DATA["factors"])
LOOPS = DATA["loops"]
PRODUCTS = A.shape[0] * A.shape[1] * B.shape[1]


def _walk(order: str, rows: int, depth: int, cols: int) -> Iterator[tuple[int, int, int]]:
    """Yield (i, j, k) of every multiply-add of three loops nested as in ``order``."""
    counts = {"i": rows, "j": cols, "k": depth}
    for at in itertools.product(*(range(counts[x]) for x in order)):
        place = dict(zip(order, at, strict=True))
        yield place["i"], place["j"], place["k"]


def product(order: str, done: int) -> tuple[np.ndarray, np.ndarray, tuple[int, int, int] | None]:
    """A B after ``done`` multiply-adds of the three loops nested as in ``order``: C, how many
    products each of its cells has, and the last (i, j, k) done."""
    (rows, depth), cols = A.shape, B.shape[1]
    C, counts = np.zeros((2, rows, cols), A.dtype)
    last = None
    for last in itertools.islice(_walk(order, rows, depth, cols), done):
        i, j, k = last
        C[i, j] += A[i, k] * B[k, j]
        counts[i, j] += 1
    return C, counts, last


def most_open(order: str, rows: int, depth: int, cols: int) -> int:
    """Cells of C (rows, cols) that are begun and not finished, at most, counted: ``depth`` products
    each, in this order of the loops."""
    counts, most = np.zeros((rows, cols), int), 0
    for i, j, k in _walk(order, rows, depth, cols):
        counts[i, j] += 1
        if k in (0, depth // 2):  # between, nothing is begun or finished
            most = max(most, int(((counts > 0) & (counts < depth)).sum()))
    return most


def compute(step: int) -> Block:
    """Show the same product in three orders of its loops, side by side."""
    shown = []
    for order in LOOPS:
        C, counts, last = product(order, step)
        i, j, k = last or (-1, -1, -1)  # none yet
        cells = C.astype(object)
        cells[counts == 0] = None
        begun = np.argwhere((counts > 0) & (counts < A.shape[1])).tolist()
        shown.append(
            {
                "C": cells,
                "i": i,
                "j": j,
                "in_A": (i, k),
                "in_B": (k, j),
                "begun": begun,
                "n": len(begun),
                "finished": int((counts == A.shape[1]).sum()),
            }
        )
    orders = [
        t("order", title=title, finished=one["finished"], begun=one["n"])
        for title, one in zip(LOOPS.values(), shown, strict=True)
    ]
    same = ""
    if step == PRODUCTS:
        rows = "; ".join(", ".join(f"{x}" for x in line) for line in (A @ B).tolist())
        same = " " + t("same", rows=rows).replace("-", "−")
    return t.picture(step=step, shown=shown, orders=". ".join(orders), same=same)


def question(rows: int, depth: int, cols: int) -> dict:
    """The question for a product of this size: the sums that each order must keep at once."""
    return {
        "answer": tuple(most_open(order, rows, depth, cols) for order in LOOPS),
        "fields": tuple(", ".join(order) for order in LOOPS),
        "wrong": ((1, 1, 1), (1, rows, rows * cols), (depth, depth * cols, rows * depth * cols)),
    }


def figures() -> dict[str, str]:
    """Three products of two matrices."""
    left, right = map(np.array, DATA["small"])
    found = {"product": left @ right, "swapped": right @ left, "cells": left * right}
    return {name: str(x.tolist()) for name, x in found.items()}
