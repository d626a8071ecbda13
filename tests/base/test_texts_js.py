"""What scripts say is data too: every use has its text and its values, no sentence is left."""

from __future__ import annotations

import re

import pytest

from explainer.base.texts import stored
from tests.base.script_texts import SCRIPTS, Script, meant, uses, uses_of
from tests.base.test_texts import SENTENCE, places

# Folders whose texts lie in assets/texts.
MOVED = ("learn", "lib", "masks", "model", "offline", "site", "step", "views", "warps")
# Code listings and their notes, written from Python; errors that a developer makes with texts.
ELSEWHERE = ("model/algorithms.js", "lib/texts.js")
SELECTS = re.compile(
    r"(?:(?:closest|matches|querySelector|querySelectorAll)(?:\?\.)?\(|const NOT_HERE = )$"
)
PAGES = sorted({use.page for use in uses()})


def left(text: str) -> list[str]:
    """The sentences in a module's strings, which a list of tags is not."""
    found = Script(text).literals.values()
    return [
        x.text
        for x in found
        if SENTENCE.search(x.text) and not SELECTS.search(text[max(0, x.start - 24) : x.start])
    ]


def wrong(found: list, page: str) -> list:
    """The uses of a page's texts that have none, or other values than the text has."""
    texts = stored(page)
    return [
        (use.file, use.key, use.values)
        for use in found
        if use.page == page
        and (
            not (keys := meant(use, set(texts)))
            or any(key not in texts or use.values not in (None, places(texts[key])) for key in keys)
        )
    ]


@pytest.mark.parametrize("page", PAGES)
def test_every_use_has_its_text_and_its_values(page):
    assert not wrong(uses(), page)


@pytest.mark.parametrize("folder", MOVED)
def test_no_sentence_is_left_in_a_script(folder):
    paths = list(SCRIPTS.glob(f"{folder}/**/*.js"))
    modules = {str(path.relative_to(SCRIPTS)): path for path in paths}
    found = {
        name: left(p.read_text("utf-8")) for name, p in modules.items() if name not in ELSEWHERE
    }
    assert modules and not {name: texts for name, texts in found.items() if texts}


def test_step_has_its_texts_to_itself():
    """What every page fetches brings no text of Step's, and what every visitor of Step fetches none
    that only the script of a mode says."""
    from explainer.web.bundle import OF_STEP, online

    told = stored("step")["max.rises"]
    assert told not in online("all") and told in online("step")
    for mode in OF_STEP:
        told = [*stored(f"step_{mode}").values()][-1]
        assert told in online(mode) and told not in online("step"), mode


PLANTED = """import told from "../texts/step.json" with { type: "json" };
const say = sayer(told); // A sentence in a comment is none of ours.
const who = { row: 3 };
const a = f.stage === "D" ? `${say("max.rises", who)} of it` : /Not a [sentence/]. Here./.test(b);
"""
FAULTS = {
    "a sentence": ("const b = 1;", "const b = `Row ${row} is seen. It rises.`;"),
    "a sentence in a value": ("const b = 1;", "const b = `${c ? 'Row of it is seen here.' : 2}`;"),
    "another key": ("say('max.first', who)", "say('max.fist', who)"),
    "a value too many": ("say('max.first', { row })", "say('max.first', { row, m: 1 })"),
    "a value missing": ("say('max.first', who)", "say('max.first')"),
    "one side of a choice": (
        "say(x === 'y' ? 'max.first' : 'max.rises', who)",
        "say(x === 'y' ? 'max.first' : 'max', who)",
    ),
    "a template of no key": ("say(`kind.${x}`)", "say(`kinds.${x}`)"),
    "a template's values": ("say(`kind.${x}`)", "say(`kind.${x}`, who)"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_planted_fault_is_found(fault, tmp_path):
    found = []
    for line in FAULTS[fault]:
        planted = tmp_path / "planted.js"
        planted.write_text(PLANTED + line)
        found.append(left(planted.read_text()) + wrong(uses_of(planted), "step"))
    right, faulty = found
    assert right == [] and len(faulty) == 1


def test_a_key_that_nobody_can_know_is_refused(tmp_path):
    planted = tmp_path / "planted.js"
    planted.write_text(PLANTED + "say(keys[0], who);")
    with pytest.raises(AssertionError, match=re.escape("keys[0] in planted.js")):
        uses_of(planted)
