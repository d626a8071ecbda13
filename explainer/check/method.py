"""A learner's function as a method beside others: its O, its tiles beside the truth, its memory,
and its time on a GPU. It runs in a process of its own (runner.py)."""

import contextlib
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

import numpy as np

from explainer.algorithms import tiling
from explainer.base.fields import ProblemError
from explainer.base.texts import Texts
from explainer.check import judge, observe
from explainer.check.cases import Case, case_of
from explainer.check.cause import locate
from explainer.check.runner import Arrays, NotRunnable, Runner
from explainer.engine.agreement import map_of
from explainer.engine.requests import RunRequest
from explainer.engine.results import Figures, Same
from explainer.problem import Problem

t = Texts("check")
SECONDS = 10.0  # a call may take
MOST_NUMBERS = 2**24  # of Q, which travel to the function and O back
CS336_ROWS = 16  # the assignment promises whole tiles of as many
MOST_TILES, MOST_ROWS = 1_024, 2_048  # of which tiles are compared: two seconds
T = TypeVar("T")


def stamp(path: Path) -> object:
    """Return what changes when a file is saved."""
    try:
        found = path.stat()
    except OSError:
        return "missing"
    return found.st_mtime_ns, found.st_size


class Learner:
    """The function of the file at ``path``, loaded anew when the file has changed. One call at a
    time; every method raises ProblemError with one sentence where the function does not run."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._runner: Runner | None = None
        self._stamp: object = None
        self._arrays: str | None = None
        self._turn = threading.Lock()

    def run(
        self, request: RunRequest, q: np.ndarray, k: np.ndarray, v: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray | None, Figures]:
        """Return O (B, H, N, d), lse (B, H, N) or None, and as figures the tiles of the Problem's
        head, the peak of memory and the times on a GPU, each where it is known."""
        p, most = request.problem, MOST_NUMBERS
        _check(p)
        if request.pass_ == "backward":
            raise ProblemError(t("method.backward"))
        if q.size > most:
            raise ProblemError(t("method.large", size=q.size, most=most))
        case = case_of("run", p)
        inputs = case.rules, p.dtype, {"q": q, "k": k, "v": v}

        def act(runner: Runner) -> tuple[Arrays, dict, Same | None]:
            found = runner.call("forward", *inputs)[1]
            return found, runner.call("measure", *inputs)[0], _tiles(runner, case)

        found, measured, same = self._attempt(act)
        figures: Figures = {"same": same}
        if "peak" in measured:
            figures["peak_bytes"] = int(measured["peak"])
        if times := measured.get("ms"):
            low, middle, high = (float(x) for x in np.percentile(times, (20, 50, 80)))
            figures |= {"p20_ms": low, "median_ms": middle, "p80_ms": high, "runs": len(times)}
        return found["O"], found.get("lse"), figures

    def tiles(self, problem: Problem) -> Same | None:
        """Compare the tiles of a Problem; None where they are too many or not the Problem's."""
        _check(problem)
        case = case_of("step", problem)
        return self._attempt(lambda runner: _tiles(runner, case))

    def _attempt(self, act: Callable[[Runner], T]) -> T:
        """Act with the loaded file. One that imports NumPy alone may still want tensors."""
        with self._turn:
            try:
                return act(self._open())
            except NotRunnable as error:
                sentence = str(error)
            if self._runner and self._runner.about.get("arrays") == "numpy":
                self._close()
                self._arrays = "torch"
                with contextlib.suppress(NotRunnable):
                    return act(self._open())
                self._arrays = None
            self._close()
        raise ProblemError(sentence)

    def _open(self) -> Runner:
        if (now := stamp(self.path)) != self._stamp:
            self._close()
            self._stamp, self._arrays = now, None
        if self._runner is None:
            self._runner = Runner(self.path, arrays=self._arrays, seconds=SECONDS)
        return self._runner

    def _close(self) -> None:
        if self._runner:
            self._runner.__exit__()
        self._runner = None


def _tiles(runner: Runner, case: Case) -> Same | None:
    p, function = case.problem, observe.of_runner(runner, case)
    assert p
    runner.start()
    if runner.about["layout"] == "cs336" and p.n % CS336_ROWS:
        raise ProblemError(t("method.whole", rows=CS336_ROWS, n=p.n))
    if p.Tr * p.Tc > MOST_TILES or p.n > MOST_ROWS:
        return None
    if runner.about["device"] == "cuda" and case.dtype == "fp32":
        case = replace(case, rounds=observe.rounds_products(function, case))
    seen = observe.run(function, case, True)
    right, last = judge.judge_final(case, seen)
    how, tiles, trusted = judge.find_tiles(case, seen, function, right)
    is_probed = {*range(p.block_k, p.n, p.block_k), p.n} <= trusted  # at the end of each tile
    if (how.block_q, how.block_k) != (p.block_q, p.block_k) or not (seen.states or is_probed):
        return None
    first = None
    if last:
        seen.probes = []
        first, _, tiles, _ = locate(case, seen, function, [], observe.sizes_of(runner.about))
    return compare_tiles(case, tiles, first, bool(seen.states))


def _check(p: Problem) -> None:
    """Raise ProblemError for what a learner's function has no arguments for."""
    changed = [name for name, value in p.rules.items() if name != "mask"]
    changed += ["dropout"] if p.dropout else []
    changed += ["hk"] if p.shares else []
    if p.mask.text not in ("full", "causal"):
        raise ProblemError(t("method.mask", mask=str(p.mask)))
    if changed:
        raise ProblemError(t("method.rules", name=changed[0]))


def compare_tiles(
    case: Case, tiles: list[judge.Tile], first: judge.Tile | None, reports: bool
) -> Same:
    """Return the comparison of a function's ``tiles``, which it ``reports`` or which were probed,
    with the truth of the case; ``first``: the first wrong one where the end is wrong."""
    p = case.problem
    assert p
    needed = tiling.kinds(p) != tiling.SKIPPED
    tiles = [tile for tile in tiles if reports or needed[tile.i, tile.j] or tile.rows]
    m, l = np.full((2, p.Tr, p.Tc), -1.0)
    wrong = np.zeros((p.Tr, p.Tc), bool)
    for tile in tiles:
        at = tile.i, tile.j
        wrong[at] = bool(tile.rows)
        m[at], l[at] = _largest(tile, "m"), _largest(tile, "l")
    first = first or next((tile for tile in tiles if tile.rows), None)
    if first:
        wrong[first.i, first.j] = True
    found = map_of(m, l, wrong)
    found["first"] = (first.i, first.j) if first else None
    m_error, l_error = (float(x[x >= 0].max(initial=0)) for x in (m, l))
    return {
        "map": found,
        "against": "reports" if reports else "probes",
        "tiles": len({(tile.i, tile.j) for tile in tiles}),
        "values": sum(len(tile.mine.get(name, ())) for tile in tiles for name in ("m", "l")),
        "m_error": m_error if np.isfinite(m_error) else None,
        "l_error": l_error if np.isfinite(l_error) else None,
        "tolerance": case.delta,
        "agrees": first is None,
    }


def _largest(tile: judge.Tile, name: str) -> float:
    """Return the largest |Δm| or |Δl|/l of a tile, ∞ where there is nothing to compare."""
    if name not in tile.mine:
        return np.inf
    mine, true = tile.mine[name], tile.true[name]
    there = np.isfinite(true) & (tile.true["l"] > 0 if "l" in tile.true else True)
    apart = np.abs(mine - true)[there] / (true[there] if name == "l" else 1.0)
    largest = float(apart.max(initial=0))
    return largest if np.isfinite(largest) else np.inf
