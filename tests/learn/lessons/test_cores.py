"""The lesson: shapes and rates by the PTX ISA and data sheets, instructions by walking a tile."""

from itertools import product

import pytest

from explainer.base.cards import CARDS
from explainer.learn import matrix_units
from explainer.learn.matrix_units import GENERATIONS
from tests.learn.scenes import find_mark


@pytest.mark.parametrize("arch", ["sm_75", "sm_80", "sm_89", "sm_90", "sm_120"])
def test_rates_an_sm_and_clock_agree_with_the_cards(arch):
    """What the TFLOP/s of a card imply at its boost clock; Hopper's tensor cores are rated at a
    lower clock (1.83 GHz of 1.98), hence 9 %."""
    for card in (c for c in CARDS.values() if c.arch == arch):
        implied = card.tensor_tflops * 1e12 / (2 * card.sms * card.clock_hz)
        assert GENERATIONS[arch].fma == pytest.approx(implied, rel=0.09)


def test_shapes_and_rates_of_other_formats():
    """PTX ISA: mma m16n8k8 for tf32, k16 for fp16, k32 for fp8; wgmma k8, k16, k32."""
    wanted = {"tf32": 8, "fp16": 16, "bf16": 16, "fp8": 32, "fp4": 64}
    for arch in ("sm_80", "sm_89", "sm_90", "sm_100", "sm_120"):
        for fmt in GENERATIONS[arch].formats:
            (m, n, k), fma = GENERATIONS[arch].at(fmt)
            assert k == wanted[fmt] and (m, n) == GENERATIONS[arch].shape[:2]
            assert fma * 16 == GENERATIONS[arch].fma * k  # k and rate go together
    assert GENERATIONS["sm_70"].shape == (8, 8, 4) and GENERATIONS["sm_75"].shape == (16, 8, 8)


@pytest.mark.parametrize(("br", "bc", "d"), [*product((16, 256), (16, 128), (16, 256))])
@pytest.mark.parametrize("arch", list(GENERATIONS))
def test_instructions_cover_the_tile(arch, br, bc, d):
    """PTX ISA: an mma.m8n8k4 does four matmuls at once, any other instruction one."""
    shape = GENERATIONS[arch].shape
    m, n, k = shape[0], min(shape[1], bc), shape[2]
    starts = [*product(range(0, br, m), range(0, bc, n), range(0, d, k))]
    at_once = 4 if shape == (8, 8, 4) else 1
    assert matrix_units.instructions(arch, br, bc, d) == len(starts[::at_once])


def test_the_picture_is_to_scale():
    assert len(find_mark("cores", "grid", "128 × 256")["cells"][0]) == 256 / 32
