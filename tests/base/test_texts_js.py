"""What scripts say is data too: every use of a text has its text and its values."""

from __future__ import annotations

import pytest

from explainer.base.texts import stored
from tests.base.script_texts import SCRIPTS, Use, read, uses, uses_of
from tests.base.test_texts import places

PAGES = sorted({use.page for use in uses()})


def wrong(found: list[Use]) -> list[Use]:
    """Return the uses that have no text, or other values than their texts have."""
    return [
        use
        for use in found
        if not (keys := use.matches(set(stored(use.page))))
        or not {key for key in use.keys if "…" not in key} <= keys
        or (
            use.values is not None
            and any(use.values != places(stored(use.page)[key]) for key in keys)
        )
    ]


@pytest.mark.parametrize("page", PAGES)
def test_every_use_has_its_text_and_its_values(page):
    assert not wrong([use for use in uses() if use.page == page])


def test_no_key_is_unknown_before_it_runs():
    assert not [use for use in uses() if "…" in use.keys]


def test_step_has_its_texts_to_itself():
    """What every page fetches brings no text of Step's, and what every visitor of Step fetches none
    that only the script of a mode says."""
    from explainer.web.bundle import OF_STEP, online

    text = stored("step")["max.rises"][0]
    assert text not in online("all") and text in online("step")
    for mode in OF_STEP:
        text = [*stored(f"step_{mode}").values()][-1]
        assert text in online(mode) and text not in online("step"), mode


PLANTED = f"""import {{ textsOf }} from "{SCRIPTS}/lib/texts.js";
import {{ phrasesOf }} from "{SCRIPTS}/lib/texts.js";
import texts from "{SCRIPTS.parent}/texts/step.json" with {{ type: "json" }};
const t = textsOf(texts);
const phrase = phrasesOf(texts);
const who = {{ row: 3 }};
/** @type {{"full" | "skipped"}} */
const kind = Math.random() ? "full" : "skipped";
const b = f.stage === "D" ? `${{t("row", who)}} of it` : "";
"""
FAULTS = {
    "another key": ("t('row_view.row', who)", "t('row_view.rows', who)"),
    "a value too many": ("t('row_view.row', { row: 1 })", "t('row_view.row', { row: 1, m: 1 })"),
    "a value missing": ("t('row_view.row', who)", "t('row_view.row')"),
    "one side of a choice": (
        "t(b === 'y' ? 'row_view.row' : 'row', who)",
        "t(b === 'y' ? 'row_view.row' : 'rows', who)",
    ),
    "a template of no key": ("t(`kind.${kind}`)", "t(`kinds.${kind}`)"),
    "a template's values": ("t(`kind.${kind}`)", "t(`kind.${kind}`, who)"),
    "a phrase of another key": (
        "phrase('max.first', 'others.one')",
        "phrase('max.first', 'others.two')",
    ),
    "an unknown key": ("t('row_view.row', who)", "t(who.key, who)"),
}


@pytest.fixture(scope="module")
def planted(tmp_path_factory) -> dict[str, list]:
    """Return what is found in a script with each line of FAULTS, by that line."""
    folder = tmp_path_factory.mktemp("planted")
    lines = [line for pair in FAULTS.values() for line in pair]
    paths = [folder / f"{k}.js" for k in range(len(lines))]
    for path, line in zip(paths, lines, strict=True):
        path.write_text(PLANTED + line)
    found = read(*paths)
    return {line: wrong(uses_of(script)) for line, script in zip(lines, found, strict=True)}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_planted_fault_is_found(fault, planted):
    right, faulty = FAULTS[fault]
    assert planted[right] == [] and len(planted[faulty]) == 1
