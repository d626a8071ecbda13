"""Scores' modifications against their formulas, written out one at a time (tests/by_hand.py)."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from kernels.spec import scores
from tests import by_hand

NUMBER = st.integers(1, 4000).map(lambda x: x / 64)
ANY = st.integers(-640, 640).map(lambda x: x / 64)

# name: what its numbers may be
MODIFICATIONS = {
    "scale": st.tuples(NUMBER),
    "softcap": st.tuples(NUMBER),
    "alibi": st.just(()),
    "bias": st.lists(ANY, min_size=1, max_size=5).map(tuple),
}
assert set(MODIFICATIONS) == set(scores.MODIFICATIONS)
STEP = st.sampled_from(sorted(MODIFICATIONS)).flatmap(
    lambda name: st.tuples(st.just(name), MODIFICATIONS[name])
)


def text_of(steps):
    words = (f"{name}:{','.join(map(str, x))}" if x else name for name, x in steps)
    return " & ".join(words) or "none"


@settings(max_examples=120)
@given(
    st.lists(STEP, max_size=4), st.integers(1, 9), st.integers(1, 9), st.integers(1, 12), st.data()
)
def test_a_score_is_what_its_formulas_say(steps, n_q, n_k, heads, data):
    head, text = data.draw(st.integers(0, heads - 1)), text_of(steps)
    score = scores.parse(text)
    assert score.steps == tuple(steps) and score.changes == bool(steps)
    s = np.random.default_rng(n_q).normal(0, 3, (n_q, n_k))
    rows, keys = np.arange(n_k - n_q, n_k), np.arange(n_k)
    want = by_hand.modified(s, text, rows[:, None] - keys, head, heads)
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
