"""What node's tests of the links read: what reaches what, found by changing it; the sums that a
cell is made of; the blocks that were moved at each moment."""

from __future__ import annotations

import numpy as np

from explainer.problem import Problem
from explainer.trace import trace
from tests.browser.expected import phases

STANDS_FOR = {"P": "S"}  # P stands where S stood


def reached(problem: Problem) -> dict[str, list]:
    """{a cell's name: [tensor, its cells that change with it]}: of a product of matrices without a
    zero, so that nothing hides what depends on what."""
    n, d = problem.n, problem.d
    draw = np.random.default_rng(5)
    given = {name: draw.uniform(1, 2, (n, d)) for name in "QKV"}
    weights = draw.uniform(1, 2, (n, n))

    def made(of: str, x: dict[str, np.ndarray]) -> np.ndarray:
        return x["Q"] @ x["K"].T if of == "S" else weights @ x["V"]

    found = {}
    for name, of in (("Q", "S"), ("K", "S"), ("V", "O")):
        for cell in {(0, 0), (n - 1, d - 1), (n // 2, d // 3)}:
            other = {**given, name: given[name].copy()}
            other[name][cell] += 1
            changed = np.argwhere(made(of, other) != made(of, given))
            found[f"{name}.{cell[0]}.{cell[1]}"] = [of, changed.tolist()]
    return found


def moved(problem: Problem) -> list[dict]:
    """At each place the blocks read and written so far."""
    t = trace(problem)
    so_far: dict[str, set[str]] = {"read": set(), "write": set()}
    places = []
    for step, visit in enumerate(t.visits):
        for phase in phases(visit):
            for x in visit.transfers:
                if x.phase == phase:
                    block = x.block if isinstance(x.block, tuple) else (x.block,)
                    name = ".".join([STANDS_FOR.get(x.tensor, x.tensor), *map(str, block)])
                    so_far[x.op].add(name)
            now = {op: sorted(names) for op, names in so_far.items()}
            places.append({"step": step, "phase": phase, **now})
    return places


def links(problem: Problem) -> dict:
    """Return what is reached and moved, and the sums that cells are made of."""
    t = trace(problem)
    exact = [x.astype("f8") for x in (t.Q, t.K, t.V)]
    arriving = []
    for visit in t.visits:
        if visit.O is None or (visit.P is None and visit.stage != "output"):
            arriving.append(None)
            continue
        rows = slice(visit.i * problem.block_q, (visit.i + 1) * problem.block_q)
        keys = slice(None)
        if visit.j is not None:
            keys = slice(visit.j * problem.block_k, (visit.j + 1) * problem.block_k)
        P = visit.P
        if P is None:
            P = next(v.P for v in t.visits if v.stage == "softmax" and v.i == visit.i)
        assert P.shape[0] == len(exact[0][rows])
        arriving.append({"total": P.astype("f8") @ exact[2][keys], "after": visit.O})
    return {
        "reached": reached(problem),
        "moved": moved(problem),
        "products": exact[0] @ exact[1].T,
        "arriving": arriving,
    }
