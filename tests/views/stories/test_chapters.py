"""Every chapter of Memory and Parallel, for any workload: whole, plain JSON, of a named kind."""

import json
import re
from typing import Any, cast

import pytest

from explainer.base.fields import ProblemError
from explainer.learn.folder import KEYS as LESSONS
from explainer.memory.workload import KEYS
from explainer.views.stories.chapter import Chapter
from explainer.views.stories.pages import CHAPTERS, DEFAULTS, make_chapter
from tests.views.results import WORDS

NAMES = [(page, name) for page, chapters in CHAPTERS.items() for name in chapters]
EVIL = "<script>alert(1)</script>\"'&"
WORKLOADS = {
    "defaults": {},
    "Turing": {"card": "t4"},
    "shortest": {"n": "16"},
    "longest and widest": {"n": "65536", "d": "256", "br": "256", "bc": "256", "card": "a100"},
    "fp32": {"dtype": "fp32", "card": "rtxpro6000", "n": "512"},
    "ragged": {"n": "1000", "d": "80", "br": "100", "bc": "33", "mask": "causal"},
    "many heads": {"b": "16", "h": "64", "n": "1024"},
    "thin": {"d": "1", "br": "16", "bc": "256", "h": "1", "card": "rtx4090"},
    "unmeasured": {"card": "t4", "dtype": "fp32", "mask": "causal"},
    "not compiled": {"card": "b200"},
    "window": {"mask": "window:100,0", "n": "8,192"},
}


def make(page: str, name: str, **query: str) -> Chapter:
    """The chapter as the browser receives it."""
    made = make_chapter(page, {"chapter": name, **query})
    return cast(Chapter, json.loads(json.dumps(made, allow_nan=False)))


def texts(part: Any) -> list[str]:
    """Every text of a chapter."""
    if isinstance(part, str):
        return [part]
    if isinstance(part, dict | list):
        return [x for y in (part.values() if isinstance(part, dict) else part) for x in texts(y)]
    return []


@pytest.mark.parametrize("query", WORKLOADS.values(), ids=WORKLOADS)
@pytest.mark.parametrize(("page", "name"), NAMES)
def test_a_chapter_is_whole_for_any_workload(page, name, query):
    try:
        found = make(page, name, **query)
    except ProblemError as refused:  # a tile that the card has no room for
        assert page == "parallel" and "shared memory" in str(refused)
        return
    assert found["headline"] and found["label"]
    assert 0 <= found["start"] < len(found["beats"])
    assert all(beat["label"] for beat in found["beats"])
    said = [found["provenance"], *(beat.get("provenance", "") for beat in found["beats"])]
    assert re.search("|".join(WORDS), " ".join(said), re.I), "of what kind the figures are"
    for switch in found["switches"]:
        assert switch["value"] in {value for value, _ in switch["choices"]}
    for table in found["table"]:
        assert all(len(row) == len(table["head"]) for row in table["rows"])
    assert any(table["rows"] for table in found["table"])
    words = " ".join(texts(cast(Any, found)))
    assert not re.search(r"\b(nan|inf|None|True|False)\b|\{|e\+\d", words), words


@pytest.mark.parametrize(("page", "name"), NAMES)
def test_a_column_of_amounts_has_one_unit_and_one_precision(page, name):
    """Of times and speeds (RP 9); bytes go from a row of m to gigabytes, each in its own unit."""
    amount = re.compile(r"[\d,]+(?:\.(\d+))? (µs|ms|s|TB/s|TFLOP/s|%)$")
    for table in make(page, name)["table"]:
        for k, head in enumerate(table["head"]):
            cells = [str(row[k]) for row in table["rows"] if k < len(row)]
            found = [match for match in map(amount.match, cells) if match]
            units, decimals = {m[2] for m in found}, {len(m[1] or "") for m in found}
            assert len(units) <= 1 and len(decimals) <= 1, (table["title"], head, cells)


@pytest.mark.parametrize(("page", "name"), NAMES)
def test_every_choice_of_a_switch_is_a_picture_of_its_own(page, name):
    first = make(page, name)
    for switch in first["switches"]:
        made = [
            json.dumps(make(page, name, **{switch["key"]: value})) for value, _ in switch["choices"]
        ]
        assert len({*made}) == len(made), switch["key"]


@pytest.mark.parametrize(("page", "name"), NAMES)
def test_a_chapter_starts_in_few_words_and_its_links_lead_somewhere(page, name):
    found = make(page, name)
    here = found | found["beats"][found["start"]]
    assert len(f"{here['headline']} {here['sentence']}".split()) <= 60
    assert len(here["headline"]) <= 85
    assert found["links"]
    for text, href in found["links"]:
        assert text and href.startswith("?")
        if "lesson=" in href:
            assert href.split("lesson=")[1].split("&")[0] in LESSONS


@pytest.mark.parametrize(("page", "name"), NAMES)
def test_what_else_an_address_holds_never_reaches_a_chapter(page, name):
    others = dict.fromkeys(("kernel", "show", "case", "pass", "over", "mode", "seed", EVIL), EVIL)
    assert "alert(1)" not in json.dumps(make(page, name, **others))


def test_a_chapter_answers_with_the_workload_and_the_page_s_defaults():
    for page, name in NAMES:
        found = cast(Any, make(page, name, n="2048"))
        own = {"n": "65536"} if name == "decoding" else {}  # decoding opens with many keys
        assert found["values"]["n"] == "2048" and found["defaults"] == DEFAULTS[page] | own
        assert {*found["values"]} == {*KEYS}


def test_without_a_chapter_the_first_answers():
    first = make_chapter("memory", {"chapter": "where"})
    assert make_chapter("memory", {}) == make_chapter("memory", {"chapter": ""}) == first


def test_an_unknown_chapter_is_refused():
    with pytest.raises(ProblemError):
        make_chapter("memory", {"chapter": EVIL})
