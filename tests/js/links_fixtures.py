"""What node's tests of the links read: the sums that a cell is made of."""

from explainer.problem import Problem
from explainer.trace import trace


def links(problem: Problem) -> dict:
    """Return the products of Q and K, and of each visit what P·V brings and what it leaves."""
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
        "products": exact[0] @ exact[1].T,
        "arriving": arriving,
    }
