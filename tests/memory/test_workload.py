"""A Workload survives its address; each bad value gives one sentence with key, value and range."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from explainer.base.cards import CARDS
from explainer.base.fields import ProblemError
from explainer.memory.workload import KEYS, Workload
from kernels.spec.fields import DTYPES
from tests.tables import table


@st.composite
def workloads(draw: st.DrawFn) -> Workload:
    n = draw(st.integers(16, 65_536))
    block = st.integers(16, min(256, n))
    return Workload(
        card=draw(st.sampled_from(sorted(CARDS))),
        n=n,
        d=draw(st.integers(1, 256)),
        block_q=draw(block),
        block_k=draw(block),
        batch=draw(st.integers(1, 64)),
        heads=draw(st.integers(1, 128)),
        causal=draw(st.booleans()),
        dtype=draw(st.sampled_from(DTYPES)),
    )


@given(workloads())
def test_round_trip(workload):
    query = workload.to_query()
    assert tuple(query) == KEYS and all(isinstance(v, str) for v in query.values())
    assert Workload.from_query(query) == workload
    assert Workload.from_query(query | {"view": "grid", "seed": "7"}) == workload
    assert workload.itemsize == {"fp32": 4, "fp16": 2, "bf16": 2}[workload.dtype]
    assert workload.hardware is CARDS[query["card"]]


def test_defaults():
    assert Workload.from_query({}) == Workload()
    short = Workload.from_query({"n": "16"})
    assert (short.n, short.block_q, short.block_k) == (16, 16, 16)  # the tile shrinks with N
    long = Workload.from_query({"n": "5000", "br": "128"})
    assert (long.block_q, long.block_k) == (128, 64)
    assert Workload.from_query({"mask": "causal"}).is_causal
    assert not Workload.from_query({"mask": "full"}).is_causal


def test_a_kernels_own_tile():
    w = Workload(n=4096).with_tile({"block_m": 128, "block_n": 32, "num_warps": 8})
    assert w == Workload(n=4096, block_q=128, block_k=32)


@pytest.mark.parametrize(("key", "value", "allowed"), table(__file__))
def test_a_bad_value_is_refused_with_its_range(key, value, allowed):
    with pytest.raises(ProblemError, match=rf"(?s)^{key} = .* not .*{allowed}"):
        Workload.from_query({key: value})


@pytest.mark.parametrize("key", ["br", "bc"])
def test_no_block_is_longer_than_the_sequence(key):
    assert Workload.from_query({"n": "100", key: "100"})
    with pytest.raises(ProblemError, match=rf"{key} = 101 .* 16 to 100 \(N = 100\)\.$"):
        Workload.from_query({"n": "100", key: "101"})
