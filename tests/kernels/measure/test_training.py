"""A model trained with our kernels learns as one trained with PyTorch's attention does."""

import pytest
import torch

from kernels.measure import training

# Two row blocks and two key blocks per head in the interpreter, the last ones ragged.
SMALL = training.Sizes(layers=1, width=16, heads=1, length=72, batch=1, rate=3e-3)
STEPS = 4
DEVICE = "cuda" if torch.cuda.is_available() else "cpu"


def test_the_losses_are_the_same_within_rounding():
    ours, theirs = (
        training.losses(attend, STEPS, SMALL, torch.float32, DEVICE)
        for attend in training.ATTENTIONS.values()
    )
    assert ours[0] > ours[-1], "it learns"
    assert ours == pytest.approx(theirs, rel=1e-6)
