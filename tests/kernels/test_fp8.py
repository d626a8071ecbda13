"""Inputs rounded to e4m3 with scales, and attention of them, where no Hopper GPU is."""

import math

import pytest
import torch

import kernels
from kernels import fp8
from kernels.spec.formats import FORMATS
from tests.kernels.attention_checks import (
    assert_same_roundings,
    hopper_only,
    make_qkv,
    of_64_and_128,
)

E4M3 = FORMATS["e4m3"]


def relative(found, expected):
    return ((found.double() - expected).norm() / expected.norm()).item()


@pytest.mark.parametrize("dtype", ["fp32", "fp16"])
@pytest.mark.parametrize(("n_q", "n_k", "d"), [(1, 1, 64), (100, 300, 64), (65, 129, 128)])
def test_rounded_inputs_stand_for_the_inputs(n_q, n_k, d, dtype):
    tensors = make_qkv(n_q, d, n_k=n_k, batch=2, heads=4, k_heads=2, dtype=dtype)
    tensors = [x.transpose(1, 2).contiguous().transpose(1, 2) for x in tensors]  # rows apart
    for x, rounded, axes in zip(
        tensors, kernels.quantize_fp8(*tensors).dequantize(), ((64, 3), (128, 3), (n_k, 2)),
        strict=True,
    ):  # fmt: skip
        rows, axis = axes
        for at in range(0, x.shape[2], rows):
            block, found = (y[:, :, at : at + rows].double().cpu() for y in (x, rounded))
            most = block.abs().amax(2 if axis == 2 else (2, 3), keepdim=True)
            # by hand: the format's own rounding of the block in units of its scale
            expected = torch.from_numpy(E4M3.round_to((block / most * 448).numpy())) * most / 448
            off, near = (found - expected).abs(), 1e-6 * most
            tie = near + 2 * E4M3.unit_roundoff * block.abs()
            assert (off <= tie).all(), "at most a tie may fall to the other side"
            assert (off > near).float().mean() < 0.01


@pytest.mark.parametrize("causal", [False, True])
@of_64_and_128
def test_is_attention_of_the_rounded_inputs(d, causal):
    q, k, v = make_qkv(150, d, n_k=333, heads=4, k_heads=2)
    o, lse = kernels.attention_fp8(q, k, v, causal=causal, return_lse=True)
    rounded = kernels.quantize_fp8(q, k, v).dequantize()
    expected, lse_expected = kernels.reference_attention(*rounded, causal=causal)
    # P is rounded to 4 bits, by 2.6 % in the mean square, and summed over many keys
    assert relative(o, expected) < 0.035
    assert (lse - lse_expected).abs().max() < 0.04  # exp is linear in places: 4 % at most
    assert relative(o, kernels.reference_attention(q, k, v, causal=causal)[0]) < 0.08


def test_scales_keep_what_plain_e4m3_loses():
    q, k, v = make_qkv(100, 64)
    k, v = k * 1e-3, v * 1e3
    q = q * 1e3
    expected, _ = kernels.reference_attention(q, k, v)
    assert relative(kernels.attention_fp8(q, k, v), expected) < 0.08
    plain = [x.clamp(-448, 448).to(torch.float8_e4m3fn).float() for x in (q, k, v)]
    assert relative(kernels.reference_attention(*plain)[0], expected) > 0.5


def test_a_row_that_sees_no_key_is_zero():
    q, k, v = make_qkv(5, 64, n_k=2)
    o, lse = kernels.attention_fp8(q, k, v, causal=True, return_lse=True)
    assert not o[:, :, :3].any() and lse[:, :, :3].eq(-math.inf).all()
    assert torch.isfinite(lse[:, :, 3:]).all()


def test_what_has_been_rounded_comes_without_k_and_v():
    q, k, v = make_qkv(5, 64)
    with pytest.raises(ValueError, match=r"^k and v are not allowed beside a Quantized"):
        kernels.attention_fp8(kernels.quantize_fp8(q, k, v), k, v)


@hopper_only
# The tensor cores add the d products of a score with about 14 bits. Where one key has most of a
# row's weight lse has that error of its score, which is 20 or more there.
@pytest.mark.parametrize(("sharp", "of_lse"), [(1, 2e-3), (5, 5e-2)])  # 5: maxima rise beyond slack
@pytest.mark.parametrize("two_level", [False, True])
@pytest.mark.parametrize("causal", [False, True])
@of_64_and_128
@pytest.mark.parametrize(("n_q", "n_k"), [(1, 1), (63, 200), (513, 1111), (300, 100), (2048, 2048)])
def test_hopper_computes_the_same_roundings(n_q, n_k, d, causal, two_level, sharp, of_lse):
    plan = (fp8.plans.FP8 if two_level else fp8.plans.FP8_ONE_LEVEL)[d, causal]
    q, k, v = make_qkv(n_q, d, n_k=n_k, batch=2, heads=4, k_heads=2, dtype="bf16")
    given = kernels.quantize_fp8(sharp * q, k, v)
    o = assert_same_roundings(given, causal, plan, 2**-6, of_lse)
    again = kernels.attention_fp8(given, causal=causal, plan=plan)
    assert torch.equal(o, again), "repeats are bit-equal"
