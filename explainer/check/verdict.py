"""The verdict on a learner's file: every case run, the first wrong tile, its cause, in words."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from explainer.base.amounts import listed
from explainer.base.texts import Texts, fill
from explainer.check import judge, observe
from explainer.check.cases import Case, cases, gradient_cases
from explainer.check.cause import Gradients, backward_cause, locate, warning_cause
from explainer.check.mistakes import Sizes
from explainer.check.runner import NotRunnable, Runner
from explainer.engine.gradient_agreement import Bounds
from explainer.problem import Problem

t = Texts("check")
GRADIENTS = ("dQ", "dK", "dV")
Progress = Callable[[str, int, int], None]


@dataclass
class CaseResult:
    """How a case went: ``error`` of O (or a gradient, or ``of`` lse where that alone is wrong) and
    what is ``allowed``; ``sentence`` where the function did not run on it."""

    name: str
    right: bool
    error: float | None = None
    allowed: float | None = None
    sentence: str = ""
    of: str = ""


@dataclass
class Verdict:
    """What the checker found. ``runs`` False: ``sentence`` says why not, ``line`` where.

    ``case`` is that of the first wrong tile ``tile`` (forward), or of the gradient ``what``;
    ``tiles`` are those of the case in order, up to the first wrong one; ``warning``: ``cause`` is
    exact in real arithmetic, and no number was wrong. ``weight``: (row, key, added or missing) of
    one that the mask would not give. ``gradient``: the first row of a block of the gradient that is
    wrong first, its numbers and the true ones (rows, d), and which rows differ.
    """

    file: str
    runs: bool = True
    sentence: str = ""
    line: int | None = None
    case: Case | None = None
    tile: judge.Tile | None = None
    tiles: list[judge.Tile] = field(default_factory=list)
    first: dict[str, Any] | None = None
    cause: str | None = None
    warning: bool = False
    weight: tuple[int, int, str] | None = None
    gradient: tuple[int, np.ndarray, np.ndarray, np.ndarray] | None = None
    cases: list[CaseResult] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    printed: str = ""

    @property
    def right(self) -> bool:
        return self.runs and bool(self.cases) and all(case.right for case in self.cases)

    @property
    def status(self) -> int:
        """The exit status: 0 right, 1 wrong, 2 not runnable."""
        return (0 if self.right else 1) if self.runs else 2

    def to_json(self) -> dict[str, Any]:
        """Return what ``--json`` prints."""
        rows = [{"name": case.name, "right": case.right} for case in self.cases]
        cause = self.cause if not self.right or self.warning else None
        found = {"right": self.right, "first_wrong": self.first, "cause": cause}
        return {**found, "sentence": self.sentence, "cases": rows}


def check(
    path: Path, progress: Progress = lambda *_: None, first: Problem | None = None, **options: Any
) -> Verdict:
    """Check a file, on the ``first`` Problem first; options as Runner's. Never raises for what the
    file does."""
    try:
        with Runner(path, **options) as runner:
            runner.start()
            found = examine(runner, path.name, progress, first)
            found.printed = runner.printed.decode(errors="replace")
            is_guess = runner.about["arrays"] == "numpy" and not options.get("arrays")
    except NotRunnable as error:
        return Verdict(path.name, False, str(error), error.line)
    if is_guess and not found.runs:  # it imports numpy alone, and still wants tensors
        other = check(path, progress, first, **{**options, "arrays": "torch"})
        return other if other.runs else found
    return found


def examine(
    runner: Runner, file: str, progress: Progress = lambda *_: None, first: Problem | None = None
) -> Verdict:
    """Judge a loaded file on every case that its function can be expected to take."""
    about, verdict = runner.about, Verdict(file)
    whole = about["layout"] == "cs336" or about["device"] == "cuda"
    wanted = [case for case in cases(whole, first) if _takes(about, case)]
    gradients = gradient_cases(whole)
    observed: list[tuple[Case, observe.Seen]] = []
    wrong: tuple[Case, observe.Seen] | None = None
    rounds = False
    for n, case in enumerate(wanted):
        progress(case.name, n, len(wanted) + len(gradients))
        function = observe.of_runner(runner, case)
        try:
            if n == 0 and about["device"] == "cuda":
                rounds = observe.rounds_products(function, case)
            case = replace(case, rounds=rounds)
            seen = observe.run(function, case, True)
        except NotRunnable as error:
            if n == 0:
                return _broken_at_first(case, error, verdict)
            verdict.cases.append(CaseResult(case.name, False, sentence=str(error)))
            if error.ended and sum(1 for x in verdict.cases if x.sentence) > 1:
                break
            continue
        right, tile = judge.judge_final(case, seen)
        verdict.cases.append(_result(case, seen, bool(right.all())))
        if tile is None and seen.states:
            _warn(case, seen, right, verdict)
        if tile is not None and wrong is None:
            wrong = case, seen
        else:
            observed.append((case, seen))
    if wrong:
        _locate(
            *wrong, observed, observe.of_runner(runner, wrong[0]), observe.sizes_of(about), verdict
        )
    progress("dQ", len(wanted), len(wanted) + len(gradients))
    gradients = [(replace(case, rounds=rounds), do) for case, do in gradients]
    _judge_gradients(runner, gradients, verdict)
    notes = {
        "tf32": rounds,
        "whole_tiles": about["layout"] == "cs336",
        "no_bfloat": about["interprets"],
        "no_causal": "causal" not in about["accepts"],
    }
    verdict.notes += [t(name) for name, holds in notes.items() if holds]
    if verdict.case is None:
        verdict.case = wanted[0]
    verdict.sentence = _sentence(verdict)
    return verdict


def _takes(about: dict[str, Any], case: Case) -> bool:
    """Return True if the function can be expected to take the case."""
    lacks = {"bfloat"} if about["arrays"] == "numpy" or about["interprets"] else set()
    if about["layout"] == "cs336":
        lacks |= {"small", "ragged", "unequal", "scale", "half", "bfloat"}
    if about["layout"] == "nd":
        lacks |= {"heads"}
    if "scale" not in about["accepts"]:
        lacks |= {"scale"}
    return not case.needs & lacks and ("causal" in about["accepts"] or not case.causal)


def _result(case: Case, seen: observe.Seen, is_right: bool) -> CaseResult:
    """Return how a case went that ran."""
    error = float(np.abs(seen.O - case.whole.O).max())
    if is_right or not error <= case.allowed:
        return CaseResult(case.name, is_right, error, case.allowed)
    assert seen.lse is not None
    with np.errstate(invalid="ignore"):
        apart = np.abs(seen.lse - case.whole.lse)
    largest = np.where(np.isneginf(case.whole.lse), 0, apart).max()
    return CaseResult(case.name, False, float(largest), of="lse")


def _broken_at_first(case: Case, error: NotRunnable, verdict: Verdict) -> Verdict:
    """An exception on the first problem: the tiles until then stay."""
    states = observe.read_states(error.about, error.arrays)
    verdict.runs, verdict.sentence, verdict.line = False, str(error), error.line
    verdict.case = case
    if states:
        nothing = np.zeros(case.n_q, bool)
        verdict.tiles = judge.best_convention(case, states, nothing)[1]
    return verdict


def _warn(case: Case, seen: observe.Seen, right, verdict: Verdict) -> None:
    """Reports that differ where no output does are a warning."""
    how, tiles = judge.best_convention(case, seen.states, right)
    if any(tile.rows for tile in tiles) and not verdict.warning:
        verdict.warning, verdict.cause = True, warning_cause(case, seen, how)
    if verdict.case is None:
        verdict.case, verdict.tiles = case, tiles


def _locate(
    case: Case, seen: observe.Seen, observed, function, sizes: Sizes, verdict: Verdict
) -> None:
    """Find the first wrong tile of a case whose end is wrong, and its cause."""
    tile, verdict.tiles, _, cause = locate(case, seen, function, observed, sizes)
    verdict.cause = cause.key if cause else None
    verdict.case, verdict.tile, verdict.warning = case, tile, False
    place = {"problem": case.name, "i": tile.i, "j": tile.j, **_head(case, tile.head)}
    verdict.first = {**place, "rows": tile.rows, "what": tile.what}
    weighted = observe.weighted_keys(function, case)
    if weighted is not None:
        wrong = weighted != np.isfinite(case.scores(0, 0))
        at = next(zip(*np.nonzero(wrong), strict=True), None)
        kind = ("missing", "added")[int(weighted[at])] if at else ""
        verdict.weight = (int(at[0]), int(at[1]), kind) if at else None


def _head(case: Case, head: tuple[int, ...]) -> dict[str, Any]:
    """Return which sequence and head it is, where there are several."""
    return {} if case.q.shape[:2] == (1, 1) else {"sequence": head[0], "head": head[1]}


def _judge_gradients(runner: Runner, made: list[tuple[Case, np.ndarray]], verdict: Verdict) -> None:
    """Judge dQ, dK and dV where the file has a backward pass."""
    worst: dict[str, CaseResult] = {}
    observed: list[Gradients] = []
    wrong: tuple[Gradients, tuple[int, ...]] | None = None
    for case, do in made:
        if not _takes(runner.about, case):
            continue
        true = {head: true_gradients(case, do, head) for head in np.ndindex(do.shape[:2])}
        try:
            grads = _call_gradients(runner, case, do[None])
        except NotRunnable as error:
            worst = {name: CaseResult(name, False, sentence=str(error)) for name in GRADIENTS}
            break
        if grads is None:
            break
        observed.append(found := Gradients(case, do, true, grads[0]))
        for head, expected in true.items():
            of_head = (x[head] for x in found.seen)
            errors = [np.abs(x - y) for x, y in zip(of_head, expected.truth, strict=True)]
            for name, apart, limit in zip(GRADIENTS, errors, expected.limits, strict=True):
                result = CaseResult(name, bool((apart <= limit).all()), float(apart.max()))
                result.allowed = float(limit.max())
                worst[name] = max(
                    worst.get(name, result),
                    result,
                    key=lambda x: (not x.right, x.right and x.error),
                )
            if wrong is None and not all(found.right(head)):
                wrong = found, head
    if wrong and verdict.first is None:
        others = [x for x in observed if x is not wrong[0] and x.is_finite]
        _locate_gradient(runner, *wrong, others, verdict)
    verdict.cases += worst.values()
    if not worst:
        verdict.notes.append(t("no_gradients"))


@dataclass
class Expected:
    """What is true of a head: ``truth`` dQ, dK, dV (N, d) in float64, and the ``limits``, how far
    off each may be."""

    truth: tuple[np.ndarray, ...]
    limits: list[np.ndarray]


def true_gradients(case: Case, do: np.ndarray, head: tuple[int, ...] = (0, 0)) -> Expected:
    """Compute the gradients of a head by their definition, without tiles; do (B, H, Nq, d)."""
    q, k, v, do = (x[head].astype(np.float64) for x in (case.q, case.k, case.v, do))
    part, factor = case.part(head=head), case.factor
    P = np.exp(case.scores(*head) - part.lse[:, None])
    dP, D = do @ v.T, (do * part.O).sum(axis=1)
    dS = P * (dP - D[:, None])
    truth = dS @ k * factor, dS.T @ q * factor, P.T @ do
    bounds = Bounds(case.unit, case.delta, max(case.q.shape[2:] + case.k.shape[2:]))
    sizes = (np.abs(x) for x in (q, k, v, part.O, do))
    dQ, dK, dV = bounds.tile(P, dP, dS, D, 1.0, *sizes)
    floor = [np.abs(x).max() * 2.0**-22 for x in truth]
    apart = (dQ * factor, dK * factor, dV)
    limits = [x + least for x, least in zip(apart, floor, strict=True)]
    return Expected(truth, limits)


def _call_gradients(runner: Runner, case: Case, dos: np.ndarray):
    """Return (dQ, dK, dV), each (B, H, N, d), for each dO; None where there is no backward pass."""
    o, lse = (x.astype(np.float32) for x in (case.whole.O, case.whole.lse))
    arrays = {"q": case.q, "k": case.k, "v": case.v, "o": o, "lse": lse, "do": dos}
    about, found = runner.call("gradients", case.rules, case.dtype, arrays)
    if about.get("none"):
        return None
    return [tuple(found[f"{x}{n}"] for x in GRADIENTS) for n in range(len(dos))]


def _locate_gradient(
    runner: Runner, found: Gradients, head, others: list[Gradients], verdict: Verdict
) -> None:
    """Name the first wrong tile of a head's backward pass, in its order: keys outside, rows inside.

    With dO of one row block alone, what reaches dK_j and dV_j is what the tile (i, j) adds. dQ is
    not probed by keys: of it only the row block is known.
    """
    case, do = found.case, found.do
    truth, limits = found.true[head].truth, found.true[head].limits
    grads = [x[head] for x in found.seen]
    block_of = np.arange(case.n_q)[:, None] // case.block_q
    masked = [np.where(block_of == i, do, 0) for i in range(block_of.max() + 1)]
    tiles = {}
    try:
        parts = _call_gradients(runner, case, np.stack(masked).astype(np.float32)) or []
    except NotRunnable:
        parts = []
    for i, (part, one) in enumerate(zip(parts, masked, strict=False)):
        alone = true_gradients(case, one, head).truth
        for n in (1, 2):  # a tile computes dV before dK
            wrong = ~(np.abs(part[n][head] - alone[n]) <= limits[n])
            for j in np.unique(np.flatnonzero(wrong.any(axis=1)) // case.block_k).tolist():
                tiles[j, i] = GRADIENTS[n]
    every = zip(GRADIENTS, grads, truth, limits, strict=True)
    wrong = {name: ~(np.abs(x - y) <= limit) for name, x, y, limit in every}
    what = next(x for x in ("dV", "dK", "dQ") if wrong[x].any())
    rows = np.flatnonzero(wrong[what].any(axis=1)).tolist()
    i, j = (rows[0] // case.block_q, None) if what == "dQ" else (None, rows[0] // case.block_k)
    mine, right = grads, truth
    if tiles:
        (j, i), what = min(tiles.items())
        rows = [*range(case.n_q)]
        mine, right = [x[head] for x in parts[i]], true_gradients(case, masked[i], head).truth
    block, size = (i, case.block_q) if what == "dQ" else (j, case.block_k)
    assert block is not None
    n, start = GRADIENTS.index(what), block * size
    mine, right, limit = (x[n][start : start + size] for x in (mine, right, limits))
    is_wrong = np.any(~(np.abs(mine - right) <= limit), axis=1)
    verdict.gradient = start, mine, right, is_wrong
    if i is not None:
        rows = [r for r in rows if r // case.block_q == i]
    verdict.case, verdict.tiles = case, []
    place = {"problem": case.name, "i": i, "j": j, **_head(case, head)}
    verdict.first = {**place, "rows": rows, "what": what}
    sizes = observe.sizes_of(runner.about, "backward_accepts")
    verdict.cause = backward_cause(found, head, sizes, others)


def _spans(rows: list[int]) -> list[str]:
    """Write numbers of rows, those that follow one another as a span."""
    cuts = [n for n, row in enumerate(rows) if not n or row != rows[n - 1] + 1]
    runs = [rows[a:b] for a, b in zip(cuts, [*cuts[1:], len(rows)], strict=True)]
    return [x for r in runs for x in ([f"{r[0]}–{r[-1]}"] if len(r) > 2 else map(str, r))]


def title(verdict: Verdict) -> str:
    """Return the verdict's problem in words, and its head where there are several."""
    place = verdict.first or {}
    assert verdict.case
    problem, at = verdict.case.title, {x: place[x] for x in ("sequence", "head") if x in place}
    return t("of_head", problem=problem, **at) if at else problem


def where(verdict: Verdict) -> str:
    """Say what is wrong first, and where."""
    place = verdict.first
    assert place
    number = "one" if len(place["rows"]) == 1 else "many"
    rows = fill(t.named("rows")[number], {"rows": listed(_spans(place["rows"]))})
    at = {"what": t.named("tensor")[place["what"]], "rows": rows, "problem": title(verdict)}
    known = "".join(x for x in "ij" if place[x] is not None)
    return fill(t.named("wrong")[known], {**place, **at})


def weight(verdict: Verdict) -> str:
    """Say of one weight that it is not what the mask gives; "" where the mask holds, or where the
    cause says more and the numbers of the tile show it: probes without the mask may be right."""
    row, key, which = verdict.weight or (0, 0, "")
    case, tile = verdict.case, verdict.tile
    if verdict.cause and case and tile and tile.what:
        apart = np.abs(tile.mine[tile.what] - tile.true[tile.what])
        if not (apart <= case.allowed).all():
            return ""
    return fill(t.named("weight")[which], {"row": row, "key": key}) if which else ""


def _sentence(verdict: Verdict) -> str:
    """Say the verdict in one sentence."""
    cause = t.named("cause").get(verdict.cause or "")
    broken = next((case for case in verdict.cases if case.sentence), None)
    if verdict.first:
        first = where(verdict)
        return t("known", first=first, cause=cause) if cause else t("unknown", first=first)
    if broken:
        return t("case_broken", name=t.named("case")[broken.name], sentence=broken.sentence)
    if verdict.warning:
        return t("warning", cause=cause) if cause else t("warning.unknown")
    count = len(verdict.cases)
    return t("right", count=count)
