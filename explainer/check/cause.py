"""Which known mistake gives the numbers that a function gave, all of them, on the same problem."""

from dataclasses import dataclass, replace
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from explainer.check import judge, loop, mistakes
from explainer.check.cases import Case
from explainer.check.mistakes import Sizes
from explainer.check.observe import Function, Seen, of_loop, probe, probe_plan, run

Numbers = np.ndarray
Own = tuple[int, int] | None  # the tiles that a function showed, if not those it was given


@dataclass(frozen=True)
class Cause:
    """A mistake's ``key``, the loop that makes it as a ``function``, and the sizes of its tiles."""

    key: str
    function: Function
    size: tuple[int, int]


HUGE = 1e20  # what is divided by a tiny number in place of 0


def same(
    mine: Numbers | None, other: Numbers | None, share: float, axis: int | None = -1, least=1e-6
) -> bool:
    """Return True if two arrays agree to a share of the largest number of each row, or with no
    ``axis`` of all, of ``least`` at least, and overflow, or come near to that, at the same places.
    """
    if mine is None or other is None:
        return False
    finite = np.abs(other) < HUGE
    if mine.shape != other.shape or not np.array_equal(finite, np.abs(mine) < HUGE):
        return False
    mine, other = (np.where(finite, x, 0.0) for x in (mine, other))
    size = np.abs(other).max(axis=axis, keepdims=True, initial=0.0)
    return bool((np.abs(mine - other) <= share * (size + least)).all())


def _share(case: Case) -> float:
    """How far numbers of one mistake in two programs may lie apart: a mistake may leave scores √d
    times as large, and roundings add up."""
    if case.is_tf32:
        return 16 * case.unit
    d = case.q.shape[3]
    return 8 * (case.delta + 4 * case.unit) * d**0.5


def forward_cause(
    case: Case,
    seen: Seen,
    how: judge.Convention,
    others: list[tuple[Case, Seen]],
    trusted: set[int],
    may_have: Sizes,
) -> Cause | None:
    """Return the mistake whose O, or where O is right whose lse, is what was seen.

    Of several that which agrees in more: in lse, reported tiles and probes, then in the ``others``,
    the other cases. None if there is none, or if nothing finite tells several apart.
    ``may_have``: the tiles of the function.
    """
    true = case.whole.O
    wrong = ~(np.abs(seen.O - true) <= case.allowed)
    is_wrong = bool(wrong.any())
    names = ("O",) if is_wrong else ("O", "lse")
    given = (how.block_q, how.block_k)
    if _is_nan_without_keys(case, seen, wrong):
        return Cause("empty_rows_nan", of_loop(loop.Loop(empty="nan"), case, *given), given)
    if not is_wrong and _has_misplaced_lse(case, seen):
        return Cause("lse_of_other_head", of_loop(loop.Loop(), case, *given), given)
    tells = (wrong & (np.abs(seen.O) < HUGE)).any() or not is_wrong
    share, found = _share(case), []
    settled = set()  # loops that differ from what was seen, however they treat rows without keys
    sizes = may_have.of(given, case.n_k)
    if seen.states:  # which show the sizes
        sizes = [given]
    for size, style in product(sizes, range(len(mistakes.STYLES))):
        is_whole = any(score[1] == len(others) for score, _ in found)
        if is_whole and (tells or style == 0):
            break
        if found and tells and style:
            continue  # another size may agree in more cases, another style hardly
        if style and not may_have.is_told and not may_have.written and size[0] != size[1]:
            continue  # too many to try them all
        plain = of_loop(loop.Loop(**mistakes.STYLES[style]), case, *size)
        made = run(plain, case, False)
        if style and is_wrong and same(seen.O, made.O, share):
            continue  # what is wrong here is the style itself
        for n, (key, w) in enumerate(mistakes.loops("forward", style)):
            if (at := (size, n, w.reverse, w.skips)) in settled:
                continue
            if style and w.heads == "own" and case.q.shape[:2] != (1, 1):
                continue  # a case of one head was right: what is wrong here alone is plain
            agrees, is_blind = _agrees_first(w, case, seen, wrong, size, share)
            if not (agrees or is_blind):
                settled.add(at)
            if not agrees:
                continue
            function = of_loop(w, case, *size)
            made = run(function, case, bool(seen.states))
            near = all(same(getattr(seen, x), getattr(made, x), share) for x in names)
            own = size if size != given else None
            if near and (not is_wrong or _is_nearer(seen.O, made.O, true)):
                elsewhere = _elsewhere(w, own, case.dtype, others, may_have)
                if elsewhere is None or 2 * elsewhere < len(others):
                    continue  # agrees here alone, for instance in being 0
                score = _agreement(case, seen, made, how, function, trusted), elsewhere
                found.append((score, Cause(key, function, size)))
    if not found:
        return None
    best = max(score for score, _ in found)
    causes = [cause for score, cause in found if score == best]
    keys = {cause.key for cause in causes}
    is_likely = len(keys) == 1 and (np.isfinite(seen.O).any() or best[1] == len(others) > 0)
    if seen.states and not np.isfinite(seen.O).all():  # then all that is reported must agree
        tells = is_likely = is_likely and best[0] >= 1 + (seen.lse is not None)
    if not (tells or is_likely):
        return None
    named = causes[0].key  # in the sizes of the case, if it is there too: they show its tiles
    return next((x for _, x in found if x.key == named and x.size == given), causes[0])


def _is_nan_without_keys(case: Case, seen: Seen, wrong: Numbers) -> bool:
    """Return True if what is wrong are NaNs in rows that see no key, whatever gave them."""
    empty, rows = case.whole.l == 0, wrong.any(axis=3)
    if seen.lse is not None:
        if not same(seen.lse[~empty], case.whole.lse[~empty], _share(case), None):
            return False
        rows = rows | np.isnan(seen.lse)
    return bool(rows.any() and empty[rows].all() and np.isnan(seen.O[wrong]).all())


def _has_misplaced_lse(case: Case, seen: Seen) -> bool:
    """Return True if an lse is that of another head: no loop of one head does so."""
    if seen.lse is None or case.q.shape[:2] == (1, 1):
        return False
    pairs = [
        [same(mine, true, _share(case)) for true in case.whole.lse.reshape(-1, case.n_q)]
        for mine in seen.lse.reshape(-1, case.n_q)
    ]
    return any(any(row) and not row[n] for n, row in enumerate(pairs))


def _elsewhere(
    w: loop.Loop, own: Own, dtype: str, others: list[tuple[Case, Seen]], may_have: Sizes
) -> int | None:
    """Count the other cases on which a mistake, in tiles of its ``own`` size if it may have these,
    gives what the function gave; None if it is wrong on one of this dtype (for another there may be
    a copy of the function) on which the function was right, in rows that see a key: what those
    without get may have a line of its own."""
    count = 0
    for case, seen in others:
        size = may_have.in_case(own, (case.block_q, case.block_k))
        made = run(of_loop(w, case, *size), case, False).O
        true, has_keys = case.whole.O, case.whole.l[..., None] > 0
        is_right = (np.abs(seen.O - true) <= case.allowed).all()
        is_near = np.abs(made - true) <= 2 * case.allowed
        if case.dtype == dtype and is_right and not (is_near | ~has_keys).all():
            return None
        count += same(seen.O, made, _share(case))
    return count


class Located(NamedTuple):
    """The first wrong ``tile`` of a function, its tiles ``until`` then, ``every`` one that was seen
    of it, and the cause."""

    tile: judge.Tile
    until: list[judge.Tile]
    every: list[judge.Tile]
    cause: Cause | None


def locate(
    case: Case, seen: Seen, function: Function, others: list[tuple[Case, Seen]], sizes: Sizes
) -> Located:
    """Find the first wrong tile of a function whose end is wrong; arguments as those of
    ``forward_cause``."""
    right, last = judge.judge_final(case, seen)
    how, tiles, trusted = judge.find_tiles(case, seen, function, right)
    raw = replace(how, normalized=False)
    cause = forward_cause(case, seen, raw, others, trusted, sizes)
    if cause and how.normalized:
        how, tiles = raw, judge.judge_states(case, seen.states, right, raw)
    assert last
    tile, until = judge.first_wrong(case, seen, how, tiles, last)
    if cause and not seen.states and case.q.shape[:2] == (1, 1):
        tile, until = judge.first_of_loop(case, seen, cause.function, cause.size, tile, until)
    return Located(tile, until, tiles, cause)


def _is_nearer(mine: Numbers, made: Numbers, true: Numbers) -> bool:
    """Return True if numbers lie much nearer to those of a mistake than these to the truth: one
    whose error is small agrees with many to the share that roundings take."""
    finite = np.isfinite(mine) & np.isfinite(made) & (np.abs(made) < HUGE)
    apart, error = (np.abs(x[finite] - made[finite]).max(initial=0) for x in (mine, true))
    return bool(4 * apart <= error) or not finite.all()


def _agrees_first(
    w: loop.Loop, case: Case, seen: Seen, wrong: Numbers, size: tuple[int, int], share: float
) -> tuple[bool, bool]:
    """Return whether a mistake agrees in the first wrong row block, and whether the block is blind.

    Compared is O, or where all of O is right lse: one row block tells most mistakes apart. A block
    is blind if one of its rows saw no key for a time, so that a loop with another treatment of
    such rows may differ.
    """
    *head, row, _ = np.argwhere(wrong)[0] if wrong.any() else (0, 0, 0, 0)
    i, head = row // size[0], tuple(head)
    rows = slice(i * size[0], (i + 1) * size[0])
    rules: dict[str, Any] = {"causal": case.causal, "scale": case.scale}
    sizes: dict[str, Any] = {"block_q": size[0], "block_k": size[1]}
    is_one = case.q.shape[:2] == (1, 1)
    if is_one if w.heads != "own" else not (is_one or wrong.any(axis=(2, 3)).all()):
        return False, False  # it is all there is, or one head was right
    if wrong.any() and w.lse != "natural":
        return False, False  # it would be wrong in lse alone
    if w.ragged not in ("masked", "queries") and not (case.n_q % size[0] or case.n_k % size[1]):
        return False, False
    if "o" in w.heads_of or w.stores == "backwards":
        return True, True
    own = (x[head] for x in loop.take_heads(w, case.q, case.k, case.v))
    blind = ["tile" in (w.p_by, w.sum_by, w.alpha_by)]

    def look(_i: int, _j: int, m: Numbers, l: Numbers, **_state: Numbers) -> None:
        blind.append(not (np.isfinite(m) & (l > 0)).all())

    with np.errstate(all="ignore"):
        O, lse = loop.forward(w, *own, **rules, **sizes, only=i, report=look)
    blind.append(not np.isfinite(lse[rows]).all())
    if wrong.any():
        return same(seen.O[head][rows], O[rows], share), any(blind)
    return seen.lse is None or same(seen.lse[head][rows], lse[rows], share), any(blind)


def _agreement(case, seen: Seen, made: Seen, how: judge.Convention, function, trusted) -> float:
    """Count what agrees beside O: lse, and the share of reports and of probes."""
    share = _share(case)
    score = float(same(seen.lse, made.lse, share))
    if seen.states:
        theirs = {(s.i, s.j): s for s in made.states}
        agree = []
        for state in seen.states:
            other = theirs.get((state.i, state.j))
            for name, x in how.convert(state).items():
                y = other and getattr(other, name.lower())
                agree.append(x is not None and y is not None and same(x[: len(y)], y, share))
        score += sum(agree) / max(len(agree), 1)
    if seen.probes:
        probe(function, case, list(probe_plan(case)), made)
        pairs = [(a, b) for a, b in zip(seen.probes, made.probes, strict=False) if a[1] in trusted]
        score += sum(same(a[2], b[2], share) for a, b in pairs) / max(len(pairs), 1)
    return score


def warning_cause(case: Case, seen: Seen, how: judge.Convention) -> str | None:
    """Return the mistake that gives the same reports and, in real arithmetic, the right end."""
    share = _share(case)
    for key, w in mistakes.loops("forward"):
        if not mistakes.MISTAKES[key].warning:
            continue
        made = run(of_loop(w, case, how.block_q, how.block_k), case, True)
        theirs = {(s.i, s.j): s for s in made.states}
        pairs = [(s.m, theirs.get((s.i, s.j))) for s in seen.states if s.m is not None]
        if pairs and all(
            y and y.m is not None and same(x[: len(y.m)], y.m, share) for x, y in pairs
        ):
            return key
    return None


@dataclass(frozen=True)
class Gradients:
    """Hold what a function gave for ``do`` (B, H, Nq, d) on a case: ``seen`` are dQ, dK and dV
    (B, H, N, d), ``true`` is what is expected of each head."""

    case: Case
    do: Numbers
    true: dict[tuple[int, ...], Any]
    seen: tuple[Numbers, ...]

    def right(self, head: tuple[int, ...]) -> list[bool]:
        """Return which of dQ, dK and dV of a head are right."""
        return self._are_near(head, self.true[head].truth)

    def _are_near(self, head, others, times: float = 1) -> list[bool]:
        """Return which of dQ, dK and dV of a head are ``others``, to ``times`` what may be lost."""
        each = zip(self.seen, others, self.true[head].limits, strict=True)
        return [bool((np.abs(x[head] - y) <= times * limit).all()) for x, y, limit in each]

    @property
    def is_finite(self) -> bool:
        """Return True if nothing that was seen is infinite or NaN."""
        return all(np.isfinite(x).all() for x in self.seen)

    def made(self, w: loop.Loop, head, size: tuple[int, int], only: int | None = None):
        """Return the gradients of a head by a loop, in float32 where the function's overflow."""
        is_finite = all(np.isfinite(x[head]).all() for x in self.seen)
        dtype = np.float64 if is_finite else np.float32
        lse, O = self.case.whole.lse[..., None], self.case.whole.O
        D = (O * self.do).sum(3, keepdims=True)
        taken = loop.take_heads(w, self.case.q, self.case.k, self.case.v, lse, D)
        *own, of_lse, of_D = (x[head].astype(dtype) for x in taken)
        saved = [O[head].astype(dtype), of_lse[:, 0], self.do[head].astype(dtype)]
        saved += [of_D[:, 0]] if "D" in w.heads_of else []
        rules: dict[str, Any] = {"causal": self.case.causal, "scale": self.case.scale}
        rules |= {"block_q": size[0], "block_k": size[1], "only": only}
        with np.errstate(all="ignore"):
            return loop.backward(w, *own, *saved, **rules)

    def agrees(
        self, w: loop.Loop, head, size: tuple[int, int], only: int | None = None, times: float = 0
    ) -> list[bool]:
        """Return which of dQ, dK and dV of a head a loop gives, with ``only`` of that key block, or
        gives to ``times`` what roundings may lose."""
        keys = slice(None) if only is None else slice(only * size[1], (only + 1) * size[1])
        made = self.made(w, head, size, only)
        each = zip(self.seen, made, (slice(None), keys, keys), strict=True)
        alike = [same(x[head][at], y[at], _share(self.case), None, 1e-4) for x, y, at in each]
        near = self._are_near(head, made, times) if times else alike
        return [x or y for x, y in zip(alike, near, strict=True)]


def backward_cause(
    found: Gradients, head: tuple[int, ...], may_have: Sizes, others: list[Gradients]
) -> str | None:
    """Return the key of the mistake that gives dQ, dK and dV of a head, or where dQ is computed by
    a loop of its own and one of the two is right, gives the others.

    Of several that which agrees in most of the ``others``, the other cases; none that is wrong
    where the function is right, or agrees in less than half of them.
    """
    case, right, causes = found.case, found.right(head), []
    given = case.block_q, case.block_k
    is_quick = not (right[1] and right[2])  # else those of a mistake in the loop of dQ may be wrong
    for size, style in product(may_have.of(given, case.n_k), (0, 1)):  # of these alone they know
        if style and size[0] != size[1] and not may_have.is_told:
            continue  # too many to try them all
        for key, w in mistakes.loops("backward", style):
            if is_quick and not _may_agree_in_keys(w, found, head, size):
                continue
            dQ, dK, dV = agrees = found.agrees(w, head, size)
            is_of_one_loop = (right[0] and dK and dV) or (dQ and right[1] and right[2])
            if not ((dQ and dK and dV) or is_of_one_loop):
                continue
            own = size if size != given else None
            elsewhere = _gradients_elsewhere(w, own, agrees, others, may_have)
            if elsewhere is not None and 2 * elsewhere >= len(others):
                causes.append((all(agrees), elsewhere, key))
            if all(agrees) and elsewhere == len(others):
                return key
    return max(causes, key=lambda cause: cause[:2])[2] if causes else None


def _gradients_elsewhere(
    w: loop.Loop, own: Own, agrees: list[bool], others: list[Gradients], may_have: Sizes
) -> int | None:
    """Count the other cases whose gradients a mistake gives, of those in which it ``agrees``; None
    if it is wrong where the function is right."""
    count, head = 0, (0, 0)
    for other in others:
        size = may_have.in_case(own, (other.case.block_q, other.case.block_k))
        gives = other.agrees(w, head, size, times=4)
        is_same = all(x or not y for x, y in zip(gives, agrees, strict=True))
        if all(other.right(head)) and not is_same:
            return None
        count += is_same
    return count


def _may_agree_in_keys(w: loop.Loop, found: Gradients, head, size: tuple[int, int]) -> bool:
    """Return True if a mistake gives the dK or dV of the first key block, or where a loop writes
    them elsewhere or adds to them from other key blocks, may do so: most of them do not."""
    if "d" in w.at_keys or "+" in w.returns or w.key_tile == "rows":
        return True
    return any(found.agrees(w, head, size, only=0)[1:])
