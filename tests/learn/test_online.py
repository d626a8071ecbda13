"""Online softmax: the row that is shown against torch, its factors, and the exercise that runs."""

from __future__ import annotations

import itertools
import re

import numpy as np
import pytest
import torch

from explainer.base.fields import ProblemError
from explainer.learn import online
from explainer.learn import online_loop as loop
from explainer.trace import trace
from tests.learn.scenes import blocks, texts

S, V = (np.array(x, np.float32) for x in (loop.SCORES, loop.VALUES))
RIGHT = [fill for _, _, fill in loop.GAPS]


@pytest.mark.parametrize("done", range(1, online.BLOCKS + 1))
def test_the_numbers_of_a_block_are_torch_s(done):
    seen = done * loop.BLOCK
    s, v = (torch.from_numpy(x[:seen]).double() for x in (S, V))
    m = s.max()
    p = torch.exp(s - m)
    shown = texts("online", step=done)
    assert f"{float(p.sum()):.3f}" in shown and f"{float(p @ v):.3f}" in shown
    assert any(x.startswith(f"{float(m):.0f}") for x in shown)
    for line in shown[-40:]:  # every line that is written out holds
        if " = " in line and line[0] in "ℓO" and "·" in line:
            a, b, c, d = (float(x.replace("−", "-")) for x in re.findall(r"−?\d+\.\d+", line))
            assert a * b + c == pytest.approx(d, abs=2e-3), line


def test_the_last_block_is_softmax_times_v():
    want = torch.softmax(torch.from_numpy(S), 0) @ torch.from_numpy(V)
    run = trace(online.ROW)
    assert float(run.O[0, 0]) == pytest.approx(float(want), abs=1e-6)
    np.testing.assert_allclose(run.S[0], S)


@pytest.mark.parametrize("now", [3.0, 4.1, 5.0, 7.0])
def test_one_factor_is_enough(now):
    first, alpha, both = online.factors(now)
    assert first * alpha == pytest.approx(both) == pytest.approx(float(np.exp(2 - now)))
    assert f"= {both:.3f} = {first:.3f} · {alpha:.3f}" in " ".join(texts("online", m_new=now))


# ---- the exercise

# Far apart and large: a line out of place or a wrong gap overflows or shows.
HARD = np.array([150, 20, -300, 95, -40, 151, -2, 149.5, -200, 150.5, 0, -130], np.float32)
ONES = np.array([3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8], np.float32)


def passes(lines: tuple[str, ...]) -> bool:
    """Whether these lines do what torch does, on all data and blocks."""
    for scores, v in ((S, V), (HARD, ONES), (-HARD, ONES)):
        weights = torch.softmax(torch.from_numpy(scores).double(), 0).numpy()
        for block in (1, 2, 3, 5):
            try:
                found = loop.simulate(lines, scores, v, block)
            except KeyError:  # a line uses what does not exist yet
                return False
            close = np.abs(found.weights - weights).max() < 1e-5
            if not close or not abs(found.output - weights @ v) < 1e-4:
                return False
    return True


def test_only_the_orders_that_the_question_takes_are_right():
    places = range(len(loop.LINES))
    good = {o for o in itertools.permutations(places) if passes(loop.filled(o, RIGHT))}
    (free,) = loop.FREE
    swapped = list(places)
    swapped[free[0]], swapped[free[1]] = free[1], free[0]
    assert good == {tuple(places), tuple(swapped)}


def test_every_wrong_gap_gives_a_wrong_result():
    places = range(len(loop.LINES))
    for k, (_, offered, right) in enumerate(loop.GAPS):
        assert len(set(offered)) == 3 and right in offered
        for word in offered:
            lines = loop.filled(places, [*RIGHT[:k], word, *RIGHT[k + 1 :]])
            assert passes(lines) == (word == right), lines


def test_a_wrong_order_shows_what_it_gives():
    lost = "0,2,1,3,4,5"  # alpha after the old maximum is lost
    found = loop.simulate(loop.filled(map(int, lost.split(",")), RIGHT), S, V, loop.BLOCK)
    shown = texts("online_run", order=lost)
    assert f"Your weights sum to {found.weights.sum():.3f}, not to 1." in shown
    assert {f"{x:.3f}" for x in (*found.sums, found.output)} <= {*shown}
    right, only_o, early = (
        blocks("online_run", **given)[0]["words"]
        for given in ({"order": "0,1,2,3,5,4"}, {"g4": "1"}, {"order": "5,0,1,2,3,4"})
    )
    assert right.startswith("Weights add up to 1, and O ÷ ℓ is right.")
    assert "O did not follow" in only_o and early.endswith("alpha is used before it has a value.")


@pytest.mark.parametrize(
    "bad", ["", "0,1", "0,1,2,3,4,9", "a,b", "0,0,1,2,3,4", "0,1,2,3,4,5,6,8", "5" * 300]
)
@pytest.mark.parametrize("key", ["online_run", "order"])
def test_an_order_that_is_none_gets_one_sentence(key, bad):
    with pytest.raises(ProblemError, match="order = "):
        blocks(key, order=bad)


def test_every_filling_in_every_order_is_drawn():
    """Whatever a reader runs is shown in the room that there is, or said in one sentence."""
    orders = list(itertools.permutations(range(len(loop.LINES))))[::17]
    for k, order in enumerate(orders):
        given = {f"g{n}": offered[k % 3] for n, (_, offered, _) in enumerate(loop.GAPS, 1)}
        (made,) = blocks("online_run", order=",".join(map(str, order)), **given)
        assert made["type"] in ("picture", "text")
