"""Requests round-trip, and what is out of range is refused in one sentence."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from explainer.base.fields import ProblemError
from explainer.engine.requests import METHODS, RunRequest, Sweep
from explainer.problem import Problem
from kernels.spec.fields import PASSES
from tests.tables import table


@given(
    st.integers(1, 4096),
    st.integers(1, 256),
    st.sets(st.sampled_from(list(METHODS)), min_size=1),
    st.integers(1, 4),
    st.integers(1, 8),
    st.booleans(),
    st.booleans(),
    st.sampled_from(PASSES),
)
def test_round_trip(n, d, methods, batch, heads, auto_q, auto_k, pass_):
    blocks = {} if auto_q or auto_k else {"block_q": min(n, 7), "block_k": min(n, 9)}
    query = {"n": str(n), "d": str(d), "b": str(batch), "h": str(heads)}
    query |= {"methods": ",".join(methods), "br": "auto" if auto_q else str(min(n, 7))}
    query |= {"bc": "auto" if auto_k else str(min(n, 9)), "pass": pass_}
    asked = RunRequest.from_query(query)
    assert RunRequest.from_query(asked.to_query()) == asked
    assert ("pass" in asked.to_query()) == (pass_ == "backward") == (asked.pass_ == "backward")
    assert set(asked.methods) == methods and (asked.auto_q, asked.auto_k) == (auto_q, auto_k)
    if blocks:
        assert (asked.problem.block_q, asked.problem.block_k) == tuple(blocks.values())


def test_defaults_are_naive_and_the_order_of_the_lesson():
    assert RunRequest.from_query({"order": "fa1"}).methods == ("naive", "fa1")
    assert RunRequest.from_query({"order": "fa1"}).problem.order == "fa1"
    assert RunRequest.from_query({}) == RunRequest(Problem())


def test_order_is_the_first_method_with_tiles():
    assert RunRequest(Problem(order="standard"), ("fa1", "fa2")).problem.order == "fa2"
    assert RunRequest(Problem(order="fa2"), ("naive",)).problem.order == "fa2"


def test_pages_are_the_picture_s_alone():
    """They change no number, and the kernels that Run compares read contiguous K and V."""
    paged = Problem(cache="paged")
    assert RunRequest(paged) == RunRequest(Problem())
    assert "kv" not in RunRequest.from_query(paged.to_query()).to_query()


def test_heads_are_those_of_the_problem():
    own = RunRequest.from_query({"h": "6"})
    assert own == RunRequest(Problem(), ("naive", "fa2"), 1, 6) and own.problem.kv_heads == 6
    query = {"hk": "2", "head": "4", "dropout": "0.5", "rope": "100"}
    shared = RunRequest.from_query({"h": "6", **query})
    assert shared == RunRequest.from_query({"hq": "6", **query})
    assert (shared.heads, shared.problem.kv_head) == (6, 1)
    assert shared.to_query().items() >= {"h": "6", **query}.items()
    assert RunRequest.from_query(shared.to_query()) == shared
    for each in ("", "each", None):
        assert RunRequest.from_query({"h": "6", "hk": each}) == own
    assert RunRequest.from_query({"hq": "6"}).problem.kv_heads == 1, "as a Problem has it"
    points = Sweep(64, kv_heads="4", dropout="0.1", longest=512).points()
    many = [point.case for point in points]
    assert {(p.heads, p.kv_heads, p.dropout) for p in many} == {(32, 4, 0.1)}
    assert Sweep(8, kv_heads="each") == Sweep(8, kv_heads=None)


BAD, BAD_SWEEPS = table(__file__).values()


@pytest.mark.parametrize(("field", "query"), BAD, ids=lambda x: str(x)[:40])
def test_bad_requests_are_one_sentence(field, query):
    with pytest.raises(ProblemError) as refused:
        RunRequest.from_query(query)
    text = str(refused.value)
    assert text.startswith(f"{field} = ") and text.endswith(".") and len(text) < 240


@pytest.mark.parametrize("methods", ["", [], ()])
def test_no_method_is_said_in_the_words_of_the_page(methods):
    with pytest.raises(ProblemError) as refused:
        RunRequest.from_query({"methods": methods})
    assert str(refused.value).startswith("Choose at least one method: Naive PyTorch, Standard,")
    with pytest.raises(ProblemError, match="Choose at least one method"):
        Sweep(64, "bf16", methods)


def test_blanks_around_a_value_are_not_seen():
    plain = RunRequest.from_query({"n": "16", "br": "auto", "h": "2", "gain": "2"})
    assert RunRequest.from_query({"n": "16 ", "br": " auto", "h": " 2", "gain": "2 "}) == plain
    spaced = RunRequest.from_query({"methods": "naive, fa2"})  # was refused (RP 8)
    assert spaced.methods == ("naive", "fa2")


@pytest.mark.parametrize("values", BAD_SWEEPS)
def test_bad_sweeps_are_one_sentence(values):
    with pytest.raises(ProblemError) as refused:
        Sweep(*values)
    assert str(refused.value).endswith(".")


def test_points_keep_tokens_and_width():
    swept = Sweep(128, "bf16", ("fa2",), 65536).points()
    points = [point.case for point in swept]
    assert [p.n for p in points[::2]] == [256 * 2**k for k in range(9)]
    assert all(p.heads == 16 and p.batch * p.n == max(p.n, 16384) for p in points)
    assert [p.mask for p in points] == ["full", "causal"] * 9
    assert all((p.score, p.sink, p.dropout) == ("none", None, 0.0) for p in points)
    other = Sweep(128, "bf16", ("fa2",), 512, " window:9,0 ", "alibi", 1).points()
    assert [p.case.mask for p in other] == ["full", "window:9,0"] * 2
    assert all((p.case.score, p.case.sink) == ("alibi", 1.0) for p in other)
    assert all(p.methods == ("fa2",) for p in swept)
