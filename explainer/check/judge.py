"""Which tile is wrong first: what was seen of a function against the truth of the case."""

from dataclasses import dataclass, field, replace
from itertools import product

import numpy as np

from explainer.check.cases import Case, Part
from explainer.check.loop import LOG2E
from explainer.check.observe import (
    Function,
    Seen,
    State,
    probe,
    probe_plan,
    run,
    trusted_lengths,
    weighted_keys,
)

NOTHING = -1e4  # so low or lower is a maximum over no key
Numbers = np.ndarray


@dataclass
class Tile:
    """A tile with what was seen of it: ``mine`` and ``true`` by tensor (m, l, O, lse), and in which
    ``rows`` (absolute) which tensors differ."""

    i: int
    j: int
    first_row: int
    mine: dict[str, Numbers]
    true: dict[str, Numbers]
    wrong: dict[str, Numbers] = field(default_factory=dict)  # tensor → (rows,) bool
    head: tuple[int, ...] = (0, 0)  # the sequence and the head

    @property
    def rows(self) -> list[int]:
        """The rows that differ."""
        every = np.any(list(self.wrong.values()), axis=0)
        return (self.first_row + np.flatnonzero(every)).tolist()

    @property
    def what(self) -> str | None:
        """The first tensor that differs, in the order in which a tile computes them."""
        return next((x for x in ("m", "l", "O", "lse") if self.wrong[x].any()), None)


def _apart(mine: Numbers, true: Numbers, allowed: Numbers | float) -> Numbers:
    """Return where two arrays differ by more; −∞ is met by anything lower than NOTHING."""
    with np.errstate(invalid="ignore"):
        near = np.abs(mine - true) <= allowed
    return ~np.where(np.isneginf(true), mine <= NOTHING, near & np.isfinite(mine))


def wrong_rows(case: Case, mine: dict[str, Numbers], true: Part, normalized: bool = True):
    """Return (tensor → rows that differ), of those tensors that there are; m, l and an O that is
    not ``normalized`` of rows that see no key yet are anything."""
    unit, empty = case.unit, true.l == 0
    size = 1.0 if normalized else np.where(empty, 0, true.l)
    found: dict[str, Numbers] = {x: np.zeros(len(true.m), bool) for x in ("m", "l", "O", "lse")}
    for name, x in mine.items():
        if name == "m":
            found[name] = _apart(x, true.m, case.delta + unit * np.abs(np.where(empty, 0, true.m)))
        elif name == "l":
            found[name] = _apart(x, true.l, (2 * case.delta + 4 * unit) * true.l) & ~empty
        elif name == "lse":
            large = np.maximum(1, np.abs(np.where(empty, 0, true.lse)))
            found[name] = _apart(x, true.lse, 2 * case.delta + 4 * unit * large)
        else:
            scale = np.broadcast_to(size, len(true.m))[:, None]
            apart = _apart(x, true.O * scale, case.allowed * scale).any(axis=1)
            is_state = not normalized or "m" in mine
            found[name] = np.asarray(apart & ~(empty & is_state))
    return found


def judge_final(case: Case, seen: Seen) -> tuple[Numbers, Tile | None]:
    """Return which rows of any head are right at the end, and of the first row block that is not
    its last tile; the first wrong head decides."""
    right = np.ones(case.n_q, bool)
    first = None
    for head in np.ndindex(case.q.shape[:2]):
        true = case.part(head=head)
        mine = {"O": seen.O[head]} | ({} if seen.lse is None else {"lse": seen.lse[head]})
        wrong = wrong_rows(case, mine, true)
        bad = wrong["O"] | wrong["lse"]
        right &= ~bad
        if bad.any() and first is None:
            first = final_tile(case, seen, int(np.argmax(bad)) // case.block_q, head)
    return right, first


def final_tile(case: Case, seen: Seen, i: int, head: tuple[int, ...] = (0, 0)) -> Tile:
    """Return the last tile of a row block with what it stored."""
    rows = slice(i * case.block_q, min((i + 1) * case.block_q, case.n_q))
    last = case.n_k - 1
    if case.causal:
        last = max(0, min(last, rows.stop - 1 + case.offset))
    whole = case.part(rows, head=head)  # type: ignore[arg-type]
    mine = {"O": seen.O[head][rows]}
    if seen.lse is not None:
        mine["lse"] = seen.lse[head][rows]
    true = {"O": whole.O, "lse": whole.lse}
    wrong = wrong_rows(case, mine, whole)
    return Tile(i, last // case.block_k, rows.start, mine, true, wrong, head)


@dataclass(frozen=True)
class Convention:
    """How a function reports: in which tiles, m by ln 2 (``base2``), o divided by l each time."""

    block_q: int
    block_k: int
    base2: bool = False
    normalized: bool = False

    def convert(self, state: State) -> dict[str, Numbers | None]:
        """Return what was reported, m in natural units."""
        m = state.m / LOG2E if self.base2 and state.m is not None else state.m
        return {"m": m, "l": state.l, "O": state.o}


def conventions(case: Case, states: list[State]) -> list[Convention]:
    """List how a function may report, the likelier first: it may take the tile sizes that it is
    told, or its own, of which its reports show as many rows and about as many columns."""
    rows = max(len(next(x for x in (s.m, s.l, s.o) if x is not None)) for s in states)
    columns = max(s.j for s in states) + 1
    own = (2**p for p in range(12) if -(-case.n_k // 2**p) == columns)
    keys = {case.block_k: None} if columns <= -(-case.n_k // case.block_k) else {}
    keys |= {rows: None, next(own, -(-case.n_k // columns)): None}
    sizes = [(rows, size) for size in keys]
    forms = product((False, True), (False, True), sizes)
    return [Convention(*size, base2, normalized) for normalized, base2, size in forms]


def judge_states(case: Case, states: list[State], right: Numbers, how: Convention) -> list[Tile]:
    """Compare each report with what its row block knows of the keys it has visited so far, in
    whatever order. Where the end is right, a state may begin anew (split keys)."""
    block_q, block_k = how.block_q, how.block_k
    visited: dict[int, list[int]] = {}
    tiles = []
    for state in states:
        r0 = state.i * block_q
        rows = slice(r0, min(r0 + block_q, case.n_q))
        if r0 >= case.n_q or state.i < 0 or not 0 <= state.j * block_k < case.n_k:
            continue
        chain = visited.setdefault(state.i, [])
        reported = how.convert(state).items()
        mine = {name: x[: rows.stop - r0] for name, x in reported if x is not None}
        tile = _judge_state(case, state, rows, mine, [*chain, state.j], how)
        if tile.rows and right[rows].all():
            alone = _judge_state(case, state, rows, mine, [state.j], how)
            if not alone.rows:
                tile = alone
                chain.clear()
        chain.append(state.j)
        tiles.append(tile)
    return tiles


def _judge_state(
    case: Case, state: State, rows: slice, mine: dict[str, Numbers], visited: list[int], how
) -> Tile:
    """Compare what was reported with what these rows know of the visited key blocks."""
    starts = (np.arange(b * how.block_k, (b + 1) * how.block_k) for b in visited)
    keys = np.concatenate(list(starts))
    true = case.part(rows, np.unique(keys[keys < case.n_k]))
    O = true.O if how.normalized else true.O * true.l[:, None]
    wrong = wrong_rows(case, mine, true, how.normalized)
    return Tile(state.i, state.j, rows.start, mine, {"m": true.m, "l": true.l, "O": O}, wrong)


def best_convention(
    case: Case, states: list[State], right: Numbers
) -> tuple[Convention, list[Tile]]:
    """Return the convention under which the function goes wrong last, and its tiles."""

    def agreeing(tiles: list[Tile]) -> int:
        return next((n for n, tile in enumerate(tiles) if tile.rows), len(tiles))

    judged = []
    for how in conventions(case, states):
        judged.append((how, judge_states(case, states, right, how)))
        if agreeing(judged[-1][1]) == len(judged[-1][1]):
            break
    return max(judged, key=lambda x: agreeing(x[1]))


def find_tiles(
    case: Case, seen: Seen, function: Function, right: Numbers
) -> tuple[Convention, list[Tile], set[int]]:
    """Return the tiles of a function, from its reports or else from probes, which are added to what
    was ``seen``; how it reports them, and the numbers of keys at which probes can be trusted."""
    if seen.states:
        return *best_convention(case, seen.states, right), set()
    how, trusted, tiles = Convention(case.block_q, case.block_k), set(), []
    if case.q.shape[:2] == (1, 1):
        trusted = trusted_lengths(function, case)
        probe(function, case, list(probe_plan(case)), seen)
        tiles = judge_probes(case, seen, trusted, weighted_keys(function, case))
    return how, tiles, trusted


def first_wrong(
    case: Case, seen: Seen, how: Convention, tiles: list[Tile], last: Tile
) -> tuple[Tile, list[Tile]]:
    """Return the first wrong tile of a function whose end is wrong, and the tiles until then;
    ``last``: the last tile of the first row block whose end is wrong."""
    first = next((n for n, tile in enumerate(tiles) if tile.rows), None)
    unseen = not any(tile.rows for tile in tiles if tile.i == last.i)
    if first is not None and unseen and tiles[first].i > last.i:  # a row block without reports
        first = None
    if first is not None:
        return tiles[first], tiles[: first + 1]
    if seen.states and how.block_k == case.block_k:
        visited = {tile.j for tile in tiles if tile.i == last.i}
        last.j = min({*range(last.j + 1)} - visited, default=last.j)  # one was left out
    return last, tiles


def first_of_loop(
    case: Case, seen: Seen, loop: Function, size: tuple[int, int], tile: Tile, tiles: list[Tile]
) -> tuple[Tile, list[Tile]]:
    """Return the first wrong tile of a ``loop`` that gives the numbers of a function, and its tiles
    until then: it reports what of the function is seen from outside alone. A loop with tiles of
    another ``size`` is judged in these; told is the tile of the case that holds the first one. The
    numbers of the tile stay the function's own: of that tile where probes saw it wrong, else what
    was stored."""
    of_loop = replace(case, block_q=size[0], block_k=size[1])
    made, how = run(loop, case, True), Convention(*size)
    right, last = judge_final(of_loop, made)
    if last is None:
        return tile, tiles
    judged = judge_states(of_loop, made.states, right, how)
    first, until = first_wrong(of_loop, made, how, judged, last)
    is_told = size == (case.block_q, case.block_k)
    wrong = [first, *(x for x in judged if x.rows and not is_told)]
    at = min((x.i * size[0] // case.block_q, x.j * size[1] // case.block_k) for x in wrong)
    own = tile
    if (tile.i, tile.j) != at:
        own = final_tile(case, seen, at[0])
        own.j = at[1]
    before = [x for x in (until if is_told else tiles) if not x.rows and (x.i, x.j) < at]
    return (own, [*before, own]) if own.rows else (tile, tiles)


def wrongly_masked(case: Case, weighted: Numbers | None) -> Numbers:
    """Return the rows (Nq, Tc) of each key block in which a masked key has a weight, or some but
    not all visible keys have none: where all have none, a later tile may have lost them."""
    starts = np.arange(0, case.n_k, case.block_k)
    if weighted is None:
        return np.zeros((case.n_q, len(starts)), bool)
    visible = np.isfinite(case.scores(0, 0))
    added, missing, kept = (
        np.logical_or.reduceat(x, starts, axis=1)
        for x in (weighted & ~visible, visible & ~weighted, visible & weighted)
    )
    return added | (missing & kept)


def judge_probes(case: Case, seen: Seen, trusted: set[int], weighted: Numbers | None) -> list[Tile]:
    """Return the tiles in the order rows, keys, each with what probes saw of it. A row block that
    is right after the last tile that it sees, and wrong at the end, goes wrong in the next one.
    ``weighted`` (Nq, Nk): which keys have a weight with the mask, without which most probes are.
    """
    masked = wrongly_masked(case, weighted)
    by_keys: dict[int, list] = {}
    for rows, keys, O, lse in seen.probes:
        by_keys.setdefault(keys, []).append((rows, O, lse))
    tiles = []
    for i, r0 in enumerate(range(0, case.n_q, case.block_q)):
        rows = np.arange(r0, min(r0 + case.block_q, case.n_q))
        last, known = final_tile(case, seen, i), np.zeros(len(rows), bool)
        for keys in sorted(by_keys.keys() & trusted):
            if keys > (last.j + 1) * case.block_k:
                continue
            O, known = seen.O[0, 0, rows].copy(), np.zeros(len(rows), bool)
            lse = None if seen.lse is None else seen.lse[0, 0, rows].copy()
            for some, O_some, lse_some in by_keys[keys]:
                mine, theirs = np.nonzero(rows[:, None] == some[None, :])
                O[mine], known[mine] = O_some[theirs], True
                if lse is not None and lse_some is not None:
                    lse[mine] = lse_some[theirs]
            true = case.part(rows, slice(0, keys))
            found = {"O": O} if lse is None else {"O": O, "lse": lse}
            wrong = {x: y & known for x, y in wrong_rows(case, found, true).items()}
            expected, j = {"O": true.O, "lse": true.lse}, keys // case.block_k - 1
            wrong["O"] = wrong["O"] | masked[rows, j]
            tiles.append(Tile(i, j, r0, found, expected, wrong))
        if (
            tiles
            and tiles[-1].i == i
            and tiles[-1].j == last.j
            and known.all()
            and not tiles[-1].rows
        ):
            last.j += 1
        beyond = np.flatnonzero(masked[rows].any(axis=0))
        last.j = max(last.j, int(beyond[0])) if beyond.size else last.j
        tiles.append(last)
    return tiles
