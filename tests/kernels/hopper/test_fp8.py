"""The PTX of the fp8 kernel, run by the PTX machine, beside the same roundings by PyTorch."""

import pytest

pytestmark = pytest.mark.filterwarnings("ignore")
SIZES = {"n_q": 96, "n_k": 150, "batch": 1, "heads": 2, "k_heads": 1, "dtype": "bf16"}
COMMON = {"d": 64, "causal": False, "two_level": False, "programs": 2, "late": True, "seed": 0}


@pytest.mark.parametrize(
    "problem",
    [
        {"d": 128, "two_level": True},
        {"d": 64, "causal": True, "n_q": 300, "n_k": 100, "late": False, "seed": 4},
        {"d": 128, "causal": True, "n_q": 320, "n_k": 384, "heads": 1, "seed": 8},
        {"d": 64, "n_k": 384, "batch": 2, "programs": 3, "seed": 7},
    ],
    ids=str,
)
def test_gives_the_same_as_pytorch(ask, problem):
    assert ask({**SIZES, **COMMON, **problem})["fault"] == ""


@pytest.mark.parametrize(
    ("pattern", "new"),
    [
        ("{%low, %high}", "{%high, %low}"),  # two of four keys exchanged
        ("-1082613052", "-1090000000"),  # exp off where it is linear
        ("wgmma.wait_group.sync.aligned 1;", "wgmma.wait_group.sync.aligned 2;"),  # S too early
    ],
)
def test_finds_a_planted_fault(ask, pattern, new):
    assert ask({**SIZES, **COMMON, "plant": (pattern, new)})["fault"] != ""
