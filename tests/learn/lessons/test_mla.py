"""Lesson 6.6: absorbing the projections changes no score; sizes by counting."""

from __future__ import annotations

import numpy as np

from explainer.learn.lessons.mla import lesson


def test_absorbed_projections_give_the_same_scores():
    """q · (W c) = (Wᵀ q) · c, which is what the lesson says of decoding."""
    rng = np.random.default_rng(0)
    W, c, q = rng.standard_normal((8, 4)), rng.standard_normal((5, 4)), rng.standard_normal(8)
    np.testing.assert_allclose((c @ W.T) @ q, c @ (W.T @ q))


def test_sizes():
    """DeepSeek-V2: 128 heads of 128, a latent of 512, a rotated key of 64."""
    assert lesson.stored() == {"mha": 32_768, "gqa": 2_048, "mla": 576, "mqa": 256}
