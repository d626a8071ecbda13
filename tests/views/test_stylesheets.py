"""What dresses the Step page leaves the other pages alone: all pages are one document."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
STEP_SHEETS = ("step", "row_view", "tour")
OWN_CONTROLS = {"fa-by-word", "fa-step-controls"}  # written in Python, for the Step page only


def written() -> set[str]:
    """Classes that the other pages' HTML bears."""
    names = set()
    rooms = ("views/*.py", "views/templates/**/*.html", "pages/*.py")
    for path in (path for room in rooms for path in ROOT.glob(f"explainer/{room}")):
        text = path.read_text()
        names |= set(re.findall(r"\bfa-[a-z0-9-]+", text))
        cards = re.findall(r'card\(\s*"([a-z0-9 -]+)"', text)
        names |= {f"fa-{word}" for words in cards for word in words.split()}
    return names - OWN_CONTROLS


def strangers(sheet: str, names: set[str]) -> list[str]:
    """Selectors that begin with a class of another page, and so reach into that page."""
    sheet = re.sub(r"/\*.*?\*/", "", sheet, flags=re.DOTALL)
    selectors = re.findall(r"([^{};]+)\{", sheet)
    starts = (part.strip() for s in selectors for part in re.split(r",(?![^(]*\))", s))
    return [s for s in starts if (found := re.match(r"\.(fa-[a-z0-9-]+)", s)) and found[1] in names]


@pytest.mark.parametrize("name", STEP_SHEETS)
def test_the_step_page_dresses_itself_only(name):
    assert strangers((ROOT / f"assets/css/{name}.css").read_text(), written()) == []


def test_a_reaching_rule_is_seen():
    assert {"fa-tile", "fa-legend"} <= written()
    sheet = "@media (width) { .fa-x, .fa-tile > * { top: 0 } } .fa-step .fa-tile { } .fa-tiles { }"
    assert strangers(sheet, written()) == [".fa-tile > *"]
