"""The PTX of the fp8 kernel, run by the PTX machine, beside the same roundings by PyTorch."""

import pytest

from tests.kernels.hopper.conftest import PROBLEMS

pytestmark = pytest.mark.filterwarnings("ignore")
RIGHT = PROBLEMS["fp8"]


@pytest.mark.parametrize("problem", RIGHT, ids=str)
def test_gives_the_same_as_pytorch(ask, problem):
    assert ask(problem)["fault"] == ""


@pytest.mark.parametrize("planted", PROBLEMS["fp8, planted"], ids=str)
def test_finds_a_planted_fault(ask, planted):
    """Two of four keys exchanged, exp off where it is linear, S read too early."""
    assert ask({**RIGHT[0], "plant": planted})["fault"] != ""
