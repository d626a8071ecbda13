"""The PTX of the Hopper forward and of the fp8 kernel, run by the PTX machine: judged by the rule
of every kernel, and beside the same roundings by PyTorch."""

import pytest

from tests.kernels.hopper.conftest import PROBLEMS

pytestmark = pytest.mark.filterwarnings("ignore")


# Edges on both sides, rules of every kind, packed sequences, a long tile of which one warpgroup
# skips the last blocks; the last five in fp8, and the last of all with rising maxima.
@pytest.mark.parametrize("problem", PROBLEMS["forward"], ids=str)
def test_is_exact(ask, problem):
    assert ask(problem)["fault"] == ""


@pytest.mark.parametrize("planted", PROBLEMS["forward, planted"], ids=str)
def test_finds_a_planted_fault(ask, planted):
    """S is read too early, O sent before it is written, or Q loaded before O has left its place; of
    fp8 also two of four keys exchanged, exp off where it is linear, and O not scaled."""
    assert ask(planted)["fault"] != ""
