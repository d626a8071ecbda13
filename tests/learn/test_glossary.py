"""The glossary holds every symbol of the pages."""

import re

import pytest

from explainer.algorithms import tiling
from explainer.algorithms.registry import MAIN
from explainer.algorithms.transfers import PHASES
from explainer.learn.glossary import TERMS, spelled
from kernels.spec.formats import FORMATS

BY_KEY = {t.key: t for t in TERMS}


def test_every_word_that_the_pages_use_is_there():
    assert not set(PHASES) - set(BY_KEY)
    assert not set(tiling.KINDS) - set(BY_KEY)
    assert not set(MAIN) - set(BY_KEY)
    phases = [t.key for t in TERMS if t.name.startswith("phase ")]
    assert tuple(phases) == PHASES  # in the order in which they happen


@pytest.mark.parametrize("name", ["fp16", "bf16", "fp32"])
def test_a_format_has_its_bits(name):
    """Its largest numbers are facts (tests/base/test_facts.py)."""
    bits = FORMATS[name]
    text = f"{bits.exponent_bits} exponent bits, {bits.mantissa_bits} of mantissa"
    assert BY_KEY[name].words.startswith(text)


def test_what_is_spelled_has_an_entry_and_no_latin_letter_stands_alone():
    found = spelled()
    assert set(found.values()) <= set(BY_KEY)
    assert not [word for word in found if re.fullmatch("[A-Za-z]", word)]
    words = ("Softmax", "shared memory", "FA-2", "Br", "α")
    assert [found[word] for word in words] == ["softmax", "sram", "fa2", "Br", "alpha"]
    assert not [word for word in found if word.startswith("phase ")]
