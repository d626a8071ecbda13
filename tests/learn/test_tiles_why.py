"""Where bytes live: sizes against the tables they come from."""

from __future__ import annotations

import pytest

from explainer.base.amounts import amount
from explainer.base.cards import CARDS
from explainer.learn import online
from explainer.learn.blocks import values
from explainer.learn.registry import rungs
from explainer.memory import tile_budget
from explainer.problem import Problem

RUNGS = {rung.key: rung for rung in rungs()}


def blocks(key: str, **query: object) -> list[dict]:
    widget = next(w for w in online.WIDGETS if w.key == key)
    return widget.compute(values(widget, {k: str(v) for k, v in query.items()}))


def words(made: list[dict]) -> str:
    return " | ".join(b["words"] for b in made if b["type"] == "text")


@pytest.mark.parametrize("card", CARDS)
@pytest.mark.parametrize("side", [16, 64, 128, 256])
@pytest.mark.parametrize("dtype", ["fp16", "fp32"])
def test_a_tile_fits_one_thread_block_or_not(card, side, dtype):
    made = blocks("tiles_why", card=card, br=side, bc=side, dtype=dtype)
    item = {"fp16": 2, "fp32": 4}[dtype]
    shared, registers = 3 * side * 64 * item, 4 * (side * side + side * 64 + 2 * side)
    limit = CARDS[card].shared_bytes
    bars = next(b for b in made if b["type"] == "bars")
    assert bars["items"][0][1] == shared and bars["limit"] == limit
    verdict = "fits" if shared <= limit and registers <= 256 * 1024 else "does not fit"
    assert f"needs {amount(shared)} and {amount(registers)}: it {verdict}." in words(made)
    assert next(x[1] for x in bars["items"] if x[0].startswith("S of")) == 4096**2 * item


def test_m_is_per_sm():
    a100 = CARDS["a100"]
    assert (amount(a100.shared_bytes), a100.sms) == ("163 KiB", 108)
    question = RUNGS["memory"].question
    assert question.options[question.answer][0] == amount(a100.shared_bytes)
    assert "The 108 SMs have 17.3 MiB" in words(blocks("tiles_why", card="a100"))
    assert amount(108 * 164 * 1024).startswith("17.3")
    table = next(b for b in blocks("tiles_why", card="a100") if b["type"] == "table")
    assert [r[0] for r in table["rows"]] == ["Registers", "Shared memory", "L2 cache", "HBM"]


def test_the_tiles_parts_have_the_signs_of_the_field():
    tables = [b for b in blocks("tiles_why") if b["type"] == "table"]
    assert "".join(row[0] for row in tables[1]["rows"]) == "QKVSOmℓ"
    places = [row[3] for row in tables[1]["rows"]]
    assert places == 3 * ["shared memory"] + 4 * ["registers"]


@pytest.mark.parametrize("card", ["a100", "h100", "rtx4090"])
def test_the_largest_square_tile_is_the_largest(card):
    problem = Problem(n=4096, d=64, block_q=64, block_k=64, dtype="fp16", inputs="random")
    best = tile_budget.largest_square(problem, CARDS[card])
    assert f"Br = Bc = {best}." in words(blocks("tiles_why", card=card))
