"""Group 4 but for FA-3's overlap: loop orders, warps, tensor cores, formats, the kernel, FA-4."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest
import torch

from explainer.algorithms.schedule import schedule
from explainer.base.cards import CARDS
from explainer.base.facts import number
from explainer.base.paths import ROOT
from explainer.learn import (
    blackwell,
    gpu,
    matrix_units,
    reading,
    versions,
    warp_split,
)
from explainer.problem import Problem
from kernels.spec.formats import FORMATS
from tests.learn.scenes import LESSONS, answers, asked, block, blocks, cases, data, sdpa, texts

# ---- loop orders


def test_the_link_shows_fa1_write_in_the_middle_of_its_work():
    parts = dict(x.split("=") for x in LESSONS["versions"].links[0].query.split("&"))
    visit = schedule(Problem.from_query(parts))[int(parts["step"])]
    assert {t.tensor for t in visit.transfers if t.op == "write"} == {"O", "m", "l"}


@pytest.mark.parametrize("tick", range(versions.TICKS + 1))
def test_what_o_costs_after_each_tick(tick):
    """FA-1 reads and writes O at every visit; FA-2 writes each block once, at its last tile."""
    assert versions.moves_up_to("fa1", tick) == (tick, tick)
    assert versions.moves_up_to("fa2", tick) == (0, 4 if tick >= 4 else 0)
    assert f"O: read {tick}, written {tick}" in texts("versions", step=tick)


def test_the_strips_do_the_same_work_and_load_into_free_buffers():
    lanes = {order: dict(versions.strips(order)) for order in versions.TITLES}
    loads = {order: found.pop("L2") for order, found in lanes.items()}
    names = {order: [what for *_, what in found] for order, found in loads.items()}
    assert names["fa1"].count("K") == 1 and names["fa1"].count("O") == 2 * versions.T
    assert names["fa2"].count("K") == names["fa3"].count("K") == versions.T
    assert "O" not in names["fa2"]
    (work,) = lanes["fa2"].values()  # a product, softmax, a product for each visit: two buffers
    keys = [start for start, _, what in loads["fa2"] if what == "K"]
    assert all(keys[v] >= work[3 * v - 4][1] - 1e-9 for v in range(2, versions.T))
    product = 2 * 64 * 128 * 128 / (989.4e6 / 132)  # µs, 64 rows
    for order, found in lanes.items():
        spent = [
            sum(end - start for lane in found.values() for start, end, what in lane if what == kind)
            for kind in ("product", "softmax")
        ]
        softmax = 4 * number("fa3.softmax") * product * len(found)  # halves side by side
        assert spent == pytest.approx([4 * 4 * product, softmax]), order


# ---- warps


@pytest.mark.parametrize(("br", "bc", "d"), [*product((32, 64, 128), repeat=3)])
def test_bytes_through_shared_memory_in_closed_form(br, bc, d):
    """Split-K, four warps: of m and of l each warp writes Br numbers and reads all four parts; of O
    it writes Br × d and reads its rows of all four parts. Split-Q: nothing."""
    nbytes, barriers = warp_split.exchanged("k", br, bc, d)
    assert nbytes == 4 * (2 * (4 * br + 4 * 4 * br) + 4 * br * d + 4 * br * d)
    assert warp_split.exchanged("q", br, bc, d) == (0, 1)
    assert barriers == 4  # the copy, m, l, O


def test_partial_outputs_sectors_and_tiles_by_hand():
    assert len(set(gpu.sectors(1, 2))) == 32 * 2 / 32 and len(set(gpu.sectors(64, 2))) == 32


def test_what_a_store_of_an_mma_s_sums_touches():
    """PTX ISA, mma.m16n8k16: lane t holds row t // 4, columns 2 (t % 4) and the next."""
    rows = [t // 4 for t in range(32) for _ in (0, 1)]
    assert f"touch {len({*rows})} rows with {2 * rows.count(0)} bytes" in LESSONS["warps"].more


@pytest.mark.parametrize("card", CARDS)
def test_partial_outputs_that_a_block_has_no_room_for_are_said(card):
    """Four warps' 128 × 128 numbers of 4 bytes are 256 KiB: more than any card gives a block."""
    for d in (32, 64, 128):
        kib, room = 4 * 128 * d * 4 // 1024, CARDS[card].shared_bytes // 1024
        said = texts("warps", card=card, br=128, bc=64, d=d)
        assert (f"{kib} KiB at once; room: {room} KiB" in said) == (kib > room)
        assert ("shared memory, per tile" in said) == (kib <= room)


@pytest.mark.parametrize(
    ("tile", "card", "expected"),
    [
        ((64, 64, 64), "a100", (164 // 25, 65536 // (72 * 128), 16)),  # 1 KiB is kept per block
        ((32, 64, 32), "h100", (228 // 11, 65536 // (32 * 128), 16)),  # 64 warps, 4 per block
        ((32, 32, 32), "t4", (64 // 6, 65536 // (24 * 128), 8)),  # 32 warps, nothing is kept
        ((128, 128, 128), "a100", (164 // 97, 0, 16)),  # 258 registers per thread, 255 exist
    ],
)
def test_tiles_an_sm_holds_at_once_by_hand(tile, card, expected):
    found = warp_split.resident(*tile, card)
    assert tuple(found[x] for x in ("shared memory", "registers", "threads")) == expected
    by_hand = 4 * (tile[0] * (tile[1] + tile[2]) + 2 * tile[0]) / (4 * 128)
    assert warp_split.registers_per_thread(*tile) == math.ceil(by_hand)


# ---- tensor cores


@pytest.mark.parametrize("arch", ["sm_75", "sm_80", "sm_89", "sm_90", "sm_120"])
def test_rates_an_sm_and_clock_agree_with_the_cards(arch):
    """What the TFLOP/s of a card imply at its boost clock; Hopper's matrix units are rated at a
    lower clock (1.83 GHz of 1.98), hence 9 %."""
    for card in (c for c in CARDS.values() if c.arch == arch):
        implied = card.tensor_tflops * 1e12 / (2 * card.sms * card.clock_hz)
        assert matrix_units.GENERATIONS[arch].fma == pytest.approx(implied, rel=0.09)


def test_shapes_and_rates_of_other_formats():
    """PTX ISA: mma m16n8k8 for tf32, k16 for fp16, k32 for fp8; wgmma k8, k16, k32. TF32 and fp8
    rates of the data sheets: A100 156, H100 494.7 and 1,978.9, RTX 4090 82.6."""
    generations = matrix_units.GENERATIONS
    wanted = {"tf32": 8, "fp16": 16, "bf16": 16, "fp8": 32, "fp4": 64}
    for arch in ("sm_80", "sm_89", "sm_90", "sm_100", "sm_120"):
        for fmt in generations[arch].formats:
            (m, n, k), fma = generations[arch].at(fmt)
            assert k == wanted[fmt]
            assert (m, n) == generations[arch].shape[:2]
            assert fma * 16 == generations[arch].fma * k  # k and rate go together
    assert generations["sm_70"].shape == (8, 8, 4) and generations["sm_75"].shape == (16, 8, 8)
    for arch, fmt, tflops in (
        ("sm_80", "tf32", 156),
        ("sm_90", "tf32", 495),
        ("sm_90", "fp8", 1979),
        ("sm_89", "tf32", 83),
        ("sm_70", "fp16", 125),
    ):
        assert matrix_units.rate(arch, fmt) == pytest.approx(tflops, abs=0.5)


@pytest.mark.parametrize(("br", "bc", "d"), [*product((16, 64, 256), (16, 128), (16, 64, 256))])
@pytest.mark.parametrize("arch", list(matrix_units.GENERATIONS))
def test_instructions_cover_the_tile(arch, br, bc, d):
    """PTX ISA: an mma.m8n8k4 does four products at once, any other instruction one."""
    shape = matrix_units.GENERATIONS[arch].shape
    m, n, k = shape[0], min(shape[1], bc), shape[2]
    starts = [*product(range(0, br, m), range(0, bc, n), range(0, d, k))]
    at_once = 4 if shape == (8, 8, 4) else 1
    assert matrix_units.instructions(arch, br, bc, d) == len(starts[::at_once])


def test_four_products_at_once_are_drawn():
    drawn = [s for s in data("cores")["panels"][0]["shapes"] if s.get("key") == "c"]
    assert len(drawn) == 4 and "64 per tile" in texts("cores")


# ---- formats


TORCH = {"bf16": torch.bfloat16, "fp16": torch.float16}
TORCH |= {"e4m3": torch.float8_e4m3fn, "e5m2": torch.float8_e5m2}


def test_the_rounded_numbers_are_torch_s():
    for (key, x), answer in zip(cases("formats"), answers("formats"), strict=True):
        assert answer == float(torch.tensor(float(x)).to(TORCH[key])) != x
        below, above = (float(torch.tensor(x + by).to(TORCH[key])) for by in (-0.5, 0.5))
        assert below == above == answer, "no tie: how ties round is not taught"


@pytest.mark.parametrize("power", (-60, -20, 0, 20))
def test_what_a_format_loses(power):
    said = block("formats", power=power)["words"]
    for key, f in FORMATS.items():
        part = said.split(f"{f.title}: ")[1].split(";")[0]
        kept = float(torch.tensor(0.8 * 2.0**power).to(TORCH.get(key, torch.float32)))
        gone = not np.isfinite(kept) or not kept or abs(kept) >= f.largest
        assert part.startswith(("overflow", "becomes 0")) == gone, (key, part)


def test_bits_and_fp8_views():
    for one in blocks("formats", show="bits", power=3):
        f = next(f for f in FORMATS.values() if f.title == one["label"])
        pattern = int(one["sign"] + one["exponent"] + one["mantissa"], 2)
        stored = torch.tensor(pattern, dtype=torch.uint8 if f.width == 8 else torch.uint16)
        assert float(stored.view(TORCH[f.name])) == float(f.round_to(0.8))
    bars = blocks("formats", show="fp8", size=30)[0]["items"]
    assert min(bars, key=lambda x: x[1])[0] == "per block, Q and K rotated"


# ---- the kernel


def test_the_source_is_the_file_s():
    source = (ROOT / "kernels/fa2.py").read_text(encoding="utf-8")
    for places in reading.extracts().values():
        for place in places:
            for line in place.splitlines()[1:]:
                assert line.strip() in source
    assert "tl.dot(q, as_operand(k" in reading.extracts()["scores"][0]
    assert "tl.store(o_ptrs" in reading.extracts()["store"][0]
    for k in range(1, len(reading.STOPS) + 1):
        assert blocks("read", step=k)[1]["lines"].count("\n") >= 1


@pytest.mark.parametrize(("n_q", "causal"), [(100, False), (1, True), (100, True)])
def test_the_loop_without_a_fault_is_torch_s(n_q, causal):
    q, k, v = reading._inputs(n_q, 100)
    mask = torch.ones(n_q, 100, dtype=torch.bool).tril(100 - n_q) if causal else None
    want = sdpa(q, k, v, attn_mask=mask)
    assert np.abs(reading.loop(q, k, v, causal) - want).max() < 1e-5
    assert np.abs(reading.exact(q, k, v, causal) - want).max() < 1e-5


def test_each_mistake_shows():
    assert reading.off("") < 1e-6 < reading.off("tf32") < 1e-2
    for fault in (*reading.FAULTS, "finite"):
        assert reading.off(fault) > 0.05, fault
    for fault, one in zip(reading.FAULTS, asked("read"), strict=True):
        at, wrong = reading.FAULTS[fault]
        assert one.options[one.answer][0] == wrong.strip() != reading.LOOP[at].strip()
        assert f"{reading.off(fault):.3f}" in one.words


# ---- FA-4


def test_with_no_threshold_it_is_plain_online_softmax():
    plain = blackwell.played(0)
    S, V = (torch.from_numpy(np.array(x)).double() for x in blackwell.scores())
    want = (torch.softmax(S * np.log(2), 1) @ V).numpy()
    assert np.abs(blackwell.exact() - want).max() < 1e-12
    tops = S.reshape(len(S), -1, 64).amax(2).cummax(1).values
    assert plain.rises == plain.rescaled == int((tops.diff(dim=1) > 0).sum())
    assert plain.largest == 1 and plain.error < 1e-5


@pytest.mark.parametrize("threshold", [2, 5, 8, 12])
def test_a_threshold_saves_rescales_and_costs_no_accuracy(threshold):
    plain, found = blackwell.played(0), blackwell.played(threshold)
    assert found.rescaled < plain.rescaled and found.rises == plain.rises
    assert found.error < 2 * plain.error
    assert 1 < found.largest <= 2**threshold


@pytest.mark.parametrize("degree", blackwell.DEGREES)
def test_the_polynomial_against_numpy(degree):
    """NumPy interpolates at Chebyshev's points by itself; and the whole part of x is exact."""
    fit = np.polynomial.Chebyshev.interpolate(np.exp2, degree, domain=[0, 1])
    x = np.linspace(0, 1, 7001)
    worst = float(blackwell.error_of(degree)[1].max())
    assert np.abs(fit(x) / np.exp2(x) - 1).max() == pytest.approx(worst, rel=0.01)
    if degree >= 3:
        assert worst < FORMATS["bf16"].unit_roundoff
