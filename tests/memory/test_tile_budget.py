"""The on-chip budget against arithmetic done here."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given

from explainer.base.cards import CARDS
from explainer.memory.tile_budget import budget, fits, largest_square, summary, total
from explainer.problem import Problem
from tests.test_problem import problems


def by_hand(br: int, bc: int, d: int, e: int) -> int:
    return e * d * (br + 2 * bc) + 4 * (br * bc + br * d + 2 * br)


@given(problems())
def test_total_is_the_sum_of_the_operands(problem):
    e = {"fp32": 4, "fp16": 2, "bf16": 2}[problem.dtype]
    assert total(budget(problem)) == by_hand(problem.block_q, problem.block_k, problem.d, e)
    for card in CARDS.values():
        b = largest_square(problem, card)
        assert by_hand(b, b, problem.d, e) <= card.shared_bytes if b else True
        assert by_hand(b + 1, b + 1, problem.d, e) > card.shared_bytes


def test_the_usual_tile_fits_hopper_and_not_turing():
    problem = Problem(n=1024, d=128, block_q=128, block_k=128, dtype="bf16")
    found = summary(problem)
    assert found["total"] == 2 * 128 * 128 * 3 + 4 * (128 * 128 * 2 + 256)
    assert found["total"] <= found["cards"]["h200"]["bytes"]
    assert found["total"] > found["cards"]["t4"]["bytes"]


def test_a_tile_fits_up_to_the_last_byte():
    problem = Problem(n=64, d=32, block_q=16, block_k=16, dtype="fp16")
    need = by_hand(16, 16, 32, 2)
    assert fits(problem, replace(CARDS["t4"], shared_bytes=need))
    assert not fits(problem, replace(CARDS["t4"], shared_bytes=need - 1))


def test_no_tile_where_not_even_one_row_fits():
    problem = Problem(n=64, d=32, block_q=1, block_k=1, dtype="fp16")
    assert largest_square(problem, replace(CARDS["t4"], shared_bytes=by_hand(1, 1, 32, 2) - 1)) == 0
