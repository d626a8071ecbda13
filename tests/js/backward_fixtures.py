"""What node's tests read of the backward pass: at each place what is known of the gradients, of lse
and D, and the bytes so far, told by the trace; and P, dP, dS in float64, by plain matrices."""

import numpy as np

from explainer.problem import Problem
from explainer.trace import BackwardTrace, trace_backward
from tests.browser.expected import attributes, phases
from tests.by_hand import seen


def slices(p: Problem, i: int | None, j: int | None) -> tuple[slice, slice]:
    rows = slice(0, p.n) if i is None else slice(i * p.block_q, min(p.n, (i + 1) * p.block_q))
    cols = slice(0, p.n) if j is None else slice(j * p.block_k, min(p.n, (j + 1) * p.block_k))
    return rows, cols


def sums(t: BackwardTrace, step: int, done: list[str]) -> dict[str, list | None]:
    """{gradient: [state, its numbers]} at work in a visit; None of those that are not."""
    p, visit, found = t.problem, t.visits[step], {}
    rows, cols = slices(p, visit.i, visit.j)
    written = {x.tensor for x in visit.transfers if x.op == "write" and x.phase in done}
    for name in ("dQ", "dK", "dV"):
        part = rows if name == "dQ" else cols
        own = [v for v in t.visits[: step + 1] if getattr(v, name) is not None]
        own = [v for v in own if v.stage == visit.stage or visit.stage == "scale"]
        own = [v for v in own if (v.i == visit.i if name == "dQ" else v.j == visit.j)]
        if name in visit.phases and name not in done:
            own = own[:-1]
        at_work = name in visit.phases or (name == "dQ" and visit.stage in ("D", "scale"))
        final = getattr(t, name)[part].tolist()
        zero = np.zeros_like(final).tolist()
        if visit.i is None:
            found[name] = ["final", final] if name in written else None
        elif not at_work or (visit.stage == "D" and "store" not in done):
            found[name] = None
        elif visit.stage == "D":
            found[name] = ["zero", zero]
        elif "scale" in done or (name in written and (name != "dQ" or visit.stage == "dQ")):
            found[name] = ["final", final]
        else:
            state = "after" if name in done or visit.stage == "scale" else "before"
            last = own[-1] if own else None
            found[name] = [state, getattr(last, name).tolist()] if last else ["zero", zero]
    return found


def places(t: BackwardTrace) -> list[dict]:
    p, listed = t.problem, []
    added, of = [0] * p.Tr, [0] * p.Tr
    for visit in t.visits:
        if visit.stage is None and "dQ" in visit.phases:
            of[visit.i] += 1
    for step, visit in enumerate(t.visits):
        names = list(phases(visit))
        rows, _ = slices(p, visit.i, visit.j)
        for k, phase in enumerate(names):
            done = names[: k + 1]
            if phase == "dQ" and visit.stage is None:
                added[visit.i] += 1
            has = {"D", "exp"} & set(names)
            known = {
                "lse": "exp" in names,
                "D": "D" in done if "D" in names else "exp" in names,
            }
            stats = {
                str(row): {n: float(getattr(t, n)[row]) if known[n] else None for n in ("lse", "D")}
                for row in range(rows.start, rows.stop if has and visit.i is not None else 0)
            }
            listed.append(
                {
                    **attributes(p, t.visits, step, phase),
                    "stage": visit.stage,
                    "stats": stats,
                    "grads": sums(t, step, done),
                    "added": list(added),
                    "of": of,
                }
            )
    return listed


def dense(t: BackwardTrace) -> dict[str, np.ndarray]:
    """P, dP and dS in float64 from Q, K, V, dO and what the forward kept, without a tile."""
    p = t.problem
    Q, K, V, O, dO = (x.astype("f8") for x in (t.Q, t.K, t.V, t.O, t.dO))
    rows, keys = np.indices((p.n, p.n))
    S, slope = p.score.apply_with_slope(Q @ K.T * p.scale, rows, keys)
    lse = t.lse.astype("f8")[:, None]
    with np.errstate(invalid="ignore"):
        P = np.where(seen(p), np.exp(S - np.where(np.isneginf(lse), np.inf, lse)), 0)
    dP = dO @ V.T
    dS = P * (dP - (O * dO).sum(1)[:, None]) * slope
    return {"P": P, "dP": dP, "dS": dS, "seen": seen(p)}


def backward(problem: Problem) -> dict:
    """Return the walk through a backward pass."""
    t = trace_backward(problem)
    return {"places": places(t), "dense": dense(t), "exact": problem.dtype == "fp32"}
