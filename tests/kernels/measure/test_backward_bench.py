"""The benchmark of the backward pass: its errors, ratios and options; on a GPU one problem."""

import pytest
import torch

from kernels.measure import backward
from kernels.measure.contenders import NotAvailable, random_tensors
from kernels.spec.cases import BenchmarkCase
from tests.kernels.attention_checks import interpreter_only


def rows(**ms_of) -> list[dict]:
    """Two problems, each contender with a time for each."""
    return [
        {"method": name, "n": n, "d": 64, "mask": "full", "dtype": "bf16", "median_ms": ms}
        for name, times in ms_of.items()
        for n, ms in zip((1024, 4096), times, strict=False)
    ]


def test_ratios_are_of_the_problems_that_both_ran():
    found = backward.ratios(
        rows(hopper=(1.0, 8.0), sdpa_cudnn=(2.0, 4.0), fa4=(3.0,)), "sdpa_cudnn"
    )
    assert found["hopper"] == {"least": 0.5, "geomean": 1.0, "points": 2}
    assert found["fa4"] == {"least": 0.667, "geomean": 0.667, "points": 1}
    assert "sdpa_cudnn" not in found


@interpreter_only
def test_errors_are_naive_attentions_and_a_fault_is_seen():
    problem = BenchmarkCase(32, 16, "causal", "fp16", 1, 2)
    q, k, v = random_tensors(problem, device="cpu")
    grad_o = random_tensors(problem, seed=1, device="cpu")[0]
    right = backward.gradient_of("readable", problem, q, k, v, grad_o)
    wrong = lambda: [x * 1.1 for x in right()]  # noqa: E731
    found = backward.errors({"right": right, "wrong": wrong}, problem, q, k, v, grad_o)
    for key, naive in found["naive"].items():
        assert 0 < found["right"][key] <= 4 * naive < found["wrong"][key]
    with pytest.raises(NotAvailable, match="Hopper"):
        backward.gradient_of("hopper", problem, q, k, v, grad_o)


@pytest.mark.gpu
def test_one_problem_is_measured():
    problem = BenchmarkCase(512, 64, "causal", "bf16", 1, 4)
    for row in backward.measure(problem, ("readable", "sdpa_flash"), 3):
        assert row["median_ms"] > 0 and row["error"]["dQ"] <= 4 * row["naive_error"]["dQ"]
    assert torch.cuda.is_available()
