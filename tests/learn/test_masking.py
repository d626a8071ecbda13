"""Lesson 1.7 against torch's attention: three ways to mask, where it is aligned, and the future."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch.nn.attention.bias import causal_lower_right

from explainer.learn import masking
from explainer.trace import trace
from tests.learn.scenes import LESSONS, block, data, grid, sdpa


def in_torch(shape: str, changed: int | None = None) -> np.ndarray:
    """torch's attention over the same words, float64, its own masks."""
    run = trace(masking.FIVE)
    rows = [4 if k == changed else k for k in range(4)]
    q, k, v = (np.array(x)[rows] for x in (run.Q, run.K, run.V))
    if shape == "new":
        return sdpa(q[2:], k, v, attn_mask=causal_lower_right(2, 4))
    return sdpa(q, k, v, is_causal=shape == "causal")


@pytest.mark.parametrize("way", ["inf", "big"])
@pytest.mark.parametrize("shape", ["causal", "none", "new"])
@pytest.mark.parametrize("changed", [None, 0, 1, 2, 3])
def test_a_mask_that_is_added(way, shape, changed):
    m = masking.masked(way, shape, changed)
    np.testing.assert_allclose(m["O"], in_torch(shape, changed), atol=1e-5)
    np.testing.assert_allclose(m["P"].sum(1), 1, atol=1e-6)
    poke = "none" if changed is None else changed
    found = data("mask", way=way, shape=shape, poke=poke)
    np.testing.assert_allclose(grid(found, "output"), m["O"], atol=1e-5)


def test_a_row_that_sees_no_key():
    inf, big, times = (masking.masked(way, "padded") for way in ("inf", "big", "times"))
    assert np.isnan(inf["P"][0]).all() and np.isnan(inf["O"][0]).all()
    assert (big["P"][0] == 0.25).all()
    np.testing.assert_allclose(big["O"][0], trace(masking.FIVE).V[:4].mean(0), atol=1e-6)
    assert not times["P"][0].any()
    assert "sees no key: −∞ − (−∞) is NaN" in block("mask", shape="padded")["words"]
    assert "each weighs 0.25" in block("mask", shape="padded", way="big")["words"]
    assert (grid(data("mask", shape="padded"), "weights")[0] != 0).all()


def test_a_mask_that_multiplies_is_too_late():
    m = masking.masked("times", "causal")
    assert (m["P"].sum(1)[:3] < 0.999).all()
    mended = m["P"] / m["P"].sum(1, keepdims=True)
    np.testing.assert_allclose(mended, masking.masked("inf", "causal")["P"], atol=1e-6)
    assert "the hidden keys took their share" in block("mask", way="times")["words"]


@pytest.mark.parametrize("changed", range(4))
def test_the_future_has_no_influence(changed):
    far = masking.moved("inf", "causal", changed)
    assert not far[:changed].any(), "nothing before it moves, to the last bit"
    assert (far[changed:] > 1e-3).all(), "its own output and all later ones do"
    assert (masking.moved("inf", "none", changed) > 1e-3).all(), "without a mask, all of them"
    item = next(x for x in data("mask", poke=changed)["lines"][0] if x.get("changed"))
    assert {r for r, _ in item["changed"]} == set(range(changed, 4))


def test_top_left_hides_what_was_there_before():
    assert masking.keep("corner").tolist() == [[1, 0, 0, 0], [1, 1, 0, 0]]
    np.testing.assert_array_equal(
        masking.keep("new"), causal_lower_right(2, 4)._materialize("cpu").float()
    )
    assert "bottom-right" in block("mask", shape="corner")["words"]


def test_the_fold_s_zero_is_a_score_and_hides_nothing():
    weak = torch.softmax(torch.tensor([1.0, 2.0, 0.0]), -1)[2]
    assert f"a weight of {weak:.2f}." in LESSONS["mask"].more
