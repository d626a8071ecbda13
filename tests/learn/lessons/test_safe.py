"""The lesson: overflow by format, bit by bit against PyTorch."""

import math
import re

import numpy as np
import pytest
import torch

from explainer.learn.lessons.safe import lesson as safe
from kernels.checks import DTYPES
from kernels.spec.formats import FORMATS
from tests.learn.scenes import LESSONS, asked, cases, find_mark


def in_torch(x: np.ndarray, name: str, subtract: bool) -> tuple[torch.Tensor, ...]:
    """exp, sum and weights with PyTorch's own rounding after every operation."""
    x = torch.from_numpy(x).to(DTYPES[name])
    e = torch.exp((x - x.max() if subtract else x).double()).to(DTYPES[name])
    total = torch.zeros((), dtype=DTYPES[name])
    for term in e:
        total = total + term
    return e, total, e / total


@pytest.mark.parametrize("name", DTYPES)
@pytest.mark.parametrize("subtract", [False, True])
@pytest.mark.parametrize("top", [-110, -95, -18, 0, 10.5, 11, 11.5, 60, 88.5, 89, 1002])
def test_softmax_in_a_format_is_pytorchs(name, subtract, top):
    x = top + np.array([0.0, -1.0, -2.0, -4.0])
    found = safe.in_format(x, name, subtract)
    e, total, weights = in_torch(x, name, subtract)
    for mine, theirs in ((found["e"], e), (found["sum"], total), (found["weights"], weights)):
        np.testing.assert_array_equal(mine, theirs.double().numpy())


@pytest.mark.parametrize(("name", "limit"), [("fp16", 11.09), ("bf16", 88.72), ("fp32", 88.72)])
def test_where_exp_overflows_and_vanishes(name, limit):
    assert safe.limit(name) == math.log(torch.finfo(DTYPES[name]).max)
    assert round(safe.limit(name), 2) == limit
    lanes = dict(find_mark("safe", "timeline")["lanes"])
    assert lanes[FORMATS[name].title][1]["end"] == pytest.approx(limit, abs=0.005)
    for by, seen in ((-1e-3, False), (1e-3, True)):
        e = torch.exp(torch.tensor(safe.vanishes(name) + by, dtype=torch.float64))
        assert bool(e.to(DTYPES[name]) > 0) == seen


def test_a_thousand_is_nan_in_all_formats_until_m_is_subtracted():
    said = find_mark("safe", "grid", "weights", input="thousand")["cells"]
    assert said == [["NaN"] * 3] * 3
    mended = find_mark("safe", "grid", "weights", input="thousand", subtract=1)
    right = torch.softmax(torch.tensor([1000.0, 1001.0, 1002.0], dtype=torch.float64), 0)
    assert mended["cells"][2] == [f"{x:.3f}" for x in right]
    first = find_mark("safe", "grid", "weights")["row_sums"]
    assert first[0] == "∞ ÷ ∞ is NaN", "the first picture shows what goes wrong"


def test_the_text_says_where_exp_vanishes():
    said = re.search(r"Below −(\d+) it underflows to 0 in fp32", LESSONS["safe"].words)[1]
    assert -safe.vanishes("fp32") == pytest.approx(int(said), abs=0.5)


@pytest.mark.parametrize(("at", "given"), list(enumerate(cases("safe"))))
def test_the_question_s_weights_are_pytorchs(at, given):
    (_, name, logits), question = given, asked("safe")[at]
    said, right = (
        in_torch(np.array(logits), name, subtract)[2][-1].item() for subtract in (False, True)
    )
    texts = [words for words, _ in question.options]
    assert texts[question.answer] == ("NaN" if said != said else f"{said:g}")
    assert f"{right:.3f}" in texts and len({*texts}) == 4
