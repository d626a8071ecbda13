"""The precision lab's numbers, judged by PyTorch and float64."""

from __future__ import annotations

import json
import math
from functools import partial

import numpy as np
import pytest
import torch

from explainer.base.amounts import power, written
from explainer.base.formats import FORMATS
from explainer.learn.blocks import values
from explainer.learn.content import SECTIONS
from explainer.learn.precision import (
    CASES,
    WIDGETS,
    long_row,
    lost,
    narrow_sums,
    terms,
    wide_sum,
)
from explainer.problem import ProblemError
from tests.effort import assert_light

WIDGET = {w.key: w for w in WIDGETS}
TORCH = {"fp32": torch.float32, "bf16": torch.bfloat16, "fp16": torch.float16}


def shown(key: str, **query: object) -> list[dict]:
    widget = WIDGET[key]
    return widget.compute(values(widget, {k: str(v) for k, v in query.items()}))


def test_sections_name_the_widgets():
    labs = [section for key, section in SECTIONS.items() if key.startswith("lab-")]
    assert [s["key"] for s in labs] == [f"lab-{w.key}" for w in WIDGETS]
    assert all(len(s["words"].split()) <= 80 for s in labs)


@pytest.mark.parametrize("key", WIDGET)
def test_every_edge_of_every_control(key):
    """Each control at its ends and choices, the others as they stand: JSON, small, labelled."""
    for control in WIDGET[key].controls:
        ends = [c for c, _ in control.choices] or [control.low, control.high]
        for end in ends:
            blocks = shown(key, **{control.key: end})
            assert len(json.dumps(blocks, allow_nan=False)) < 40_000
            assert all(b.get("label") or b.get("words") for b in blocks)


@pytest.mark.parametrize("key", WIDGET)
def test_little_work(key):
    long_row.cache_clear()
    assert_light(partial(shown, key), 1_000_000, 5_000_000)  # 385,253 lines, 1.5 MB


@pytest.mark.parametrize("name", TORCH)
@pytest.mark.parametrize("data", ["ones", "positive", "signed"])
def test_sums_as_torch_adds_them(name, data):
    x, y = terms(data, 600)
    sums, swamped = narrow_sums(FORMATS[name], x, y)
    a, b = (torch.from_numpy(v).to(TORCH[name]) for v in (x, y))
    total, stuck, expected = torch.zeros((), dtype=TORCH[name]), 0, []
    for product in a * b:
        grown = total + product
        stuck += bool(grown == total) and bool(product != 0)
        total = grown
        expected.append(float(total))
    assert sums == expected and swamped == stuck
    wide = torch.zeros(())
    for product in a.float() * b.float():
        wide = wide + product
    assert wide_sum(FORMATS[name], x, y) == float(wide)


def test_counting_stops_where_a_format_ends():
    """At 2^(mantissa + 1) the gap is 2, and 1 is half of it: the tie goes back."""
    x, y = terms("ones", 4096)
    for f in FORMATS.values():
        sums, swamped = narrow_sums(f, x, y)
        stop = min(4096, 2 ** (f.mantissa_bits + 1))
        assert sums[-1] == stop and swamped == 4096 - stop
        assert wide_sum(f, x, y) == 4096
    words = shown("accumulate")[-1]
    assert words["kind"] == "bad" and "bf16 (ends at 256)" in words["words"]


def test_loss_scaling_rescues_the_gradient():
    def back(**query: object) -> list[str]:
        table = next(b for b in shown("loss_scaling", **query) if b["type"] == "table")
        return [row[1] for row in table["rows"]]

    assert back(size=-27, k=0)[1] == "0" and back(size=-27, k=0)[-1] == "100 %"
    gradient = 1.25 * 2.0**-27
    assert float(torch.tensor(gradient).half()) == 0
    assert float((torch.tensor(gradient) * 2**16).half()) / 2**16 == gradient
    assert back(size=-27, k=16)[-1] == "0 %"
    assert shown("loss_scaling", k=16)[-1]["kind"] == "good"
    assert back(size=-27, k=0, format="bf16")[-1] == "0 %"


@pytest.mark.parametrize(("name", "dtype"), [
    ("fp16", torch.float16), ("e5m2", torch.float8_e5m2), ("bf16", torch.bfloat16),
])  # fmt: skip
def test_lost_gradients_counted_by_torch(name, dtype):
    size, k = -20, np.arange(0, 41, 8)
    zero, over = lost(FORMATS[name], size, k)
    rng = np.random.default_rng(11)
    g = torch.from_numpy(np.exp2(size + 3 * rng.standard_normal(500)).astype(np.float32))
    for i, power_of_two in enumerate(k):
        kept = (g * 2.0 ** int(power_of_two)).to(dtype).float()
        assert zero[i] == pytest.approx(float((kept == 0).float().mean()))
        assert over[i] == pytest.approx(float((~torch.isfinite(kept)).float().mean()))


def test_the_running_sum_is_what_must_be_wide():
    names = list(CASES)
    errors = dict(zip(names, long_row("bf16", 2048, 16, 1.0)[:, -1], strict=True))
    assert errors["nothing"] < 2e-6 and errors["m"] < 2e-6
    assert 1e-6 < errors["P, for P V only (as kernels do)"] < 1e-3
    assert errors["S, before exp"] < errors["ℓ"] and errors["ℓ"] > 0.005
    flat = dict(zip(names, long_row("bf16", 2048, 4, 0.0)[:, -1], strict=True))
    assert flat["ℓ"] == pytest.approx(1.0, abs=1e-3), "ℓ stops at 1,024 of 2,048: O is doubled"


def test_a_long_row_in_fp32_and_bf16_against_torch():
    """The same numbers, an independent loop in torch: all in fp32, and ℓ kept in bf16."""
    rng = np.random.default_rng(3)
    S = torch.from_numpy(rng.standard_normal(512).astype(np.float32))
    V = torch.from_numpy((1 + 0.5 * rng.standard_normal((512, 8))).astype(np.float32))
    V = V.bfloat16().float()
    truth = torch.softmax(S.double(), 0) @ V.double()
    errors = dict(zip(CASES, long_row("bf16", 512, 16, 1.0)[:, -1], strict=True))
    m, l, O = torch.tensor(-math.inf), torch.zeros(()), torch.zeros(8)
    for s, v in zip(S.split(16), V.split(16), strict=True):
        m_new = torch.maximum(m, s.max())
        p, alpha = torch.exp(s - m_new), torch.exp(m - m_new)
        l = (alpha * l + p.sum()).bfloat16().float()
        O, m = alpha * O + p @ v, m_new
    found = float((O / l - truth).abs().max() / truth.abs().max())
    assert errors["ℓ"] == pytest.approx(found, rel=0.01)
    assert errors["nothing"] < 1e-6


def test_numbers_as_written():
    cases = {
        1e-45: "1\u00a0×\u00a010⁻⁴⁵",
        -2.5: "−2.5",
        65504: "65,504",
        0.1: "0.1",
        94.79: "94.79",
    }
    cases |= {math.inf: "∞", -math.inf: "−∞", -0.0: "−0", 3.39e38: "3.39\u00a0×\u00a010³⁸"}
    assert {x: written(x) for x in cases} == cases
    assert (
        written(math.nan) == "NaN"
        and written(0.0) == "0"
        and written(94.79, 2) == "95"
        and power(2, -24) == "2⁻²⁴"
    )


def test_bad_input_is_one_sentence():
    with pytest.raises(ProblemError, match="format = fp7"):
        shown("softmax_fp32", format="fp7")
