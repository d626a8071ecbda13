"""The lesson against PyTorch: softmax along an axis, and its error for one that is not there."""

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from explainer.learn.lessons.softmax import lesson
from tests.learn.scenes import asked, block, find_mark


@pytest.mark.parametrize("dim", [-1, 0, 1])
@pytest.mark.parametrize("gain", [0.1, 1, 4])
def test_softmax_along_an_axis(dim, gain):
    want = torch.softmax(torch.from_numpy(lesson.LOGITS) * gain, dim).numpy()
    given = {"dim": dim, "gain": gain, "line": 2}
    found = find_mark("softmax", "grid", "weights", **given)
    np.testing.assert_allclose(found["cells"], want, atol=1e-6)
    e, shares = (
        [item["value"] for item in find_mark("softmax", "bars", title, **given)["items"]]
        for title in ("exp", "weights")
    )
    one = want[:, 2] if dim == 0 else want[2]
    np.testing.assert_allclose(shares, one, atol=1e-6)
    np.testing.assert_allclose(np.array(e) / np.sum(e), one, atol=1e-6)


@pytest.mark.parametrize("ndim", [1, 2, 4])
@pytest.mark.parametrize("dim", range(-5, 6))
def test_the_error_is_pytorchs_own(ndim, dim):
    said = ""
    try:
        F.softmax(torch.zeros((2,) * ndim), dim=dim)
    except IndexError as error:
        said = f"IndexError: {error}"
    assert lesson.out_of_range(ndim, dim) == said
    if ndim == 1 and dim == 1:
        assert said in str(block("softmax", input="vector", dim=1)["words"])


@pytest.mark.parametrize(
    ("at", "shape"),
    [
        (0, ("batch", "heads", "queries", "keys")),
        (1, ("queries", "keys", "heads")),
        (2, ("keys", "queries")),
    ],
)
def test_the_axis_that_the_question_means_is_the_keys(at, shape):
    question = asked("softmax")[at]
    right = [
        k
        for k, (words, _) in enumerate(question.options)
        if words.startswith("dim")
        and shape[int(words.removeprefix("dim = ").replace("−", "-"))] == "keys"
    ]
    assert right == [question.answer]
