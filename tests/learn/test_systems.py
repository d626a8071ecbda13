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
from explainer.base.records import load
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


# ---- when it does not help


def test_the_measured_ratio_of_the_facts():
    """FACTS.md: N = 256, d = 64, Br = 32, Bc = 64, fp32: FA-2 ÷ FA-1 = 1.26, both asked."""
    one, two = (systems.ratio(256, 64, 32, 64, "fp32", order) for order in ("fa1", "fa2"))
    assert round(two / one, 2) == 1.26
    said = words(blocks("when_not", n=256, br=32, bc=64, dtype="fp32"))
    assert "FA-2 ÷ FA-1 = 1.26" in said and f"FA-2 for {two:.2f} times standard's" in said


@pytest.mark.parametrize(("n", "d", "br", "bc"), [(64, 8, 16, 16), (256, 64, 32, 64)])
@pytest.mark.parametrize("order", ["fa1", "fa2"])
def test_ratios_against_the_listed_schedule(n, d, br, bc, order):
    def total(order: str) -> int:
        return traffic.total(Problem(n=n, d=d, block_q=br, block_k=bc, causal=False, order=order))

    assert systems.ratio(n, d, br, bc, "fp32", order) == total(order) / total("standard")


def test_small_tiles_cost_time_and_no_bytes_of_hbm():
    """The card's bars are the records': eight times slower and more, the same bytes at DRAM."""
    asked, least, speed, dram = (b for b in blocks("when_not") if b["type"] == "bars")
    n, d, T = 4096, 64, 4096 // 16
    wanted = [n * d + 3 * T * n * d + 4 * n * n, 2 * n * d + T * (3 * n * d + 8 * n),
              2 * n * d + 2 * T * n * d + 2 * n]  # fmt: skip
    assert [i[1] for i in asked["items"]] == [2 * x for x in wanted] and "asked" in asked["label"]
    once = [4 * n * d + 4 * n * n, 4 * n * d + 4 * n, 4 * n * d + 2 * n]
    assert [i[1] for i in least["items"]] == [2 * x for x in once] and "least" in least["label"]
    recorded = {r["block_m"]: r["tflops"] for r in load("tiles_nvidia_h200")["rows"]
                if r["d"] == 64 and not r["causal"] and r["block_m"] == r["block_n"]}  # fmt: skip
    assert [i[1] for i in speed["items"]] == list(recorded.values())
    assert speed["items"][2][1] > 8 * speed["items"][0][1]
    sizes = {name: size for name, size, _ in dram["items"]}
    for order in ("Standard", "FA-2"):
        mine = [size for name, size in sizes.items() if name.endswith(order)]
        assert len(mine) == 4 and max(mine) < 1.03 * min(mine)
    assert 50 < sizes["16 × 16, Standard"] / sizes["16 × 16, FA-2"] < 60
    assert all("recorded on NVIDIA H200" in b["label"] for b in (speed, dram))
    assert len(blocks("when_not", d=8)) == 3  # nothing was recorded


def test_decoding_by_counting_elements():
    n, d = 1000, 64
    apart = (d + n * d) + n + n + n + (n + n * d) + d  # scores, softmax, output
    assert systems.decode_ratio(n, d) == (d + 2 * n * d + d) / apart
    together = 4 * d + 2 * n * d + 4 * d  # four queries, K and V once, four rows of O
    assert systems.decode_ratio(n, d, 4) == together / (4 * apart)
    said = words(blocks("when_not", case="decode"))
    assert "launches" in said and "share K and V" in said
    assert "standard attention needs the same" in words(blocks("when_not", case="heads"))


def test_exponentials_against_products():
    """H100: 3.9e12 exponentials and 989.4e12 FLOP a second; 4·d FLOPs a score."""
    assert systems.exp_share(64) == pytest.approx((1 / 3.9e12) / (256 / 989.4e12))
    assert systems.exp_share(16) > 1 > systems.exp_share(128)


def test_the_share_of_a_layer_by_counting_flops():
    n, h = 4096, systems.HIDDEN
    attention, projections, feed_forward = 4 * n * n * h, 4 * 2 * n * h * h, 2 * 2 * n * h * 4 * h
    share = attention / (attention + projections + feed_forward)
    assert systems.layer_share(n) == pytest.approx(share)


def test_the_clicked_cells_are_the_slow_ones():
    rung = RUNGS["when_not"]
    best = {d: max(r.get("tflops", 0) for r in load("tiles_nvidia_h200")["rows"]
                   if r["d"] == d and not r["causal"]) for d in systems.QUESTIONED}  # fmt: skip
    tiled = {
        (r["arch"], r["d"], r["block_m"]): r
        for r in load("compiled")["rows"]
        if r["order"] == "fa2" and not r["causal"] and r["block_m"] == r["block_n"]
    }
    for row, cells in enumerate(rung.question.cells):
        for col, d in enumerate(systems.QUESTIONED):
            side = int(cells[col].split()[-1])
            assert cells[col] == f"d = {d}, tile {side} × {side}"
            slow = systems.speeds(d)[side] < best[d] / 2
            assert ((row, col) in rung.question.answer) == slow
            units = tiled["sm_90", d, side]["matrix_instructions"]
            assert slow == all("wgmma" not in unit for unit in units), "what the reason says"
    assert f"{best[64] / systems.speeds(64)[16]:.0f} times as fast as 16 × 16" in rung.words
    assert "N = 4,096" in rung.question.words


# ---- all three


def test_every_setting_answers_small_and_with_little_work():
    for widget in systems.WIDGETS:
        first = widget.controls[0]
        for value, control in product([v for v, _ in first.choices], widget.controls[1:]):
            for k, (other, _) in enumerate(control.choices):
                asked = partial(blocks, widget.key, **{first.key: value, control.key: other})
                end = k in (0, len(control.choices) - 1)  # to count lines takes ten times as long
                # up to 100 bytes per token of N = 16,384, where nothing of that length is kept yet
                made = assert_light(asked, 500_000, 1_700_000) if end else asked()
                assert len(json.dumps(made)) < 40_000
                assert all(b.get("label") or b.get("words") for b in made)


@pytest.mark.parametrize(("key", "bad"), [("fusion", {"n": 100}), ("fusion", {"card": "z"}),
                                          ("formats", {"arch": "sm_61"}),
                                          ("when_not", {"case": ""})])  # fmt: skip
def test_bad_input_is_one_sentence(key, bad):
    with pytest.raises(ProblemError, match="is not allowed"):
        blocks(key, **bad)
