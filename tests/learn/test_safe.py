"""Lesson 1.6: overflow by format, bit by bit against torch."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest
import torch

from explainer.learn import safe
from kernels.spec.formats import FORMATS
from tests.learn.scenes import LESSONS, asked, block, cases, data

DTYPES = {"fp16": torch.float16, "bf16": torch.bfloat16, "fp32": torch.float32}
TOPS = [-110, -95, -18, -10, 0, 5, 10, 10.5, 11, 11.5, 12, 60, 88, 88.5, 89, 95, 100]


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
    x = top + safe.BELOW
    found = safe.in_format(x, name, subtract)
    e, total, weights = in_torch(x, name, subtract)
    for mine, theirs in ((found["e"], e), (found["sum"], total), (found["weights"], weights)):
        np.testing.assert_array_equal(mine, theirs.double().numpy())
    if subtract:
        true = torch.softmax(torch.from_numpy(found["x"]), 0).numpy()
        np.testing.assert_allclose(found["weights"], true, rtol=4 * FORMATS[name].unit_roundoff)


@pytest.mark.parametrize(("name", "limit"), [("fp16", 11.09), ("bf16", 88.72), ("fp32", 88.72)])
def test_where_exp_overflows(name, limit):
    largest = torch.finfo(DTYPES[name]).max
    assert safe.limit(name) == math.log(largest)
    assert round(safe.limit(name), 2) == limit
    e = FORMATS[name].round_to(np.exp([safe.limit(name) - 1e-3, safe.limit(name) + 5e-3]))
    assert np.isfinite(e[0]) and np.isinf(e[1])
    lane = data("safe")["lanes"][list(DTYPES).index(name)]
    assert lane["end"] == safe.limit(name)
    assert lane["zero"] == safe.vanishes(name)
    for by, seen in ((-1e-3, False), (1e-3, True)):
        e = torch.exp(torch.tensor(safe.vanishes(name) + by, dtype=torch.float64))
        assert bool(e.to(DTYPES[name]) > 0) == seen


def test_the_text_says_where_exp_vanishes():
    said = re.search(r"Below about −(\d+) it is 0 in fp32", LESSONS["safe"].words)[1]
    assert -safe.vanishes("fp32") == pytest.approx(int(said), abs=0.5)


def test_each_way_to_fail_has_its_words():
    def what(top: float) -> str:
        return data("safe", top=top)["lanes"][0]["what"]

    assert what(10) == "right, to rounding"
    assert what(11) == "the sum passed 65,504: every weight is 0"
    assert what(11.5) == "exp is ∞, and ∞ ÷ ∞ is NaN"
    assert what(-30) == "every exp is 0, and 0 ÷ 0 is NaN"
    assert what(-15) == "small exps have lost digits"
    assert "fp16: weights NaN, NaN, NaN, NaN" in block("safe", top=-30)["words"]


@pytest.mark.parametrize(("at", "given"), list(enumerate(cases("safe"))))
def test_the_question_s_weights_are_torchs(at, given):
    (_, name, logits), question = given, asked("safe")[at]
    said, right = (
        in_torch(np.array(logits), name, subtract)[2][-1].item() for subtract in (False, True)
    )
    texts = [words for words, _ in question.options]
    assert texts[question.answer] == ("NaN" if said != said else f"{said:g}")
    assert f"{right:.3f}" in texts and len({*texts}) == 4
    assert ", ".join(f"{x:g}" for x in logits).replace("-", "−") in question.words
