"""A Problem is what the address says, or one sentence."""

from __future__ import annotations

import dataclasses
from urllib.parse import parse_qs, urlencode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from explainer.problem import DTYPES, INPUT_NAMES, ORDERS, Problem, ProblemError


@st.composite
def problems(draw, most_n: int = 16_384, most_d: int = 256) -> Problem:
    n = draw(st.integers(1, most_n))
    return Problem(
        n=n,
        d=draw(st.integers(1, most_d)),
        block_q=draw(st.integers(1, n)),
        block_k=draw(st.integers(1, n)),
        causal=draw(st.booleans()),
        order=draw(st.sampled_from(ORDERS)),
        dtype=draw(st.sampled_from(DTYPES)),
        inputs=draw(st.sampled_from(INPUT_NAMES)),
        seed=draw(st.integers(0, 2**31 - 1)),
    )


@given(problems())
def test_round_trip_through_the_address(problem):
    address = urlencode(problem.to_query())
    query = {k: v[0] for k, v in parse_qs(address, strict_parsing=True).items()}
    assert Problem.from_query(query) == problem
    others = {"step": "3", "phase": "max", "mode": "present", "page": "run", "utm": "x"}
    assert Problem.from_query(query | others) == problem
    assert hash(Problem.from_query(query)) == hash(problem)


@given(problems())
def test_tile_counts_cover_the_rows(problem):
    assert (problem.Tr - 1) * problem.block_q < problem.n <= problem.Tr * problem.block_q
    assert (problem.Tc - 1) * problem.block_k < problem.n <= problem.Tc * problem.block_k


def test_defaults_and_short_addresses():
    assert Problem.from_query({}) == Problem()
    short = Problem.from_query({"n": "2"})
    assert (short.block_q, short.block_k) == (2, 2)
    assert Problem(n=16.0) == Problem(n="16") == Problem()
    with pytest.raises(dataclasses.FrozenInstanceError):
        Problem().n = 3


NUMBERS = ["", " 1", "x", "7.5", "1e3", "1e400", "nan", "-0x1", "１６", "٣", "9" * 400, "1;2"]
BAD = [
    *[({"n": value}, "n") for value in [*NUMBERS, "0", "-1", "16385", None, [], {}, True, 7.5]],
    *[({"d": value}, "d") for value in [*NUMBERS, "0", "257", float("nan"), float("inf")]],
    *[({"br": value}, "br") for value in ["0", "17", "x", 1e300]],
    *[({"bc": value, "n": "8"}, "bc") for value in ["0", "9", None]],
    *[({"mask": value}, "mask") for value in ["", "Causal", "1", None, True, ["causal"]]],
    *[({"order": value}, "order") for value in ["xyz", "FA2", "", 2, {}]],
    *[({"dtype": value}, "dtype") for value in ["fp8", "", None]],
    *[({"data": value}, "data") for value in ["../x", "<script>", "\x00", "a" * 9999]],
    *[({"seed": value}, "seed") for value in ["-1", str(2**31), "1.5"]],
]


@pytest.mark.parametrize(("query", "field"), BAD, ids=lambda x: repr(x)[:30])
def test_bad_input_is_one_sentence_with_field_value_and_range(query, field):
    with pytest.raises(ProblemError) as refused:
        Problem.from_query(query)
    text = str(refused.value)
    assert text.startswith(f"{field} = ") and "is not allowed: " in text
    assert text.endswith(".") and ". " not in text and text.isprintable()
    assert len(text) < 200, "a long value is cut"
    value = query[field]
    if isinstance(value, str) and value.isprintable() and 0 < len(value) <= 40:
        assert f"{field} = {value} is" in text


@given(
    st.dictionaries(
        st.sampled_from(["n", "d", "br", "bc", "mask", "order", "dtype", "data", "seed"]), st.text()
    )
)
def test_no_text_crashes_it(query):
    try:
        problem = Problem.from_query(query)
    except ProblemError:
        return
    assert Problem.from_query(problem.to_query()) == problem
