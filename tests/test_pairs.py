"""What a run without ``--full`` leaves out is never a pair."""

from __future__ import annotations

from itertools import combinations, product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.pairs import choose, cover, row_of

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


@pytest.mark.pairwise
@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("dtype", ["fp32", "fp16", "bf16"])
@pytest.mark.parametrize(("n", "shape"), list(enumerate(SHAPES)))
def test_a_marked_one(n, shape, dtype, causal):
    assert SHAPES[n] == shape


def test_pytest_runs_the_chosen_ones(request):
    """Of the tests above: fewer than the product, every pair, and the same ones every time."""
    items = [i for i in request.session.items if i.originalname == "test_a_marked_one"]
    if not items:
        pytest.skip("this test was run alone: the one above was not collected")
    rows = [tuple(i.callspec.params[k] for k in ("shape", "dtype", "causal")) for i in items]
    whole = list(product(SHAPES, ["fp32", "fp16", "bf16"], [False, True]))
    assert every_pair(rows) == every_pair(whole)
    assert len(rows) == len(whole) if request.config.getoption("--full") else len(rows) == 12
    assert choose(items)[0] == choose(items)[0]
    assert row_of(items[0]) == ("[0, 'ragged']", "['fp32']", "[False]")
