"""Lesson 7.5: weights against the formula in torch; what is kept by counting."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from explainer.learn.example import K, Q
from explainer.learn.lessons.hybrids import lesson


@pytest.mark.parametrize("word", range(8))
def test_the_weights_are_the_formula_s(word):
    q, k = (torch.nn.functional.elu(torch.from_numpy(x)) + 1 for x in (Q, K))
    A = torch.tril(q @ k.T)
    np.testing.assert_allclose(lesson.linear_weights(word), (A / A.sum(1, keepdim=True))[word])


def test_a_hybrid_keeps_a_quarter():
    n = 2**20
    assert lesson.state_bytes("softmax", n) == 2 * 32 * 128 * 2 * n
    assert lesson.state_bytes("linear", n) == lesson.state_bytes("linear", 1)
    assert lesson.state_bytes("softmax", n) / lesson.state_bytes("hybrid", n) == pytest.approx(
        4, rel=0.001
    )
