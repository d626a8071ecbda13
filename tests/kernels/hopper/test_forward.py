"""The PTX of the Hopper forward, run by the PTX machine, judged by the rule of every kernel."""

import pytest

from tests.kernels.hopper.conftest import PROBLEMS

pytestmark = pytest.mark.filterwarnings("ignore")
# Edges on both sides, rules of every kind, packed sequences; the last has a long tile of which one
# warpgroup skips the last blocks.
RIGHT = PROBLEMS["forward"]


@pytest.mark.parametrize("problem", RIGHT, ids=str)
def test_is_exact(ask, problem):
    assert ask(problem)["fault"] == ""


@pytest.mark.parametrize("planted", PROBLEMS["forward, planted"], ids=str)
def test_finds_a_planted_fault(ask, planted):
    """S is read too early, or O sent before it is written."""
    assert ask({**RIGHT[6], "plant": planted})["fault"] != ""
