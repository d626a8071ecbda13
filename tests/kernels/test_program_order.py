"""The order of FA-2's programs, as the kernel itself takes them, is the one that is simulated."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from explainer.memory.workload import Workload
from explainer.parallel import launch
from kernels import INTERPRETED, fa2, gradients
from kernels.configs import Config
from kernels.forward import ForwardInputs
from kernels.spec import launches, masks

interpreter_only = pytest.mark.skipif(
    not INTERPRETED, reason="the interpreter takes programs one by one and can be watched"
)


@interpreter_only
@pytest.mark.parametrize("mask", ["full", "causal", "causal&window:20,0"])
def test_the_backward_passs_programs_run_in_the_simulated_order(mask, monkeypatch):
    """Each loads the lse of the row blocks that its key block meets; it is known by its turn."""
    from triton.runtime.interpreter import interpreter_builder as builder

    n, block, heads = 40, 16, 3
    load, seen = builder.create_masked_load, []

    def watched(pointers, *rest):
        if pointers.data.ndim == 1 and gradients.keys_kernel is running[0]:
            seen.append((int(builder.grid_idx[0]), int(np.asarray(pointers.data).flat[0])))
        return load(pointers, *rest)

    running = [gradients.keys_kernel]
    monkeypatch.setattr(builder, "create_masked_load", watched, raising=False)
    q = torch.ones(1, heads, n, 16)
    lse = torch.zeros(1, heads, n)
    gradients.backward(q, None, q, q, q, q, lse, mask=mask, block_m=block, block_n=block)
    first, last = lse.data_ptr(), lse.data_ptr() + lse.nbytes
    loads = [(program, (at - first) // 4) for program, at in seen if first <= at < last]
    w = Workload(n=n, d=16, block_q=block, block_k=block, heads=heads, mask=mask)
    launched = launch.programs(w, "fa2", pass_="backward")
    for program, (head, visits) in enumerate(zip(launched.head, launched.visits, strict=True)):
        mine = [at for p, at in loads if p == program]
        assert {at // n for at in mine} == {head} and len(mine) == visits
    assert len(loads) == launched.visits.sum()


@interpreter_only
@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize("batch, heads, most", [(1, 1, 16), (1, 16, 16), (2, 9, 16), (1, 7, 3)])
def test_programs_run_in_the_simulated_order(batch, heads, most, causal, monkeypatch):
    """Each program stores its row block's lse once: the addresses tell which one it was."""
    from triton.runtime.interpreter import interpreter_builder as builder

    n, block = 40, 16
    rows = -(-n // block)
    store, seen = builder.create_masked_store, []

    def watched(pointers, value, mask, *rest):
        if pointers.data.ndim == 1:
            seen.append(int(np.asarray(pointers.data).flat[0]))
        return store(pointers, value, mask, *rest)

    monkeypatch.setattr(builder, "create_masked_store", watched, raising=False)
    monkeypatch.setattr(launches, "SECTION_HEADS", most)
    q = torch.ones(batch, heads, n, 16)
    config = Config(block, block, 4, 1)
    _, lse = fa2.prepare(ForwardInputs(q, q, q, masks.of(causal), 0.25, config))(q, q, q)
    at = (np.array(seen) - lse.data_ptr()) // 4
    found = [(int(a // n), int(a % n) // block) for a in at]
    w = Workload(n=n, d=16, block_q=16, block_k=16, batch=batch, heads=heads, causal=causal)
    launched = launch.programs(w, "fa2")
    assert found == list(zip(launched.head.tolist(), launched.row.tolist(), strict=True))
    assert len(found) == batch * heads * rows
