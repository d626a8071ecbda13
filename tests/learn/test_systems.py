"""Rungs 10, 13 and 15 against counting by hand, the listed schedule and the cards' data."""

from __future__ import annotations

import json
from functools import partial
from itertools import product
from urllib.parse import parse_qsl

import pytest

from explainer.algorithms import traffic
from explainer.algorithms.algorithm import ASKED, LEAST
from explainer.algorithms.schedule import schedule
from explainer.base.cards import CARDS
from explainer.learn import matrix_units, systems
from explainer.learn.blocks import values
from explainer.learn.registry import rungs
from explainer.problem import Problem, ProblemError
from tests.effort import assert_light

WIDGETS = {w.key: w for w in systems.WIDGETS}
RUNGS = {r.key: r for r in rungs()}


def blocks(key: str, **query: object) -> list[dict]:
    return WIDGETS[key].compute(values(WIDGETS[key], {k: str(v) for k, v in query.items()}))


def of_type(made: list[dict], kind: str) -> dict:
    return next(b for b in made if b["type"] == kind)


def words(made: list[dict]) -> str:
    return " ".join(str(b["words"]) for b in made if b["type"] == "text")


def test_the_link_shows_s_come_back():
    visit = schedule(Problem.from_query(dict(parse_qsl(RUNGS["fusion"].links[0].query))))[16]
    assert visit.stage == "softmax" and {t.tensor for t in visit.transfers} == {"S", "P"}


# ---- fusion


@pytest.mark.parametrize(("n", "dtype"), [(32, "fp32"), (1024, "fp16"), (16384, "bf16")])
def test_the_softmax_chain_by_hand(n, dtype):
    apart, fused = systems.chain("softmax", n, 64, dtype, LEAST)
    assert (apart, fused) == systems.chain("softmax", n, 64, dtype, ASKED)
    size = n * n * (4 if dtype == "fp32" else 2)
    assert len(apart) == 3 and len(fused) == 1
    assert sum(r + w for _, r, w in apart) == 6 * size
    assert sum(r + w for _, r, w in fused) == 2 * size
    assert RUNGS["fusion"].question.answer == 6 / 2


@pytest.mark.parametrize(("n", "d"), [(64, 8), (256, 64), (1024, 128)])
def test_attention_against_the_listed_schedule(n, d):
    apart, fused = systems.chain("attention", n, d, "fp16", ASKED)
    assert len(apart) == 3 and len(fused) == 1
    side = min(64, n)
    for group, order in ((apart, "standard"), (fused, "fa2")):
        p = Problem(n=n, d=d, block_q=side, block_k=side, causal=False, order=order, dtype="fp16",
                    inputs="random")  # fmt: skip
        assert sum(r + w for _, r, w in group) == traffic.total(p)
    apart, fused = systems.chain("attention", n, d, "fp16", LEAST)  # FACTS.md's closed forms
    assert sum(r + w for _, r, w in apart) == 2 * (4 * n * d + 4 * n * n)
    assert sum(r + w for _, r, w in fused) == 2 * 4 * n * d + 4 * n


@pytest.mark.parametrize("card", list(CARDS))
def test_the_floor_is_bytes_over_rate(card):
    made = blocks("fusion", what="softmax", n=1024, dtype="fp16", card=card)
    assert [i[1] for i in of_type(made, "bars")["items"]] == [12 * 2**20, 4 * 2**20]
    rate = CARDS[card].hbm_bytes_per_s
    assert f"the least takes {12 * 2**20 / rate * 1e6:.2f} µs apart" in words(made)
    assert f"{4 * 2**20 / rate * 1e6:.2f} µs fused" in words(made)
    assert "lower bound" in words(made)


@pytest.mark.parametrize("d", [64, 256])
def test_fusing_attention_by_both_conventions(d):
    made = blocks("fusion", what="attention", n=4096, d=d)
    charts = [b for b in made if b["type"] == "bars"]
    assert ["least" in b["label"] for b in charts] == [True, False]
    assert ["asked" in b["label"] for b in charts] == [False, True]
    least, asked = ([i[1] for i in b["items"]] for b in charts)
    assert f"{least[0] / least[1]:.2f} times fewer bytes" in words(made)
    assert f"asked for {asked[0] / asked[1]:.2f} times fewer" in words(made)
    assert asked[0] > asked[1] and least[0] > least[1]


# ---- formats


@pytest.mark.parametrize("arch", ["sm_75", "sm_80", "sm_89", "sm_90", "sm_120"])
def test_rates_an_sm_and_clock_agree_with_the_cards(arch):
    """What the TFLOP/s of a card imply at its boost clock; Hopper's matrix units are rated at a
    lower clock (1.83 GHz of 1.98), hence 9 %."""
    for card in (c for c in CARDS.values() if c.arch == arch):
        implied = card.tensor_tflops * 1e12 / (2 * card.sms * card.clock_hz)
        assert matrix_units.GENERATIONS[arch].fma == pytest.approx(implied, rel=0.09)


def test_shapes_of_other_formats():
    """PTX ISA: mma m16n8k8 for tf32, k16 for fp16, k32 for fp8; wgmma k8, k16, k32."""
    generations = matrix_units.GENERATIONS
    wanted = {"tf32": 8, "fp16": 16, "bf16": 16, "fp8": 32, "fp4": 64}
    for arch in ("sm_80", "sm_89", "sm_90", "sm_100", "sm_120"):
        for fmt in generations[arch].formats:
            (m, n, k), fma = generations[arch].at(fmt)
            assert k == wanted[fmt]
            assert (m, n) == generations[arch].shape[:2]
            assert fma * 16 == generations[arch].fma * k  # k and rate go together
    assert generations["sm_70"].shape == (8, 8, 4) and generations["sm_75"].shape == (16, 8, 8)
    # TF32 and fp8 rates of the data sheets: A100 156, H100 494.7 and 1,978.9, RTX 4090 82.6.
    for arch, fmt, tflops in (("sm_80", "tf32", 156), ("sm_90", "tf32", 495),
                              ("sm_90", "fp8", 1979), ("sm_89", "tf32", 83)):  # fmt: skip
        made = of_type(blocks("formats", arch=arch, format=fmt), "table")
        row = next(r for r in made["rows"] if r[0].startswith(arch))
        assert row[4] == f"{tflops:,}"


@pytest.mark.parametrize(("br", "bc", "d"), [*product((16, 64, 256), (16, 128), (16, 64, 256))])
@pytest.mark.parametrize("arch", list(matrix_units.GENERATIONS))
def test_instructions_cover_the_tile(arch, br, bc, d):
    shape = matrix_units.GENERATIONS[arch].shape
    m, n, k = shape[0], min(shape[1], bc), shape[2]
    starts = product(range(0, br, m), range(0, bc, n), range(0, d, k))
    assert matrix_units.instructions(shape, br, bc, d) == len(list(starts))


def test_one_tile_in_words():
    made = words(blocks("formats", arch="sm_90", format="fp16", br=64, bc=128, d=64))
    assert "4 instructions on Hopper (H100), at least 256 clocks" in made  # 64·128·64 / 2,048
    assert "fills only part of m = 64" in words(blocks("formats", arch="sm_90", br=32))
    fp32 = words(blocks("formats", arch="sm_90", format="fp32"))
    assert "TF32" in fp32 and "10 of its 23 mantissa bits" in fp32
    assert "do not take fp8" in words(blocks("formats", arch="sm_80", format="fp8"))


def test_the_question_on_tl_dot():
    question = RUNGS["formats"].question
    assert question.options[question.answer][0] == "10"


# ---- both


def test_every_setting_answers_small_and_with_little_work():
    for widget in systems.WIDGETS:
        first = widget.controls[0]
        for value, control in product([v for v, _ in first.choices], widget.controls[1:]):
            for k, (other, _) in enumerate(control.choices):
                asked = partial(blocks, widget.key, **{first.key: value, control.key: other})
                end = k in (0, len(control.choices) - 1)  # to count lines takes ten times as long
                # up to 150 bytes per token of N = 16,384, where nothing of that length is kept yet
                made = assert_light(asked, 500_000, 2_500_000) if end else asked()
                assert len(json.dumps(made)) < 40_000
                assert all(b.get("label") or b.get("words") for b in made)


@pytest.mark.parametrize(("key", "bad"), [("fusion", {"n": 100}), ("fusion", {"card": "z"}),
                                          ("formats", {"arch": "sm_61"})])  # fmt: skip
def test_bad_input_is_one_sentence(key, bad):
    with pytest.raises(ProblemError, match="is not allowed"):
        blocks(key, **bad)
