"""Attention over the ranks of a process group: four processes, gloo, the interpreter."""

import numpy as np
import pytest
import torch

import kernels
from kernels.spec import layouts, masks
from tests.kernels.attention_checks import assert_attention, make_qkv
from tests.kernels.ring_ranks import Call, Ranks, random_call


@pytest.mark.parametrize("number", range(20))
def test_is_attention_of_one_device(ranks, number):
    ranks.judge(random_call(number))


@pytest.mark.parametrize("fault", ["rotation", "merge", "offset", "backward"])
def test_a_planted_fault_is_found(ranks, fault):
    call = Call(4, 32, 8, "causal&window:9,0", "head-tail", fault=fault)
    with pytest.raises(AssertionError, match=r"^(O|lse|d[QKV]): error|^lse must"):
        ranks.judge(call)


def test_gives_the_same_bits_again(ranks):
    call = Call(4, 40, 8, "causal", "head-tail", "bf16", k_heads=1, group=2)
    for first, second in zip(ranks.whole(call), ranks.whole(call), strict=True):
        assert torch.equal(first, second)


def test_rows_of_queries_and_keys_may_differ_in_number(ranks):
    """Aligned bottom-right over all ranks, as on one device."""
    found = ranks.ask("cross", 19, 40, "causal&window:9,3", "contiguous")
    q, k, v = make_qkv(19, 8, n_k=40)
    o = torch.cat([torch.from_numpy(o) for o, _ in found], 2)
    lse = torch.cat([torch.from_numpy(lse) for _, lse in found], 2)
    assert_attention(q, k, v, lambda *_, **__: (o, lse), mask="causal&window:9,3")


@pytest.mark.parametrize("layout", layouts.LAYOUTS)
def test_states_are_those_of_the_visited_tiles(ranks, layout):
    """Every tile that the mask leaves has one rank's m and l; a row ends at the whole row's."""
    call = Call(4, 32, 8, "causal", layout)
    each = ranks.ask("states", call, {"block_m": 4, "block_n": 4})
    seen = [~np.isnan(m[0, 0, :, :, 0]) for m, _ in each]
    tiles = masks.of(True).tiles(32, 32, 4, 4)
    assert (np.sum(seen, 0) == (tiles != 2)).all()
    _, lse = kernels.reference_attention(*call.tensors()[:3], causal=True)
    at = {"contiguous": 0, "head-tail": 1}[layout]  # row 25 is rank 3's, or rank 1's
    m, l = (x[0, 0, 6, :, 1] for x in each[(3, 1)[at]])
    last = m[:7] + np.log(l[:7])
    assert last.max() == pytest.approx(lse[0, 0, 25].item(), abs=1e-5)


def test_ranks_that_differ_are_refused(ranks):
    assert ranks.ask("differ") == [
        "The d of rank 3 is not that of rank 0: all ranks must make the same call.",
        "The d of rank 3 is not that of rank 1: all ranks must make the same call.",
        "The d of rank 3 is not that of rank 2: all ranks must make the same call.",
        "The d of rank 0 is not that of rank 3: all ranks must make the same call.",
    ]


@pytest.mark.parametrize(
    "how, refused",
    [
        ({"layout": "zigzag"}, "layout = 'zigzag' is not allowed: contiguous, head-tail."),
        ({}, "torch.distributed has no process group"),
    ],
)
def test_refuses_in_one_sentence(how, refused):
    x = torch.zeros(1, 1, 4, 8)
    with pytest.raises((ValueError, RuntimeError), match=refused):
        kernels.ring_attention(x, x, x, **how)


@pytest.mark.parametrize("how", ["killed", "asleep"])
def test_a_rank_that_ends_or_hangs(tmp_path, how):
    """Every other rank says so in one sentence within its 2 s, and no process is left."""
    own = Ranks(tmp_path)
    try:
        own.ask("attend", Call(4, 8, 4, "full", "contiguous"))  # all have started
        found = own.ask("hang", 2, how, but=2 if how == "killed" else None)
        for answer in found[:2] + found[-1:]:
            sentence, seconds = answer
            assert "has ended, hangs or made another call" in sentence and "\n" not in sentence
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
