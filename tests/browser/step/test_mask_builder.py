"""The mask builder: composed by keyboard and by touch, used, left, refused."""

import pytest

from tests.browser.harness import (
    Held,
    click,
    focused,
    frame,
    keys,
    open_controls,
    press,
    query_of,
    read,
    settled,
    spot,
)
from tests.tables import table

COUNTS = table(__file__)
MASK, CAUSAL, WINDOW = COUNTS
OPEN = ".fa-masks[data-mask]"


def builder(page, mask: str | None = None):
    """The builder, once it shows this mask."""
    page.wait_for_selector(f'.fa-masks[data-mask="{mask}"]' if mask else OPEN)
    settled(page)
    return page.locator(".fa-masks")


def open_builder(page):
    page.click(".fa-word-mask:visible")
    return builder(page)


@pytest.fixture
def edit(stage):
    """Shows a Problem on the page that is open for all tests, and the builder of its mask."""

    def show(query: str):
        stage.show(query)
        return open_builder(stage.page)

    yield show
    stage.page.mouse.move(1, 1)
    click(stage.page, "Cancel")


def bars(page) -> dict[str, list[int]]:
    """{what: (part, whole)} of the bars."""
    found = page.eval_on_selector_all(
        ".fa-mask-bar", "bars => bars.map(({ dataset: d }) => [d.what, +d.part, +d.whole])"
    )
    return {what: count for what, *count in found}


def about(page) -> str:
    """What the foot says of that which has the mouse, the keyboard, or neither."""
    return page.inner_text("#fa-mask-about")


def choose(page, name: str) -> None:
    """The predicate of this name, in the menu that is open, by arrows."""
    page.wait_for_selector(".fa-mask-menu:visible")
    for _ in range(9):
        if focused(page).startswith(name):
            break
        keys(page, "ArrowDown")
    keys(page, "Enter")


def test_a_mask_is_composed_by_keyboard_and_used(tab):
    page = tab.open("n=16&d=8&br=4&bc=4&step=3&phase=scores")
    scripts = [url for url in tab.requests if "masks" in url]
    assert not scripts, "the first view does without the builder"
    page.focus(".fa-word-mask")
    keys(page, "Enter")
    builder(page, "causal")
    assert bars(page) == COUNTS[CAUSAL]
    assert page.evaluate("document.activeElement.matches('.fa-masks')")
    keys(page, "Tab")
    assert focused(page) == "Remove causal"
    keys(page, "Tab", "Enter")
    choose(page, "window")
    builder(page, "causal&window:6,0")
    assert focused(page) == "window: left"
    assert about(page).startswith("window left, right: only keys near the query.")
    keys(page, "ArrowUp", "ArrowUp")
    builder(page, "causal&window:8,0")
    keys(page, "ControlOrMeta+a")
    page.keyboard.type("6")
    builder(page, MASK.partition("|")[0])
    keys(page, "Tab", "Tab", "Tab", "Tab")
    assert focused(page).startswith("or one")
    keys(page, "Enter")
    choose(page, "prefix")
    builder(page, MASK)
    assert bars(page) == COUNTS[MASK]
    counts = page.locator(".fa-mask-legend b").all_inner_texts()
    assert counts == ["1", "9", "6"], "full, partial, skipped"
    assert page.input_value(".fa-mask-text") == MASK
    page.get_by_role("button", name="Use this mask").focus()
    keys(page, "Enter")
    page.wait_for_selector('[data-testid="player"][data-query*="prefix"]')
    settled(page)
    asked = query_of(page)
    assert (asked["mask"], asked["step"], asked["phase"]) == (MASK, "3", "scores")
    assert not page.locator(".fa-masks").count()
    assert page.evaluate("document.activeElement.dataset.control") == "mask"
    assert page.inner_text(".fa-word-mask").startswith("causal&window:6,0")
    assert press(page, "ArrowRight")["step"] == "4", "the keys are the player's again"


def test_who_leaves_it_changes_nothing(tab):
    page = tab.open("n=16&d=8&br=4&bc=4&step=2")
    before = query_of(page)
    for leave in ("Escape", "Cancel"):
        open_builder(page)
        page.click('[data-preset="chunks"]')
        builder(page, "causal&chunk:4")
        if leave == "Cancel":
            click(page, "Cancel")
        else:
            keys(page, "Escape")
        assert not page.locator(".fa-masks").count()
        assert page.evaluate("document.activeElement.dataset.control") == "mask"
        settled(page)
        assert query_of(page) == before and read(page)["step"] == "2"


def test_a_wrong_text_gets_a_sentence_that_says_where(tab):
    tab.tolerate("400")
    page = tab.open("n=16&d=8&br=4&bc=4")
    view = open_builder(page)
    text, wrong = view.get_by_label("The mask as text"), view.get_by_role("alert")
    text.fill("causal&windw:6,0")
    wrong.wait_for()
    assert "“windw:6,0” at character 8" in wrong.inner_text()
    assert text.get_attribute("aria-invalid") == "true"
    view.get_by_role("button", name="Use this mask").focus()
    keys(page, "Enter")
    assert view.is_visible() and focused(page) == "The mask as text"
    text.fill(" causal & window:6,0 | prefix:2 ")
    builder(page, MASK)
    assert not wrong.is_visible() and text.get_attribute("aria-invalid") is None
    keys(page, "Tab")
    assert text.input_value() == MASK, "as the server writes it"
    tab.tolerate("400")
    number = view.get_by_label("window: left")
    number.fill("x")
    wrong.wait_for()
    assert number.get_attribute("aria-describedby") == wrong.get_attribute("id")
    keys(page, "ArrowUp")
    builder(page, "causal&window:0,0|prefix:2")


def test_a_lit_score_names_what_keeps_or_hides_it(edit):
    """Whether its sentences are true is judged in tests/js/mask.test.mjs."""
    view = edit(f"n=16&d=8&br=4&bc=4&mask={MASK.replace('&', '%26')}")
    page = view.page
    said, box = view.locator(".fa-mask-sentence"), view.locator(".fa-mask-box")
    assert said.inner_text().startswith("Query 12 sees key 1 because of prefix 2")
    for i, j, sees in ((0, 0, True), (11, 3, False), (15, 15, True)):
        page.mouse.move(*spot(box, (j + 0.5) / 16, (i + 0.5) / 16))
        assert (f"Query {i} sees key {j}" in said.inner_text()) == sees
    page.mouse.move(1, 1)
    box.focus()
    keys(page, "Home", "ArrowRight", "ArrowRight", "ArrowRight")
    assert said.inner_text().startswith("Query 12 does not see key 3: window 6, 0 hides it")
    keys(page, "PageUp", "End")
    assert said.inner_text().startswith("Query 8 does not see key 15: causal hides it")
    assert page.get_attribute('[data-testid="player"]', "data-step") == "0"


def test_tiles_are_drawn_by_clicking_them(edit):
    view = edit("n=16&d=8&br=4&bc=4&mask=block:4x4,0.0,1.1")
    page = view.page
    click(view, "block 4 × 4")
    assert about(page).startswith("Keep tiles of the map or hide them")
    box = view.locator(".fa-mask-box")
    page.mouse.click(*spot(box, 0.9, 0.1))
    builder(page, "block:4x4,0.0,0.3,1.1")
    page.mouse.click(*spot(box, 0.1, 0.1))
    builder(page, "block:4x4,0.3,1.1")
    box.focus()
    keys(page, "PageDown", "PageDown", "Enter")
    builder(page, "block:4x4,0.3,1.1,2.0")
    assert bars(page)["tiles"] == [3, 16]
    assert bars(page)["scores"] == [48, 256]


def test_a_model_is_a_beginning_and_tells_its_own_numbers(tab):
    page = tab.open("n=16&d=8&br=4&bc=4")
    view = open_builder(page)
    view.locator('[data-preset="gemma"]').click()
    builder(page, "causal&window:5,0")
    assert bars(page) == COUNTS[WINDOW]
    assert "4,096" in about(page) and "configuration_gemma2.py" in about(page)
    number = view.get_by_label("the score's number")
    assert number.is_visible() and number.input_value() == "50", "what is done to scores unfolds"
    assert number.evaluate("node => node.previousSibling.textContent") == "softcap c"
    view.get_by_label("sink", exact=True).hover()
    assert about(page).startswith("sink: a logit")
    view.get_by_label("ALiBi").check()
    view.get_by_label("sink", exact=True).fill("1.5")
    settled(page)
    click(view, "Use this mask")
    page.wait_for_selector('[data-testid="player"][data-query*="sink"]')
    settled(page)
    used = {"mask": "causal&window:5,0", "score": "alibi", "sink": "1.5"}
    assert query_of(page).items() >= used.items()
    page = tab.show("n=16&d=8&br=4&bc=4&mask=full")
    assert not {"score", "sink"} & query_of(page).keys()


def test_a_long_sequence_is_a_map_of_tiles(edit):
    view = edit("n=1024&d=64&br=128&bc=64&mask=causal%26document:0,300,700")
    said = view.locator(".fa-mask-sentence")
    assert said.inner_text().startswith("Tile (0, 0), queries 0 to 127, keys 0 to 63: ")
    documents = view.locator(".fa-mask-doc.is-row").all_inner_texts()
    assert documents == ["document 1", "document 2", "document 3"]
    view.locator(".fa-mask-box").focus()
    keys(view.page, "End")
    assert "the tile is skipped" in said.inner_text()


def test_only_the_last_answer_counts(edit):
    """An answer that comes late is of a text that stands there no longer."""
    view = edit("n=16&d=8&br=4&bc=4")
    page = view.page
    held = Held(page, "**/fa/mask?*chunk*")
    view.get_by_label("The mask as text").fill("chunk:8")
    view.get_by_label("The mask as text").fill("prefix:3")
    builder(page, "prefix:3")
    held.go()
    frame(page)
    assert view.get_attribute("data-mask") == "prefix:3"


def test_two_edits_before_an_answer_both_count(edit):
    view = edit("n=16&d=8&br=4&bc=4")
    held = Held(view.page, "**/fa/mask?*")
    view.locator("summary").click()
    view.get_by_label("ALiBi").check()
    view.get_by_label("sink", exact=True).fill("1.5")
    held.go()
    settled(view.page)
    assert view.locator("summary").inner_text() == "score alibi, sink 1.5"


def test_the_controls_show_a_mask_of_ones_own_and_lead_to_its_builder(tab):
    page = open_controls(tab.open("mask=causal%26window:5,0"))
    radios = page.locator(".fa-by-mask input[type=radio]")
    chosen = "(all) => all.filter((one) => one.checked).map((one) => one.value)"
    assert radios.evaluate_all(chosen) == ["causal&window:5,0"]
    page.get_by_label("Full").check()
    page.wait_for_function("new URLSearchParams(location.search).get('mask') === 'full'")
    assert radios.evaluate_all(chosen) == ["full"]
    page.get_by_role("button", name="Compose a mask").click()
    builder(page, "full")


def test_a_tile_that_is_passed_over_says_what_hides_it(stage):
    page = stage.show("mask=causal%26window:5,0&step=0")
    page.mouse.move(*spot(page.locator(".fa-map canvas"), 0.5 / 4, 3.5 / 4))
    frame(page)
    said = page.inner_text(".fa-pick")
    assert said.split("\n") == ["Tile (3, 0)", "skipped: window 5, 0 hides all of it"]
    page.mouse.move(1, 1)


def test_a_chip_of_a_head_shows_that_head(tab):
    tab.goto("hq=4&hk=2&head=0&step=2")
    page = settled(tab.page)
    shown = read(page)
    for head, kv in ((3, 1), (1, 0)):
        click(page, f"Query head {head}, reads key head {kv}")
        page.wait_for_selector(f'.fa-heads[data-head="{head}"]')
        settled(page)
        assert query_of(page)["head"] == str(head)
        assert page.locator('.fa-head[aria-pressed="true"]').all_inner_texts() == [str(head)]
        assert page.inner_text(":focus") == str(head), "the keyboard stays on the chip"
        now = read(page)
        assert (now["i"], now["j"]) == (shown["i"], shown["j"]), "at the same tile"
