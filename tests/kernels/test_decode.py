"""Decoding: keys in parts, the parts combined, against float64 attention to all keys."""

import itertools
import math
from functools import partial

import pytest
import torch

from kernels import decode
from kernels.configs import DECODE
from kernels.decode import decode_attention
from kernels.launching import observe_launches
from kernels.spec.launches import MAX_PARTS, MIN_KEYS, parts_for
from tests.kernels.attention_checks import (
    DEVICE,
    assert_attention,
    in_each_dtype,
    interpreter_only,
    make_qkv,
)
from tests.tables import table


@pytest.fixture(autouse=True)
def poisoned(monkeypatch):
    """Memory that a launch is given holds NaN: what no program writes cannot go unseen."""
    empty = torch.empty

    def filled(*shape, **options):
        x = empty(*shape, **options)
        return x.fill_(math.nan) if x.is_floating_point() else x

    def make(*shape, **options):
        return lambda: filled(*shape, **options)

    monkeypatch.setattr(torch, "empty", filled)
    monkeypatch.setattr(decode, "allocator", make)


assert_right = partial(assert_attention, attend=decode_attention)


@pytest.mark.pairwise
@pytest.mark.parametrize("parts", [None, 1, 2, 3, 4, 5, 6, 7])
@in_each_dtype
@pytest.mark.parametrize("n_q, causal, n_k, heads, k_heads, d", table(__file__))
def test_decoding_is_attention(n_q, causal, n_k, heads, k_heads, d, dtype, parts):
    # With 4 queries of 3 keys the first row sees none, and most parts have none; 68 rows that share
    # a key head are two row blocks.
    q, k, v = make_qkv(n_q, d, n_k=n_k, batch=2, heads=heads, k_heads=k_heads, dtype=dtype)
    assert_right(q, k, v, causal=causal, parts=parts)


@pytest.mark.parametrize("scale", [-0.4, 0.0, 3.0])
@pytest.mark.parametrize("parts", [1, 4])
def test_any_scale(scale, parts):
    q, k, v = make_qkv(4, 16, n_k=70, dtype="bf16")
    assert_right(q, k, v, causal=True, scale=scale, parts=parts)


@pytest.mark.parametrize("parts", [1, 3])
@pytest.mark.parametrize("order", [(0, 2, 1, 3), (3, 2, 1, 0), (2, 0, 3, 1)])
def test_any_strides(order, parts):
    """In memory the dimensions lie in this order; one more tensor has a stride of 0."""
    back = [order.index(i) for i in range(4)]
    q, k, v = (
        x.permute(order).contiguous().permute(back)
        for x in make_qkv(3, 20, n_k=50, batch=2, heads=4, k_heads=2, dtype="fp16")
    )
    assert not k.is_contiguous()
    assert_right(q, k, v, causal=True, parts=parts)
    assert_right(q, k[:, :1].expand_as(k), v, parts=parts)
    assert_right(q, k[:, :, 1::3], v[:, :, ::3][:, :, : (k.shape[2] + 1) // 3], parts=parts)


def test_lse_need_not_be_kept():
    q, k, v = make_qkv(2, 16, n_k=100, dtype="fp16")
    for parts in (1, 4):
        both = decode_attention(q, k, v, parts=parts, return_lse=True)
        assert torch.equal(decode_attention(q, k, v, parts=parts), both[0])


@interpreter_only
def test_one_part_is_one_launch():
    for launches in (1, 2):
        seen = []
        with observe_launches(lambda kernel, arguments, seen=seen: seen.append(kernel)):
            assert_right(*make_qkv(1, 16, n_k=64), parts=launches)
        assert len(seen) == launches


def test_as_many_parts_as_there_may_be():
    assert_right(*make_qkv(1, 20, n_k=40, dtype="bf16"), parts=MAX_PARTS)


def test_parts_of_very_different_size():
    """One part has all the weight, and the first of them none that fp32 could hold."""
    q, k, v = make_qkv(1, 16, n_k=96)
    k[:, :, :80] -= 40 * q
    assert_right(q, k, v, parts=6)


@pytest.mark.parametrize("sms", [1, 8, 132])
def test_the_rule(sms):
    for programs, n_k in itertools.product((1, 2, 7, 64, 200, 5000), (1, 127, 128, 1000, 1 << 20)):
        parts = parts_for(programs, n_k, sms)
        assert 1 <= parts <= 256
        if parts > 1:
            assert parts * programs <= 2 * sms and n_k / parts >= 128
        more = parts + 1
        assert more > 256 or more * programs > 2 * sms or n_k / more < 128


def test_a_tile_is_never_larger_than_a_part_may_be():
    for config in DECODE["cuda"].values():
        assert config.block_n <= MIN_KEYS


@pytest.mark.parametrize(("n_q", "n_k", "batch"), [(1, 0, 2), (0, 8, 2), (1, 8, 0)])
def test_nothing_to_do(n_q, n_k, batch):
    q = torch.ones(batch, 2, n_q, 16, device=DEVICE)
    k = torch.ones(batch, 1, n_k, 16, device=DEVICE)
    o, lse = decode_attention(q, k, k, return_lse=True)
    assert o.shape == q.shape and not o.any()
    assert lse.shape == q.shape[:3] and lse.isneginf().all()
