"""What the mask builder is told, beside a dense computation that knows no mask object."""

import base64

import numpy as np
import pytest

from explainer.base.fields import ProblemError
from explainer.web.mask_map import MOST_CELLS, SIZES, parse_problem
from explainer.web.mask_map import mask_map as map_of
from explainer.web.mask_map import palette as palette_of
from tests import by_hand

MASKS = (
    "full",
    "causal",
    "causal&window:6,0|prefix:2",
    "window:2,2|global:1",
    "causal&document:0,5,10",
    "causal&chunk:4",
    "dilated:3|block:4x4,1.2",
)


def mask_map(query: dict[str, str]) -> dict:
    return map_of(parse_problem(query))


def palette(query: dict[str, str]) -> dict:
    return palette_of(parse_problem(query, SIZES))


def bits(text: str, n: int) -> np.ndarray:
    found = np.unpackbits(np.frombuffer(base64.b64decode(text), np.uint8))
    return found[: n * n].reshape(n, n).astype(bool)


def tiles(keep: np.ndarray, br: int, bc: int) -> list[str]:
    """The kinds of tiles row by row, each looked at score by score."""
    return [
        "skipped"
        if not tile.any()
        else "full"
        if tile.shape == (br, bc) and tile.all()
        else "partial"
        for row in by_hand.tiles(keep, br, bc)
        for tile in row
    ]


@pytest.mark.parametrize("n, br, bc", [(16, 4, 4), (14, 4, 5), (21, 7, 3)])
@pytest.mark.parametrize("mask", MASKS)
def test_the_answer_is_the_dense_truth(mask, n, br, bc):
    answer = mask_map({"n": str(n), "br": str(br), "bc": str(bc), "mask": mask})
    assert answer["mask"] == mask
    terms = [by_hand.sees(term, *np.indices((n, n))) for term in mask.split("|")]
    keep = np.any(terms, axis=0)
    kept_by = np.where(keep, np.argmax(terms, axis=0), -1)
    cells = answer["cells"]
    told = np.frombuffer(base64.b64decode(cells["kept_by"]), np.int8).reshape(n, n)
    assert (told == kept_by).all()
    for term, each in zip(terms, cells["keeps"], strict=True):
        assert (np.all([bits(one, n) for one in each], axis=0) == term).all()
    assert answer["scores"] == {"kept": keep.sum(), "of": n * n}
    kinds = tiles(keep, br, bc)
    told = base64.b64decode(answer["tiles"]["kinds"])
    assert [("full", "partial", "skipped")[k] for k in told] == kinds
    assert answer["tiles"]["counts"] == {k: kinds.count(k) for k in ("full", "partial", "skipped")}
    half = answer["half"]
    smaller = tiles(keep, half["br"], half["bc"])
    assert (half["br"], half["bc"]) == (-(-br // 2), -(-bc // 2))
    assert (half["computed"], half["of"]) == (len(smaller) - smaller.count("skipped"), len(smaller))
    causal = tiles(np.tri(n, dtype=bool), br, bc)
    assert answer["causal"] == len(causal) - causal.count("skipped")


def test_long_sequences_are_told_by_tiles():
    assert mask_map({"n": str(MOST_CELLS)})["cells"]
    answer = mask_map({"n": str(MOST_CELLS + 1), "br": "64", "bc": "64"})
    assert answer["cells"] is None and answer["tiles"]["kinds"]
    answer = mask_map({"n": "65536", "br": "128", "bc": "128", "mask": "causal&window:256,0"})
    assert answer["tiles"]["kinds"] is None
    assert answer["scores"]["kept"] == 257 * 65536 - 257 * 256 // 2
    assert answer["tiles"]["counts"] == {  # below the diagonal; on it, and two below
        "full": 511,
        "partial": 512 + 510,
        "skipped": 512 * 512 - 511 - 512 - 510,
    }


@pytest.mark.parametrize(
    ("query", "sentence"),
    [
        ({"mask": "causal&windw:6,0"}, "“windw:6,0” at character 8 is none of"),
        ({"n": "16384", "br": "1", "bc": "1"}, "the map counts at most"),
    ],
)
def test_what_is_wrong_is_one_sentence(query, sentence):
    with pytest.raises(ProblemError, match=sentence) as refused:
        mask_map({"n": "16", "br": "4", "bc": "4"} | query)
    assert str(refused.value).count(". ") == 0 and str(refused.value).endswith(".")


@pytest.mark.parametrize("n", [1, 5, 16, 100, 4096])
def test_whatever_is_offered_is_allowed(n):
    """The numbers that a chip begins with, and every preset, at any length."""
    size = {"n": str(n), "br": str(min(n, 64)), "bc": str(min(n, 64))}
    offered = palette(size)
    for one in offered["predicates"]:
        text = one["name"] + (f":{one['start']}" if one["start"] else "")
        assert mask_map(size | {"mask": text})["mask"] == text
        assert one["numbers"] is None or len(one["numbers"]) == text.count(",") + (":" in text)
    for one in offered["presets"]:
        asked = {"mask": one["mask"], "score": one["score"], "sink": one["sink"]}
        answer = mask_map(size | asked)
        assert (answer["mask"], answer["score"]) == (one["mask"], one["score"])
        assert answer["scores"]["kept"] > 0
