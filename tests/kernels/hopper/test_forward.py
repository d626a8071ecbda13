"""The PTX of the Hopper forward, run by the PTX machine, judged by the rule of every kernel."""

import pytest

pytestmark = pytest.mark.filterwarnings("ignore")
SIZES = {"n_q": 300, "n_k": 300, "batch": 1, "heads": 2, "k_heads": 1, "dtype": "bf16"}
COMMON = {"d": 128, "causal": False, "programs": 2, "late": True, "seed": 0}
PACKED = {"cuts": [[0, 130, 130, 300], [0, 260, 270, 300]], "heads": 1}


@pytest.mark.parametrize(
    "problem",
    [
        {"causal": True, "n_k": 400},
        {"d": 64, "n_q": 200, "late": False, "seed": 4},
        {"mask": "window:60,100", "n_q": 520, "n_k": 640, "heads": 1},  # edges on both sides
        {"d": 64, "mask": "causal&window:150,0", "n_q": 400, "n_k": 400, "heads": 1, "seed": 7},
        {"mask": "causal&window:200,0", "score": "alibi", "sink": 0.5, "seed": 8},
        {"d": 64, "score": "softcap:5", "n_q": 200, "late": False},
        {**PACKED, "programs": 3},
        {**PACKED, "d": 64, "causal": True, "dtype": "fp16"},
        # a long tile of which one warpgroup skips the last blocks
        {"cuts": [[0, 30, 160], [0, 600, 2500]], "n_q": 160, "n_k": 2500, "heads": 1},
    ],
    ids=str,
)
def test_is_exact(ask, problem):
    assert ask({**SIZES, **COMMON, **problem})["fault"] == ""


@pytest.mark.parametrize(
    ("pattern", "new"),
    [
        ("wgmma.wait_group.sync.aligned 1;", "wgmma.wait_group.sync.aligned 2;"),  # S too early
        ("fence.proxy.async.shared::cta;", ""),  # O sent before it is written
    ],
)
def test_finds_a_planted_fault(ask, pattern, new):
    assert ask({**SIZES, **COMMON, **PACKED, "plant": (pattern, new)})["fault"] != ""
