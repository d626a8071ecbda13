"""The table of cards against NVIDIA's limits per compute capability and against its own arithmetic.

A peak is units × clock and a bandwidth is bus width × data rate: both are worked out here from
figures that the table does not hold.
"""

from __future__ import annotations

import pytest

from explainer.base.cards import CARDS

# compute capability → KiB a block may opt into, KiB of an SM; CUDA C++ Programming Guide
SHARED_KIB = {
    "sm_75": (64, 64),
    "sm_80": (163, 164),
    "sm_89": (99, 100),
    "sm_90": (227, 228),
    "sm_100": (227, 228),
    "sm_120": (99, 100),
}
ARCH = {
    "t4": "sm_75",
    "a100": "sm_80",
    "h100": "sm_90",
    "h200": "sm_90",
    "b200": "sm_100",
    "rtx4090": "sm_89",
    "rtxpro6000": "sm_120",
}
# fp32 lanes an SM, boost clock in GHz of the fp32 peak, dense fp16 multiply-adds an SM and clock
# with fp32 sums, boost clock in GHz of the tensor peak (lower on Hopper)
UNITS = {
    "t4": (64, 1.59, 512, 1.59),
    "a100": (64, 1.41, 1024, 1.41),
    "h100": (128, 1.98, 2048, 1.83),
    "h200": (128, 1.98, 2048, 1.83),
    "b200": (128, 1.98, 4096, 1.856),
    "rtx4090": (128, 2.52, 256, 2.52),
    "rtxpro6000": (128, 2.617, 512, 2.617),
}
# bus width in bits, data rate in Gbit/s of a pin
BUS = {
    "t4": (256, 10.0),
    "a100": (5120, 3.186),
    "h100": (5120, 5.23),
    "h200": (6144, 6.25),
    "b200": (7680, 7.992),  # both as its driver reports them: the clock is 3,996 MHz, twice a cycle
    "rtx4090": (384, 21.0),
    "rtxpro6000": (512, 28.0),
}


@pytest.mark.parametrize("key", CARDS)
def test_memory_on_the_chip(key):
    card = CARDS[key]
    assert card.arch == ARCH[key]
    per_block, per_sm = SHARED_KIB[card.arch]
    assert (card.shared_bytes, card.shared_per_sm_bytes) == (per_block * 1024, per_sm * 1024)
    assert card.registers_per_sm_bytes == 65536 * 4
    assert card.shared_per_sm_bytes < card.l2_bytes < card.hbm_bytes


@pytest.mark.parametrize("key", CARDS)
def test_peaks_are_units_times_clock(key):
    card, (lanes, clock, fmas, tensor_clock) = CARDS[key], UNITS[key]
    assert card.fp32_tflops == pytest.approx(card.sms * lanes * 2 * clock / 1e3, rel=0.01)
    assert card.tensor_tflops == pytest.approx(card.sms * fmas * 2 * tensor_clock / 1e3, rel=0.005)


@pytest.mark.parametrize("key", CARDS)
def test_bandwidth_is_bus_times_data_rate(key):
    bits, rate = BUS[key]
    assert CARDS[key].hbm_bytes_per_s == pytest.approx(bits / 8 * rate * 1e9, rel=0.005)
