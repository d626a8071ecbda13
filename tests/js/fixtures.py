"""What node's tests read: packed traces, and what a player must show of them, told by the trace
and by a dense mask; nothing here knows how the browser's model works."""

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np

from explainer.algorithms import tiling
from explainer.algorithms.registry import lanes_of
from explainer.algorithms.schedule import schedule
from explainer.algorithms.traffic import both, traffic
from explainer.memory import tile_budget
from explainer.problem import Problem
from explainer.trace import Trace, one_visit, trace
from explainer.web.wire import has_numbers, pack, pack_visit
from tests.browser.expected import (
    STATS,
    attributes,
    phases,
    statistics,
)
from tests.by_hand import seen

COLUMNS = (*STATS, "row_max", "row_sum")  # of the row table


def before(t: Trace, step: int) -> int | None:
    """The visit that left the accumulator which this one starts from: of its rows and its part of
    the keys, and nothing where parts are put together."""
    visits, steps = t.visits, schedule(t.problem)
    if visits[step].stage == "combine":
        return None
    same = (
        k for k in range(step) if (steps[k].i, steps[k].lane) == (steps[step].i, steps[step].lane)
    )
    return max((k for k in same if visits[k].O is not None), default=None)


def accumulator(t: Trace, step: int, done: tuple[str, ...]) -> list | None:
    """[state, the visit after which it was so] of the O that is on chip; None where none is."""
    visit = t.visits[step]
    if visit.O is None:
        return None
    if t.problem.order.startswith("fa2") and "store" in done:
        return ["final", step]
    if "output" in done:
        return ["after", step]
    earlier = before(t, step)
    return ["zero", None] if earlier is None else ["before", earlier]


def kinds(problem: Problem) -> list[list[str]]:
    """Of each tile, from the dense mask; nobody sees what lies beyond a ragged edge."""
    p = problem
    mask = np.zeros((p.Tr * p.block_q, p.Tc * p.block_k), bool)
    mask[: p.n, : p.n] = seen(p)

    def kind(i: int, j: int) -> str:
        tile = mask[i * p.block_q :, j * p.block_k :][: p.block_q, : p.block_k]
        return "full" if tile.all() else "partial" if tile.any() else "skipped"

    return [[kind(i, j) for j in range(p.Tc)] for i in range(p.Tr)]


def tiles(problem: Problem, visits: tuple, kinds: list[list[str]]) -> Iterator[str]:
    """Step by step a letter for each tile: current, done, pending, skipped, and P once S is P."""
    standard = problem.order == "standard"
    places = [(i, j) for i in range(problem.Tr) for j in range(problem.Tc)]
    of_tile = {(v.i, v.j): k for k, v in enumerate(visits)}
    softmax = {v.i: k for k, v in enumerate(visits) if v.stage == "softmax"}
    for step, visit in enumerate(visits):
        letters = []
        for i, j in places:
            now = visit.i == i and (visit.j == j or (visit.j is None and standard))
            passed = not standard and kinds[i][j] == "skipped"
            state = "c" if now else "s" if passed else "d" if of_tile[i, j] < step else "p"
            letters.append(state.upper() if standard and step >= softmax[i] else state)
        yield "".join(letters)


def finished(visits: tuple, step: int, done: tuple[str, ...], rows: int) -> int:
    """Row blocks, from the first, that no later visit works on."""
    stored = "store" in done or not visits[step].phases
    open_ = {v.i for v in visits[step + stored :] if v.phases}
    return min(open_, default=rows)


def places(problem: Problem, visits: tuple, every: int) -> Iterator[dict]:
    """Everything that depends on (visit, phase), of each ``every``-th visit."""
    numbers = has_numbers(problem)
    t = trace(problem) if numbers else None
    for step, visit in enumerate(visits):
        for phase in phases(visit) if step % every == 0 else ():
            done = phases(visit)[: phases(visit).index(phase) + 1]
            rows = statistics(problem, visit, phase, COLUMNS) if numbers else {}
            yield {
                **attributes(problem, visits, step, phase),
                "done": done,
                "stage": visit.stage,
                "cols": columns(problem, visit.j),
                "rows": rows,
                "acc": accumulator(t, step, done) if numbers else None,
                "finished": finished(visits, step, done, problem.Tr),
            }


def columns(problem: Problem, j: int | None) -> list[int]:
    """First key and the one behind the last that a visit sees."""
    keys = np.arange(problem.n)
    keys = keys if j is None else keys[keys // problem.block_k == j]
    return [int(keys[0]), int(keys[-1]) + 1]


def walk(problem: Problem, every: int = 1) -> dict:
    """A whole Problem: what its visits leave, and what is to be seen at each place."""
    numbers = has_numbers(problem)
    visits = trace(problem).visits if numbers else schedule(problem)
    dense = kinds(problem)
    case = {
        "problem": problem.to_query(),
        "numbers": numbers,
        "hidden": (~seen(problem)).tolist() if numbers else None,
        "kinds": dense,
        "every": every,
        "sram": on_chip(problem),
        "places": list(places(problem, visits, every)),
        "tiles": list(tiles(problem, visits, dense)) if every == 1 else None,
        "transfers": [
            [[x.tensor, x.block, x.op, x.phase, x.nbytes] for x in v.transfers] for v in visits
        ],
    }
    return case | (left(trace(problem), header(pack(problem))["arrays"]) if numbers else {})


def header(packed: bytes) -> dict:
    """What stands before the arrays of a packed trace."""
    return json.loads(packed[8 : 8 + int.from_bytes(packed[4:8], "little")])


def product(t: Trace) -> np.ndarray:
    """S (n, n) before its mask, −inf where no tile is computed."""
    found = np.full_like(t.S, -np.inf)
    for v in t.visits:
        if v.scores is not None:
            found[tiling.rows(t.problem, v.i), slice(*columns(t.problem, v.j))] = v.scores
    return found


def left(t: Trace, arrays: dict) -> dict:
    """O after each visit, and the matrices. What is only looked at may have travelled as fp16:
    ``arrays``, of the header, says what did."""

    def sent(name: str, x: np.ndarray | None) -> np.ndarray | None:
        half = x is not None and arrays[name]["dtype"] == "f2"
        return x.astype("f2").astype("f4") if half else x

    matrices = {name: getattr(t, name) for name in "QKVO"} | {"S": product(t)}
    return {
        "after": [{"O": sent("acc", v.O)} for v in t.visits],
        "arrays": {name: sent(name, x) for name, x in matrices.items()},
    }


def zoom(problem: Problem, step: int) -> dict:
    """One visit with numbers of a Problem that travels as tiles only."""
    visit, earlier = one_visit(problem, step)
    final = None
    if problem.order.startswith("fa2"):
        final = (
            visit.O if visit.stage else visit.O / np.where(visit.l_new > 0, visit.l_new, 1)[:, None]
        )
    return {
        "step": step,
        "rows": {phase: statistics(problem, visit, phase, COLUMNS) for phase in visit.phases},
        "hidden": []  # it meets no key
        if visit.stage == "combine"
        else (~seen(problem))[tiling.rows(problem, visit.i)][
            :, slice(*columns(problem, visit.j))
        ].tolist(),
        "S": visit.S if visit.scores is None else visit.scores,
        "P": visit.P,
        "before": None if earlier is None else earlier.O,
        "after": visit.O,
        "final": final,
    }


def row_view(problem: Problem) -> dict:
    """Of each row: its exact softmax (weights by the final m, l, O); l and O where alpha is
    forgotten; and the maxima that are left where a new one counts only from 8 in log2 on."""
    t = trace(problem)
    S, V = t.S.astype(float), t.V.astype(float)
    visits = [v for v in t.visits if v.m_new is not None]
    rows = []
    for row in range(problem.n):
        mine = [v for v in visits if v.i == row // problem.block_q]
        tops = [float(v.m_new[row % problem.block_q]) for v in mine]
        measure = np.full(problem.n, tops[-1])  # the m by which the visit of a key weighed it
        for v, top in zip(mine, tops, strict=True):
            measure[slice(*columns(problem, v.j))] = top
        running = problem.order != "standard"
        past = -np.inf if problem.sink is None or not running else problem.sink
        kept = [past]
        for top in tops:
            ahead = kept[-1] == -np.inf or np.log2(np.e) * (top - kept[-1]) >= 8
            kept.append(top if ahead else kept[-1])
        # No score: a row that sees no key so far, whose weights are 0 by any measure.
        end, measure = np.nan_to_num(tops[-1], neginf=0), np.nan_to_num(measure, neginf=0)
        exact, forgotten = np.exp(S[row] - end), np.exp(S[row] - measure)
        # A sink is one key more, weighed before the first: by itself 1.
        sunk = 0.0 if problem.sink is None else np.exp(problem.sink - end)
        l, forgotten_l = exact.sum() + sunk, forgotten.sum() + ((sunk > 0) if running else sunk)
        rows.append(
            {
                "exact": exact,
                "l": l,
                "O": exact @ V / (l or 1),
                "forgotten": forgotten,
                "forgotten_l": forgotten_l,
                "forgotten_O": forgotten @ V / (forgotten_l or 1),
                "kept": kept[1:],
                "rises": sum(-np.inf < a < b for a, b in pairwise([past, *tops])),
                "rescaled": sum(-np.inf < a < b for a, b in pairwise(kept)),
            }
        )
    return {"rows": rows, "hidden": ~seen(problem)}


def race(problem: Problem) -> dict:
    """Three orders on one clock: how many visits of each are over at each tick, by both clocks."""
    of = {order: replace(problem, order=order) for order in lanes_of(problem.order)}
    work = {order: [k for k, v in enumerate(schedule(p)) if v.phases] for order, p in of.items()}
    sums = {
        order: np.cumsum([sum(t.nbytes for t in schedule(p)[k].transfers) for k in work[order]])
        for order, p in of.items()
    }
    longest = max(map(len, sums.values()))
    totals = {order: both(traffic(p)) for order, p in of.items()}
    quantum = -(-max(totals.values()) // longest)
    ticks = -(-max(totals.values()) // quantum)
    return {
        "orders": list(lanes_of(problem.order)),
        "work": work,
        "bytes": {order: [0, *x.tolist()] for order, x in sums.items()},
        "quantum": quantum,
        "tile": {o: [min(k, len(x)) for k in range(1, longest + 1)] for o, x in sums.items()},
        "byte": {
            order: [int((x <= (tick + 1) * quantum).sum()) for tick in range(ticks)]
            for order, x in sums.items()
        },
        "finish": {order: max(0, -(-x // quantum) - 1) for order, x in totals.items()},
    }


def on_chip(problem: Problem) -> dict:
    """Of each card: does the tile fit, and the largest square one that would."""
    shared, registers = (
        sum(part.nbytes for part in tile_budget.budget(problem) if part.place == place)
        for place in (tile_budget.SHARED, tile_budget.REGISTERS)
    )
    return {
        key: [
            shared <= card.shared_bytes and registers <= card.registers_per_sm_bytes,
            min(problem.n, tile_budget.largest_square(problem, card)),
        ]
        for key, card in tile_budget.CARDS.items()
    }


def write(folder: Path, name: str, case: object, **traces: bytes) -> None:
    """Write ``name.json`` and the packed traces that it is about, ``name.<key>``. JSON has no −∞
    and no NaN: such numbers travel as texts, as JavaScript spells them."""
    text = json.dumps(case, default=lambda x: x.tolist())
    (folder / f"{name}.json").write_text(re.sub(r"-?Infinity|NaN", r'"\g<0>"', text))
    for key, content in traces.items():
        (folder / f"{name}.{key}").write_bytes(content)


def write_zoom(folder: Path, name: str, problem: Problem, steps: list[int]) -> None:
    """Write chosen visits of a Problem without numbers."""
    case = {"visits": [zoom(problem, step) for step in steps]}
    visits = {f"visit{step}": pack_visit(problem, step) for step in steps}
    write(folder, f"zoom-{name}", case, trace=pack(problem), **visits)


def write_race(folder: Path, name: str, problem: Problem) -> None:
    """Write a race and its three traces."""
    traces = {order: pack(replace(problem, order=order)) for order in lanes_of(problem.order)}
    write(folder, f"race-{name}", race(problem), **traces)
