"""Group 5 against PyTorch: recomputation, the backward pass and its exercise, mixed precision,
stability."""

from itertools import product

import numpy as np
import pytest
import torch

from explainer.algorithms.traffic import summed
from explainer.base.records import load
from explainer.learn.example import IT, K, Q, V
from explainer.learn.lessons.amp import lesson as amp
from explainer.learn.lessons.backward import lesson as backward
from explainer.learn.lessons.recompute import lesson as recompute
from explainer.learn.lessons.stable import lesson as stable
from explainer.learn.linear_algebra import make_problem
from tests.learn.scenes import LESSONS, blocks, cases


def test_the_products_are_those_of_autograd():
    """4·N²·d forward, 8 backward, or 10 where P is recomputed."""
    ways = ("standard", "fa2")
    assert {w: {p: len(x) for p, x in recompute.products(w).items()} for w in ways} == {
        "standard": {"forward": 2, "backward": 4},
        "fa2": {"forward": 2, "backward": 5},
    }


@pytest.mark.parametrize(
    ("way", "tensor", "size"), [("standard", "P", 2 << 20), ("fa2", "lse", 4096)]
)
def test_what_is_stored_is_what_the_loops_store(way, tensor, size):
    p = make_problem(1024, 64, 64, order=way, dtype="fp16")
    assert summed(p, "compulsory")[tensor][1] == size == recompute.saved_bytes(1024, way)


def test_the_squares_that_the_standard_backward_pass_moves():
    """By hand: dV reads P; dP is written; dS reads P and dP and is written; dQ and dK read dS."""
    assert recompute.square_passes() == 1 + 1 + 3 + 2
    assert "7 passes over N × N values" in LESSONS["recompute"].more


def truth() -> dict[str, np.ndarray]:
    """Gradients of the running example by autograd, in float64."""
    q, k, v = (torch.tensor(x, requires_grad=True) for x in (Q, K, V))
    S = q @ k.T / 2
    S.retain_grad()
    P = torch.softmax(S, 1)
    P.retain_grad()
    (P @ v * torch.from_numpy(backward.DO)).sum().backward()
    found = {"dQ": q.grad, "dK": k.grad, "dV": v.grad, "dS": S.grad, "dP": P.grad, "P": P.detach()}
    return {name: x.numpy() for name, x in found.items()}


def test_every_array_is_autograds_and_what_the_text_says():
    found = backward.derived()
    for name, wanted in truth().items():
        np.testing.assert_allclose(getattr(found, name), wanted, atol=1e-14, err_msg=name)
    for name, wanted in backward.differences().items():
        np.testing.assert_allclose(wanted, truth()[name], atol=1e-9, err_msg=name)
    rising = backward.derived().dS[IT].argmin()
    assert backward.WORDS[rising] == "tired", "its logit should rise most"


def test_only_the_right_filling_agrees():
    gaps = LESSONS["backward"].question.gaps
    for chosen in product(*(offered for _, offered, _ in gaps)):
        found = backward.ran(*chosen)
        agrees = all(np.allclose(found[x], truth()[x], atol=1e-7) for x in ("dQ", "dK", "dV"))
        assert agrees == (chosen == tuple(right for *_, right in gaps)), chosen
        said = str(blocks("backward_run", g1=chosen[0], g2=chosen[1], g3=chosen[2])[0]["words"])
        assert said.startswith("All three agree") == agrees


def test_the_recorded_losses_part_by_what_is_said():
    ours, theirs = (np.array(row["losses"]) for row in load("training_cpu")["rows"])
    assert (
        f"{100 * (abs(ours - theirs) / theirs).max():.2g} %".split(".")[0] in backward.most_apart()
    )


def test_a_weight_is_pushed_as_torch_would():
    for start, by, count in cases("amp"):
        weight, kept = torch.tensor(start, dtype=torch.float16), torch.tensor(start)
        for _ in range(count):
            weight, kept = (weight + by).half(), kept + by
        short, long = amp.pushed(start, by, count)
        assert short[-1] == float(weight) and long[-1] == pytest.approx(float(kept), rel=1e-6)


def test_mixed_precision_learns_and_plain_fp16_does_not():
    for seed in amp.SEEDS:
        plain, scaled, true = (amp.run(way, seed) for way in ("plain", "amp", "fp32"))
        assert plain.losses[-1] > 10 * true.losses[-1] and scaled.losses[-1] < 2 * true.losses[-1]
    assert scaled.skipped and not plain.skipped and not true.skipped
    for step, (one, two) in enumerate(zip(scaled.scales, scaled.scales[1:], strict=False)):
        assert two / one == (0.5 if step in scaled.skipped else two / one) in (0.5, 1.0, 2.0)
        if step in scaled.skipped:
            assert scaled.losses[step + 1] == scaled.losses[step], "the weights stay"


def test_the_first_gradients_are_autograds():
    """One step in fp32 moves the weights against the gradient of the mean square."""
    x, y, weights = amp.make_data(amp.SEEDS[0])
    first, second = (torch.tensor(w, requires_grad=True) for w in weights)
    out = torch.tanh(torch.tensor(x) @ first) @ second
    ((out - torch.tensor(y)) ** 2).mean().backward()
    loss = float(((out.detach() - torch.tensor(y)) ** 2).mean()) / amp.SIZE**2
    assert amp.run("fp32").losses[0] == pytest.approx(loss)
    assert float(second.grad.abs().max()) < 2**-9, "small, as fp16 has little room below"


def test_a_stack_is_torchs():
    """With all four: layer norm, SDPA and a residual connection, there in float64; and without the
    last the tokens end alike but for rounding, the page's in fp32."""
    rng = np.random.default_rng(1)
    x = torch.from_numpy(rng.standard_normal((stable.TOKENS, stable.WIDTH)))
    for _ in range(stable.LAYERS):
        q, k, v = (torch.from_numpy(w) / 8 for w in rng.standard_normal((3, 64, 64)))
        h = torch.nn.functional.layer_norm(x, (64,))
        o = torch.nn.functional.scaled_dot_product_attention(*((h @ w)[None] for w in (q, k, v)))
        x = x + o[0]
    size = float((x**2).mean().sqrt())
    assert stable.stack(stable.ALL)["size"][-1] == pytest.approx(size, rel=1e-3)
    alone = stable.stack(tuple(key for key in stable.ALL if key != "residual"))["spread"][-1]
    assert 2**-30 < alone < 2**-20, "fp32 rounds by 2⁻²⁴"


def test_each_habit_does_what_the_words_say():
    def without(key: str) -> dict:
        return stable.stack(tuple(k for k in stable.ALL if k != key))

    whole = stable.stack(stable.ALL)
    assert without("residual")["spread"][-1] < 0.01 < 0.4 < whole["spread"][-1]
    assert min(without("scale")["top"]) > 0.6 > 0.2 > max(whole["top"])
    assert without("norm")["size"][-1] > 4 * whole["size"][-1]
    assert without("sums")["size"] != whole["size"]
    total = torch.zeros((), dtype=torch.float16)
    for _ in range(4096):
        total = total + torch.tensor(1 / 4096, dtype=torch.float16)
    short, long = (stable.sums(4096, fmt) for fmt in (np.float16, np.float32))
    assert (short[-1], long[-1]) == (float(total), 1.0)
