"""Scores' modifications against their formulas, written out with the math module, one at a time."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from kernels.spec import scores

NUMBER = st.integers(1, 4000).map(lambda x: x / 64)
ANY = st.integers(-640, 640).map(lambda x: x / 64)

# name: what its numbers may be, and what becomes of a score
MODIFICATIONS = {
    "scale": (st.tuples(NUMBER), lambda s, far, head, heads, x: s * x),
    "softcap": (st.tuples(NUMBER), lambda s, far, head, heads, c: c * math.tanh(s / c)),
    "alibi": (
        st.just(()),
        lambda s, far, head, heads: s - far / math.pow(2, 8 * (head + 1) / heads),
    ),
    "bias": (
        st.lists(ANY, min_size=1, max_size=5).map(tuple),
        lambda s, far, head, heads, *b: (
            s + (b[0] if far < 0 else b[far] if far < len(b) else b[-1])
        ),
    ),
}
assert set(MODIFICATIONS) == set(scores.MODIFICATIONS)
STEP = st.sampled_from(sorted(MODIFICATIONS)).flatmap(
    lambda name: st.tuples(st.just(name), MODIFICATIONS[name][0])
)


def text_of(steps):
    words = (f"{name}:{','.join(map(str, x))}" if x else name for name, x in steps)
    return " & ".join(words) or "none"


def truth(s, rows, keys, steps, head, heads):
    found = s.astype(np.float64)
    for at in np.ndindex(s.shape):
        for name, numbers in steps:
            far = rows[at[0]] - keys[at[1]]
            found[at] = MODIFICATIONS[name][1](found[at], far, head, heads, *numbers)
    return found


@settings(max_examples=120)
@given(
    st.lists(STEP, max_size=4), st.integers(1, 9), st.integers(1, 9), st.integers(1, 12), st.data()
)
def test_a_score_is_what_its_formulas_say(steps, n_q, n_k, heads, data):
    head, score = data.draw(st.integers(0, heads - 1)), scores.parse(text_of(steps))
    assert score.steps == tuple(steps) and score.changes == bool(steps)
    s = np.random.default_rng(n_q).normal(0, 3, (n_q, n_k))
    rows, keys = np.arange(n_k - n_q, n_k), np.arange(n_k)
    want = truth(s, rows, keys, steps, head, heads)
    for dtype, tolerance in ((np.float64, 1e-13), (np.float32, 1e-5)):
        given_, place = s.astype(dtype), (rows[:, None], keys[None], head, heads)
        found = score.apply(given_, *place)
        assert found.dtype == dtype
        assert np.allclose(found, want, tolerance, tolerance * (1 + abs(want).max()))
        tensors = (torch.from_numpy(x) for x in (given_, rows[:, None], keys[None]))
        tensor = score.apply(*tensors, head, heads)
        assert tensor.dtype == torch.from_numpy(given_).dtype
        assert np.allclose(tensor.numpy(), found, tolerance, tolerance * (1 + abs(want).max()))


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32])
def test_all_heads_at_once_and_in_their_own_dtype(dtype):
    score = scores.parse("softcap:5&alibi&bias:1,0.5,-2")
    s = torch.randn(2, 3, 6, 6, generator=torch.Generator().manual_seed(1)).to(dtype)
    at = torch.arange(6)
    whole = score.apply(s, at[:, None], at, torch.arange(3)[:, None, None], 3)
    assert whole.dtype == dtype
    for head in range(3):
        assert torch.allclose(whole[:, head], score.apply(s[:, head], at[:, None], at, head, 3))
