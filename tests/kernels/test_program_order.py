"""The order of FA-2's programs, as the kernel itself takes them, is the one that is simulated."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from explainer.memory.workload import Workload
from explainer.parallel import launch
from kernels import INTERPRETED, fa2, masks
from kernels.configs import Config

interpreter_only = pytest.mark.skipif(
    not INTERPRETED, reason="the interpreter takes programs one by one and can be watched"
)


@pytest.mark.parametrize("n", [16, 1000, 4096, 16_384, 32_768, 65_536])
@pytest.mark.parametrize("d", [1, 64, 100, 256])
def test_as_many_heads_side_by_side_as_the_kernel_takes(n, d):
    for dtype, itemsize in (("fp32", 4), ("bf16", 2)):
        w = Workload(n=n, d=d, block_q=16, block_k=16, dtype=dtype)
        assert launch.section(w) == fa2.section(n, d, itemsize) >= 1


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
    monkeypatch.setattr(fa2, "SECTION_HEADS", most)
    monkeypatch.setattr(launch, "SECTION_HEADS", most)
    q = torch.ones(batch, heads, n, 16)
    config = Config(block, block, 4, 1)
    _, lse = fa2.prepare(q, q, q, masks.of(causal), 0.25, config, "ieee")(q, q, q)
    at = (np.array(seen) - lse.data_ptr()) // 4
    found = [(int(a // n), int(a % n) // block) for a in at]
    w = Workload(n=n, d=16, block_q=16, block_k=16, batch=batch, heads=heads, causal=causal)
    launched = launch.programs(w, "fa2")
    assert found == list(zip(launched.head.tolist(), launched.row.tolist(), strict=True))
    assert len(found) == batch * heads * rows
