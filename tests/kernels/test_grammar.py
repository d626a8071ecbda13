"""The texts of masks and scores: one canonical text each, and one clause for what is wrong."""

import pytest

from kernels.spec import masks, scores
from tests.tables import table

KINDS = {"masks": (masks, masks.MaskError), "scores": (scores, scores.ScoreError)}
TABLE = table(__file__)
BLOCKS = ",".join(f"{i}.0" for i in range(257))
LONG = [
    ("masks", "document:" + ",".join(map(str, range(513))), "at most 512 starts"),
    ("masks", f"block:4x4,{BLOCKS}", "at most 256 i.j"),
    (
        "masks",
        f"block:4x4,{BLOCKS[:999]}|block:5x4,{BLOCKS[:999]}",
        "370 spans of blocks, and at most 256",
    ),
    ("masks", "causal" + " " * 4096, "it has 4,102 characters, and at most 4,096"),
    ("scores", "bias:" + ",".join(["1"] * 65), "with at most 64 b"),
    ("scores", "alibi" + " " * 4096, "it has 4,101 characters"),
]


@pytest.mark.parametrize(("kind", "text", "canonical"), TABLE["canonical"])
def test_canonical_texts(kind, text, canonical):
    parse = KINDS[kind][0].parse
    found = parse(text)
    assert str(found) == found.text == canonical and parse(canonical) == found
    assert kind == "scores" or found.plain == (canonical in masks.PLAIN)


@pytest.mark.parametrize(("kind", "text", "words"), [*TABLE["wrong"], *LONG])
def test_what_is_wrong_gets_one_clause_that_shows_where(kind, text, words):
    module, error = KINDS[kind]
    with pytest.raises(error) as caught:
        module.parse(text)
    said = str(caught.value)
    assert words in said and said.isprintable() and len(said) < 160
    assert ". " not in said and not said.endswith(".")
