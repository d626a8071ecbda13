"""Group 2 against other ways to count: sectors, areas and pipes, round trips, the roofline."""

from __future__ import annotations

import math
import re
from pathlib import Path

import numpy as np
import pytest

from explainer.base.cards import CARDS
from explainer.base.facts import number
from explainer.learn import gpu, memories, round_trips
from explainer.learn.widgets import read_controls
from explainer.memory.levels import levels_of
from tests.learn.scenes import LESSONS, asked, block, cases, data

GIB = 2**30


@pytest.mark.parametrize("stride", [*gpu.STRIDES, 3, 5, 16])
@pytest.mark.parametrize("dtype", [np.float16, np.float32])
def test_sectors_are_those_that_the_addresses_lie_in(stride, dtype):
    """NumPy's own addresses of a strided view, in an array that begins on a sector."""
    x = np.zeros(32 * stride, dtype)
    view = x[::stride]
    addresses = [view[t:].__array_interface__["data"][0] for t in range(32)]
    want = [(a - addresses[0]) // 32 for a in addresses]
    assert gpu.sectors(stride, x.itemsize) == want


def test_what_a_warp_moves():
    assert (data("gpu")["sectors"], data("gpu")["used"], data("gpu")["moved"]) == (4, 128, 128)
    column = data("gpu", stride=64, dtype="fp16")
    assert (column["sectors"], column["used"], column["moved"]) == (32, 64, 1024)
    assert column["share"] == "6.25", "not rounded to 6"
    assert "6.25% of them are used" in block("gpu", stride=64, dtype="fp16")["words"]
    assert "FA-2 on 1 head of" in block("gpu", heads=1)["words"]
    assert data("gpu", heads=64)["blocks"] == 64 * 8 and data("gpu", heads=64)["busy"] == 132
    assert data("gpu", heads=1)["busy"] == 8


@pytest.mark.parametrize(("at", "given"), list(enumerate(cases("gpu"))))
def test_the_sectors_asked_for(at, given):
    (stride, dtype), question = given, asked("gpu")[at]
    span = stride * (4 if dtype == "fp32" else 2)
    assert question.answer == min(32, math.ceil(32 * span / 32))
    apart, found = re.match(
        r"The addresses are (\d+) bytes apart.* (\d+)\.$", question.reasons[0]
    ).groups()
    assert (int(apart), float(found)) == (span, question.answer)
    closed = read_controls("gpu")["stride"].closed
    assert str(stride) in closed


def test_the_pyramid_s_sizes_and_rates_are_the_memory_page_s():
    for key in CARDS:
        found = data("memory", card=key)
        w = memories._workload(key)
        by = {level.key: level for level in levels_of(w)}
        for lane in found["levels"]:
            assert lane["bytes"] == by[lane["key"]].size_bytes
            assert lane["per_s"] == (by[lane["key"]].bytes_per_s or 0)
        assert sum(size for _, size in found["sm"]["in_shared"]) <= CARDS[key].shared_bytes, key
        assert sum(size for _, size in found["sm"]["in_registers"]) <= 256 * 1024


@pytest.mark.parametrize("key", CARDS)
def test_the_least_times_are_by_one_convention(key):
    """Each matrix once per kernel, with tiles and without."""
    n, d, card = memories.N, memories.D, CARDS[key]
    matrix, square = 2 * n * d, 2 * n * n
    took = memories.times(key)
    assert took["without"] * card.hbm_bytes_per_s == pytest.approx(4 * matrix + 4 * square)
    assert took["with"] * card.hbm_bytes_per_s == pytest.approx(4 * matrix + 4 * n)  # and lse
    assert took["products"] * card.tensor_tflops * 1e12 == pytest.approx(4 * n * n * d)


@pytest.mark.parametrize("key", CARDS)
def test_times_and_rates_can_be_compared(key):
    """One unit for all times, and no power of ten among the rates."""
    found = data("memory", card=key)
    for bar in found["bars"]:
        said = float(bar["time"].removesuffix(" µs").replace(",", ""))
        assert said == pytest.approx(bar["s"] * 1e6, rel=0.006)
    assert not [x["rate"] for x in found["levels"] if "e+" in x["rate"]]


def test_what_the_text_says_of_pipes():
    widest = next(x for x in data("memory")["levels"] if x["key"] == "registers")["per_s"]
    assert f"up to {widest / 4.8e12:.0f} times as wide" in LESSONS["memory"].words
    assert number("dram.energy") == pytest.approx(6400 * 0.1 / 5)


def test_from_which_n_s_is_larger():
    card = CARDS["h200"]
    sizes = (card.l2_bytes, card.shared_bytes, card.sms * card.shared_per_sm_bytes)
    for n_bytes, question in zip(sizes, asked("memory"), strict=True):
        first = f"at {question.options[question.answer][0]} it is already larger"
        late = [why for _, why in question.options[question.answer + 1 :]]
        assert all(first in why for why in late)
        given = [int(words.replace(",", "")) for words, _ in question.options]
        larger = [n for n in given if 2 * n * n > n_bytes]
        assert given[question.answer] == min(larger) and given == sorted(given)


@pytest.mark.parametrize("n", round_trips.LENGTHS)
@pytest.mark.parametrize("heads", [1, 96])
def test_round_trips_add_up_to_standard_attention_s_least(n, heads):
    moves = round_trips.kernels(n, heads)
    total = sum(sum(r.values()) + sum(w.values()) for _, r, w in moves)
    assert total == heads * 2 * (4 * n * round_trips.D + 4 * n * n)
    assert [(set(r), set(w)) for _, r, w in moves] == [
        ({"Q", "K"}, {"S"}),
        ({"S"}, {"P"}),
        ({"P", "V"}, {"O"}),
    ]


def test_the_sum_can_be_followed():
    steps = dict(data("trips")["steps"])
    assert steps["8,192 × 8,192 scores × 2 bytes"] == "128 MiB per head"
    assert steps["× 96 heads"] == "12 GiB for S"
    assert steps["× 4: S written and read, P written and read"] == "48 GiB"
    assert steps["÷ 4.8 TB/s of an H200"] == f"{48 * GIB / 4.8e12 * 1e3:.3g} ms"
    assert "48.8 GiB in all; the 48 GiB of S and P alone take 10.7 ms" in block("trips")["words"]
    assert "fits into" in block("trips")["words"]
    assert "does not fit" in block("trips", n=32768)["words"]
    shown = [x["n"] for x in data("trips")["ladder"]]
    assert shown == ["512", "2,048", "8,192"], "longer ones come with their N"


def test_the_gib_asked_for():
    for question in asked("trips"):
        n, heads = (
            int(x.replace(",", ""))
            for x in re.findall(r"([\d,]+)(?=, | heads)", question.words)[:2]
        )
        assert question.answer == 2 * n * n * heads / GIB
        times, square, head, all_heads = re.search(
            r"128 MiB at N = 8,192\. (\d+) times the N, (\d+) times the bytes: (\S+ .iB) per head, "
            r"(\S+) GiB",
            question.reasons[0],
        ).groups()
        assert int(times) * 8192 == n and int(square) == int(times) ** 2
        number, unit = head.split()
        assert float(number) * {"MiB": 2**20, "GiB": GIB}[unit] == 2 * n * n
        assert float(all_heads) == question.answer


@pytest.mark.parametrize("d", [32, 64, 128, 256])
def test_three_kernels_stay_below_half_of_d(d):
    ratios = [round_trips.intensity(n, d, "standard") for n in (64, 1024, 16384)]
    assert ratios == sorted(ratios) and ratios[-1] < d / 2 < 1.05 * ratios[-1]
    for n in (64, 1024, 16384):
        assert round_trips.intensity(n, d, "fa2") == pytest.approx(n / 2, rel=1 / d)


def test_where_the_roofs_meet():
    for key, card in CARDS.items():
        edge = round_trips.ridge(key)
        assert round_trips.attainable(key, edge) == pytest.approx(card.tensor_tflops)
        assert round_trips.attainable(key, edge / 2) == pytest.approx(card.tensor_tflops / 2)
        assert round_trips.attainable(key, edge * 2) == card.tensor_tflops
    bound = [point["bound"] for point in data("roofline")["points"]]
    assert bound == ["bound by memory", "bound by the matrix units"]


@pytest.mark.parametrize(("at", "given"), list(enumerate(cases("roofline"))))
def test_from_which_n_the_fused_kernel_is_bound_by_the_units(at, given):
    card, question = CARDS[given[0]], asked("roofline")[at]
    given = [int(words.replace(",", "")) for words, _ in question.options]
    n, d = np.array(given, float), 128
    seconds = (8 * n * d + 4 * n) / card.hbm_bytes_per_s  # Q, K, V, O in fp16, lse in fp32
    enough = 4 * n * n * d / (card.tensor_tflops * 1e12) >= seconds
    assert given[question.answer] == min(np.array(given)[enough])


def test_l2_s_rate_is_the_log_s():
    more = LESSONS["memory"].more
    log = (Path(__file__).parents[2] / "kernels/LOG.md").read_text("utf-8")
    found = r"16 MiB row ([\d.]+) / ([\d.]+) / [\d.]+, past L1 \(`.cg`\) ([\d.]+) / ([\d.]+)"
    single, plain, past_single, past = map(float, re.search(found, log).groups())
    assert single == pytest.approx(past_single, rel=0.01) and f"{past_single:.1f} TB/s" in more
    assert plain == pytest.approx(past, rel=0.01) and "as fast" in more
