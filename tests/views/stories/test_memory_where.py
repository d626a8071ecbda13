"""The chapter "where": what lies in an SM against what was compiled, its steps against the mask."""

import pytest

from explainer.base.cards import CARDS
from explainer.memory import compiled_tiles
from explainer.memory.workload import Workload
from explainer.views.stories.memory_where import chapter
from kernels.spec.occupancy import SM_LIMITS

KIB = 1024


def test_the_programs_of_an_sm_fill_its_registers_as_compiled():
    """127 registers of 128 threads, in eights: 64 KiB a program; four of them fill the SM."""
    shared, registers = chapter(Workload(), {})["picture"]["chips"]
    assert (registers["programs"], registers["taken"]) == (4, 64 * KIB)
    assert registers["programs"] * registers["taken"] == registers["bytes"]
    assert (shared["programs"], shared["taken"]) == (4, 40 * KIB)
    assert sum(part["bytes"] for part in shared["parts"]) == shared["taken"]


@pytest.mark.parametrize("card", CARDS)
@pytest.mark.parametrize("tile", [(64, 64), (128, 64), (128, 128), (16, 16)])
def test_programs_never_take_more_than_an_sm_has(card, tile):
    w = Workload(card=card, block_q=tile[0], block_k=tile[1])
    reserved = SM_LIMITS[w.hardware.arch][1] * KIB
    shared, registers = chapter(w, {})["picture"]["chips"]
    for chip, more in ((shared, reserved), (registers, 0)):
        assert chip["programs"] * (chip["taken"] + more) <= chip["bytes"]
        assert sum(part["bytes"] for part in chip["parts"]) <= chip["taken"]


def test_another_compiled_kernel_is_another_picture(monkeypatch):
    row = compiled_tiles.compiled(Workload())
    assert row
    row = row | {"registers": 200, "blocks_per_sm": 2}
    monkeypatch.setattr(compiled_tiles, "compiled", lambda w, order="fa2": row)
    registers = chapter(Workload(), {})["picture"]["chips"][1]
    assert (registers["programs"], registers["taken"]) == (2, 200 * 128 * 4)


@pytest.mark.parametrize(
    ("mask", "n", "tiles"), [("full", 4096, 64), ("causal", 100, 2), ("window:127,0", 4096, 3)]
)
def test_the_steps_are_the_key_tiles_of_the_last_row_block(mask, n, tiles):
    beats = chapter(Workload(n=n, mask=mask), {})["beats"]
    assert len(beats) == tiles + 2 and beats[-2]["note"].endswith(f" {tiles} of {tiles}")


def test_many_tiles_share_the_scrubber_and_end_at_the_last():
    beats = chapter(Workload(n=65_536, block_k=16), {})["beats"]
    assert len(beats) == 66 and "4,096 of 4,096" in beats[-2]["note"]


def test_pipes_follow_the_rates_and_say_where_none_is_published():
    pipes = chapter(Workload(card="h100"), {})["picture"]["pipes"]
    assert pipes["l2"]["share"] is None and pipes["registers"]["share"] == 1
    rates = {key: CARDS["h100"].__getattribute__(f"{key}_bytes_per_s") for key in ("hbm", "shared")}
    for key, rate in rates.items():
        share = rate / CARDS["h100"].registers_bytes_per_s
        assert pipes[key]["share"] == pytest.approx(share)


def test_standard_attention_puts_s_and_p_in_hbm():
    w = Workload()
    found = chapter(w, {"kernel": "standard"})
    assert "1 GiB" in found["headline"]
    assert [beat.get("hbm", "") for beat in found["beats"]] == ["", "S", "S", "SP", "SP", "SP"]
    area = found["picture"]["scores"]["side"] ** 2 * w.hardware.hbm_bytes
    assert area == pytest.approx(2 * 16 * 4096**2 * 2)
    huge = chapter(Workload(n=65_536, heads=128), {"kernel": "standard"})
    assert huge["headline"] != found["headline"] and huge["picture"]["scores"]["side"] == 1
