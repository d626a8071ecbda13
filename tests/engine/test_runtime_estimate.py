"""What the line says of its waits follows the runs that ended, but for the first of a life."""

import pytest

from explainer.engine import admission
from explainer.engine.requests import RunRequest
from explainer.engine.results import unknown_machine
from explainer.engine.runtime_estimate import LEAST, MOST, RuntimeEstimate
from tests.tables import table


def test_the_first_run_of_a_life_says_nothing():
    estimate = RuntimeEstimate()
    estimate.learn(1, 9.0, 1.0)  # it loaded torch and Triton
    assert estimate.factor == 1.0
    for _ in range(20):
        estimate.learn(1, 3.0, 1.0)
    assert abs(estimate.factor - 3.0) < 0.01
    estimate.learn(2, 9.0, 1.0)
    assert abs(estimate.factor - 3.0) < 0.01


def test_a_run_that_nothing_was_expected_of_and_a_clock_that_jumped_teach_little():
    estimate = RuntimeEstimate()
    for took, expected in ((1.0, 1.0), (5.0, 0.0), (1e9, 1.0)):
        estimate.learn(1, took, expected)
    assert 1.0 < estimate.factor <= 1.0 + MOST
    for _ in range(50):
        estimate.learn(1, 0.0, 1.0)
    assert abs(estimate.factor - LEAST) < 0.01


CPU = unknown_machine("CPU, Triton interpreter") | {"interpreted": True}


@pytest.mark.parametrize(("query", "seconds"), table(__file__))
def test_what_is_expected_before_anything_ran_is_near_what_was_measured(query, seconds):
    """Of RP 14: it was two to three times too long."""
    assert 2 / 3 < admission.expected_s(RunRequest.from_query(query), CPU) / seconds < 3 / 2


def test_the_longest_sequence_of_one_head_runs_in_the_kernel_s_own_tiles():
    """Of RP 14: the page said up to 4,096 tokens and refused them."""
    query = {"n": str(admission.INTERPRETER_N), "br": "auto", "bc": "auto"}
    assert admission.refuse(RunRequest.from_query(query), CPU) is None
