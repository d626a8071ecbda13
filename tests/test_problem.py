"""A Problem is what the address says, or one sentence."""

import dataclasses
from urllib.parse import parse_qs, urlencode

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from explainer.algorithms.inputs import make_inputs
from explainer.base.fields import FIELDS, ProblemError
from explainer.pages.step import values
from explainer.problem import Problem
from explainer.views.downloads import describe_scores
from kernels.spec.fields import CACHES, DTYPES, INPUT_NAMES, ORDERS
from tests import by_hand
from tests.tables import table

GENERATED = tuple(name for name in INPUT_NAMES if name != "own")
MASKS = (
    "full",
    "causal",
    *by_hand.PRESETS,
    "causal & prefix:3 | chunk:5",
    *by_hand.drawn_masks(20, 16),
)
HEADS = ("q_heads", "kv_heads", "head")
OF_HEADS = ((1, 1, 0), (1, 1, 0), (4, 2, 3), (6, 1, 0), (128, 128, 127))
SCORES = ("none", "none", "softcap:30", "alibi & scale:0.5", "bias:1,-0.5")
CSV = "1, 0\n0,1\n\n2;0\n0;-2.5\n\n\n1,2\n3,4e1\n"


@st.composite
def problems(draw, most_n: int = 16_384, most_d: int = 256) -> Problem:
    n = draw(st.integers(1, most_n))
    return Problem(
        n=n,
        d=draw(st.integers(1, most_d)),
        block_q=draw(st.integers(1, n)),
        block_k=draw(st.integers(1, n)),
        mask=draw(st.sampled_from(MASKS)),
        order=draw(st.sampled_from(ORDERS)),
        dtype=draw(st.sampled_from(DTYPES)),
        inputs=draw(st.sampled_from(GENERATED)),
        seed=draw(st.integers(0, 2**31 - 1)),
        text=draw(st.sampled_from(["", "a b", "to be or not to be", "ein Löwe & 3 Bären %20"])),
        gain=draw(st.sampled_from([1.0, 0.25, 3.5])),
        score=draw(st.sampled_from(SCORES)),
        sink=draw(st.sampled_from([None, None, 0.0, -1.5, 30])),
        dropout=draw(st.sampled_from([0.0, 0.0, 0.1, 0.999])),
        cache=draw(st.sampled_from(CACHES)),
        **dict(zip(HEADS, draw(st.sampled_from(OF_HEADS)), strict=True)),
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
def test_a_block_table_has_a_page_of_its_own_for_each_key_block(problem):
    paged = dataclasses.replace(problem, cache="paged", n=min(problem.n, 64), block_q=1, block_k=1)
    table = paged.block_table
    assert len({*table}) == len(table) == paged.Tc and {*table} < {*range(paged.pages)}
    assert dataclasses.replace(paged).block_table == table
    assert dataclasses.replace(paged, cache="contiguous").block_table is None
    assert Problem(cache="paged").block_table == (1, 5, 4, 0)


def test_defaults_and_short_addresses():
    assert Problem.from_query({}) == Problem()
    short = Problem.from_query({"n": "2"})
    assert (short.block_q, short.block_k) == (2, 2)
    assert Problem(n=16.0) == Problem(n="16") == Problem(n=" 16 ") == Problem()
    with pytest.raises(ProblemError, match=r"seed = \(empty\) is not allowed"):
        Problem(seed=None)
    with pytest.raises(dataclasses.FrozenInstanceError):
        Problem().n = 3


OWN = {"data": "own", "n": "2", "d": "2"}
LONG = {"n": "9" * 400, "d": "9" * 400, "mask": "x" * 9999, "score": "x" * 9999, "data": "a" * 9999}
BAD = [
    ({row["field"]: value, **row.get("beside", {})}, row["field"])
    for row in table(__file__)
    for value in row["values"]
]
BAD += [({field: value}, field) for field, value in LONG.items()]
BAD += [(OWN | {"text": "9" * 7000}, "text")]


@pytest.mark.parametrize(("query", "field"), BAD, ids=lambda x: repr(x)[:30])
def test_bad_input_is_one_sentence_with_field_value_and_range(query, field):
    with pytest.raises(ProblemError) as refused:
        Problem.from_query(query)
    text = str(refused.value)
    assert text.startswith(f"{field} = ") and "is not allowed: " in text
    assert text.endswith(".") and ". " not in text and text.isprintable()
    assert len(text) < 240, "a long value is cut"
    value = query[field]
    if isinstance(value, str) and value.isprintable() and 0 < len(value) <= 40:
        assert f"{field} = {value} is" in text


def test_own_data_travels_in_the_address():
    problem = Problem.from_query(OWN | {"text": CSV})
    assert Problem.from_query(problem.to_query()) == problem
    q, k, v = make_inputs(problem)
    np.testing.assert_array_equal(q, [[1, 0], [0, 1]])
    np.testing.assert_array_equal(k, [[2, 0], [0, -2.5]])
    np.testing.assert_array_equal(v, [[1, 2], [3, 40]])
    louder = make_inputs(Problem.from_query(problem.to_query() | {"gain": "2"}))
    np.testing.assert_array_equal(louder[0], 2 * q)
    np.testing.assert_array_equal(louder[1], k)
    assert "text" not in Problem(text="nobody reads this").to_query()
    assert "gain" not in Problem(gain=1).to_query()


@pytest.mark.parametrize(
    ("text", "where"),
    [
        (CSV.replace("-2.5", "x"), "cell 2 in row 2 of K is “x”"),
        (CSV.replace("4e1", "4e9"), "cell 2 in row 2 of V is “4e9”"),
        (CSV.replace("4e1", "4,1"), "row 2 of V has 3 numbers, the first row of Q 2"),
    ],
)
def test_own_data_that_cannot_be_read_is_named_by_row_and_cell(text, where):
    """Of RP 10: neither was named."""
    with pytest.raises(ProblemError, match=where):
        Problem.from_query(OWN | {"text": text})


@given(
    st.dictionaries(st.sampled_from([field.key for field in FIELDS.values()]), st.text()),
)
def test_no_text_crashes_it(query):
    try:
        problem = Problem.from_query(query)
    except ProblemError:
        return
    assert Problem.from_query(problem.to_query()) == problem


def test_mask_score_and_sink_in_the_address():
    asked = Problem(mask=" window:6,0 & causal | prefix:2", score="softcap:30 & alibi", sink=1)
    assert (str(asked.mask), str(asked.score)) == ("causal&window:6,0|prefix:2", "softcap:30&alibi")
    assert asked == Problem.from_query(asked.to_query()) and asked.sink == 1.0
    assert "mask=causal%26window%3A6%2C0%7Cprefix%3A2" in urlencode(asked.to_query())
    assert asked.rules == {"mask": str(asked.mask), "score": "softcap:30&alibi", "sink": 1.0}
    plain = Problem()
    assert Problem(score="none", sink="") == Problem(sink=None) == plain
    keys = ["n", "d", "br", "bc", "mask", "order", "dtype", "data", "seed"]
    assert list(plain.to_query()) == keys and plain.rules == {"mask": "causal"}


@pytest.mark.parametrize(
    ("texts", "one"),
    [
        (("2", "2.0", " 2 ", "2e0", "+2"), "2"),
        (("10000", "1e4"), "10000"),
        (("7.1234567890123",), "7.1234567890123"),
    ],
)
@pytest.mark.parametrize("key", ["gain", "sink", "rope"])
def test_a_number_has_one_text_wherever_it_stands(key, texts, one):
    """As the browser writes it: in addresses, in controls, in what a file is called."""
    for text in texts:
        problem = Problem.from_query({key: text})
        assert problem.to_query()[key] == one
    assert values(Problem(sink=texts[0]))["sink"] == one
    assert describe_scores(Problem(sink=texts[-1]).to_query()) == f"causal, sink {one}"


def test_heads_in_the_address():
    asked = Problem.from_query({"hq": "8", "hk": "2", "head": "5"})
    assert (asked.q_heads, asked.kv_heads, asked.head, asked.kv_head) == (8, 2, 5, 1)
    assert Problem.from_query(asked.to_query()) == asked
    kv_heads = [Problem(q_heads=6, kv_heads=3, head=h).kv_head for h in range(6)]
    assert kv_heads == [0, 0, 1, 1, 2, 2]


@pytest.mark.parametrize("causal", [True, False])
def test_the_masks_place_takes_what_causal_takes(causal):
    same = {Problem(12, 4, 5, 3, causal, "fa1"), Problem(12, 4, 5, 3, causal=causal, order="fa1")}
    assert same == {Problem(12, 4, 5, 3, "causal" if causal else "full", "fa1")}
