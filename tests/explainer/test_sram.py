"""The on-chip budget against arithmetic done here, and the table of cards against FACTS.md."""

from __future__ import annotations

import pytest
from hypothesis import given

from explainer.hardware import CARDS
from explainer.problem import Problem
from explainer.sram import budget, largest_square, summary, total
from tests.explainer.test_problem import problems


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


@pytest.mark.parametrize(
    ("key", "shared_kib", "arch"),
    [
        ("t4", 64, "sm_75"),
        ("a100", 163, "sm_80"),
        ("h100", 227, "sm_90"),
        ("h200", 227, "sm_90"),
        ("rtx4090", 99, "sm_89"),
        ("rtxpro6000", 99, "sm_120"),
    ],
)
def test_shared_memory_of_a_block(key, shared_kib, arch):
    card = CARDS[key]
    assert (card.shared_bytes, card.arch) == (shared_kib * 1024, arch)
    assert card.shared_bytes <= card.shared_per_sm_bytes < card.l2_bytes < card.hbm_bytes
    assert "NVIDIA" in card.source
