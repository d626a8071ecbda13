"""The glossary holds every symbol of the pages, says it shortly, and its numbers are right."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest
import torch

from explainer.algorithms import tiling
from explainer.algorithms.registry import MAIN
from explainer.algorithms.transfers import PHASES
from explainer.base import cards
from explainer.learn.glossary import TERMS, spelled
from kernels.spec.formats import FORMATS

BY_KEY = {t.key: t for t in TERMS}
# Names without synonyms, and what every page prints.


def test_every_word_that_the_pages_use_is_there():
    assert not set(PHASES) - set(BY_KEY)
    assert not set(tiling.KINDS) - set(BY_KEY)
    assert not set(MAIN) - set(BY_KEY)
    phases = [t.key for t in TERMS if t.name.startswith("phase ")]
    assert tuple(phases) == PHASES  # in the order in which they happen


def number(key: str, after: str) -> float:
    """The number of an entry that stands after these words."""
    found = re.search(rf"{after} ([\d,.]*\d)", BY_KEY[key].words)
    assert found, f"{key} says nothing after {after!r}"
    return float(found[1].replace(",", ""))


def test_the_numbers_of_the_formats_are_numpys_and_torchs():
    assert number("fp16", "Ends at") == np.finfo(np.float16).max
    for key, dtype in (("fp16", torch.float16), ("bf16", torch.bfloat16)):
        limit = math.log(torch.finfo(dtype).max)
        assert number(key, "overflows above") == pytest.approx(limit, abs=0.005)
        mantissa = -math.log2(torch.finfo(dtype).eps)
        assert f"{mantissa:.0f} of mantissa" in BY_KEY[key].words
        exponent = 15 - mantissa
        assert f"{exponent:.0f} exponent bits" in BY_KEY[key].words
    assert "8 exponent bits with 10 of mantissa" in BY_KEY["tf32"].words
    assert "8 exponent bits, 23 of mantissa" in BY_KEY["fp32"].words
    for name in ("e4m3", "e5m2"):
        assert f"to {FORMATS[name].largest:,.0f}" in BY_KEY["fp8"].words


def test_the_numbers_of_the_cards_are_the_tables():
    words = BY_KEY["sram"].words
    assert f"{cards.CARDS['h100'].shared_bytes // 1024} KiB for a block on Hopper" in words
    assert f"{cards.CARDS['a100'].shared_bytes // 1024} KiB on A100" in words
    assert cards.CARDS["h200"].shared_bytes == cards.CARDS["h100"].shared_bytes
    assert f"An H100 SXM has {cards.CARDS['h100'].sms}" in BY_KEY["sm"].words


def test_what_is_spelled_has_an_entry_and_no_latin_letter_stands_alone():
    found = spelled()
    assert set(found.values()) <= set(BY_KEY)
    assert not [word for word in found if re.fullmatch("[A-Za-z]", word)]
    for word, key in (
        ("softmax", "softmax"),
        ("Softmax", "softmax"),
        ("SRAM", "sram"),
        ("shared memory", "sram"),
        ("FA-2", "fa2"),
        ("Br", "Br"),
        ("α", "alpha"),
        ("Causal", "causal"),
        ("Standard", "standard"),
    ):
        assert found[word] == key
    assert not [word for word in found if word.startswith("phase ")]
