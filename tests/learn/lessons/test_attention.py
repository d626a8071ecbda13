"""The lesson against PyTorch: each word's weights and output, and what is left without a word."""

import numpy as np
import pytest

from explainer.learn.example import WORDS, K, Q, V
from tests.learn.scenes import asked, cases, find_mark, sdpa


@pytest.mark.parametrize("word", range(8))
def test_the_picture_shows_attention(word):
    sentence = find_mark("attention", "words", step=5, word=word)
    assert sentence["at"] == word
    weights = sdpa(Q, K, np.eye(8))
    np.testing.assert_allclose(sentence["weights"], weights[word], atol=1e-6)
    np.testing.assert_allclose(sentence["rows"][2]["values"], weights[word], atol=1e-6)
    output = find_mark("attention", "grid", "o", step=5, word=word)["cells"]
    np.testing.assert_allclose(np.ravel(output), sdpa(Q, K, V)[word], atol=1e-6)


def test_the_right_answer_has_the_most_weight_without_the_hidden_word():
    for (asker, hidden), question in zip(cases("attention"), asked("attention"), strict=True):
        there = [k for k, word in enumerate(WORDS) if word != hidden]
        weights = sdpa(Q, K[there], np.eye(7))[WORDS.index(asker)]
        right = question.options[question.answer][0]
        assert right == WORDS[there[int(weights.argmax())]] and hidden not in dict(question.options)
