"""Lessons 1.3 to 1.5 against PyTorch: softmax and its axis, the cat, attention, cross-attention."""

from __future__ import annotations

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from explainer.learn import attending
from tests.learn.scenes import asked, block, cases, data, grid, sdpa


@pytest.mark.parametrize("dim", [-1, 0, 1])
@pytest.mark.parametrize("gain", [0.1, 1, 8])
def test_softmax_along_an_axis(dim, gain):
    found = data("softmax", dim=dim, gain=gain)
    want = torch.softmax(torch.from_numpy(attending.LOGITS) * gain, dim).numpy()
    np.testing.assert_allclose(grid(found, "shares"), want, atol=1e-6)
    e = grid(found, "exp")
    axis = 0 if dim == 0 else 1
    np.testing.assert_allclose(e / e.sum(axis, keepdims=True), want, atol=1e-5)
    assert e.max() == 1


@pytest.mark.parametrize("ndim", [1, 2, 4])
@pytest.mark.parametrize("dim", range(-5, 6))
def test_the_error_is_pytorchs_own(ndim, dim):
    said = ""
    try:
        F.softmax(torch.zeros((2,) * ndim), dim=dim)
    except IndexError as error:
        said = f"IndexError: {error}"
    assert attending.out_of_range(ndim, dim) == said


def test_a_vector_has_no_second_axis():
    assert "IndexError: Dimension out of range" in block("softmax", input="vector", dim=1)["words"]
    for dim in (-1, 0):
        found = data("softmax", input="vector", dim=dim)
        want = torch.softmax(torch.from_numpy(attending.LOGITS[2]), dim).numpy()
        np.testing.assert_allclose(grid(found, "shares")[0], want, atol=1e-6)


@pytest.mark.parametrize(
    ("at", "shape"),
    [
        (0, ("batch", "heads", "queries", "keys")),
        (1, ("queries", "keys", "heads")),
        (2, ("keys", "queries")),
    ],
)
def test_the_axis_asked_for_is_the_keys(at, shape):
    question = asked("softmax")[at]
    right = [
        k
        for k, (words, _) in enumerate(question.options)
        if words.startswith("dim")
        and shape[int(words.removeprefix("dim = ").replace("−", "-"))] == "keys"
    ]
    assert right == [question.answer]


@pytest.mark.parametrize("word", range(3))
@pytest.mark.parametrize("view", ["one", "all"])
def test_the_cat_sat_is_attention(word, view):
    want = sdpa(attending.Q, attending.K, attending.V)
    found = data("cat", word=word, view=view)
    rows = slice(None) if view == "all" else slice(word, word + 1)
    np.testing.assert_allclose(grid(found, "output"), want[rows], atol=1e-5)
    weights = torch.softmax(torch.from_numpy(attending.Q @ attending.K.T / 2), -1)
    np.testing.assert_allclose(found["lines"][0][0]["weights"], weights[word], atol=1e-6)
    assert found["lines"][0][0]["row"] == word


def test_the_weights_asked_for_are_pytorchs():
    for (scores,), question in zip(cases("cat"), asked("cat"), strict=True):
        told = ", ".join(f"{x:.1f}" for x in scores)
        assert told in question.words and f"“{attending.WORDS[int(np.argmax(scores))]}”" in (
            question.words
        )
        want = torch.softmax(torch.tensor(scores, dtype=torch.float64), 0).max()
        assert question.answer == pytest.approx(float(want))
        assert 0.005 < question.tolerance < 0.01
