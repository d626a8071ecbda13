"""The lesson against PyTorch: three words, one at a time and as matrices."""

import numpy as np
import pytest
import torch

from explainer.learn.lessons.cat.lesson import K, Q, V
from tests.learn.scenes import find_mark, sdpa


@pytest.mark.parametrize("word", range(3))
def test_the_cat_sat_is_attention(word):
    sentence = find_mark("cat", "words", word=word)
    weights = torch.softmax(torch.from_numpy(Q @ K.T / 2), -1)
    np.testing.assert_allclose(sentence["weights"], weights[word], atol=1e-6)
    output = find_mark("cat", "grid", "o", word=word)["cells"]
    np.testing.assert_allclose(np.ravel(output), sdpa(Q, K, V)[word], atol=1e-6)
    every = find_mark("cat", "grid", "O", view="all", word=word)["cells"]
    np.testing.assert_allclose(every, sdpa(Q, K, V), atol=1e-6)


def test_the_products_add_up_to_the_logits_of_the_storyboard():
    rows = find_mark("cat", "table", word=1)["rows"]
    assert [row[2] for row in rows] == ["2.1", "6.5", "3.4"]
    for _, products, logit in rows:
        left, dot = products.split(" = ")
        total = sum(float(a) * float(b) for a, b in (p.split(" · ") for p in left.split(" + ")))
        assert total == pytest.approx(float(dot)) == pytest.approx(2 * float(logit))
