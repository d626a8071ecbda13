"""What a run without ``--full`` leaves out is never a pair."""

from __future__ import annotations

from itertools import combinations, product

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.pairs import cover

SHAPES = ["ragged", "thin", "one", "even"]


def every_pair(rows) -> set[tuple]:
    """Written apart from tests/pairs.py: (parameter, its value, another, its value)."""
    return {(a, row[a], b, row[b]) for row in rows for a, b in combinations(range(len(row)), 2)}


@settings(max_examples=40)
@given(st.lists(st.integers(1, 4), min_size=1, max_size=4), st.data())
def test_each_pair_of_any_product_is_met(sizes, data):
    rows = list(product(*map(range, sizes)))
    rows = [r for r in rows if data.draw(st.booleans())] if len(rows) < 40 else rows
    kept = [rows[k] for k in cover(rows)] if rows else []
    assert every_pair(kept) == every_pair(rows) and len(set(kept)) == len(kept)
