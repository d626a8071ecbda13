"""Group 3 against PyTorch and by hand: fusion, online softmax and its exercise, tiles, any order,
what is saved."""

import itertools

import numpy as np
import pytest
import torch

from explainer.algorithms.schedule import schedule
from explainer.base.fields import ProblemError
from explainer.base.records import load
from explainer.learn.example import K, Q, V
from explainer.learn.lessons.fusion import lesson as fusion
from explainer.learn.lessons.online import lesson as online
from explainer.learn.lessons.order import lesson as order
from explainer.learn.lessons.saves import lesson as saves
from explainer.learn.lessons.tiled import lesson as tiled
from tests.learn.scenes import LESSONS, blocks

ROW = 7  # "tired"
S = torch.from_numpy(Q @ K.T / 2)[ROW]
VALUES = torch.from_numpy(V)


def spoken(key: str, **query: object) -> str:
    """What the picture says to a screen reader."""
    return str(blocks(key, **query)[0]["words"])


@pytest.mark.parametrize("n", [256, 16_384])
def test_launches_move_each_matrix_once(n):
    """Scale, mask and softmax: S in and a matrix out each; FA-2: Q, K, V in, O and lse out."""
    apart, fused = fusion.chain("softmax", n)
    assert (fusion.total(apart), fusion.total(fused)) == (6 * 2 * n * n, 2 * 2 * n * n)
    apart, fused = fusion.chain("attention", n)
    assert fusion.total(apart) == 2 * (4 * n * 64 + 4 * n * n)
    assert fusion.total(fused) == 2 * 4 * n * 64 + 4 * n


@pytest.mark.parametrize("done", range(1, 5))
def test_the_numbers_of_a_block_are_torch_s(done):
    seen = S[: 2 * done]
    p = torch.exp(seen - seen.max())
    state = online.states()[done - 1]
    assert state.m.item() == pytest.approx(float(seen.max()))
    assert state.l.item() == pytest.approx(float(p.sum()))
    np.testing.assert_allclose(state.O[0], p @ VALUES[: 2 * done], atol=1e-12)
    assert f" = {float(p.sum()):.2f}; O" in spoken("online", step=done)


RIGHT = [right for _, _, right in online.GAPS]
# Far apart and large: a line out of place or a wrong gap overflows or shows.
HARD = np.array([150, 20, -300, 95, -40, 151, -2, 149.5, -200, 150.5, 0, -130], np.float32)
ONES = np.array([3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8], np.float32)


def passes(lines: list[tuple[str, str]]) -> bool:
    """Whether these lines do what torch does, on all data and blocks."""
    for scores, v in (online.row_data(), (HARD, ONES), (-HARD, ONES)):
        weights = torch.softmax(torch.from_numpy(scores).double(), 0).numpy()
        for block in (1, 2, 3, 5):
            try:
                found = online.simulate(lines, scores, v, block)
            except KeyError:  # a line uses what does not exist yet
                return False
            close = np.abs(found.weights - weights).max() < 1e-5
            if not close or not abs(found.output - weights @ v) < 1e-4:
                return False
    return True


def test_only_the_orders_that_the_question_takes_are_right():
    places = range(len(online.LINES))
    good = {o for o in itertools.permutations(places) if passes(online.filled(o, RIGHT))}
    assert good == {(0, 1, 2, 3, 4, 5), (0, 1, 2, 3, 5, 4)}
    assert LESSONS["online"].question.answer == ((4, 5),)


def test_every_wrong_gap_gives_a_wrong_result():
    for k, (_, offered, right) in enumerate(online.GAPS):
        for word in offered:
            lines = online.filled(range(6), [*RIGHT[:k], word, *RIGHT[k + 1 :]])
            assert passes(lines) == (word == right), lines


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({}, "Your weights sum to 1, and O ÷ ℓ is right: 2.251."),
        ({"g4": "1"}, "but O did not follow"),
        ({"g2": "m_new - m"}, "ℓ is NaN after block 1: an exponent is too large."),
        ({"order": "5,0,1,2,3,4"}, "alpha is used before it has a value."),
        ({"g3": "1"}, "Your weights sum to "),
    ],
)
def test_lines_show_what_they_give(given, said):
    assert said in spoken("online_run", **given)


@pytest.mark.parametrize("bad", ["", "0,1", "a,b", "0,0,1,2,3,4", "5" * 300])
def test_an_order_that_is_none_gets_one_sentence(bad):
    with pytest.raises(ProblemError, match="order = "):
        blocks("online_run", order=bad)


def test_tiles_end_with_torch_s_output_and_the_schedule_s_bytes():
    """824 of 928 B at the first picture; standard attention requests 2,688."""
    last = tiled.trace(tiled.PROBLEM).visits[-1]
    wanted = torch.nn.functional.scaled_dot_product_attention(
        *(torch.from_numpy(x)[None] for x in (Q, K, V)), is_causal=True
    )[0]
    np.testing.assert_allclose(last.O / last.l_new[:, None], wanted[6:], atol=1e-6)
    steps = schedule(tiled.PROBLEM)
    assert tiled.moved(*tiled.places()[-1]) == sum(m.nbytes for s in steps for m in s.transfers)
    assert (tiled.moved(*tiled.places()[20]), tiled.all_bytes(), tiled.all_bytes("standard")) == (
        824,
        928,
        2688,
    )
    said = spoken("tiled", step=21)
    assert "m rises by 2.0" in said and "0.14" in said and "0.37" in said


@pytest.mark.parametrize("count", (2, 4, 8))
@pytest.mark.parametrize("way", order.ORDERS)
def test_parts_merge_to_torch_s_row_in_every_order(count, way):
    lse, O = order.merged([order.part(slice(k, k + 8 // count)) for k in range(0, 8, 8 // count)])
    assert lse == pytest.approx(float(torch.logsumexp(S, 0)))
    np.testing.assert_allclose(O, torch.softmax(S, 0) @ VALUES, atol=1e-12)
    assert f"Merged: lse {lse:.2f}" in spoken("order", parts=count, order=way)


@pytest.mark.parametrize("at", [0, 4, 8])
def test_what_is_saved_is_counted_by_hand(at):
    n = saves.NS[at]
    found = {key: values[at] for key, values in saves.ratios().items()}
    assert found["memory"] == pytest.approx(2 * 2 * n * n / (4 * n))
    standard, fa2 = 2 * (4 * n * 128 + 4 * n * n), 2 * 4 * n * 128 + 4 * n
    assert found["bytes"] == pytest.approx(standard / fa2)


def test_the_times_are_the_record_s():
    rows = [r for r in load()["rows"] if (r["d"], r["mask"], r["dtype"]) == (128, "full", "bf16")]
    for n, pair in saves.recorded().items():
        by = {r["method"]: r for r in rows if r["n"] == n}
        assert pair == tuple(by[method].get("median_ms") for method in ("naive", "fa2"))
        assert {r["batch"] for r in by.values()} == {max(1, saves.TOKENS // n)}
        assert {r["heads"] for r in by.values()} == {saves.HEADS}
    (slow, fast), (slower, faster) = saves.recorded()[8_192], saves.recorded()[16_384]
    more = LESSONS["saves"].more
    assert f"falls from {slow / fast:.1f} to {slower / faster:.1f} times" in more
    assert f"takes only {slower / slow:.1f} times" in more
