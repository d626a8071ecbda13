"""Two lessons against PyTorch: dot products, their spread, and a product in any order."""

import math
import re

import numpy as np
import pytest
import torch

from explainer.learn.lessons.dot import lesson as vectors
from explainer.learn.lessons.matmul import lesson as matmul
from explainer.learn.widgets import read_controls
from tests.learn.scenes import LESSONS, asked, block, data, marks


@pytest.mark.parametrize("d", vectors.SPREAD_D)
def test_dot_products_spread_as_the_root_of_d(d):
    s = vectors.spread(d)
    assert s["raw"]["spread"] == pytest.approx(math.sqrt(d), rel=0.06)
    assert s["scaled"]["spread"] == pytest.approx(1.0, rel=0.06)
    rng = np.random.default_rng(d)
    q, k = (torch.from_numpy(rng.standard_normal((500, m, d), dtype=np.float32)) for m in (1, 8))
    raw = (q.double() * k.double()).sum(-1)
    assert s["raw"]["spread"] == pytest.approx(float(raw.std(correction=0)), rel=1e-5)
    top = torch.softmax(raw / d**0.5, -1).max(-1).values.mean()
    assert s["scaled"]["top"] == pytest.approx(float(top), rel=1e-5)
    bins = torch.histc(raw / d**0.5, vectors.BINS, -3 * d**0.5, 3 * d**0.5) / raw.numel()
    np.testing.assert_allclose(s["scaled"]["shares"], bins, atol=2e-3)  # an edge may go either way


def test_what_the_spread_s_questions_say_is_the_spread():
    for question in asked("dot"):
        d = int(re.findall(r"d = (\d+)", question.words)[-1])
        right = question.options[question.answer][0]
        assert float(right) == math.sqrt(d)
        assert sum(float(words) == math.sqrt(d) for words, _ in question.options) == 1
        says = r"With d = (\d+) the raw dot products (?:have a spread of|spread by) (\d+\.\d)"
        known = re.search(says, question.words)
        assert float(known[2]) == math.sqrt(int(known[1]))
        assert str(d) in read_controls("dot")["d"].closed


@pytest.mark.parametrize("order", matmul.LOOPS)
def test_a_product_in_any_order(order):
    C, counts, last = matmul.product(order, matmul.PRODUCTS)
    want = torch.from_numpy(matmul.A) @ torch.from_numpy(matmul.B)
    np.testing.assert_array_equal(C, want)
    assert (counts == 4).all() and last == (2, 2, 3)
    assert matmul.product(order, 0)[2] is None
    for done in range(matmul.PRODUCTS + 1):
        assert matmul.product(order, done)[1].sum() == done


def test_loops_differ_in_what_is_finished_early():
    grids = [mark for mark in marks(data("matmul", step=18)) if mark["mark"] == "grid"]
    half = dict(zip(matmul.LOOPS, (mark for mark in grids if mark["name"] == "C"), strict=True))
    A, B = torch.from_numpy(matmul.A), torch.from_numpy(matmul.B)
    np.testing.assert_array_equal(half["kij"]["cells"], A[:, :2] @ B[:2])
    begun = {order: len(C.get("on", [])) for order, C in half.items()}
    shown = {
        order: sum(x is not None for line in C["cells"] for x in line) for order, C in half.items()
    }
    assert begun == {"ijk": 1, "ikj": 3, "kij": 9}
    assert {order: shown[order] - begun[order] for order in begun} == {"ijk": 4, "ikj": 3, "kij": 0}
    assert "All three have the same C: −1, −2, −1;" in block("matmul", step=36)["words"]


def test_the_fold_s_products_are_torchs():
    A, B = torch.tensor([[1, 2], [3, 4]]), torch.tensor([[2, 0], [1, 3]])
    assert all(str(x.tolist()) in LESSONS["matmul"].more for x in (A @ B, B @ A, A * B))
