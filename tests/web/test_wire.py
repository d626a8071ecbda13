"""What the browser receives, decoded here by the format's description alone. That all numbers of a
trace arrive the scripts' own tests say (tests/js)."""

import gzip
import json
import struct
from dataclasses import replace

import numpy as np
import pytest

from explainer.algorithms import tiling
from explainer.problem import Problem
from explainer.trace import trace, trace_backward
from explainer.web.wire import KIND, pack, packed_gzip
from kernels.spec.fields import ORDERS
from tests import by_hand

LARGE = Problem(n=128, d=64, block_q=16, block_k=16, causal=False, inputs="random")


def decode(data: bytes) -> tuple[dict, dict[str, np.ndarray]]:
    magic, length = struct.unpack_from("<4sI", data)
    assert magic == b"FATR" and (8 + length) % 8 == 0
    header = json.loads(data[8 : 8 + length])
    arrays = {}
    for name, about in header["arrays"].items():
        assert about["offset"] % 8 == 0
        count = int(np.prod(about["shape"]))
        flat = np.frombuffer(data, "<" + about["dtype"], count, 8 + length + about["offset"])
        arrays[name] = flat.reshape(about["shape"])
    return header, arrays


def test_mask_score_and_sink_travel_and_cost_few_bytes():
    for mask in by_hand.PRESETS:
        p = Problem(mask=mask, score="softcap:2&bias:1,-1", sink=1.5)
        sent = decode(pack(p))[0]["problem"]
        assert sent["mask"] == str(p.mask) and sent["plain"] == (mask in ("full", "causal"))
        changes = [(x["name"], x["numbers"]) for x in sent["changes"]]
        assert changes == [("softcap", [2]), ("bias", [1, -1])] and sent["sink"] == 1.5
        assert len(packed_gzip(p)) <= 30_000 and len(packed_gzip(replace(p, sink=None))) <= 30_000
    plain = decode(pack(Problem()))[0]["problem"]
    assert (plain["score"], plain["changes"], plain["sink"]) == ("none", [], None)


@pytest.mark.parametrize(
    ("head", "slope", "unit"), [(0, 2**-1, "/ 2"), (7, 2**-8, "/ 256"), (3, 2**-4, "/ 16")]
)
def test_the_slope_of_the_chosen_head_travels(head, slope, unit):
    """ALiBi in head 0 of 8 subtracts 1.5 from a key three further away, not 3/256."""
    p = Problem(score="alibi", q_heads=8, kv_heads=8, head=head)
    (change,) = decode(pack(p))[0]["problem"]["changes"]
    assert (change["numbers"], change["code"]) == ([slope], f"S + (key − query) {unit}")


def test_heads_travel_where_there_are_several():
    p = Problem(q_heads=8, kv_heads=2, head=5, dtype="bf16")
    assert decode(pack(p))[0]["problem"]["heads"] == {
        "head": 5,
        "q_heads": 8,
        "kv_head": 1,
        "kv_heads": 2,
        "kv_bytes": 2 * 2 * 8 * 2,
    }
    assert "heads" not in decode(pack(Problem()))[0]["problem"]


def test_a_backward_pass_names_its_problem_what_is_added_and_the_gradient_of_its_sink():
    p = Problem(block_k=5, sink=-1)
    header, got = decode(pack(p, "backward"))
    true = trace_backward(p)
    assert (header["query"], header["kind"]) == (p.to_query(), str(KIND))
    assert header["dsink"] == float(true.dsink)
    assert got["t_op"].tolist() == [
        ("read", "write", "add").index(t.op) for v in true.visits for t in v.transfers
    ]


def test_sizes_and_determinism():
    default, large = packed_gzip(Problem()), packed_gzip(LARGE)
    assert len(default) <= 30_000 and len(large) <= 300_000
    for order in ORDERS:
        assert len(packed_gzip(Problem(order=order), "backward")) <= 45_000
        assert len(packed_gzip(replace(LARGE, order=order), "backward")) <= 800_000
    assert decode(gzip.decompress(large))[0]["numbers"]
    packed_gzip.cache_clear()
    assert packed_gzip(Problem()) == default, "the same bytes, so that caches agree"


def test_long_problems_travel_as_tiles_only():
    problem = Problem(n=4096, d=64, block_q=128, block_k=64)
    header, arrays = decode(pack(problem))
    assert not header["numbers"] and "S" not in arrays and "acc" not in arrays
    assert len(arrays["v_i"]) == sum(1 for k in tiling.kinds(problem).ravel() if k != 2)
    assert len(packed_gzip(problem)) <= 300_000
    backward, skeleton = decode(pack(problem, "backward"))
    assert not backward["numbers"] and "dS" not in skeleton


def test_display_only_arrays_are_near_in_half_precision():
    header, got = decode(pack(LARGE))
    assert header["arrays"]["acc"]["dtype"] == "f2"
    true = trace(LARGE)
    np.testing.assert_array_equal(got["S"], true.S)
    np.testing.assert_allclose(got["Q"].astype(np.float32), true.Q, rtol=2e-3, atol=1e-6)
