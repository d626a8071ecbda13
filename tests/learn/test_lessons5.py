"""Group 5: recomputation, mixed precision and stability against PyTorch and NumPy."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from explainer.algorithms.traffic import summed
from explainer.base.amounts import amount
from explainer.learn import amp, recompute, steady
from explainer.learn.linear_algebra import make_problem
from tests.learn.scenes import (
    LESSONS,
    asked,
    cases,
    default_hides_the_answer,
    shapes,
    texts,
    words,
)


def test_the_products_are_those_of_autograd():
    """4·N²·d forward, 10 backward; four products where P is kept."""
    ways = ("standard", "fa2")
    assert {w: {p: len(x) for p, x in recompute.products(w).items()} for w in ways} == {
        "standard": {"forward": 2, "backward": 4},
        "fa2": {"forward": 2, "backward": 5},
    }
    default_hides_the_answer("recompute")


@pytest.mark.parametrize(
    ("way", "tensor", "size"), [("standard", "P", "2 MiB"), ("fa2", "lse", "4 KiB")]
)
def test_what_is_kept_is_what_the_loops_keep(way, tensor, size):
    p = make_problem(1024, 64, 64, order=way, dtype="fp16")
    assert amount(summed(p, "compulsory")[tensor][1]) == size
    assert f"{tensor}: {size}" in texts("recompute", way=way, n=1024)
    sides = [
        next(s["h"] for s in shapes("recompute", n=n, way=way) if s.get("key") == "kept")
        for n in (4096, 8192)
    ]
    assert sides[1] == 2 * sides[0], "one scale"


def test_the_squares_that_the_standard_backward_pass_moves():
    """By hand: dV reads P; dP is written; dS reads P and dP and is written; dQ and dK read dS."""
    assert recompute.square_passes() == 1 + 1 + 3 + 2
    assert "7 passes over N × N numbers" in LESSONS["recompute"].more


def test_a_weight_is_pushed_as_torch_would():
    for start, by, count in cases("amp"):
        weight, kept = torch.tensor(start, dtype=torch.float16), torch.tensor(start)
        for _ in range(count):
            weight, kept = (weight + by).half(), kept + by
        short, long = amp.pushed(start, by, count)
        assert short[-1] == float(weight) and long[-1] == pytest.approx(float(kept), rel=1e-6)
    for question, (start, by, count) in zip(asked("amp"), cases("amp"), strict=True):
        exact = start + by * count
        assert abs(exact - question.answer) > 2 * question.tolerance, "a careless sum is wrong"


def test_mixed_precision_learns_and_plain_fp16_does_not():
    plain, scaled, true = (amp.run(way) for way in ("plain", "amp", "fp32"))
    assert plain.losses[-1] > 10 * true.losses[-1] and scaled.losses[-1] < 2 * true.losses[-1]
    assert plain.losses[0] == pytest.approx(scaled.losses[0])
    assert scaled.skipped and not plain.skipped and not true.skipped
    for step, (one, two) in enumerate(zip(scaled.scales, scaled.scales[1:], strict=False)):
        assert two / one == (0.5 if step in scaled.skipped else two / one) in (0.5, 1.0, 2.0)
        if step in scaled.skipped:
            assert scaled.losses[step + 1] == scaled.losses[step], "the weights stay"
    assert scaled.scales[0] == amp.START == 2.0**30


def test_the_first_gradients_are_autograds():
    """One step in fp32 moves the weights against the gradient of the mean square."""
    x, y, weights = amp._data()
    first, second = (torch.tensor(w, requires_grad=True) for w in weights)
    out = torch.tanh(torch.tensor(x) @ first) @ second
    ((out - torch.tensor(y)) ** 2).mean().backward()
    loss = float(((out.detach() - torch.tensor(y)) ** 2).mean()) / amp.SIZE**2
    assert amp.run("fp32").losses[0] == pytest.approx(loss)
    assert float(second.grad.abs().max()) < 2**-9, "small, as fp16 has little room below"
    assert float(torch.tensor(float(second.grad.abs().min())).half()) < 1e-4


def test_a_stack_is_torchs():
    """With all four: layer norm, SDPA and a residual connection, there in float64; and without the
    last the tokens end alike but for rounding, the page's in fp32."""
    rng = np.random.default_rng(1)
    x = torch.from_numpy(rng.standard_normal((steady.TOKENS, steady.WIDTH)))
    for _ in range(steady.LAYERS):
        q, k, v = (torch.from_numpy(w) / 8 for w in rng.standard_normal((3, 64, 64)))
        h = torch.nn.functional.layer_norm(x, (64,))
        o = torch.nn.functional.scaled_dot_product_attention(*((h @ w)[None] for w in (q, k, v)))
        x = x + o[0]
    size = float((x**2).mean().sqrt())
    assert steady.stack(steady.ALL)["size"][-1] == pytest.approx(size, rel=1e-3)
    alone = steady.stack(tuple(key for key in steady.ALL if key != "residual"))["spread"][-1]
    assert 2**-30 < alone < 2**-20, "fp32 rounds by 2⁻²⁴"


def test_each_habit_does_what_the_words_say():
    def without(key: str) -> dict:
        return steady.stack(tuple(k for k in steady.ALL if k != key))

    whole = steady.stack(steady.ALL)
    assert without("residual")["spread"][-1] < 0.01 < 0.4 < whole["spread"][-1]
    assert min(without("scale")["top"]) > 0.6 > 0.2 > max(whole["top"])
    assert without("norm")["size"][-1] > 4 * whole["size"][-1]
    assert without("sums")["size"] != whole["size"]
    total = torch.zeros((), dtype=torch.float16)
    for _ in range(4096):
        total = total + torch.tensor(1 / 4096, dtype=torch.float16)
    short, long = (steady.sums(4096, fmt) for fmt in (np.float16, np.float32))
    assert (short[-1], long[-1]) == (float(total), 1.0)
    assert "without sums in fp32" in words("stable", sums="0")
