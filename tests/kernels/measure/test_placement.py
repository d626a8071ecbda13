"""Stamps of real programs: on a GPU what they say is possible, and O stays as it was."""

import math
from dataclasses import replace

import pytest
import torch

import kernels
from kernels.configs import SHARED_KIB
from kernels.forward import ForwardInputs
from kernels.measure.contenders import random_tensors
from kernels.measure.inspection import compile_report
from kernels.measure.placement import RUNS, placement
from kernels.orders import ORDERS, config_for
from kernels.spec import masks
from kernels.spec.cases import BenchmarkCase

CASES = [("fa1", False), ("fa1", True), ("fa2", False), ("fa2", True)]
WHY = "needs a CUDA GPU: the interpreter has no clock and one program at a time"
on_gpu = pytest.mark.skipif(not torch.cuda.is_available() or kernels.INTERPRETED, reason=WHY)


@pytest.mark.skipif(not kernels.INTERPRETED and torch.cuda.is_available(), reason="there is a GPU")
@pytest.mark.parametrize("order", ["fa1", "fa2"])
def test_without_a_gpu_it_is_one_sentence(order):
    with pytest.raises(RuntimeError, match=r"^A schedule needs a CUDA GPU: [^.]*\.$"):
        placement(BenchmarkCase(64, 16, "full", "fp16", 1, 1), order)


@on_gpu
@pytest.mark.parametrize(("order", "causal"), CASES)
@pytest.mark.parametrize("n", [1024, 1000])
def test_a_schedule_is_possible(order, causal, n):
    problem = BenchmarkCase(n, 64, masks.of(causal).text, "bf16", 2, 24)
    found = placement(problem, order, runs=5)
    rows = -(-n // found["block_m"]) if order == "fa2" else 1
    assert len(found["programs"]) == 2 * 24 * rows
    sms = torch.cuda.get_device_properties(0).multi_processor_count
    assert found["sms"] == sms and len(found["makespans_us"]) == 5 < RUNS
    sm, start, end = torch.tensor(found["programs"]).T
    assert sm.min() >= 0 and sm.max() < sms
    assert start.min() == 0 and (start <= end).all()
    assert (end.max() - start.min()).item() / 1e3 == found["makespan_us"]
    assert found["makespans_us"] == sorted(found["makespans_us"])
    assert found["makespan_us"] == found["makespans_us"][2]
    # when one begins, at most as many run on its SM as the compiled kernel leaves room for
    major, minor = torch.cuda.get_device_capability()
    arch, tile = f"sm_{major}{minor}", (found["block_m"], found["block_n"])
    if arch not in SHARED_KIB:
        pytest.skip(f"{arch}: what one of its multiprocessors holds is not in the table")
    report = compile_report(arch, 64, "bf16", causal, *tile, order=order)
    for p in range(len(sm)):
        beside = (sm == sm[p]) & (start <= start[p]) & (start[p] < end)
        assert beside.sum() <= report["blocks_per_sm"]


@on_gpu
@pytest.mark.parametrize(("order", "causal"), CASES)
@pytest.mark.parametrize("n", [257, 1000])
def test_stamps_change_nothing(order, causal, n):
    """O with stamps is O without, bit by bit; and every row of the stamps was written."""
    q, k, v = random_tensors(BenchmarkCase(n, 64, masks.of(causal).text, "bf16", 2, 5))
    config = config_for(q)
    programs = 10 * (-(-n // config.block_m) if order == "fa2" else 1)
    stamps = torch.full((programs + 1, 3), -1, dtype=torch.int64, device="cuda")
    inputs = ForwardInputs(q, k, v, masks.of(causal), 1 / math.sqrt(64), config)
    stamped = ORDERS[order](replace(inputs, stamps=stamps))(q, k, v)[0]
    plain = ORDERS[order](inputs)(q, k, v)[0]
    assert torch.equal(stamped, plain)
    assert (stamps[:-1] >= 0).all() and (stamps[-1] == -1).all()  # one a program and no more
    assert (stamps[:-1, 1] <= stamps[:-1, 2]).all()
