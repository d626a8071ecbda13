"""The order of FA-2's programs, as the kernel itself takes them, is the one that is simulated."""

import pytest
import torch

from explainer.memory.workload import Workload
from explainer.parallel import launch
from kernels import fa2, gradients
from kernels.configs import Config
from kernels.forward import ForwardInputs
from kernels.spec import launches, masks
from tests.kernels.attention_checks import interpreter_only

N, BLOCK = 40, 16


def watch(monkeypatch: pytest.MonkeyPatch, name: str) -> list[tuple[int, int]]:
    """The list of (program, address) to which the interpreter adds each load or store of rows."""
    from triton.runtime.interpreter import interpreter_builder as builder

    real, seen = getattr(builder, name), []

    def watched(pointers, *rest):
        if pointers.data.ndim == 1:
            seen.append((int(builder.grid_idx[0]), int(pointers.data[0])))
        return real(pointers, *rest)

    monkeypatch.setattr(builder, name, watched, raising=False)
    return seen


@interpreter_only
@pytest.mark.parametrize("mask", ["full", "causal", "causal&window:20,0"])
def test_the_backward_passs_programs_run_in_the_simulated_order(mask, monkeypatch):
    """Each loads the lse of the row blocks that its key block meets; it is known by its turn."""
    seen = watch(monkeypatch, "create_masked_load")
    q, lse = torch.ones(1, 3, N, 16), torch.zeros(1, 3, N)
    gradients.backward(q, None, q, q, q, q, lse, mask=mask, block_m=BLOCK, block_n=BLOCK)
    first, last = lse.data_ptr(), lse.data_ptr() + lse.nbytes
    loads = [(program, (at - first) // 4) for program, at in seen if first <= at < last]
    w = Workload(n=N, d=16, block_q=BLOCK, block_k=BLOCK, heads=3, mask=mask)
    launched = launch.programs(w, "fa2", pass_="backward")
    for program, (head, visits) in enumerate(zip(launched.head, launched.visits, strict=True)):
        mine = [at for p, at in loads if p == program]
        assert {at // N for at in mine} == {head} and len(mine) == visits
    assert len(loads) == launched.visits.sum()


@interpreter_only
@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize("batch, heads, most", [(1, 1, 16), (1, 16, 16), (2, 9, 16), (1, 7, 3)])
def test_programs_run_in_the_simulated_order(batch, heads, most, causal, monkeypatch):
    """Each program stores its row block's lse once: the addresses tell which one it was."""
    seen = watch(monkeypatch, "create_masked_store")
    monkeypatch.setattr(launches, "SECTION_HEADS", most)
    q = torch.ones(batch, heads, N, 16)
    config = Config(BLOCK, BLOCK, 4, 1)
    _, lse = fa2.prepare(ForwardInputs(q, q, q, masks.of(causal), 0.25, config))(q, q, q)
    at = [(address - lse.data_ptr()) // 4 for _, address in seen]
    w = Workload(n=N, d=16, block_q=BLOCK, block_k=BLOCK, batch=batch, heads=heads, causal=causal)
    launched = launch.programs(w, "fa2")
    wanted = zip(launched.head.tolist(), launched.row.tolist(), strict=True)
    assert [(a // N, a % N // BLOCK) for a in at] == [*wanted]
    assert len(at) == batch * heads * 3
