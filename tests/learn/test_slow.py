"""Group 2 against other ways to count: sectors, areas and pipes, round trips, the roofline."""

import numpy as np
import pytest

from explainer.base.amounts import amount, milliseconds
from explainer.base.cards import CARDS
from explainer.learn.content import Question
from explainer.learn.launches import total
from explainer.learn.lessons.gpu import lesson as gpu
from explainer.learn.lessons.memory import lesson as memories
from explainer.learn.lessons.roofline import lesson as roofline
from explainer.learn.lessons.trips import lesson as round_trips
from tests.learn.scenes import asked, cases, data, marks

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


@pytest.mark.parametrize("key", CARDS)
def test_the_least_times_are_by_one_convention(key):
    """Each matrix once per kernel, with tiles and without."""
    n, d, card = memories.N, memories.D, CARDS[key]
    matrix, square = 2 * n * d, 2 * n * n
    took = memories.times(key)
    assert took["without"] * card.hbm_bytes_per_s == pytest.approx(4 * matrix + 4 * square)
    assert took["with"] * card.hbm_bytes_per_s == pytest.approx(4 * matrix + 4 * n)  # and lse
    assert took["products"] * card.tensor_tflops * 1e12 == pytest.approx(4 * n * n * d)
    for seconds, bar in zip(took.values(), data("memory", card=key)["bars"], strict=True):
        shown = float(bar["time"].removesuffix(" µs").replace(",", ""))
        assert shown == pytest.approx(seconds * 1e6, rel=0.006)


def lengths(question: Question) -> list[int]:
    """Read the N that a question offers."""
    return [int(words.replace(",", "")) for words, _ in question.options]


def test_from_which_n_s_is_larger():
    card = CARDS["h200"]
    sizes = (card.l2_bytes, card.shared_bytes, card.sms * card.shared_per_sm_bytes)
    for n_bytes, question in zip(sizes, asked("memory"), strict=True):
        first = f"at {question.options[question.answer][0]} it is already larger"
        late = [why for _, why in question.options[question.answer + 1 :]]
        assert all(first in why for why in late)
        given = lengths(question)
        larger = [n for n in given if 2 * n * n > n_bytes]
        assert given[question.answer] == min(larger) and given == sorted(given)


def test_the_bars_on_are_the_way_s_and_the_products():
    for tiles, on in (("without", [True, False, True]), ("with", [False, True, True])):
        assert [bar["on"] for bar in data("memory", tiles=tiles)["bars"]] == on


@pytest.mark.parametrize("n", round_trips.LENGTHS)
@pytest.mark.parametrize("heads", [1, 96])
def test_round_trips_add_up_to_standard_attention_s_least(n, heads):
    """The launches are those of tests/views/stories/test_memory_trips.py."""
    whole = heads * 2 * (4 * n * round_trips.D + 4 * n * n)
    assert total(round_trips.kernels(n, heads)) == whole
    sizes = [size for _, size in round_trips.sum_of(n, heads)]
    every = heads * n * n * 2
    assert sizes[1:3] == [amount(every), amount(4 * every)]
    assert sizes[3] == milliseconds(4 * every / CARDS["h200"].hbm_bytes_per_s * 1e3)


@pytest.mark.parametrize("d", [32, 64, 128, 256])
def test_three_kernels_stay_below_half_of_d(d):
    ratios = [roofline.intensity(n, d, "standard") for n in (64, 1024, 16384)]
    assert ratios == sorted(ratios) and ratios[-1] < d / 2 < 1.05 * ratios[-1]
    for n in (64, 1024, 16384):
        assert roofline.intensity(n, d, "fa2") == pytest.approx(n / 2, rel=1 / d)


def test_where_the_roofs_meet():
    for key, card in CARDS.items():
        edge = roofline.ridge(key)
        assert roofline.attainable(key, edge) == pytest.approx(card.tensor_tflops)
        assert roofline.attainable(key, edge / 2) == pytest.approx(card.tensor_tflops / 2)
        assert roofline.attainable(key, edge * 2) == card.tensor_tflops
    plot = next(mark for mark in marks(data("roofline")) if mark["mark"] == "plot")
    points = [line["name"] for line in plot["series"] if line["points"]]
    assert [name.split(", ")[-1] for name in points] == ["memory-bound", "compute-bound"]


@pytest.mark.parametrize(("at", "given"), list(enumerate(cases("roofline"))))
def test_from_which_n_the_fused_kernel_is_bound_by_the_units(at, given):
    card, question = CARDS[given[0]], asked("roofline")[at]
    given = lengths(question)
    n, d = np.array(given, float), 128
    seconds = (8 * n * d + 4 * n) / card.hbm_bytes_per_s  # Q, K, V, O in fp16, lse in fp32
    enough = 4 * n * n * d / (card.tensor_tflops * 1e12) >= seconds
    assert given[question.answer] == min(np.array(given)[enough])


@pytest.mark.parametrize(("stride", "sectors"), [(1, 2), (64, 32)])
def test_what_a_warp_moves(stride, sectors):
    found = list(marks(data("gpu", stride=stride, dtype="fp16", heads=1)))
    card, read = (mark["cells"] for mark in found if mark["mark"] == "grid")
    assert sum(map(sum, card)) == 8, "SMs with work"
    needed, moved = (mark["value"] for mark in found if mark["mark"] == "bar")
    assert (len(read), needed, moved) == (sectors, 64, 32 * sectors)
    where = {cell: (i, j) for i, row in enumerate(read) for j, cell in enumerate(row) if cell}
    apart = [16 * i + j for i, j in (where[thread] for thread in range(1, 33))]
    assert apart == [t * stride if stride == 1 else 16 * t for t in range(32)]
    share = next(mark["text"] for mark in found if mark["mark"] == "note" and mark["tone"])
    assert share.startswith(f"{100 * 64 / (32 * sectors):g}%")
