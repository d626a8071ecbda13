"""A model trained with our kernels learns as one trained with PyTorch's attention does."""

from __future__ import annotations

import pytest
import torch

from kernels import gradients
from kernels.measure import training

# Two row blocks and two key blocks per head in the interpreter, the last ones ragged.
SMALL = training.Sizes(layers=1, width=16, heads=1, length=72, batch=1, rate=3e-3)
STEPS = 4
DEVICE = "cuda" if torch.cuda.is_available() else "cpu"


def furthest_apart() -> float:
    """The largest relative difference of the two loss curves."""
    ours, theirs = (
        training.losses(attend, STEPS, SMALL, torch.float32, DEVICE)
        for attend in training.ATTENTIONS.values()
    )
    assert ours[0] > ours[-1], "it learns"
    return max(abs(a - b) / b for a, b in zip(ours, theirs, strict=True))


def test_the_losses_are_the_same_within_rounding():
    assert furthest_apart() < 1e-6


@pytest.mark.parametrize("fault", ["D", "dV"])
def test_a_fault_in_the_backward_pass_is_seen(monkeypatch, fault):
    """With D left out of dS, or one gradient zero."""
    right = gradients.backward

    def wrong(grad_o, grad_lse, q, k, v, o, *more, **how):
        if fault == "D":
            return right(grad_o, grad_lse, q, k, v, torch.zeros_like(o), *more, **how)
        dq, dk, dv, dsink = right(grad_o, grad_lse, q, k, v, o, *more, **how)
        return dq, dk, torch.zeros_like(dv), dsink

    monkeypatch.setattr(gradients, "backward", wrong)
    assert furthest_apart() > 1e-5
