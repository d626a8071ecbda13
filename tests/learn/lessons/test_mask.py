"""The lesson against PyTorch's attention: three ways to mask, where it is aligned, the future."""

import numpy as np
import pytest
import torch
from torch.nn.attention.bias import causal_lower_right

from explainer.learn.lessons.mask import lesson as mask
from tests.learn.scenes import LESSONS, block, find_mark, sdpa


def in_torch(shape: str, changed: int) -> np.ndarray:
    """PyTorch's attention over the same words, float64, its own masks."""
    q, k, v = (x.copy() for x in (mask.Q, mask.K, mask.V))
    if changed >= 0:
        q[changed], k[changed], v[changed] = mask.OTHER
    if shape == "new":
        return sdpa(q[6:], k, v, attn_mask=causal_lower_right(2, 8))
    return sdpa(q, k, v, is_causal=shape == "causal")


@pytest.mark.parametrize("way", ["inf", "big"])
@pytest.mark.parametrize("shape", ["causal", "none", "new"])
@pytest.mark.parametrize("changed", [-1, 0, 3, 7])
def test_a_mask_that_is_added(way, shape, changed):
    m = mask.masked(way, shape, changed)
    np.testing.assert_allclose(m["O"], in_torch(shape, changed), atol=1e-5)
    shown = find_mark("mask", "grid", "3.", way=way, shape=shape, changed=changed)["cells"]
    np.testing.assert_allclose(shown, m["P"], atol=1e-6)


def test_a_row_that_sees_no_key():
    inf, big, times = (mask.masked(way, "padded") for way in ("inf", "big", "times"))
    assert np.isnan(inf["P"][0]).all() and (big["P"][0] == 1 / 8).all()
    assert not times["P"][0].any()
    assert "−∞ − (−∞) is NaN" in str(block("mask", shape="padded")["words"])
    assert "each gets 0.125" in str(block("mask", shape="padded", way="big")["words"])


def test_a_mask_that_multiplies_is_too_late():
    m = mask.masked("times", "causal")
    assert (m["P"].sum(1)[:3] < 0.999).all()
    mended = m["P"] / m["P"].sum(1, keepdims=True)
    np.testing.assert_allclose(mended, mask.masked("inf", "causal")["P"], atol=1e-6)


@pytest.mark.parametrize("changed", range(8))
def test_the_future_has_no_influence(changed):
    far = mask.moved("inf", "causal", changed)
    assert not far[:changed].any(), "nothing before it moves, to the last bit"
    assert (far[changed:] > 1e-3).all(), "its own output and all later ones do"
    shown = find_mark("mask", "numbers", changed=changed)["values"]
    np.testing.assert_allclose(shown, far, atol=1e-6)


def test_top_left_hides_what_was_there_before():
    assert mask.visible("corner").sum(axis=1).tolist() == [1, 2]
    bottom_right = causal_lower_right(2, 8)._materialize("cpu").float()
    np.testing.assert_array_equal(mask.visible("new"), bottom_right)
    assert "bottom-right" in str(block("mask", shape="corner")["words"])


def test_the_fold_s_zero_is_a_logit_and_hides_nothing():
    weak = torch.softmax(torch.tensor([1.0, 2.0, 0.0]), -1)[2]
    assert f"a weight of {weak:.2f}." in LESSONS["mask"].more
