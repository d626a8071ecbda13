"""Split keys: the parts together are one softmax over all keys; programs; recorded rows."""

import itertools
import math

import numpy as np
import pytest

from explainer.algorithms.inputs import make_inputs
from explainer.base.records import load
from explainer.memory.workload import Workload
from explainer.parallel import split_keys
from explainer.problem import Problem
from kernels.spec.launches import parts_for
from tests.tables import table

ROWS = load("decode_nvidia_h200")["rows"]
SHARES, NEAREST = table(__file__).values()
SPLITS = (1, 2, 4, 8, 16, 32, 64)
# Relative error of a few dozen float64 operations on terms of one sign, with room.
EXACT = 1e-12


def softmax_of(q: np.ndarray, k: np.ndarray, v: np.ndarray) -> tuple[float, np.ndarray, float]:
    """m, O (d,) and lse of one row by the definition, in float64."""
    s = (k * q).sum(1) / math.sqrt(len(q))
    weights = np.exp(s - s.max())
    return s.max(), weights @ v / weights.sum(), np.log(weights.sum()) + s.max()


@pytest.mark.parametrize("splits", [1, 2, 3, 4, 7, 16, 37, 64, 100])
@pytest.mark.parametrize(("inputs", "gain"), [("random", 1.0), ("spike", 1.0), ("random", 300.0)])
@pytest.mark.parametrize(("n", "d"), [(16, 8), (37, 5), (1, 3)])
def test_parts_combine_to_one_softmax(n, d, inputs, gain, splits):
    problem = Problem(n=n, d=d, block_q=1, block_k=1, causal=False, inputs=inputs, gain=gain)
    parts, o, lse = split_keys.parts(problem, splits)
    q, k, v = (np.asarray(x, np.float64) for x in make_inputs(problem))
    _, expected, expected_lse = softmax_of(q[-1], k, v)
    np.testing.assert_allclose(o, expected, rtol=EXACT, atol=EXACT * np.abs(expected).max())
    assert lse == pytest.approx(expected_lse, rel=EXACT, abs=EXACT)
    # the parts are all the keys, once each and in order, and none is empty
    assert len(parts) == min(splits, n) and all(p.first < p.last for p in parts)
    ends = [0, *(p.last for p in parts)]
    assert ends == [*(p.first for p in parts), n]
    assert sum(p.weight for p in parts) == pytest.approx(1, rel=EXACT)
    for p in parts:  # each is the softmax of its own keys
        m, own, own_lse = softmax_of(q[-1], k[p.first : p.last], v[p.first : p.last])
        found, wanted = (p.m, p.lse, p.m + math.log(p.l), *p.O), (m, own_lse, own_lse, *own)
        np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(("heads", "splits", "rounds"), SHARES)
def test_the_share_of_the_card_at_work(heads, splits, rounds):
    share = split_keys.share_at_work(heads * splits, 132)
    assert share == pytest.approx(heads * splits / (rounds * 132))


@pytest.mark.parametrize(("n", "heads", "nearest_n", "nearest_heads"), NEAREST)
def test_the_nearest_recorded_rows(n, heads, nearest_n, nearest_heads):
    found = split_keys.recorded_rows(Workload(n=n, heads=heads, block_q=16, block_k=16))
    assert [r["splits"] for r in found if not only_ruled(r)] == list(SPLITS)
    assert {(r["n_k"], r["heads"]) for r in found} == {(nearest_n, nearest_heads)}
    assert all(r in ROWS for r in found)


def only_ruled(row: dict) -> bool:
    """A number of parts that is there because the rule chose it."""
    return row.get("rule", False) and row["splits"] not in SPLITS


def test_the_record_is_whole_and_was_right():
    """Errors against float64, bf16: O is below 1 there, half a last place of it is 2⁻⁹; a part's O
    is rounded too, and the sum of parts again."""
    cases = itertools.product((4096, 16_384, 65_536), (1, 16), SPLITS)
    ours = [r for r in ROWS if "splits" in r]
    found = [(r["n_k"], r["heads"], r["splits"]) for r in ours if not only_ruled(r)]
    assert found == list(cases)
    for r in ROWS:
        if r.get("method") in split_keys.SDPA and "refused" in r:
            assert r["refused"]
            continue
        assert 0 < r["p20_ms"] <= r["median_ms"] <= r["p80_ms"]
        assert r["error"] <= 2 * 2**-9
    one, sixteen = (
        {r["splits"]: r["median_ms"] for r in ours if (r["n_k"], r["heads"]) == (65_536, h)}
        for h in (1, 16)
    )
    assert min(one.values()) < one[1] / 4 and min(sixteen.values()) < sixteen[1] / 2


def test_a_record_has_the_rule_and_each_backend_once_a_problem():
    """The rule is that of the H200's 132 multiprocessors."""
    for n, heads in itertools.product((4096, 16_384, 65_536), (1, 16)):
        here = split_keys.nearest_rows(Workload(n=n, heads=heads))
        (ruled,) = (r for r in here if r.get("rule"))
        assert ruled["splits"] == parts_for(heads, n, 132) and ruled["loop_ms"] > 0
        assert [r["method"] for r in here if "splits" not in r] == list(split_keys.SDPA)
