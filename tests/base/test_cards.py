"""The table of cards against NVIDIA's limits per compute capability and against its own arithmetic.

A peak is units × clock and a bandwidth is bus width × data rate: both are worked out here from
figures that the table does not hold.
"""

import pytest

from explainer.base.cards import CARDS
from tests.tables import table

SHARED_KIB, ABOUT = table(__file__).values()


@pytest.mark.parametrize("key", CARDS)
def test_memory_on_the_chip(key):
    card = CARDS[key]
    assert card.arch == ABOUT[key]["arch"]
    per_block, per_sm = SHARED_KIB[card.arch]
    assert (card.shared_bytes, card.shared_per_sm_bytes) == (per_block * 1024, per_sm * 1024)
    assert card.registers_per_sm_bytes == 65536 * 4
    assert card.shared_per_sm_bytes < card.l2_bytes < card.hbm_bytes


@pytest.mark.parametrize("key", CARDS)
def test_peaks_are_units_times_clock(key):
    card, (lanes, clock, fmas, tensor_clock) = CARDS[key], ABOUT[key]["units"]
    assert card.fp32_tflops == pytest.approx(card.sms * lanes * 2 * clock / 1e3, rel=0.01)
    assert card.tensor_tflops == pytest.approx(card.sms * fmas * 2 * tensor_clock / 1e3, rel=0.005)


@pytest.mark.parametrize("key", CARDS)
def test_bandwidth_is_bus_times_data_rate(key):
    bits, rate = ABOUT[key]["bus"]
    assert CARDS[key].hbm_bytes_per_s == pytest.approx(bits / 8 * rate * 1e9, rel=0.005)
