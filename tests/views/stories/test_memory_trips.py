"""The chapter "trips": its bytes and times against the shapes of the matrices."""

from typing import Any

import pytest

from explainer.base.amounts import round_step
from explainer.base.cards import CARDS
from explainer.memory.workload import Workload
from explainer.views.stories.memory_trips import chapter, trips


@pytest.mark.parametrize("n, d, heads, card", [(4096, 64, 16, "h200"), (100, 128, 3, "t4")])
def test_each_matrix_crosses_once_per_kernel(n, d, heads, card):
    w = Workload(n=n, d=d, heads=heads, card=card, block_q=16, block_k=16)
    matrix, square = heads * n * d * 2, heads * n * n * 2
    found = [(x.launch, x.tensor, x.is_read, x.end - x.start) for x in trips(w, "standard")]
    assert found == [
        (0, "Q", True, matrix),
        (0, "K", True, matrix),
        (0, "S", False, square),
        (1, "S", True, square),
        (1, "P", False, square),
        (2, "P", True, square),
        (2, "V", True, matrix),
        (2, "O", False, matrix),
    ]
    lse = heads * n * 4
    assert trips(w, "fa2")[-1].end == 4 * matrix + lse
    rows: list[Any] = chapter(w, {})["table"][0]["rows"]
    seconds = sum(row[-1] for row in rows if row[0] != "FA-2") / 1e6
    whole = (4 * matrix + 4 * square) / CARDS[card].hbm_bytes_per_s
    assert seconds == pytest.approx(whole, rel=1e-2)


def test_the_beats_count_what_has_passed_by_then():
    found = chapter(Workload(), {})
    beats, lanes = found["beats"], found["picture"]["lanes"]
    assert len(beats) <= 62 and [beats[0]["share"], beats[-1]["share"]] == [0, 1]
    assert beats[0]["moved"] == ["0 B", "0 B"] and beats[-1]["moved"][0] in beats[-1]["note"]
    # 300 µs at 4.8 TB/s; by then Q, K, S twice and a part of P have passed
    at = next(beat for beat in beats if beat["label"].startswith("300 "))
    assert at["moved"][0] == "1.34 GiB" and at["part"] == "333 MiB of 512 MiB"
    assert at["share"] * beats[-1]["share"] == pytest.approx(300e-6 * 4.8e12 / (2.03125 * 2**30))
    assert lanes[1]["trips"][-1]["end"] == pytest.approx(32.25 / 2080)


def test_another_card_or_length_is_another_headline():
    assert chapter(Workload(n=8192), {})["headline"] != chapter(Workload(), {})["headline"]
    slow, fast = (chapter(Workload(card=card), {}) for card in ("t4", "h200"))
    assert slow["beats"][-1]["label"] != fast["beats"][-1]["label"]


@pytest.mark.parametrize("least, step", [(0.011, 0.02), (1, 1), (3, 5), (7.6, 10), (51, 100)])
def test_steps_are_round(least, step):
    assert round_step(least) == pytest.approx(step)
