"""The lesson: weights against the formula in torch; what is kept by counting."""

import numpy as np
import pytest
import torch

from explainer.learn.example import K, Q, V
from explainer.learn.lessons.hybrids import lesson
from explainer.learn.variants import linear


def test_linear_attention_is_its_formula():
    q, k = (torch.nn.functional.elu(torch.from_numpy(x)) + 1 for x in (Q, K))
    A = torch.tril(q @ k.T)
    P = (A / A.sum(1, keepdim=True)).numpy()
    np.testing.assert_allclose([lesson.linear_weights(word) for word in range(8)], P)
    np.testing.assert_allclose(linear(Q, K, V), P @ V)


def test_a_hybrid_keeps_a_quarter():
    n = 2**20
    assert lesson.state_bytes("softmax", n) == 2 * 32 * 128 * 2 * n
    assert lesson.state_bytes("linear", n) == lesson.state_bytes("linear", 1)
    assert lesson.state_bytes("softmax", n) / lesson.state_bytes("hybrid", n) == pytest.approx(
        4, rel=0.001
    )
