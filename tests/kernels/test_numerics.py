"""O and lse against float64, in the interpreter or on the GPU."""

import pytest
import torch

import kernels
from kernels import fa2, launching, orders
from kernels.orders import ORDERS
from tests.kernels.attention_checks import (
    DEVICE,
    assert_attention,
    full_and_causal,
    in_each_dtype,
    make_qkv,
)


@full_and_causal
@pytest.mark.parametrize("block", [16, 12])
def test_nothing_beyond_n_is_read_or_written(block, causal):
    """q, k, v are views of larger buffers full of NaN; O is compared with a run on plain copies."""
    n, d = 37, 12
    plain = make_qkv(n, d, heads=2, dtype="fp16")
    planted = []
    for x in plain:
        buffer = torch.full((1, 2, 64, 16), float("nan"), dtype=x.dtype, device=DEVICE)
        buffer[:, :, :n, :d] = x
        planted.append(buffer[:, :, :n, :d])
    options = {"causal": causal, "block_m": block, "block_n": block}
    o, _ = assert_attention(*planted, **options)
    assert torch.equal(o, kernels.flash_attention(*plain, **options))


def test_canary_around_the_output(monkeypatch):
    """Every output is allocated inside a buffer of canaries; none of them may change."""
    buffers = []

    def guarded(*shape, dtype, device):
        size = int(torch.Size(shape).numel())
        buffer = torch.full((size + 128,), 12345.0, dtype=dtype, device=device)
        buffers.append((buffer, size))
        return lambda: buffer[64 : 64 + size].view(shape)

    q, k, v = make_qkv(37, 12, heads=2)
    monkeypatch.setattr(fa2, "allocator", guarded)
    monkeypatch.setattr(orders, "_calls", launching.Calls(orders.prepare))
    o, lse = kernels.flash_attention(q, k, v, block_m=8, block_n=8, return_lse=True)
    assert len(buffers) == 2
    for buffer, size in buffers:
        assert (buffer[:64] == 12345).all() and (buffer[64 + size :] == 12345).all()
    assert not (o == 12345).any() and not (lse == 12345).any()


@pytest.mark.pairwise
@pytest.mark.parametrize("order", ORDERS)
@in_each_dtype
@full_and_causal
@pytest.mark.parametrize(("q_by", "kv_by"), [(5.0, 3.0), (100.0, 100.0)])
def test_large_logits(dtype, causal, order, q_by, kv_by):
    """flash-attention's own overflow test; and scores of ±10⁴, of which exp of any over- or
    underflows without the running maximum."""
    q, k, v = make_qkv(67, 64, dtype=dtype, q_by=q_by, kv_by=kv_by)
    assert_attention(q, k, v, causal=causal, order=order, block_m=32, block_n=16)


@pytest.mark.parametrize("order", ORDERS)
def test_strides(order):
    """(B, N, H, d) storage, a transposed q, an expanded k and a v with every second column."""
    q0, k0, v0 = make_qkv(33, 16, batch=2, heads=2)
    q = q0.transpose(-1, -2).contiguous().transpose(-1, -2)
    k = k0[:, :1].expand(2, 2, 33, 16)
    v = torch.stack([v0, torch.full_like(v0, float("nan"))], -1).flatten(-2)[..., ::2]
    assert q.stride(-1) != 1 and k.stride(1) == 0 and v.stride(-1) == 2
    assert_attention(q, k, v, causal=True, order=order, block_m=16, block_n=16)
    bnhd = [x.transpose(1, 2).contiguous().transpose(1, 2) for x in (q0, k0, v0)]
    assert_attention(*bnhd, order=order, block_m=16, block_n=16)


@pytest.mark.parametrize("dtype", ["fp16", "bf16"])
def test_rounding_has_no_bias(dtype):
    """Truncation to 16 bits passes a rule on magnitudes, but shifts |O| down on average."""
    q, k, v = make_qkv(128, 32, dtype=dtype, heads=2)
    o = kernels.flash_attention(q, k, v, block_m=64, block_n=64).double()
    o_ref, _ = kernels.reference_attention(q, k, v)
    shift = ((o - o_ref) * o_ref.sign() / o_ref.abs()).median().item()
    unit = {"fp16": 2.0**-11, "bf16": 2.0**-8}[dtype]
    assert abs(shift) < 0.15 * unit, f"median relative shift {shift / unit:.2f} units of roundoff"


def test_the_reference_of_no_key_is_zero():
    q, k, v = make_qkv(3, 8)
    o, lse = kernels.reference_attention(q, k[:, :, :0], v[:, :, :0])
    assert not o.any() and lse.eq(float("-inf")).all()
