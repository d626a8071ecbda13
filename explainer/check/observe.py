"""See what a function computes: its O and lse, what it reports of its tiles, and, where it reports
nothing, what probes from outside find."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np

from explainer.check import loop, mistakes
from explainer.check.cases import Case
from explainer.check.runner import NotRunnable, Runner

Numbers = np.ndarray
# (q, k, v of (B, H, N, d), causal, reports too) → O, lse or None, states
Function = Callable[[Numbers, Numbers, Numbers, bool, bool], "Seen"]


@dataclass
class State:
    """What a function reports after tile (i, j): m, l (rows,) and o (rows, d), None where not."""

    i: int
    j: int
    m: Numbers | None
    l: Numbers | None
    o: Numbers | None


@dataclass
class Seen:
    """What a call showed; ``probes``: by (first rows, keys) what those rows had of the first keys,
    as (rows, O, lse)."""

    O: Numbers
    lse: Numbers | None
    states: list[State] = field(default_factory=list)
    probes: list[tuple[Numbers, int, Numbers, Numbers | None]] = field(default_factory=list)


def run(function: Function, case: Case, reports: bool) -> "Seen":
    """Return what a function gives for all of a case."""
    return function(case.q, case.k, case.v, case.causal, reports)


def of_runner(runner: Runner, case: Case) -> Function:
    """The learner's function with the keywords of the case."""

    def run(q, k, v, causal: bool, reports: bool) -> Seen:
        rules = {**case.rules, "causal": causal}
        about, found = runner.call("forward", rules, case.dtype, {"q": q, "k": k, "v": v})
        states = read_states(about, found) if q.shape[:2] == (1, 1) else []  # of one head
        return Seen(found["O"], found.get("lse"), states)

    return run


def sizes_of(about: dict, accepts: str = "accepts") -> mistakes.Sizes:
    """Return the tiles that a function may have, by what is known ``about`` it; ``accepts``: where
    its keywords stand."""
    return mistakes.Sizes({"block_q", "block_k"} <= set(about[accepts]), tuple(about["written"]))


def rounds_products(function: Function, case: Case) -> bool:
    """Return True if a function rounds the float32 operands of its products to TF32, as ``tl.dot``
    does on a GPU unless told otherwise: with V = 1 + 2⁻¹² it gives what V = 1 gives, and
    with V = 2 something else."""
    ones = np.ones_like(case.v)
    values = (ones, ones + np.float32(2**-12), 2 * ones)
    of_ones, of_more, of_twos = (function(case.q, case.k, v, False, False).O for v in values)
    return bool((of_ones == of_more).all() and (of_ones != of_twos).any())


def weighted_keys(function: Function, case: Case) -> Numbers | None:
    """Return which keys get a weight from which rows of the first head, (Nq, Nk) bool: with q = 0
    every visible key has the same, and V shows d of them at a time. None where a call raises, or
    gives NaN."""
    found = np.zeros((case.n_q, case.n_k), bool)
    for start in range(0, case.n_k, case.v.shape[3]):
        keys = np.arange(start, min(start + case.v.shape[3], case.n_k))
        v = np.zeros_like(case.v)
        v[..., keys, keys - start] = 1
        try:
            O = function(np.zeros_like(case.q), case.k, v, case.causal, False).O
        except NotRunnable as error:
            if error.ended:
                raise
            return None
        if not np.isfinite(O).all():
            return None
        found[:, keys] = O[0, 0][:, : len(keys)] != 0
    return found


def read_states(about: dict, found: dict[str, Numbers]) -> list[State]:
    """Return the reports of an answer of child.py; of what is no row block nothing."""
    states = []
    for n, (i, j) in enumerate(about.get("reports", ())):
        m, l, o = (found.get(f"{name}{n}") for name in "mlo")
        known = [x for x in (m, l) if x is not None]
        rows = known[0].size if known else 0 if o is None else len(o)
        fits = rows and (o is None or o.size % rows == 0) and (l is None or l.size == rows)
        if fits:
            flat = [None if x is None else x.reshape(-1) for x in (m, l)]
            states.append(State(i, j, flat[0], flat[1], None if o is None else o.reshape(rows, -1)))
    return states


def of_loop(w: loop.Loop, case: Case, block_q: int, block_k: int) -> Function:
    """A loop with a mistake, in float32, on the case."""

    def run(q, k, v, causal: bool, reports: bool) -> Seen:
        seen = Seen(np.empty(q.shape), np.empty(q.shape[:3]))
        assert seen.lse is not None

        def report(i, j, m, l, o):
            seen.states.append(State(i, j, m.copy(), l.copy(), o.copy()))

        rules = {"causal": causal, "scale": case.scale, "block_q": block_q, "block_k": block_k}
        taken = loop.take_heads(w, q, k, v)
        for head in np.ndindex(q.shape[:2]):
            own = (x[head] for x in taken)
            with np.errstate(all="ignore"):
                made = loop.forward(w, *own, **rules, report=report if reports else None)
            seen.O[head], seen.lse[head] = made
        if "o" in w.heads_of:
            seen.O = loop.stored_heads(w, seen.O)
        return seen

    return run


def probe_plan(case: Case) -> Iterator[tuple[Numbers, Numbers, int, bool]]:
    """List the probes of a case: the rows to look at, those to call with, the number of first keys,
    and whether with the causal mask.

    Rows that see all these keys are called without a mask, so that a function need not align that
    of fewer rows, and as many at a time as there are keys where the case has as many rows as keys,
    so that it need not tell the two apart. Rows that see fewer are called from the first on.
    """
    visible = np.arange(case.n_q) + case.offset + 1 if case.causal else np.full(case.n_q, case.n_k)
    for keys in range(case.block_k, case.n_k, case.block_k):
        rows = np.flatnonzero(visible >= keys)
        size = keys if not case.offset else max(len(rows), 1)
        for start in range(0, len(rows), size):
            wanted = rows[start : start + size]
            yield wanted, np.resize(wanted, size), keys, False
        if case.causal and not case.offset:
            yield np.arange(keys), np.arange(keys), keys, True


def probe(function: Function, case: Case, plan, seen: Seen) -> None:
    """Make these probes; those that raise are left out."""
    for wanted, called, keys, causal in plan:
        q, k, v = case.q[:, :, called], case.k[:, :, :keys], case.v[:, :, :keys]
        try:
            part = function(q, k, v, causal, False)
        except NotRunnable as error:
            if error.ended:
                raise
            continue
        lse = None if part.lse is None else part.lse[0, 0, : len(wanted)]
        seen.probes.append((wanted, keys, part.O[0, 0, : len(wanted)], lse))


def trusted_lengths(function: Function, case: Case) -> set[int]:
    """Return the numbers of first keys at which probes say something of the function at its own
    length: with q = 0 every score is 0 and hardly a loop goes wrong, so one that does so at a
    length only does not take that length, for instance because its own tiles are larger."""
    lengths = [*range(case.block_k, case.n_k, case.block_k), case.n_k]
    plain = {keys: _takes(function, case, keys) for keys in lengths}
    return {keys for keys in lengths if plain[keys] or not plain[case.n_k]}


def _takes(function: Function, case: Case, keys: int) -> bool:
    k, v = case.k[:, :, :keys], case.v[:, :, :keys]
    q = np.zeros_like(case.q if case.offset else case.q[:, :, :keys])
    try:
        O = function(q, k, v, False, False).O
    except NotRunnable as error:
        if error.ended:
            raise
        return False
    mean = v.astype(np.float64).mean(axis=2, keepdims=True)
    return bool((np.abs(O - mean) <= case.allowed).all())
