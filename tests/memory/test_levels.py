"""The levels of every card against other published figures; what is kept against arithmetic."""

import pytest
from hypothesis import given

from explainer.base.cards import CARDS
from explainer.base.kinds import recorded as recorded_kind
from explainer.engine import recorded
from explainer.memory import levels
from explainer.memory.workload import Workload
from tests.base.test_cards import ABOUT
from tests.memory.test_workload import workloads

KIB = 1024
# Published elsewhere than the figures of CARDS: the register files of all SMs in KiB (whitepapers
# of Turing, Ampere, Hopper, Ada).
REGISTERS_KIB = {"t4": 10_240, "a100": 27_648, "h100": 33_792, "h200": 33_792, "rtx4090": 32_768}
# A clock that CARDS derives from a peak in TFLOP/s has that peak's three digits, or fewer: 8.1.
CLOCK_ERROR = 0.01


def by_key(w: Workload) -> dict[str, levels.Level]:
    return {level.key: level for level in levels.levels_of(w)}


@pytest.mark.parametrize("key", CARDS)
def test_rates_follow_from_the_published_clock(key):
    found, sms = by_key(Workload(card=key)), CARDS[key].sms
    lanes, clock, *_ = ABOUT[key]["units"]
    shared = (64 if key == "t4" else 128) * sms * clock * 1e9
    assert found["shared"].bytes_per_s == pytest.approx(shared, rel=CLOCK_ERROR)
    registers = 4 * 4 * lanes * sms * clock * 1e9
    assert found["registers"].bytes_per_s == pytest.approx(registers, rel=CLOCK_ERROR)
    assert found["registers"].per_sm_bytes == 65_536 * 4
    if key in REGISTERS_KIB:
        assert found["registers"].size_bytes == REGISTERS_KIB[key] * KIB


def test_l2_rates_have_a_source_or_are_absent():
    found = {key: by_key(Workload(card=key))["l2"] for key in CARDS}
    assert found["a100"].bytes_per_s == pytest.approx(5120 * 1.41e9, rel=0.005)
    measured = recorded.load()["ceilings"]["fp16"]["l2_bytes_per_s"]
    assert found["h200"].bytes_per_s == measured and found["h200"].rate_kind == recorded_kind()
    for key in ("t4", "h100", "b200", "rtx4090", "rtxpro6000"):
        assert found[key].bytes_per_s is None and found[key].rate_kind is None


@given(workloads())
def test_levels_shrink_and_speed_up_towards_the_units(workload):
    registers, shared, l2, hbm = levels.levels_of(workload)
    assert [x.key for x in (registers, shared, l2, hbm)] == ["registers", "shared", "l2", "hbm"]
    rates = [x.bytes_per_s for x in (registers, shared, l2, hbm) if x.bytes_per_s is not None]
    assert rates == sorted(rates, reverse=True)
    assert hbm.size_bytes > l2.size_bytes and registers.per_sm_bytes > shared.per_sm_bytes
    for level in (registers, shared, l2, hbm):
        assert "data sheet" in str(level.size_kind)
        assert (level.rate_kind is None) == (level.bytes_per_s is None)
    assert registers.room_bytes == registers.size_bytes / workload.hardware.sms
    assert l2.room_bytes == l2.size_bytes and hbm.room_bytes == hbm.size_bytes


@given(workloads())
def test_what_each_level_keeps(workload):
    w, heads = workload, workload.batch * workload.heads
    found = {level.key: dict(level.tensors) for level in levels.levels_of(w)}
    br, bc, d, e = w.block_q, w.block_k, w.d, w.itemsize
    assert found["registers"] == {"S": 4 * br * bc, "O": 4 * br * d, "m": 4 * br, "l": 4 * br}
    assert found["shared"] == {"Q": br * d * e, "K": bc * d * e, "V": bc * d * e}
    matrix = heads * w.n * d * e
    io = dict.fromkeys("QKVO", matrix)
    assert found["hbm"] == io | {"lse": 4 * heads * w.n}
    square = heads * w.n * w.n * e
    assert dict(levels.hbm_tensors(w, "standard")) == io | {"S": square, "P": square}
    assert found["l2"] == {}, "a cache keeps what was used last"
