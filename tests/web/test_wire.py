"""What the browser receives, decoded here by the format's description alone."""

from __future__ import annotations

import gzip
import json
import struct
from dataclasses import replace

import numpy as np
import pytest

from explainer.algorithms import tiling
from explainer.algorithms.registry import lanes_of
from explainer.problem import Problem
from explainer.trace import TRACES, trace
from explainer.web.wire import KIND, pack, packed_gzip
from kernels.spec.fields import ORDERS
from tests import by_hand

PROBLEMS = [
    Problem(),
    Problem(order="fa1", n=37, d=12, block_q=5, block_k=16, dtype="bf16", inputs="random"),
    Problem(order="standard", n=29, block_q=16, block_k=6, causal=False, dtype="fp16"),
    Problem(n=6, block_q=2, block_k=2, d=16, inputs="sentence"),
    Problem(n=1, d=1, block_q=1, block_k=1),
    Problem(mask="causal&window:5,0|prefix:2", score="softcap:2&alibi", sink=1.5),
    Problem(mask="block:4x4,0.0,2.1", block_k=5, sink=-1),
]
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


def check_visits(problem, header, got, visits) -> None:
    """Compare the place, the phases and the transfers of every visit."""
    phases = header["phases"]
    assert len(got["v_i"]) == len(visits)
    for v, visit in enumerate(visits):
        here = [None if x < 0 else x for x in (got["v_i"][v], got["v_j"][v])]
        assert here == [visit.i, visit.j]
        assert tiling.KINDS[got["v_kind"][v]] == visit.kind
        assert header["stages"][got["v_stage"][v]] == visit.stage
        bits = int(got["v_phases"][v])
        assert tuple(p for k, p in enumerate(phases) if bits >> k & 1) == visit.phases
        moves = range(got["t_ptr"][v], got["t_ptr"][v + 1])
        for t, transfer in zip(moves, visit.transfers, strict=True):
            assert header["tensors"][got["t_tensor"][t]] == transfer.tensor
            assert ("read", "write", "add")[got["t_op"][t]] == transfer.op
            assert phases[got["t_phase"][t]] == transfer.phase
            assert got["t_bytes"][t] == transfer.nbytes
            block = got["t_block"][t]
            if not isinstance(transfer.block, int):
                block = tuple(int(x) for x in divmod(block, problem.Tc))
            assert block == transfer.block


MATRICES = ("Q", "K", "V", "O", "lse")
ROW_STATS = ("m_old", "m_new", "l_old", "l_new", "alpha", "row_max", "row_sum")
# pass → arrays of the trace; of tiles, {name: (of a visit, where none computes it)}; of visits,
# {the array that says where each begins: {name: of a visit}}
SENT = {
    "forward": (
        MATRICES,
        {"S": ("scores", -np.inf), "P": ("P", 0)},
        {"r_ptr": {f"r_{name}": name for name in ROW_STATS}, "a_ptr": {"acc": "O"}},
    ),
    "backward": (
        (*MATRICES, "dO", "D", "dQ", "dK", "dV"),
        {"S": ("scores", -np.inf), "slope": ("slope", 1)}
        | {name: (name, 0) for name in ("P", "dP", "dS")},
        {
            "a_ptr": {"part_dQ": "part_dQ", "acc_dQ": "dQ"},
            "c_ptr": {"acc_dK": "dK", "acc_dV": "dV"},
        },
    ),
}
RUNS = [(p, "forward") for p in PROBLEMS]
RUNS += [(replace(p, order=order), "backward") for p in PROBLEMS for order in ORDERS]


@pytest.mark.parametrize(
    ("problem", "pass_"),
    RUNS,
    ids=lambda x: x if isinstance(x, str) else f"{x.order}-n{x.n}-{x.mask}",
)
def test_everything_that_the_trace_says_arrives(problem, pass_):
    header, got = decode(pack(problem, pass_))
    true, p = TRACES[pass_](problem), problem
    assert header["query"] == p.to_query() and header["numbers"] and header["pass"] == pass_
    assert header["kind"] == str(KIND)
    assert header["problem"]["Tr"] == p.Tr and header["problem"]["scale"] == p.scale
    np.testing.assert_array_equal(got["tile_kind"], tiling.kinds(p))
    assert header["tile_counts"] == tiling.counts(p)
    assert set(header["totals"]["requested"]) == set(lanes_of(p.order, pass_))
    wholes, tiles, sums = SENT[pass_]
    for name in wholes:
        np.testing.assert_array_equal(got[name], getattr(true, name))
    check_visits(p, header, got, true.visits)
    assert ("slope" in got) == (pass_ == "backward" and p.score.changes)
    found = {name: np.full((p.n, p.n), x, "f4") for name, (_, x) in tiles.items() if name in got}
    for v, visit in enumerate(true.visits):
        r = slice(None) if visit.i is None else tiling.rows(p, visit.i)
        for name, whole in found.items():
            if (tile := getattr(visit, tiles[name][0])) is not None:
                whole[r, tiling.cols(p, visit.j)] = tile
        for pointer, arrays in sums.items():
            of_visit = slice(got[pointer][v], got[pointer][v + 1])
            for name, attribute in arrays.items():
                if (expected := getattr(visit, attribute)) is None:
                    assert np.isnan(got[name][of_visit]).all()
                else:
                    np.testing.assert_array_equal(got[name][of_visit], expected.ravel())
    for name, whole in found.items():
        np.testing.assert_array_equal(got[name], whole)
    if pass_ == "backward":
        assert header.get("dsink") == (None if p.sink is None else float(true.dsink))
        return
    hidden = np.zeros(true.S.shape, bool)
    if got["hidden"].size:
        hidden.flat[:] = np.unpackbits(got["hidden"], count=p.n**2)
    np.testing.assert_array_equal(np.where(hidden, -np.inf, got["S"]), true.S)


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
