"""What the backward kernel reports of each tile is what the trace shows."""

import numpy as np
import pytest
import torch

import kernels
from explainer.engine.gradient_agreement import compare_gradients
from explainer.problem import Problem
from explainer.trace import trace_backward
from tests.kernels.attention_checks import DEVICE, DTYPES
from tests.tables import table

PROBLEMS = [Problem.from_query(query) for query in table(__file__)]


def made(problem: Problem):
    """The kernel's inputs, with O and lse of its own forward pass, and its options."""
    t = trace_backward(problem)
    q, k, v, grad_o = (
        torch.tensor(np.array(x))[None, None].to(DTYPES[problem.dtype]).to(DEVICE)
        for x in (t.Q, t.K, t.V, t.dO)
    )
    options = problem.rules | problem.blocks
    o, lse = kernels.flash_attention(q, k, v, return_lse=True, **options)
    options.pop("sink", None)  # lse has it already
    return (grad_o, q, k, v, o, lse), options


def reported(problem: Problem) -> list[np.ndarray]:
    tensors, options = made(problem)
    return [x[0, 0].cpu().numpy() for x in kernels.gradient_states(*tensors, **options)]


@pytest.mark.parametrize("problem", PROBLEMS, ids=lambda p: f"n{p.n}-{p.mask}-{p.dtype}")
def test_the_kernels_tiles_are_the_traces(problem):
    found = compare_gradients(problem, reported(problem))
    assert found["agrees"], found
    assert found["tiles"] == sum(v.part_dQ is not None for v in trace_backward(problem).visits)


@pytest.mark.parametrize("name", [0, 1, 2], ids=["dQ", "dK", "dV"])
def test_a_wrong_tile_is_seen(name):
    """One number of one tile a little off, a tile that is another one's, and one that is lost."""
    problem = Problem(dtype="fp16", n=20)
    found = reported(problem)
    assert compare_gradients(problem, found)["agrees"]
    states = found[name]
    for fault in (states[3, 1] + 0.02 * np.abs(states[3, 1]).max(), states[4, 1], np.nan):
        wrong = [x.copy() for x in found]
        wrong[name][3, 1] = fault
        assert not compare_gradients(problem, wrong)["agrees"]
