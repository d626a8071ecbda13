"""The on-chip budget against arithmetic done here."""

from hypothesis import given
from hypothesis import strategies as st

from explainer.base.cards import CARDS
from explainer.memory.tile_budget import REGISTERS, SHARED, budget, bytes_in, largest_square
from kernels.spec.fields import PASSES
from kernels.spec.formats import ITEMSIZE
from tests.test_problem import problems


def by_hand(br: int, bc: int, d: int, e: int, pass_: str = "forward") -> tuple[int, int]:
    """Bytes of shared memory (Q, K, V; dO) and of registers in fp32 (S, O, m, l; of the backward S,
    dP, dK, dV, dQ, lse, D)."""
    if pass_ == "backward":
        return 2 * e * d * (br + bc), 4 * (2 * br * bc + d * (2 * bc + br) + 2 * br)
    return e * d * (br + 2 * bc), 4 * (br * bc + br * d + 2 * br)


def room(card) -> tuple[int, int]:
    return card.shared_bytes, card.registers_per_sm_bytes


@given(problems(), st.sampled_from(PASSES))
def test_what_is_held_is_the_sum_of_the_operands(problem, pass_):
    e = ITEMSIZE[problem.dtype]
    parts = budget(problem, pass_)
    wanted = by_hand(problem.block_q, problem.block_k, problem.d, e, pass_)
    assert (bytes_in(parts, SHARED), bytes_in(parts, REGISTERS)) == wanted
    for card in CARDS.values():
        b = largest_square(problem, card, pass_)
        largest, larger = (by_hand(side, side, problem.d, e, pass_) for side in (b, b + 1))
        assert all(need <= has for need, has in zip(largest, room(card), strict=True)) or not b
        assert any(need > has for need, has in zip(larger, room(card), strict=True))
