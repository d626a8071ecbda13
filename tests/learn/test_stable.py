"""Rungs 6 and 7: overflow by format, bit by bit against torch; masks against torch's attention."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from explainer.base.formats import FORMATS
from explainer.learn import stable
from explainer.learn.blocks import values
from explainer.learn.registry import rungs
from explainer.trace import trace

RUNGS = {rung.key: rung for rung in rungs()}

DTYPES = {"fp16": torch.float16, "bf16": torch.bfloat16, "fp32": torch.float32}
TOPS = [-120, -95, -18, -10, 0, 5, 10, 10.5, 11, 11.5, 12, 60, 88, 88.5, 89, 95, 100]


def words(key: str, **query: object) -> str:
    widget = next(w for w in stable.WIDGETS if w.key == key)
    made = widget.compute(values(widget, {k: str(v) for k, v in query.items()}))
    return " | ".join(b["words"] for b in made if b["type"] == "text")


def in_torch(x: np.ndarray, name: str, subtract: bool) -> tuple[torch.Tensor, ...]:
    """exp, sum and weights with torch's own rounding after every operation."""
    x = torch.from_numpy(x).to(DTYPES[name])
    e = torch.exp((x - x.max() if subtract else x).double()).to(DTYPES[name])
    total = torch.zeros((), dtype=DTYPES[name])
    for term in e:
        total = total + term
    return e, total, e / total


@pytest.mark.parametrize("name", DTYPES)
@pytest.mark.parametrize("subtract", [False, True])
@pytest.mark.parametrize("top", TOPS)
def test_softmax_in_a_format_is_torchs(name, subtract, top):
    x = top + stable.BELOW
    found = stable.in_format(x, name, subtract)
    e, total, weights = in_torch(x, name, subtract)
    for mine, theirs in ((found["e"], e), (found["sum"], total), (found["weights"], weights)):
        np.testing.assert_array_equal(mine, theirs.double().numpy())
    if subtract:
        true = torch.softmax(torch.from_numpy(found["x"]), 0).numpy()
        np.testing.assert_allclose(found["weights"], true, rtol=4 * FORMATS[name].unit_roundoff)


@pytest.mark.parametrize(("name", "limit"), [("fp16", 11.09), ("bf16", 88.72), ("fp32", 88.72)])
def test_where_exp_overflows(name, limit):
    largest = torch.finfo(DTYPES[name]).max
    assert stable.limit(name) == math.log(largest)
    assert round(stable.limit(name), 2) == limit
    assert f"= {limit}." in words("safe", dtype=name)
    e = FORMATS[name].round_to(np.exp([stable.limit(name) - 1e-3, stable.limit(name) + 5e-3]))
    assert np.isfinite(e[0]) and np.isinf(e[1])


def test_each_way_to_fail_has_its_sentence():
    assert "All weights are numbers" in words("safe", top=10)
    assert "their sum passed 65,504" in words("safe", top=11)
    assert "An exp passed 65,504" in words("safe", top=11.5)
    assert "below the smallest number" in words("safe", top=-30)
    assert "lost digits" in words("safe", top=-15)
    for name in DTYPES:
        for top in TOPS:
            assert "All weights are numbers" in words("safe", top=top, dtype=name, subtract=1)
            assert "lost digits" not in words("safe", top=top, dtype=name, subtract=1)


def test_the_questions_weights():
    question = RUNGS["safe"].question
    found = stable.in_format(np.array([12.0, 11.0, 10.0]), "fp16", False)["weights"]
    said = question.options[question.answer][0]
    assert said == ", ".join("NaN" if np.isnan(x) else f"{x:g}" for x in found)
    assert f"{math.exp(12):,.0f}" in question.options[question.answer][1]
    safe = stable.in_format(np.array([12.0, 11.0, 10.0]), "fp32", True)["weights"]
    assert question.options[0][0] == ", ".join(f"{x:.3f}" for x in safe)
    only_sum = stable.in_format(np.array([11.0, 10.0, 9.0]), "fp16", False)
    assert np.isfinite(only_sum["e"]).all() and not only_sum["weights"].any()


def in_attention(mask: torch.Tensor) -> torch.Tensor:
    """torch's attention over the same Q, K, V, float64; ``mask`` is added to the scores."""
    run = trace(stable.PLAIN)
    q, k, v = (torch.from_numpy(np.array(x)).double()[None] for x in (run.Q, run.K, run.V))
    return torch.nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=mask)[0]


@pytest.mark.parametrize("way", ["inf", "big"])
def test_a_causal_mask_that_is_added(way):
    m = stable.masked(way, False)
    torch.testing.assert_close(torch.from_numpy(m["keep"]), torch.tril(torch.ones(4, 4)))
    want = in_attention(torch.full((4, 4), -torch.inf).triu(1).double())
    np.testing.assert_allclose(m["O"], want, atol=1e-6)
    np.testing.assert_allclose(stable.right_output(False), want, atol=1e-6)
    np.testing.assert_allclose(m["P"].sum(1), 1, atol=1e-6)
    assert "no hidden key has any weight" in words("mask", way=way, step=5)


def test_a_row_that_sees_no_key():
    V = trace(stable.PLAIN).V
    inf, big, times = (stable.masked(way, True) for way in ("inf", "big", "times"))
    assert np.isnan(inf["P"][0]).all() and np.isnan(inf["O"][0]).all()
    assert (big["P"][0] == 0.25).all()
    np.testing.assert_allclose(big["O"][0], V.mean(0), atol=1e-6)
    assert not times["P"][0].any()
    right = stable.right_output(True)
    assert not right[0].any()
    mask = torch.zeros(4, 4).double()
    mask[torch.triu(torch.ones(4, 4), 1).bool()] = -torch.inf
    mask[:, 0] = -torch.inf
    np.testing.assert_allclose(right[1:], in_attention(mask)[1:], atol=1e-6)
    np.testing.assert_allclose(big["O"][1:], right[1:], atol=1e-6)
    assert "is NaN" in words("mask", way="inf", padded=1, step=5)
    assert "0.25 each" in words("mask", way="big", padded=1, step=5)
    assert "nothing to divide" in words("mask", way="times", padded=1, step=5)


def test_a_mask_that_multiplies_is_too_late():
    m = stable.masked("times", False)
    S = torch.from_numpy(np.array(trace(stable.PLAIN).S))
    want = torch.softmax(S, -1) * torch.tril(torch.ones(4, 4))
    np.testing.assert_allclose(m["P"], want, atol=1e-6)
    assert (m["P"].sum(1)[:3] < 0.99).all()
    mended = m["P"] / m["P"].sum(1, keepdims=True)
    np.testing.assert_allclose(mended, stable.masked("inf", False)["P"], atol=1e-6)


def test_the_mask_is_built_in_five_steps():
    widget = next(w for w in stable.WIDGETS if w.key == "mask")
    for way in ("inf", "big", "times"):
        counts = [
            len(widget.compute(values(widget, {"step": str(s), "way": way}))) for s in range(1, 6)
        ]
        assert counts == sorted(set(counts))


def test_the_clicked_cell_is_the_first_hidden_one():
    question = RUNGS["mask"].question
    hidden = np.argwhere(stable.masked("inf", False)["keep"][1] == 0)
    assert question.answer == ((1, int(hidden[0, 0])),)
    S = trace(stable.PLAIN).S
    shown = [[float(x.replace("−", "-")) for x in row] for row in question.cells]
    np.testing.assert_allclose(shown, S, atol=6e-3)
