"""Products of cases met pairwise: ``@pytest.mark.pairwise`` on a test with stacked parametrize.

Each value meets each value of every other parameter at least once, most triples do not; the whole
product runs with ``--full`` (``make test-all``). The names of tests stay as they are.
"""

from collections.abc import Hashable, Sequence
from itertools import combinations

Row = Sequence[Hashable]


def pairs(row: Row) -> set[tuple]:
    """The pairs of (parameter, value) that a case is."""
    return set(combinations(enumerate(row), 2))


def cover(rows: Sequence[Row]) -> list[int]:
    """Numbers of the rows that hold every pair of ``rows``: greedily, the first of the best."""
    missing = set().union(*map(pairs, rows))
    chosen = []
    while missing:
        best = max(range(len(rows)), key=lambda k: len(pairs(rows[k]) & missing))
        chosen.append(best)
        missing -= pairs(rows[best])
    return sorted(chosen)


def row_of(item) -> tuple[str, ...]:
    """A test's case: what each of its parametrize marks gave it."""
    names = [mark.args[0] for mark in item.iter_markers("parametrize")]
    names = [n.replace(" ", "").split(",") if isinstance(n, str) else n for n in names]
    return tuple(repr([item.callspec.params[n] for n in together]) for together in names)


def choose(items: list) -> tuple[list, list]:
    """(tests that run, tests left out): those marked ``full`` are, those not marked run."""
    marked: dict[tuple, list] = {}
    for item in items:
        if item.get_closest_marker("pairwise"):
            marked.setdefault((item.path, item.originalname), []).append(item)
    out = {item for item in items if item.get_closest_marker("full")}
    for group in marked.values():
        kept = set(cover([row_of(item) for item in group]))
        out |= {item for k, item in enumerate(group) if k not in kept}
    return [item for item in items if item not in out], [item for item in items if item in out]
