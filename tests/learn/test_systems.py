"""When it does not help, against counting by hand, the listed schedule and the cards' data."""

from __future__ import annotations

import json
from functools import partial
from itertools import product

import pytest

from explainer.algorithms import traffic
from explainer.base.records import load
from explainer.learn import systems
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


# ---- every setting


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


@pytest.mark.parametrize("bad", [{"case": ""}, {"n": 100}])
def test_bad_input_is_one_sentence(bad):
    with pytest.raises(ProblemError, match="is not allowed"):
        blocks("when_not", **bad)
