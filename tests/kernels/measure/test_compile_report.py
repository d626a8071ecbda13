"""Compiling for cards that are not here: every entry of the table fits its card."""

import pytest

import kernels
from kernels.configs import SHARED_KIB, TABLE
from kernels.measure import inspection
from kernels.spec.occupancy import occupancy
from tests.tables import table

ARCHS = ["sm_80", "sm_90", "sm_120"]
D, ITEMSIZES = [64, 128, 256], [2, 4]


def test_the_table_is_what_is_compiled_below():
    keys = {(d, itemsize) for d in D for itemsize in ITEMSIZES}
    assert all(set(TABLE[arch]) == keys for arch in ARCHS)


@pytest.mark.pairwise  # seconds each: a card, a width or a type that fits nowhere is met anyway
@pytest.mark.parametrize("arch", ARCHS)
@pytest.mark.parametrize("d", D)
@pytest.mark.parametrize("itemsize", ITEMSIZES)
def test_every_entry_fits_its_card(arch, d, itemsize, compiler):
    """The causal kernel has one loop more than the other: it is the one that needs most."""
    dtype = {2: "bf16", 4: "fp32"}[itemsize]
    with compiler.serving():
        report = kernels.compile_report(arch, d, dtype, True)
    assert report["fits"] and report["blocks_per_sm"] >= 1
    assert 0 < report["shared_bytes"] <= SHARED_KIB[arch] * 1024
    assert 0 < report["registers"] <= 255
    assert f".target {arch}" in report["ptx"] and "tt.func" in report["ttir"]
    assert "ttg." in report["ttgir"] and "EXIT" in report["sass"]
    unit = "wgmma.mma_async" if arch == "sm_90" else "mma.sync"
    found = any(name.startswith(unit) for name in report["matrix_instructions"])
    assert found == (itemsize == 2), "fp32 products are true fp32: no matrix unit"


def test_a_tile_that_does_not_fit():
    """In a process of its own, as on the page."""
    report = kernels.compile_report("sm_120", 256, "fp16", False, 128, 128)
    assert not report["fits"] and report["blocks_per_sm"] == 0
    assert "does not fit sm_120" in report["verdict"] and "101,376" in report["verdict"]


def test_reports_are_cached_and_do_not_alias(monkeypatch):
    made = {"ptx": "mma.sync", "registers": 32, "shared_bytes": 1024, "spill_bytes": 0}
    asked = []
    monkeypatch.setattr(
        inspection, "compile_in_child", lambda request: asked.append(request) or dict(made)
    )
    inspection._report.cache_clear()
    try:
        first = kernels.compile_report("sm_90", 64, "bf16", True)
        first["ptx"] = ""
        assert kernels.compile_report("sm_90", 64, "bf16", True)["ptx"] == "mma.sync"
        assert len(asked) == 1
    finally:
        inspection._report.cache_clear()  # what was made up is not kept


# 128 registers of 256 threads: half of 65,536; 228 KiB hold two of 101; and so on.
@pytest.mark.parametrize(("registers", "kib", "warps", "blocks", "limit"), table(__file__))
def test_occupancy_by_hand(registers, kib, warps, blocks, limit):
    assert occupancy("sm_90", warps, registers, kib * 1024) == (blocks, limit)


@pytest.mark.parametrize(("order", "loads"), [("fa2", 5), ("fa1", 6)])
def test_the_causal_kernel_knows_of_no_table_and_no_sink(order, loads, compiler):
    """Other masks leave nothing in it: no argument, and no load but of Q, K, V (FA-2's two loops
    have one K and V each) and, in FA-1, of O, m, l."""
    with compiler.serving():
        plain = kernels.compile_report("sm_90", 64, "bf16", True, order=order)
        other = kernels.compile_report("sm_90", 64, "bf16", mask="causal&window:9,0", order=order)

    def parts(report: dict) -> tuple[int, int]:
        ttir = report["ttir"]
        signature = ttir[ttir.index("tt.func") :].splitlines()[0]
        return ttir.count("tt.load"), signature.count("!tt.ptr")

    names = {
        "fa2": "Q K V O LSE M_TRACE L_TRACE STAMPS SPANS",  # a pointer that nothing loads from
        "fa1": "Q K V O M L M_TRACE L_TRACE STAMPS",
    }
    assert parts(plain) == (loads, len(names[order].split()))
    assert parts(other) > parts(plain)
