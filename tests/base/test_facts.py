"""The register of facts: each entry has its ground, what is derived is computed here in another
way, and no page states a figure that has no entry."""

import json
import re
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

import numpy as np
import pytest
import torch
import yaml

from explainer.base.cards import CARDS
from explainer.base.facts import FACTS, PLACE, fact, filled, number
from explainer.learn import claim_costs
from explainer.learn.reference import FIGURE_BLOCKS, FORMULA_BLOCKS, PAPERS
from explainer.views.learn_screens import keys, screen
from tests.tables import table

ROOT = Path(__file__).resolve().parents[2]
KIB = 1024


def _operations() -> str:
    *forward, _ = claim_costs.operations(1024, 64, 64).values()
    ours, standard = (sum(kind[order] for kind in forward) for order in ("fa2", "standard"))
    assert abs(ours / standard - 1) < 0.01
    return "1 %"


def _operations_per_exp() -> str:
    """Of an SM of an H100, from its TFLOP/s and the clock that they belong to."""
    per_clock = 989.4e12 / CARDS["h100"].sms / (number("fa3.clock") * 1e9)
    return f"{per_clock / number('sm.exps'):.0f}"


# key → the figure, computed; that of fa3.softmax is found in tests/learn/test_pipeline.py.
DERIVED = {
    "fa3.softmax": lambda: fact("fa3.softmax"),
    "fa3.fewer_exps": _operations_per_exp,
    "fp16.largest": lambda: f"{np.finfo(np.float16).max:,.0f}",
    "fp16.exp": lambda: f"{np.log(float(np.finfo(np.float16).max)):.2f}",
    "fp32.exp": lambda: f"{np.log(float(np.finfo(np.float32).max)):.2f}",
    "fp32.largest": lambda: f"{np.finfo(np.float32).max:.1e}".replace("e+38", " × 10³⁸"),
    "e4m3.largest": lambda: f"{torch.finfo(torch.float8_e4m3fn).max:.0f}",
    "e4m3.smallest": lambda: f"{torch.finfo(torch.float8_e4m3fn).smallest_normal / 2**3:.3f}",
    "e5m2.largest": lambda: f"{torch.finfo(torch.float8_e5m2).max:,.0f}",
    "n16k.scores": lambda: f"{16384**2 / 1e6:.0f} million",
    "fa2.flops": _operations,
    "hopper.block": lambda: f"{CARDS['h100'].shared_bytes / KIB:.0f} KiB",
    "a100.block": lambda: f"{CARDS['a100'].shared_bytes / KIB:.0f} KiB",
    "h100.sms": lambda: str(CARDS["h100"].sms),
}


def test_every_entry_has_one_ground():
    for entry in FACTS.values():
        assert entry.says and sum(map(bool, (entry.source, entry.derived, entry.measured))) == 1
        assert bool(entry.source) == bool(re.fullmatch(r"20\d\d-[01]\d-[0-3]\d", entry.seen))
        assert entry.looked_up in (entry.seen, "computed", "measured") and entry.ground


@pytest.mark.parametrize("key", [k for k, x in FACTS.items() if x.derived and x.shown])
def test_what_is_derived_is_derived(key):
    assert DERIVED[key]() == fact(key)


def test_every_formula_of_the_reference_has_its_entry_and_says_it():
    entries = [x for x in FACTS.values() if not x.shown]
    assert [x.says for x in entries] == [block["label"] for block in FORMULA_BLOCKS]
    assert [b["source"] for b in FORMULA_BLOCKS] == [x.ground for x in entries]


def test_the_reference_page_is_made_from_the_register():
    plain = str.maketrans({"\u00a0": " ", "\u2011": "-"})  # nothing is parted at the end of a line
    shown = [tuple(cell.translate(plain) for cell in row) for row in FIGURE_BLOCKS[0]["rows"]]
    assert shown == [(x.shown, x.says, x.ground, x.looked_up) for x in FACTS.values() if x.shown]
    assert [row[0] for row in FIGURE_BLOCKS[1]["rows"]] == [card.name for card in CARDS.values()]
    assert all(row[-1] for row in FIGURE_BLOCKS[1]["rows"])


def test_numbers_and_places():
    assert (number("fa3.exps"), number("fa3.full"), number("a100.l2")) == (3.9e12, 661, 5120)
    assert (
        filled("{fa3.h100} of it, {plain} {0} {error:.1e}") == "85 % of it, {plain} {0} {error:.1e}"
    )
    with pytest.raises(KeyError, match=r"no\.such"):
        filled("{no.such}")
    with pytest.raises(ValueError, match=r"formula\.1 does not begin with a number"):
        number("formula.1")


# ---- what stands on the pages --------------------------------------------------------------------

# A figure: a number with a unit in which things are cited, or one of three digits and more.
NUMBER = re.compile(
    r"(?<![\w.,#/\"=:-])\d+(?:,\d{3})*(?:\.\d+)?(?:–\d+(?:\.\d+)?)?(?!\w|\.\d|,\d{3})"
)
UNIT = re.compile(
    r"[ \u00a0]?(?:[TPGM]FLOP/s|[TGMK]B/s|[GM]Hz|[KMGT]i?B\b|%|×(?!\s*[\d{(∞])|[µnm]s\b|SMs\b"
    r"|times\b|[mb]illion\b|· ?10[⁰¹²³⁴⁵⁶⁷⁸⁹]+|× 10[⁰¹²³⁴⁵⁶⁷⁸⁹]+)"
)
NAMED = re.compile(  # parts of a name, not figures: a day, a place in a source, a card
    r"(?i)\b20\d\d-\d\d-\d\d|\b(?:section|table|figure|theorem|algorithm|appendix|equation) [\w.]+"
    r"|\b(?:issue|request) \d+"
    r"|\brtx (?:pro )?\d+|\bA100 80 GB"
)
TABLE = table(__file__)
OURS = {(name, figure): why for name, each in TABLE["ours"].items() for figure, why in each.items()}


def figures(text: str, name: str = "") -> list[str]:
    """The figures of a text that stand there as digits and have no entry."""
    text = NAMED.sub("", text.replace("\u00a0", " "))
    found = []
    for match in NUMBER.finditer(text):
        digits, unit = match[0], UNIT.match(text, match.end())
        bare = digits.replace(",", "")
        size = bare.isdigit() and int(bare) & (int(bare) - 1) == 0  # 1,024: a size that was picked
        if unit or (len(re.sub(r"\D", "", bare)) >= 3 and not size) or "." in bare:
            figure = digits + (unit[0] if unit else "")
            if not _known(figure, text) and (name, figure) not in OURS:
                found.append(figure)
    return found


def _known(figure: str, text: str) -> bool:
    """Derived or measured here, so the register holds it equal; or a paper's number or year beside
    its name. What is cited is to be asked for by its key."""
    ours = {x.shown for x in FACTS.values() if not x.source}
    papers = {p.where for p in PAPERS}
    beside = any(
        str(p.year) == figure
        and any(name in text for name in (*p.authors.split(", "), p.title.split(":")[0]))
        for p in PAPERS
    )
    return figure in ours | papers or beside


def _words(part: object, name: str) -> Iterator[str]:
    if isinstance(part, str):
        yield part
    elif isinstance(part, dict):
        # What others say; a widget's settings, which are the reader's; where an axis has marks.
        settings = ("choices", "value", "closed")
        said = {
            "claims.json": ("words",),
            "widgets.json": settings,
            "lesson.yaml": (*settings, "ticks"),
        }.get(name, ())
        for key, value in part.items():
            if key not in (*TABLE["left_out"], *said):
                yield from _words(value, name)
    elif isinstance(part, list):
        for value in part:
            yield from _words(value, name)


@lru_cache(maxsize=1)
def sources() -> tuple[tuple[str, str], ...]:
    """(file, text) of everything that a page may say."""
    return tuple(_sources())


def _sources() -> Iterator[tuple[str, str]]:
    for path in sorted(ROOT.glob("explainer/learn/**/*.*")):
        if path.suffix in (".md", ".yaml"):
            _, front, body = f"{path.read_text('utf-8')}---\n---\n".split("---\n", 2)
            parts = [front, body] if path.suffix == ".md" else [path.read_text("utf-8"), ""]
            for text in (*_words(yaml.safe_load(parts[0]), path.name), parts[1]):
                yield path.name, re.sub(r"\{\w+(:[^{}]*)?\}", "{}", text)
    for path in sorted(ROOT.glob("assets/[lt]e*/*.json")):  # of lessons, and texts
        if path.name not in TABLE["lists"]:
            for text in _words(json.loads(path.read_text("utf-8")), path.name):
                yield path.name, re.sub(r"\{\w+(:[^{}]*)?\}", "{}", text)
    snippets = (ROOT / "assets/learn/snippets.md").read_text("utf-8")
    yield "snippets.md", re.sub(r"```.*?```", "", snippets, flags=re.S)


def test_no_page_states_a_figure_without_an_entry():
    found = [
        (name, figure, text[:90]) for name, text in sources() for figure in figures(text, name)
    ]
    assert not found


def test_every_place_is_looked_at_and_every_key_is_filled_in():
    seen = {name for name, _ in sources()}
    assert seen >= {
        "text.md",
        "lesson.yaml",
        "claims.json",
        "tour.json",
        "sections.json",
        "snippets.md",
    }
    assert seen >= {"memory.json", "parallel.json", "run.json"}
    assert not any(PLACE.search(screen(key)) for key in keys())


@pytest.mark.parametrize("planted", TABLE["planted"])
def test_a_planted_figure_is_found(planted):
    """Also where the register has it as a citation: that is named by its key."""
    assert figures(planted)


def test_every_exemption_is_needed_and_one_that_names_an_entry_is_equal_to_it():
    there = {(name, figure) for name, text in sources() for figure in figures(text)}
    assert not OURS.keys() - there
    for (_, figure), why in OURS.items():
        assert why and ("." not in why or " " in why or fact(why) == figure)


def test_every_entry_is_used():
    texts = [p.read_text("utf-8") for p in ROOT.glob("explainer/**/*.py")]
    texts += [p.read_text("utf-8") for p in ROOT.glob("explainer/learn/lessons/*/*.*")]
    texts += [p.read_text("utf-8") for p in ROOT.glob("assets/[lt]e*/*")]
    whole = "\n".join(texts)
    unused = [
        key
        for key, entry in FACTS.items()
        if entry.shown
        and key not in whole
        and (entry.source or entry.shown not in whole)
        and key not in OURS.values()
    ]
    assert not unused
