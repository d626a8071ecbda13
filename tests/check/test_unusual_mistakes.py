"""Mistakes that were written without a look at the list: found, and named right or not at all."""

import pytest

from explainer.check.terminal import cells, render
from explainer.check.verdict import examine
from tests.check.in_process import load
from tests.check.planted import NUMPY, TORCH, plant
from tests.tables import table

TABLE = table(__file__)


@pytest.mark.parametrize("name", TABLE)
def test_a_mistake_gets_its_name_or_none(name, tmp_path):
    made = TABLE[name]
    source = made.get("head", "") + plant(made.get("key"), made["of"])
    for old, new in made.get("texts", {}).items():
        assert old in source
        source = source.replace(old, new)
    found = examine(load(source, tmp_path, **made.get("options", {})), "mine.py")
    assert not found.right and found.cause in made["causes"], found.sentence
    assert found.first == found.first | made.get("first", {})
    assert made.get("says", "") in found.sentence


def test_a_weight_that_the_mask_does_not_give_is_named(tmp_path):
    """From outside, without a name for the mistake: rows of the last block see one key too many."""
    source = plant(None, NUMPY).replace("offset >= cols", "offset + (rows[:, None] >= 12) >= cols")
    found = examine(load(source.replace("if report:", "if False:"), tmp_path), "mine.py")
    assert found.cause is None and found.weight == (12, 13, "added")
    assert (found.first["i"], found.first["j"]) == (3, 3)
    text = render(found, False)
    weight = text.index("row 12 gives weight to key 13, which is masked")
    assert text.index("O and lse are not right") < weight < text.index(" yours ")


def test_a_weight_is_named_beside_a_cause_that_the_numbers_do_not_show(tmp_path):
    """Probes without the mask are right in a tile whose mask begins in the corner."""
    source = plant(None, NUMPY).replace("offset = nk - n", "offset = 0")
    found = examine(load(source.replace("if report:", "if False:"), tmp_path), "mine.py")
    assert found.cause == "mask_not_aligned"
    assert "row 0 gives no weight to key 1, which is visible" in render(found, False)


def test_the_map_of_a_gradient_is_of_its_own_order(tmp_path):
    """Keys are outside: tiles before the first wrong one are right, all after it not reached."""
    found = examine(load(plant("d_missing", TORCH), tmp_path), "mine.py")
    assert (found.first["i"], found.first["j"]) == (0, 0)
    assert cells(found)[1] == ["pending", "pending", "skipped", "skipped"]
    text = render(found, False)
    assert text.count("these are the numbers") == 0 and "  key 0   yours " in text


def test_numbers_that_differ_look_different(tmp_path):
    source = plant(None, NUMPY).replace("p.sum(1)", "p.sum(1) * np.float32(1.001)")
    found = examine(load(source, tmp_path), "mine.py")
    lines = render(found, False).splitlines()
    yours = [n for n, line in enumerate(lines) if " yours " in line]
    assert yours and all(lines[n].split()[-1] != lines[n + 1].split()[-1] for n in yours)
