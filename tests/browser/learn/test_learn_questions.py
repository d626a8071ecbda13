"""The Learn page's questions: every kind, by keyboard and by pointer, kept in the browser."""

from __future__ import annotations

import json
from itertools import zip_longest
from urllib.parse import urlsplit

import pytest

from explainer.learn.level0 import KNOWN
from explainer.learn.registry import ORDER, answer, rungs
from tests.browser.harness import settled
from tests.browser.learn.learning import AT_HEADING, agree, open_page, tables, widget

QUESTIONS = {rung.key: rung.question for rung in rungs()}
ALL = len(QUESTIONS) + len(KNOWN)


def arrange(page, form, question) -> None:
    """Puts lines in order by the arrow keys of their handles, and fills the gaps."""
    wanted = [words for words, _ in question.options]
    for to, words in enumerate(wanted):
        texts = form.locator("li code").evaluate_all(
            "(all) => all.map((code) => [...code.childNodes].map((n) => "
            "n.nodeType === 3 ? n.textContent : '___').join(''))"
        )
        at = texts.index(words, to)
        form.locator(".fa-handle").nth(at).focus()
        for _ in range(at - to):
            page.keyboard.press("ArrowUp")
    for index, _, right in question.gaps:
        form.locator("li").nth(index).locator("select").select_option(right)


def fill(form, question, *chosen: str) -> None:
    """These words into the gaps of lines of code, or the right ones."""
    for k, (_, _, right) in enumerate(question.gaps):
        form.locator("select").nth(k).select_option(chosen[k] if chosen else right)


def reach(page, form, selector: str) -> None:
    """Tab, from where the keyboard is, to the first such element of the question."""
    first = form.locator(selector).first
    for _ in range(40):
        page.keyboard.press("Tab")
        if first.evaluate("node => node === document.activeElement"):
            return
    raise AssertionError(f"{selector} is not reached by Tab")


def solve(page, form, question) -> None:
    """The right answer by keyboard alone, from the card's heading on."""
    if question.kind == "choice":
        reach(page, form, "input")
        if question.answer == 0:
            page.keyboard.press("Space")
        for _ in range(question.answer):
            page.keyboard.press("ArrowDown")
    elif question.kind == "number":
        reach(page, form, "input")
        page.keyboard.type(str(question.answer))
        return page.keyboard.press("Enter")
    elif question.kind == "order":
        reach(page, form, ".fa-handle")
        arrange(page, form, question)
        form.locator(".fa-handle").last.focus()
    elif question.kind == "fill":
        reach(page, form, "select")
        fill(form, question)
    else:
        reach(page, form, '[data-at="0,0"]')
        i = j = 0
        cells = [question.answer] if isinstance(question.answer[0], int) else question.answer
        for row, column in cells:
            for key, by in (("Down", row - i), ("Up", i - row), ("Right", column - j),
                            ("Left", j - column)):  # fmt: skip
                for _ in range(by):
                    page.keyboard.press(f"Arrow{key}")
            page.keyboard.press("Space")
            i, j = row, column
    for _ in range(12):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.textContent") in ("Check", "Run"):
            break
    page.keyboard.press("Enter")


@pytest.mark.parametrize("half", [ORDER[:7], ORDER[7:]], ids=["1 to 7", "8 to 15"])
def test_the_questions_by_keyboard_alone(tab, half):
    page = open_page(tab, half[0])
    page.get_by_role("button", name="Forget my answers").press("Enter")
    for k, key in enumerate(half, 1):
        question = QUESTIONS[key]
        link = page.locator(f'.fa-toc a[href="#learn-{key}"]')
        link.focus()
        page.keyboard.press("Enter")
        card = page.locator(f"#learn-{key}")
        widget(page, card.locator("[data-widget]").get_attribute("data-widget"))
        solve(page, card.locator("[data-question]"), question)
        said = card.locator("[data-question] .fa-verdict").inner_text()
        assert said.startswith("✓ Right. ") and len(said) > 16, (key, said)
        assert page.locator("[data-progress]").inner_text() == f"{k} of {ALL} answered right"
        assert link.locator(".fa-tick-mark").count() == 1
    page.evaluate("localStorage.clear()")


WRONG = {
    "choice": lambda form, q: form.locator("input").nth((q.answer + 1) % len(q.options)).check(),
    "number": lambda form, q: form.locator("input").fill(str(q.answer + 7)),
    "click": lambda form, q: form.locator("[data-at='0,0']").click(),
    "order": lambda form, q: None,  # as shuffled
    "fill": lambda form, q: fill(form, q, "lse", "0", q.gaps[2][2]),
}


def test_what_filled_lines_give_is_run_by_the_server(browser, watch):
    """A wrong filling shows its consequence and the right one agrees; run again, it is replaced."""
    page = open_page(
        watch(browser.new_context(viewport={"width": 1440, "height": 900})), "recompute"
    )
    question, form = QUESTIONS["recompute"], page.locator("#learn-recompute [data-question]")
    for chosen, end in (
        (("lse", "0", question.gaps[2][2]), "softmax knows no shift."),
        ((), "each row of dS adds up to 0."),
    ):
        fill(form, question, *chosen)
        form.get_by_role("button", name="Run").click()
        given = form.locator(".fa-blocks .fa-text-block")
        given.filter(has_text=end).wait_for()
        asked = {f"g{k}": x or gap[2] for k, (x, gap) in enumerate(
            zip_longest(chosen, question.gaps), 1)}  # fmt: skip
        wanted = answer({"w": question.run, **asked})["blocks"]
        assert given.locator("span:not(.fa-sign)").all_inner_texts() == [wanted[-1]["words"]]
        assert tables(form) == [wanted[0]["rows"]]


def test_wrong_then_right_kept_here_and_nothing_sent(browser, watch):
    context = browser.new_context(viewport={"width": 1440, "height": 900})
    tab = watch(context)
    page = open_page(tab)
    settled(page)
    sent: list[tuple[str, str]] = []
    page.on("request", lambda r: sent.append((r.method, urlsplit(r.url).path)))
    kinds = {question.kind: key for key, question in reversed(QUESTIONS.items())}
    assert set(kinds) == set(WRONG)
    progress = page.locator("[data-progress]")
    for k, (kind, key) in enumerate(kinds.items(), 1):
        question, form = QUESTIONS[key], page.locator(f"#learn-{key} [data-question]")
        check, said = form.locator(".is-main"), form.locator(".fa-verdict")
        if kind != "order":
            check.click()
            assert "first" in said.inner_text()
        WRONG[kind](form, question)
        check.click()
        assert said.inner_text().startswith("✗ Not so. ") and len(said.inner_text()) > 20
        assert progress.inner_text().startswith(f"{k - 1} of {ALL}")
        if kind == "click":
            form.locator("[data-at='0,0']").click()
        if kind == "choice":
            form.locator("input").nth(question.answer).check()
        elif kind == "number":
            form.locator("input").fill(str(question.answer))
        elif kind == "order":
            arrange(page, form, question)
        elif kind == "fill":
            fill(form, question)
        else:
            cells = [question.answer] if isinstance(question.answer[0], int) else question.answer
            for i, j in cells:
                form.locator(f"[data-at='{i},{j}']").click()
        check.click()
        assert said.inner_text().startswith("✓ Right. "), kind
        assert progress.inner_text().startswith(f"{k} of {ALL}")
    kept = json.loads(page.evaluate("localStorage.getItem('fa-learn')"))
    assert kept == {QUESTIONS[key].key: "right" for key in kinds.values()}
    # What a word means may be asked for, when the pointer passes one.
    asked = ("/fa/learn", "/fa/glossary")
    assert all(method == "GET" and path.endswith(asked) for method, path in sent), sent
    page.reload()
    page.wait_for_selector("[data-progress]:visible")
    page.wait_for_function("document.querySelector('[data-progress]').textContent.startsWith('5')")
    page.get_by_role("button", name="Forget my answers").click()
    assert progress.inner_text() == f"0 of {ALL} answered right"
    context.close()


def test_level_0_shows_the_solution_when_asked_or_right(tab):
    page = open_page(tab, "level0")
    page.get_by_role("button", name="Forget my answers").click()
    entry = page.locator('.fa-toc ol a[href="#learn-level0"]')
    known = next(k for k in KNOWN if k.question.kind == "number")
    card = page.get_by_role("region", name=known.title)
    shown, ask = card.locator("[data-reveal]"), card.get_by_role("button", name="Show me")
    assert not ask.is_visible()
    card.locator("input").fill(str(known.question.answer + 7))
    card.get_by_role("button", name="Check").click()
    assert ask.is_visible() and not shown.is_visible(), "there is a second try"
    ask.click()
    assert shown.is_visible() and not ask.is_visible()
    assert page.evaluate("document.activeElement.textContent") == "Check", "the place is kept"
    assert entry.locator(".fa-tick-mark").count() == 0
    card.locator("input").fill(str(known.question.answer))
    card.get_by_role("button", name="Check").click()
    said = f"1 of {len(KNOWN)}"
    assert entry.locator(".fa-tick-mark > :first-child").inner_text().strip() == said
    keys = {known.question.key: "right" for known in KNOWN}
    page.evaluate(f"localStorage.setItem('fa-learn', '{json.dumps(keys)}')")
    page.reload()
    entry.locator(".fa-tick-mark", has_text="✓").wait_for()
    page.evaluate("localStorage.clear()")


def test_a_grid_of_numbers_says_which_row_and_column(tab):
    page = open_page(tab, "matmul")
    grid = page.locator("#learn-matmul .fa-click-grid")
    assert grid.locator("span").all_inner_texts() == ["0", "1", "2", "0", "1", "2"]
    first = grid.locator("[data-at='0,0']")
    assert first.get_attribute("aria-label").endswith(", row 0, column 0")
    page = open_page(tab, "when_not")
    assert page.locator("#learn-when_not .fa-click-grid span").count() == 0


def test_an_arrow_key_in_a_grid_never_turns_the_card(tab):
    page = open_page(tab, "matmul", mode="present")
    page.wait_for_selector(".fa-learn.is-presenting")
    grid = page.locator("#learn-matmul .fa-click-grid")
    for _ in range(4):
        if grid.is_visible():
            break
        page.keyboard.press("PageDown")
        settled(page)
    grid.locator("[data-at='0,0']").focus()
    for _ in range(5):
        page.keyboard.press("ArrowRight")
    assert page.evaluate("document.activeElement.dataset.at") == "0,2" and grid.is_visible()
    page.keyboard.press("PageUp")
    page.wait_for_function(AT_HEADING, arg="learn-matmul-title")
    assert not grid.is_visible(), "what had the keyboard is gone: the heading has it"


def test_level_0_by_keyboard_shows_what_is_computed_and_leads_back(tab):
    """One of each kind; the others are of the same making."""
    page = open_page(tab, "level0")
    page.get_by_role("button", name="Forget my answers").press("Enter")
    kinds = {known.question.kind: known for known in reversed(KNOWN)}
    for k, known in enumerate(kinds.values(), 1):
        card = page.get_by_role("region", name=known.title)
        assert not card.locator("[data-reveal]").is_visible()
        card.locator("h3").focus()
        solve(page, card.locator("[data-question]"), known.question)
        assert card.locator(".fa-verdict").inner_text().startswith("✓ Right. ")
        assert card.locator("h3 .fa-tick-mark").count() == 1
        place = card.locator("[data-reveal] [data-widget]")
        widget(page, known.question.key)
        agree(place)
        assert page.locator("[data-progress]").inner_text().startswith(f"{k} of {ALL}")
        back = card.locator(".fa-fine a")
        back.focus()
        page.keyboard.press("Enter")
        page.wait_for_function(AT_HEADING, arg=f"learn-{known.rung}-title")
    page.evaluate("localStorage.clear()")
