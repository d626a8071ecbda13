"""Attention over the ranks of a process group: four processes, gloo, the interpreter."""

from dataclasses import replace

import numpy as np
import pytest
import torch

import kernels
from kernels.spec import layouts
from tests.kernels.attention_checks import assert_attention, make_qkv
from tests.kernels.ring_ranks import ON_GPU, RANKS, Call, Ranks, random_call

pytestmark = pytest.mark.skipif(RANKS < 2, reason="needs two GPUs, or none")
of_four = pytest.mark.skipif(RANKS < 4, reason="needs four ranks")


@pytest.mark.parametrize("number", range(20))
def test_is_attention_of_one_device(ranks, number):
    ranks.judge(random_call(number))


@pytest.mark.gpu
@pytest.mark.parametrize("layout", layouts.LAYOUTS)
@pytest.mark.parametrize("mask", ["full", "causal", "causal&window:300,0", "document:0,500,900"])
@pytest.mark.parametrize("d, dtype", [(64, "fp16"), (128, "bf16")])
def test_is_attention_of_one_gpu(ranks, d, dtype, mask, layout):
    """Of sizes that the Hopper kernels take."""
    ranks.judge(Call(RANKS, 1500, d, mask, layout, dtype, k_heads=2, group=4))


@pytest.mark.gpu
def test_gpus_of_one_host_copy_and_agree_with_nccl(ranks):
    """To the bit; K and V grow meanwhile, and with them the memory that they are copied into."""
    for n in (40, 9000, 17000):
        call = Call(RANKS, n, 64, "causal", "head-tail", "bf16")
        with_nccl = replace(call, fault="no copies")
        assert all(map(torch.equal, ranks.whole(call), ranks.whole(with_nccl)))
    assert all(ranks.ask("copies"))


@pytest.mark.parametrize(
    "fault",
    [
        pytest.param(
            "rotation", marks=pytest.mark.skipif(RANKS == 2, reason="two ranks have one way round")
        ),
        *("merge", "offset", "backward"),
    ],
)
def test_a_planted_fault_is_found(ranks, fault):
    call = Call(RANKS, 32, 8, "causal&window:9,0", "head-tail", fault=fault)
    with pytest.raises(AssertionError, match=r"^(O|lse|d[QKV]): error|^lse must"):
        ranks.judge(call)


def test_gives_the_same_bits_again(ranks):
    call = Call(RANKS, 40, 8, "causal", "head-tail", "bf16", k_heads=1, group=2)
    assert all(map(torch.equal, ranks.whole(call), ranks.whole(call)))


@of_four
def test_rows_of_queries_and_keys_may_differ_in_number(ranks):
    """Aligned bottom-right over all ranks, as on one device."""
    found = ranks.ask("cross", 19, 40, "causal&window:9,3", "contiguous")
    q, k, v = make_qkv(19, 8, n_k=40)
    whole = [torch.from_numpy(np.concatenate(x, 2)) for x in zip(*found, strict=True)]
    assert_attention(q, k, v, lambda *_, **__: whole, mask="causal&window:9,3")


@of_four
def test_ranks_that_differ_are_refused(ranks):
    assert ranks.ask("differ") == [
        f"The d of rank {other} is not that of rank {rank}: all ranks must make the same call."
        for rank, other in ((0, 3), (1, 3), (2, 3), (3, 0))
    ]


@pytest.mark.parametrize(
    "how, refused",
    [
        ({"layout": "zigzag"}, "layout = 'zigzag' is not allowed: contiguous, head-tail."),
        ({}, "torch.distributed has no process group"),
    ],
)
def test_refuses_in_one_sentence(how, refused):
    x = torch.zeros(1, 1, 4, 8, device="cuda" if ON_GPU else "cpu")
    with pytest.raises((ValueError, RuntimeError), match=refused):
        kernels.ring_attention(x, x, x, **how)


@pytest.mark.parametrize("how", ["killed", "asleep"])
def test_a_rank_that_ends_or_hangs(tmp_path, how):
    """Every other rank says so in one sentence within its 2 s, and no process is left."""
    own = Ranks(tmp_path)
    try:
        own.ask("attend", Call(RANKS, 8, 4, "full", "contiguous"))  # all have started
        found = own.ask("hang", RANKS - 2, how, but=RANKS - 2 if how == "killed" else None)
        others = [answer for answer in found if answer != "slept"]
        assert len(others) == RANKS - 1
        for sentence, seconds in others:
            assert sentence.startswith("Rank ") and ". " not in sentence
            assert "closed its connection" in sentence or "did not answer within 2 s" in sentence
            assert seconds < 6
    finally:
        own.close()


@pytest.mark.parametrize("layout", layouts.LAYOUTS)
@pytest.mark.parametrize("n, devices", [(32, 4), (37, 4), (5, 3), (1, 2)])
def test_layouts_hold_each_row_once(n, devices, layout):
    counts = layouts.counts(n, devices, layout)
    rows = [np.arange(*run) for runs in layouts.runs(counts, layout) for run in runs]
    assert sorted(np.concatenate(rows)) == list(range(n))
    assert counts == tuple(
        Call(devices, n, 4, "full", layout).rows(rank).numel() for rank in range(devices)
    )
