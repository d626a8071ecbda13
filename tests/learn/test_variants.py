"""What the lessons on variants compute, against the kernels and dense definitions."""

import numpy as np
import pytest
import torch

from explainer.base.facts import FACTS
from explainer.learn import variants
from explainer.learn.variants import DOCUMENT
from explainer.trace import trace
from kernels.rotary import rope

X = trace(variants.EXAMPLE)


@pytest.mark.parametrize("offset", [0, 3, 1000])
def test_rope_is_the_kernels(offset):
    theirs = rope(torch.from_numpy(X.Q[None].astype(float)), offset=offset)[0].numpy()
    ours = variants.rope(X.Q, np.arange(offset, offset + 16))
    assert np.abs(ours - theirs).max() < 1e-6


def test_ropes_product_depends_on_the_distance_alone():
    at = np.arange(16)
    found = variants.products(X.Q[0], X.K[0], at, at)
    for d in range(-15, 16):
        assert np.ptp(np.diagonal(found, d)) < 1e-12
    assert np.ptp(found) > 1


@pytest.mark.parametrize("n", [2_048, 8_192, 65_536])
def test_what_is_kept_at_a_models_size(n):
    window, causal = int(FACTS["preset.window"].shown.replace(",", "")), n * (n + 1) // 2
    seen = sum(min(i + 1, window) for i in range(n))
    assert variants.at_size("window", n).visible(n, n) == seen
    each = min(n, DOCUMENT)
    assert variants.at_size("documents", n).visible(n, n) == n // each * each * (each + 1) // 2
    assert variants.at_size("causal", n).visible(n, n) == causal
