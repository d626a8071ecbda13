"""`make test` leaves out only what cannot have changed: the table covers what its tests import, and
a file that changes lets them run."""

import re
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests import tiers
from tests.test_architecture import PYTHON, ROOT, imported, name

PAGES = {
    "Step in a browser": ("explainer/pages/step.py", "assets/js/step/index.js"),
    "Learn in a browser": ("explainer/pages/learn.py", "assets/js/learn/index.js"),
    "Run in a browser": ("explainer/pages/run.py", "assets/js/site/run.js"),
    "Memory and Parallel in a browser": (
        *("explainer/pages/memory.py", "explainer/pages/parallel.py"),
        *("assets/js/story/memory.js", "assets/js/story/parallel.js"),
    ),
}
MODULES = {name(path): path for path in PYTHON}
SCRIPT = re.compile(r'(?:from|import) ?\(?"(\.[^"]*\.js)"')


def needed(path: Path, seen: set[Path]) -> set[Path]:
    """Collect the file and all of ours that it imports, in whichever language. The web room serves
    every page, and what it imports for the others is none of this one's."""
    if path.is_file() and path not in seen:
        seen.add(path)
        if path.suffix == ".py":
            names = set() if path.parent.name == "web" else imported(path)
            others = {MODULES[n] for n in names if n in MODULES}
        else:
            found = SCRIPT.findall(path.read_text(encoding="utf-8"))
            others = {(path.parent / other).resolve() for other in found}
        for other in others:
            needed(other, seen)
    return seen


def imported_by_tests(key: str) -> set[Path]:
    """Collect the modules that the tests of a group import."""
    folders = {pattern.rpartition("/")[0] for pattern in tiers.GROUPS[key]["tests"]}
    tests = (test for folder in folders for test in ROOT.glob(f"{folder}/*.py"))
    return {MODULES[module] for test in tests for module in imported(test) & MODULES.keys()}


COMPUTED = [key for key in tiers.GROUPS if key.startswith(("Hopper", "kernels in", "the engine"))]


@pytest.mark.parametrize("key", [*PAGES, *COMPUTED, "lessons, computed", "scripts, in node"])
def test_a_group_covers_all_that_its_page_or_its_tests_import(key):
    entries = [ROOT / entry for entry in PAGES.get(key, ())] or imported_by_tests(key)
    seen: set[Path] = set()
    for entry in entries:
        needed(entry, seen)
    missing = seen - set(tiers.files(tiers.GROUPS[key]["covers"]))
    assert not {str(path.relative_to(ROOT)) for path in missing}


@pytest.fixture
def small(tmp_path, monkeypatch):
    """A tree of two files under one group's eyes."""
    for place in ("code/watched.py", "code/other.txt", "tests/test_it.py"):
        (tmp_path / place).parent.mkdir(exist_ok=True)
        (tmp_path / place).write_text(place)
    group = {"tests": ["tests/test_it.py::*"], "covers": ["code/*.py"]}
    monkeypatch.setattr(tiers, "ROOT", tmp_path)
    monkeypatch.setattr(tiers, "PASSED", tmp_path / "passed.json")
    monkeypatch.setattr(tiers, "GROUPS", {"it": group})
    tiers.digest.cache_clear()
    yield tmp_path
    tiers.digest.cache_clear()


ITEMS = [SimpleNamespace(nodeid=f"tests/test_{x}.py::test_a[case]") for x in ("it", "else")]


def chosen() -> list[str]:
    tiers.digest.cache_clear()
    return [item.nodeid for item in tiers.choose(ITEMS)[0]]


@pytest.mark.parametrize(
    ("place", "count"),
    [("code/watched.py", 2), ("code/new.py", 2), ("tests/test_it.py", 2), ("code/other.txt", 1)],
)
def test_what_has_passed_is_left_out_until_it_changes(small, place, count):
    everything = [item.nodeid for item in ITEMS]
    assert chosen() == everything
    tiers.record()
    (small / place).write_text("another line")
    assert chosen() == everything[-count:]
