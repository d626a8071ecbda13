"""The Step page in e4m3 is `kernels.attention_fp8`: its numbers, its scales and its sums."""

from dataclasses import replace

import numpy as np
import pytest
import torch

import kernels
from explainer.algorithms.inputs import make_inputs, quantize
from explainer.problem import Problem
from explainer.trace import trace
from kernels.hopper import plans
from kernels.hopper.launch import why_not_here
from tests.kernels.attention_checks import DEVICE, of_64_and_128

TILES = {"block_q": 64, "block_k": 128}  # rows that share a scale in the kernel
KINDS = ["random", "outlier", "spike"]


def tensors(problem: Problem) -> list[torch.Tensor]:
    """The inputs before they are rounded, as the kernel gets them."""
    inputs = make_inputs(replace(problem, dtype="fp32"))
    return [torch.from_numpy(x.copy())[None, None].to(DEVICE) for x in inputs]


@pytest.mark.parametrize("inputs", KINDS)
@of_64_and_128
def test_the_rounded_numbers_are_the_kernels(d, inputs):
    problem = Problem(n=300, d=d, dtype="e4m3", inputs=inputs, **TILES)
    rounded = kernels.quantize_fp8(*tensors(problem)).dequantize()
    # A GPU divides by 448 with an error of two units in the last place, here it is exact.
    of_scale = 0 if DEVICE == "cpu" else 2**-21
    for mine, its in zip(quantize(problem).values(), rounded, strict=True):
        np.testing.assert_allclose(mine, its[0, 0].cpu().numpy(), rtol=of_scale)


@pytest.mark.parametrize("inputs", KINDS)
@pytest.mark.parametrize(("n", "mask"), [(128, "full"), (128, "causal"), (77, "full")])
@of_64_and_128
def test_one_key_block_is_the_kernels_own(n, mask, d, inputs):
    problem = Problem(n=n, d=d, mask=mask, dtype="e4m3", inputs=inputs, **TILES | {"block_k": n})
    is_causal = problem.is_causal
    plan = replace(plans.FP8[d, is_causal], linear=0)  # every exp is exp
    o, lse = kernels.attention_fp8(*tensors(problem), causal=is_causal, return_lse=True, plan=plan)
    found, o = trace(problem), o[0, 0].float().cpu().numpy()
    # A Hopper GPU adds the d products of a score as the trace does; PyTorch adds them in fp32.
    on_hopper = why_not_here(torch.device(DEVICE)) is None
    largest = np.abs(found.S[np.isfinite(found.S)]).max()
    np.testing.assert_allclose(
        lse[0, 0].cpu().numpy(), found.lse, atol=1e-5 if on_hopper else 2**-10 * largest
    )
    # exp may round P to the other neighbor: few numbers of O differ by more than bf16's rounding
    off = np.linalg.norm(o - found.O) / np.linalg.norm(found.O)
    assert off < (4e-3 if on_hopper else 1e-2)


def test_many_key_blocks_are_as_near_as_rounding_lets_them():
    """The kernel goes through them from the last one, so P is rounded in other units."""
    problem = Problem(n=512, d=64, mask="full", dtype="e4m3", **TILES)
    o, lse = kernels.attention_fp8(*tensors(problem), return_lse=True)
    found = trace(problem)
    off = np.linalg.norm(o[0, 0].float().cpu().numpy() - found.O) / np.linalg.norm(found.O)
    assert off < 0.05
    assert np.abs(lse[0, 0].cpu().numpy() - found.lse).max() < 0.04
