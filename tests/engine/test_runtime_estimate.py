"""What the line says of its waits follows the runs that ended, but for the first of a life."""

from __future__ import annotations

from explainer.engine.runtime_estimate import LEAST, MOST, RuntimeEstimate


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
