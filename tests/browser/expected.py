"""What the player has to state at (visit, phase), from the trace."""

import numpy as np

from explainer.problem import Problem
from explainer.trace import BackwardTrace, Trace, Visit

STATS = ("m_old", "m_new", "alpha", "l_old", "l_new")
KNOWN_FROM = {"m_old": None, "l_old": None, "m_new": "max", "alpha": "exp", "l_new": "sum"}
KNOWN_FROM |= {"row_max": "max", "row_sum": "sum"}


def phases(visit: Visit) -> tuple[str, ...]:
    """The visit's phases; a skipped visit has one of its own."""
    return visit.phases or ("skip",)


def statistics(
    problem: Problem, visit: Visit, phase: str, names: tuple[str, ...] = STATS
) -> dict[str, dict]:
    """{row: {stat: value, or None where it is not yet known}} of the visit's row block."""
    now = phases(visit)
    done = now[: now.index(phase) + 1]
    first = visit.i * problem.block_q
    rows = range(first, min(problem.n, first + problem.block_q))
    stated: dict[str, dict] = {str(row): {} for row in rows}
    for stat in names:
        values = getattr(visit, stat)
        hidden = values is None or (KNOWN_FROM[stat] is not None and KNOWN_FROM[stat] not in done)
        for k, row in enumerate(stated.values()):
            row[stat] = None if hidden else float(values[k])
    return stated


def attributes(problem: Problem, visits: tuple, step: int, phase: str) -> dict:
    """Return what the player says of its place, with the HBM bytes until then, but for the rows."""
    visit = visits[step]
    done = phases(visit)[: phases(visit).index(phase) + 1]
    transfers = [t for v in visits[:step] for t in v.transfers]
    transfers += [t for t in visit.transfers if t.phase in done]
    reads = sum(t.nbytes for t in transfers if t.op == "read")
    return {
        "order": problem.order,
        "step": step,
        "steps": len(visits),
        "phase": phase,
        "i": -1 if visit.i is None else visit.i,
        "j": -1 if visit.j is None else visit.j,
        "kind": visit.kind,
        "reads": reads,
        "writes": sum(t.nbytes for t in transfers) - reads,
    }


def misplaced(trace: Trace | BackwardTrace, step: int, phase: str, stated: dict) -> list[str]:
    """Every attribute of the player's place, and its bytes so far, that is not the trace's."""
    return [
        f"step {step} {phase}: data-{k} is {stated.get(k)!r}, not {v!r}"
        for k, v in attributes(trace.problem, trace.visits, step, phase).items()
        if stated.get(k) != str(v)
    ]


def complaints(trace: Trace | BackwardTrace, step: int, phase: str, stated: dict) -> list[str]:
    """Every attribute of the player that is not what the trace says, in words; of a backward pass
    without its rows, which tests/js judges."""
    wrong = misplaced(trace, step, phase, stated)
    if isinstance(trace, BackwardTrace):
        return wrong
    rows = statistics(trace.problem, trace.visits[step], phase)
    if sorted(stated["rows"], key=int) != list(rows):
        return [*wrong, f"step {step} {phase}: rows {list(stated['rows'])}, not {list(rows)}"]
    for row, stats in rows.items():
        for stat, true in stats.items():
            text = stated["rows"][row].get(stat)
            if true is None:
                right = text == ""
            else:
                right = bool(text) and np.isclose(float(text), true, 1e-6, 0, equal_nan=True)
            if not right:
                wrong.append(f"step {step} {phase}: row {row} {stat} is {text!r}, not {true}")
    return wrong
