"""Memory needed against peaks recorded on a GPU, against what autograd keeps, and at the limit."""

import gc
import itertools
from collections import Counter
from dataclasses import replace
from functools import partial

import pytest
import torch

import kernels
from explainer.algorithms.registry import MAIN
from explainer.base.cards import CARDS
from explainer.engine import recorded
from explainer.memory import capacity
from explainer.memory.workload import Workload
from kernels.checks import DTYPES

FORMS = [kind + when for kind in ("standard", "fused") for when in ("", "_back")]


def workload_of(shape: tuple[int, int, int, int], dtype: str) -> Workload:
    batch, heads, n, d = shape
    return Workload(n=n, d=d, block_q=16, block_k=16, batch=batch, heads=heads, dtype=dtype)


def plain(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    return torch.softmax(q @ k.transpose(-1, -2) * q.shape[-1] ** -0.5, -1) @ v


def of(row: dict) -> Workload:
    return Workload(**{key: row[key] for key in ("n", "d", "batch", "heads", "dtype", "mask")})


@pytest.mark.parametrize(
    ("contender", "form", "least"), [("naive", "standard", 30), ("fa2", "fused", 36)]
)
def test_recorded_peaks_to_the_byte(contender, form, least):
    """PyTorch's allocator on an H200 saw these bytes and none more."""
    seen = Counter()
    for row in recorded.load()["rows"]:
        if row["method"] != contender or "peak_bytes" not in row:
            continue
        w = of(row)
        assert row["peak_bytes"] == capacity.beyond_inputs(w, form), row
        seen[w.is_causal] += 1
    assert seen[False] >= least and seen[True] >= least, seen


def test_peaks_are_the_record_s_beside_the_computed_bytes():
    found = capacity.peaks(Workload(d=64, dtype="fp16"))
    assert {peak.form for peak in found} == {"standard", "fused"}
    assert {peak.workload.d for peak in found} == {64}
    assert all(peak.recorded == peak.computed for peak in found)
    assert capacity.peaks(Workload(d=80)) == []


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(2, 3, 40, 16), (1, 1, 64, 64), (1, 4, 17, 80)])
def test_what_autograd_really_keeps(dtype, shape):
    q, k, v = (torch.randn(shape, dtype=DTYPES[dtype], requires_grad=True) for _ in range(3))
    kept: dict[int, int] = {}

    def pack(x: torch.Tensor) -> torch.Tensor:
        storage = x.untyped_storage()
        kept[storage.data_ptr()] = storage.nbytes()
        return x

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda x: x):
        o = plain(q, k, v)
    w = workload_of(shape, dtype)
    inputs = sum(x.untyped_storage().nbytes() for x in (q, k, v))
    assert sum(kept.values()) == inputs + capacity.saved_bytes(w, "standard")
    o.sum().backward()  # and that was enough
    assert q.grad is not None


def test_what_is_saved_against_the_tensors():
    w = Workload(n=1000, d=96, batch=2, heads=3, dtype="bf16")
    lse = 6 * 1000 * 4
    assert [capacity.saved_bytes(w, o) for o in MAIN] == [6 * 1000 * 1000 * 2, 2 * lse, lse]
    short = replace(w, n=32, d=256, block_q=16, block_k=16)  # S is gone when O comes: P and O
    assert capacity.beyond_inputs(short, "standard") == 6 * (32 * 32 + 32 * 256) * 2


def most_held(run) -> int:
    """The most bytes that PyTorch's allocator had given out at one time while this ran, scalars
    left out."""
    gc.collect()
    cpu = [torch.profiler.ProfilerActivity.CPU]
    with torch.profiler.profile(activities=cpu, profile_memory=True) as seen:
        run()
    events = (e.nbytes() for e in seen.profiler.kineto_results.events() if e.name() == "[memory]")
    return max(itertools.accumulate(size for size in events if abs(size) >= 64))


@pytest.mark.parametrize("form", ["standard_back", "fused_back"])
@pytest.mark.parametrize("shape", [(1, 2, 64, 16), (1, 1, 16, 32), (2, 3, 40, 16)])
def test_what_a_backward_pass_really_takes(form, shape):
    """Both passes, in fp32: what the interpreter converts on the way is none of the kernel's."""
    if form == "fused_back" and not kernels.INTERPRETED:
        pytest.skip("needs Triton's interpreter: a GPU's memory is not the CPU allocator's")
    q, k, v = (torch.randn(shape, requires_grad=True) for _ in range(3))
    d_o = torch.randn(shape)
    fused = partial(kernels.flash_attention, block_m=16, block_n=16)
    forward = plain if form == "standard_back" else fused

    def run():
        torch.autograd.grad(forward(q, k, v), (q, k, v), d_o)

    w = workload_of(shape, "fp32")
    run()  # tables and scalars that are kept from now on
    assert most_held(run) == capacity.beyond_inputs(w, form) - d_o.nbytes


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("card", CARDS)
@pytest.mark.parametrize(
    "w",
    [Workload(), Workload(d=1, heads=1), Workload(batch=64, heads=128, d=256, dtype="fp32")],
    ids=["16 heads", "one thin head", "8,192 wide heads"],
)
def test_longest_fits_and_one_more_does_not(w, card, form):
    n, room = capacity.longest(w, form, card), CARDS[card].hbm_bytes
    assert n > 0 and capacity.needed(w, form, n) <= room < capacity.needed(w, form, n + 1)
    more = capacity.longest(w, form, card, 2)
    assert n < more and capacity.needed(w, form, more) <= 2 * room


def test_nothing_fits_a_card_without_memory(monkeypatch):
    assert [capacity.round_down(n) for n in (7, 999, 1_234, 3_571_712)] == [
        7,
        999,
        1_230,
        3_570_000,
    ]
    monkeypatch.setitem(CARDS, "t4", replace(CARDS["t4"], hbm_bytes=100))
    assert capacity.longest(Workload(), "standard", "t4") == 0
