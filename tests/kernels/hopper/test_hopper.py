"""The fast Hopper variant: the peers' grid on a GPU; what it refuses and needs, anywhere."""

from dataclasses import replace
from functools import partial
from itertools import product

import pytest
import torch

import kernels
from kernels import hopper
from kernels.hopper import launch, plans
from tests.kernels.attention_checks import (
    PEERS_LENGTHS,
    assert_attention,
    full_and_causal,
    hopper_only,
    make_qkv,
    of_each_width,
)

LENGTHS = [*PEERS_LENGTHS, (1, 1), (4096, 4096)]
SHARED_BYTES = 227 * 1024  # of a thread block on Hopper
REGISTERS = 65_536  # of an SM

judge = partial(assert_attention, attend=hopper.flash_attention)


@hopper_only
@pytest.mark.parametrize("dtype", ["bf16", "fp16"])
@full_and_causal
@of_each_width
@pytest.mark.parametrize(("n_q", "n_k"), LENGTHS)
def test_peers_grid(n_q, n_k, d, causal, dtype):
    q, k, v = make_qkv(n_q, d, n_k=n_k, batch=2, heads=3, dtype=dtype)
    o, lse = judge(q, k, v, causal=causal)
    again, lse_again = hopper.flash_attention(q, k, v, causal=causal, return_lse=True)
    assert torch.equal(o, again) and torch.equal(lse, lse_again), "repeats are bit-equal"


@hopper_only
@full_and_causal
@of_each_width
def test_many_heads_grouped_keys_strides_and_large_logits(d, causal):
    judge(*make_qkv(257, d, batch=5, heads=40, dtype="bf16"), causal=causal)
    judge(*make_qkv(300, d, batch=2, heads=8, k_heads=2, dtype="fp16"), causal=causal)
    judge(*make_qkv(515, d, dtype="bf16", q_by=5.0, kv_by=3.0), causal=causal)
    q, k, v = (x.transpose(1, 2) for x in make_qkv(6, d, batch=2, heads=400, dtype="bf16"))
    judge(q, k, v, causal=causal, scale=0.3)


@hopper_only
@pytest.mark.parametrize("order", ["rows", "pairs", "queue"])
@of_each_width
def test_every_schedule_gives_the_same(d, order):
    plan = replace(plans.TABLE[d, True], order=order)
    judge(*make_qkv(1536, d, batch=2, heads=12, dtype="bf16"), causal=True, plan=plan)


NARROW = (192, 128), (160, 96), (96, 128), (256, 32)  # v has another head dimension


@hopper_only
@full_and_causal
@pytest.mark.parametrize(("d", "d_v"), NARROW)
def test_values_of_another_head_dimension(d, d_v, causal):
    for n_q, n_k, dtype in ((300, 515, "bf16"), (1024, 1024, "fp16")):
        q, k, v = (make_qkv(n_q, x, n_k=n_k, batch=2, heads=3, dtype=dtype) for x in (d, d, d_v))
        assert kernels.which(q[0], k[1], v[2], causal=causal).kernel == "hopper"
        judge(q[0], k[1], v[2], causal=causal)
        judge(q[0], k[1], v[2], mask="window:99,70", score="softcap:9")


PLANS = [(d, d, plan) for (d, _), plan in plans.TABLE.items()] + [
    (d, d_v, plans.choose(d, kernels.spec.masks.parse(mask), 99, 99, score, d_v=d_v))
    for d, d_v in (*((d, d) for d in plans.TABLED), (192, 128))
    for mask, score in product(("full", "causal&chunk:9"), ("none", "softcap", "alibi"))
]


def test_the_table_is_by_mask():
    assert all(plan.causal == causal for (_, causal), plan in plans.TABLE.items())


@pytest.mark.parametrize(("d", "d_v", "plan"), PLANS)
def test_plans_fit_shared_memory_and_registers(d, d_v, plan):
    numbers = plan.q_tiles * plan.block_m * d + (0 if plan.o_in_q else plan.block_m * d_v)
    numbers += plan.stages * plan.block_n * (d + d_v)
    assert numbers * 2 + 1024 <= SHARED_BYTES
    # the producer's one warp counts as a warpgroup of four
    per_thread = plan.consumers * plan.consumer_registers + plan.producer_registers
    assert 128 * per_thread <= REGISTERS


def test_refuses_in_a_sentence():
    q, k, v = (torch.zeros(1, 1, 16, 64, dtype=torch.bfloat16) for _ in range(3))
    reason = hopper.why_not(q, k, v)
    assert reason.endswith(".") and reason.count(". ") == 0
    with pytest.raises(ValueError, match="Hopper"):
        hopper.flash_attention(q, k, v)


@pytest.mark.parametrize(("d", "d_v", "wrong"), [(100, 100, 100), (192, 24, 24), (136, 256, None)])
def test_which_head_dimensions_it_takes(d, d_v, wrong):
    q, v = (torch.zeros(1, 1, 16, width, dtype=torch.bfloat16) for width in (d, d_v))
    reason = launch.unsupported_tensors("kernel", q, q, v, None)
    said = f"d = {wrong}: the Hopper kernel takes multiples of 8, 32 to 256."
    assert reason == (said if wrong else "")
