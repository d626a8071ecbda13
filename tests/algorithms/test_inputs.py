"""Q, K, V: deterministic, in the dtype, and each generator does what its name says."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
import torch

from explainer.algorithms.inputs import INPUTS, make_inputs, row_names
from explainer.problem import Problem
from kernels.checks import DTYPES
from kernels.rotary import rope
from kernels.spec.fields import INPUT_NAMES
from kernels.spec.formats import round_to
from tests.tables import table

of_each_generator = pytest.mark.parametrize("name", [x for x in INPUT_NAMES if x != "own"])


@pytest.mark.parametrize("dtype", DTYPES)
@of_each_generator
@pytest.mark.parametrize(("n", "d"), [(1, 1), (7, 3), (16, 8), (100, 64)])
def test_every_generator(name, n, d, dtype):
    problem = Problem(n=n, d=d, block_q=1, block_k=min(n, 4), inputs=name, dtype=dtype, seed=5)
    for x, again in zip(make_inputs(problem), make_inputs(problem), strict=True):
        assert x.shape == (n, d) and x.dtype == np.float32 and np.isfinite(x).all()
        assert not x.flags.writeable
        np.testing.assert_array_equal(x, again)
        np.testing.assert_array_equal(x, round_to(x, dtype))
    assert name in INPUTS


def test_another_seed_is_another_problem():
    one, two = (make_inputs(Problem(inputs="random", seed=s))[0] for s in (0, 1))
    assert not np.array_equal(one, two)


@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("n", "d", "br", "bc"), table(__file__))
def test_rising_raises_every_rows_maximum_at_every_block(n, d, br, bc, dtype, causal):
    blocks = {"block_q": br, "block_k": bc}
    problem = Problem(n=n, d=d, causal=causal, dtype=dtype, inputs="rising", **blocks)
    q, k, _ = (x.astype(np.float64) for x in make_inputs(problem))
    scores = q @ k.T / np.sqrt(d)
    if causal:
        scores[np.triu_indices(n, 1)] = -np.inf
    for row in range(n):
        blocks = [scores[row, a : a + bc].max() for a in range(0, n, bc)]
        seen = [b for b in blocks if np.isfinite(b)]
        assert all(b > a for a, b in pairwise(seen)), f"row {row}: {seen}"


@of_each_generator
def test_heads_of_a_group_share_keys_and_values_and_nothing_else(name):
    plain = Problem(inputs=name, n=12)
    made = [make_inputs(replace(plain, q_heads=4, kv_heads=2, head=h)) for h in range(4)]
    for first, same in zip(made[0], make_inputs(plain), strict=True):
        np.testing.assert_array_equal(first, same)
    for tensor in (1, 2):
        keys = [x[tensor].tobytes() for x in made]
        assert keys[0] == keys[1] != keys[2] == keys[3]
    assert len({q.tobytes() for q, _, _ in made}) == 4
    own = make_inputs(replace(plain, q_heads=4, kv_heads=4, head=3))
    assert not np.array_equal(own[1], made[3][1])


@pytest.mark.parametrize("head", range(4))
def test_the_data_is_what_its_name_says_in_every_head(head):
    of_heads = {"q_heads": 4, "kv_heads": 2, "head": head}
    q, k, _ = make_inputs(Problem(inputs="rising", **of_heads))
    highest = (q @ k.T).reshape(16, 4, 4).max(-1)
    assert (np.diff(highest, axis=1) > 0).all()
    q, k, _ = make_inputs(Problem(inputs="spike", n=24, **of_heads))
    *_, second, highest = np.sort((q @ k.T).ravel()) / np.sqrt(8)
    assert highest == pytest.approx(30, rel=0.01) and (head or second < 30 - 5)


@pytest.mark.parametrize("dtype", ["fp32", "bf16"])
@pytest.mark.parametrize("base", [10_000.0, 500_000.0])
def test_rope_rotates_as_the_kernels_do(base, dtype):
    plain = Problem(n=37, d=12, inputs="random", dtype="fp32", q_heads=4, kv_heads=2, head=3)
    turned = make_inputs(replace(plain, rope=base, dtype=dtype))
    q, k, v = (torch.tensor(x) for x in make_inputs(plain))
    for x, found in zip((rope(q, base), rope(k, base), v), turned, strict=True):
        expected = x.to(DTYPES[dtype]).float().numpy()
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-6 if dtype == "fp32" else 0.02)
    for x, found in zip((q, k), turned, strict=False):
        np.testing.assert_array_equal(found[0], x[0].to(DTYPES[dtype]).float(), "position 0 stays")


def test_sentence_names_its_rows():
    assert row_names(Problem(n=6, inputs="sentence")) == ("the", "cat", "sat", "on", "the", "mat")
    assert row_names(Problem(n=8, inputs="sentence"))[6:] == ("the", "cat")
    assert row_names(Problem()) is None
    own = Problem(n=5, inputs="sentence", text="to be or not to")
    assert row_names(own) == ("to", "be", "or", "not", "to")
    q, _, _ = make_inputs(own)
    assert not np.array_equal(q[0], q[4]), "the same word elsewhere: position counts"
