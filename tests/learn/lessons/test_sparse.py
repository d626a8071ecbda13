"""The lesson: exact on the chosen keys, as good as full attention with all of them."""

import numpy as np
import pytest
import torch

from explainer.learn.example import K, Q, V
from explainer.learn.lessons.sparse import lesson
from tests.learn.scenes import sdpa


@pytest.mark.parametrize("word", range(8))
@pytest.mark.parametrize("k", (1, 2, 8))
def test_the_weights_are_softmax_over_the_best_keys(word, k):
    q, keys = (torch.from_numpy(x).to(torch.float8_e4m3fn).double() for x in (Q[word], K))
    index = torch.relu(keys[: word + 1] @ q)
    best = sorted(range(word + 1), key=lambda j: (-float(index[j]), j))[: min(k, word + 1)]
    P, O, full = lesson.sparse(word, min(k, word + 1))
    assert {*np.flatnonzero(P)} == {*best}
    np.testing.assert_allclose(O, sdpa(Q[word : word + 1], K[sorted(best)], V[sorted(best)])[0])
    np.testing.assert_allclose(full, sdpa(Q[word : word + 1], K[: word + 1], V[: word + 1])[0])
