"""The Learn page's questions: every kind, by keyboard and by pointer, kept in the browser."""

import json
import re
from dataclasses import replace
from itertools import zip_longest
from urllib.parse import urlsplit

import pytest

from explainer.learn.content import Question
from explainer.learn.course import MOVED, NUMBERS, PATHS
from explainer.learn.registry import answer, lessons
from explainer.learn.widgets import Control
from explainer.views.learn_parts import render_question, render_widget
from tests.browser.harness import click, keys, settled
from tests.browser.learn.learning import AT_HEADING, open_page, shown, widget
from tests.browser.learn.test_learn_fits import GO

QUESTIONS = {lesson.key: lesson.question for lesson in lessons()}
TO = """(to) => {
  history.pushState(null, "", to);
  dispatchEvent(new PopStateEvent("popstate"));
}"""
HALVES = [tuple(QUESTIONS)[0::2], tuple(QUESTIONS)[1::2]]


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
        keys(page, *["ArrowUp"] * (at - to))
    for index, _, right in question.gaps:
        form.locator("li").nth(index).locator("select").select_option(right)


def numbers(question, more: float = 0) -> list[str]:
    """What is typed into each field of a number's question."""
    answer = question.answer if isinstance(question.answer, tuple) else (question.answer,)
    return [str(x + more) for x in answer]


def write(form, typed: list[str]) -> None:
    for k, number in enumerate(typed):
        form.locator("input").nth(k).fill(number)


def pick_first(form) -> None:
    """The first word offered in each gap; the lines stay as they were shuffled."""
    for menu in form.locator("select").all():
        menu.select_option(index=1)


def fill(form, question, *chosen: str) -> None:
    """These words into the gaps of lines of code, or the right ones."""
    for k, (_, _, right) in enumerate(question.gaps):
        form.locator("select").nth(k).select_option(chosen[k] if chosen else right)


def reach(page, form, selector: str) -> None:
    """Tab, from where the keyboard is, to the first such element of the question."""
    first = form.locator(selector).first
    for _ in range(40):
        keys(page, "Tab")
        if first.evaluate("node => node === document.activeElement"):
            return
    raise AssertionError(f"{selector} is not reached by Tab")


def solve(page, form, question) -> None:
    """The right answer by keyboard alone, from the card's heading on."""
    if question.kind == "choice":
        reach(page, form, "input")
        keys(page, *(["ArrowDown"] * question.answer or ["Space"]))
    elif question.kind == "number":
        reach(page, form, "input")
        for k, number in enumerate(numbers(question)):
            if k:
                keys(page, "Tab")
            page.keyboard.type(number)
        return keys(page, "Enter")
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
            keys(page, *["ArrowDown"] * (row - i), *["ArrowUp"] * (i - row))
            keys(page, *["ArrowRight"] * (column - j), *["ArrowLeft"] * (j - column), "Space")
            i, j = row, column
    for _ in range(12):
        keys(page, "Tab")
        if page.evaluate("document.activeElement.textContent") in ("Check", "Run"):
            break
    keys(page, "Enter")


@pytest.mark.parametrize("half", HALVES, ids=["odd", "even"])
def test_the_questions_by_keyboard_alone(apart, half):
    page = open_page(apart(1440, 900))
    for key in half:
        question = QUESTIONS[key]
        page.evaluate(GO, key)
        shown(page, key)
        page.wait_for_function(AT_HEADING, arg=key)
        screen = page.locator(f"#learn-{key}")
        widget(page, screen.locator("[data-widget]").first.get_attribute("data-widget"))
        solve(page, screen.locator("[data-question]"), question)
        said = screen.locator("[data-question] .fa-verdict").inner_text()
        assert said.startswith("✓ Right. ") and len(said) > 16, (key, said)
        assert "is-done" in page.get_attribute(".fa-dot[aria-current]", "class")
        assert "is-main" in page.get_attribute(".fa-lesson-next", "class"), "the next stop"


WRONG = {
    "choice": lambda form, q: form.locator("input").nth((q.answer + 1) % len(q.options)).check(),
    "number": lambda form, q: write(form, numbers(replace(q, answer=q.mistakes[0][0]))),
    "click": lambda form, q: form.locator("[data-at='0,0']").click(),
    "order": lambda form, q: pick_first(form),
    "fill": lambda form, q: fill(form, q, "0", *(gap[2] for gap in q.gaps[1:])),
}


def test_what_filled_lines_give_is_run_by_the_server(apart):
    """A wrong filling shows its consequence and the right one agrees; run again, it is replaced."""
    page = open_page(apart(1440, 900), "backward")
    question, form = QUESTIONS["backward"], page.locator("#learn-backward [data-question]")
    for chosen, end in (
        (("0", *(gap[2] for gap in question.gaps[1:])), "softmax knows no shift."),
        ((), "each row of dS adds up to 0."),
    ):
        fill(form, question, *chosen)
        click(form, "Run")
        form.locator(".fa-given .fa-kit-note").filter(has_text=end).wait_for()
        asked = {
            f"g{k}": x or gap[2] for k, (x, gap) in enumerate(zip_longest(chosen, question.gaps), 1)
        }
        (wanted,) = answer({"w": question.run, **asked})["blocks"]
        rows = next(mark["rows"] for mark in wanted["data"]["marks"] if mark["mark"] == "table")
        assert form.locator(".fa-given tbody td").all_inner_texts() == [
            text for _, *texts in rows for text in texts
        ]
        assert wanted["words"] == form.locator("[aria-live]:has(+ .fa-given)").inner_text()


def right(page, form, question) -> None:
    """The right answer by pointer."""
    if question.kind == "choice":
        form.locator("input").nth(question.answer).check()
    elif question.kind == "number":
        write(form, numbers(question))
    elif question.kind == "order":
        arrange(page, form, question)
    elif question.kind == "fill":
        fill(form, question)
    else:
        for i, j in question.answer:
            cell = form.locator(f"[data-at='{i},{j}']")
            if cell.get_attribute("aria-pressed") == "false":
                cell.click()


# How far the question's first line and its verdict stand inside its part of the screen.
INSIDE = """(mount) => {
  const [box, first, said] = [mount, ...mount.querySelectorAll("legend, .fa-verdict")]
    .map((node) => node.getBoundingClientRect());
  return Math.min(first.top - box.top, box.bottom - said.bottom);
}"""


def test_wrong_then_right_kept_here_and_nothing_sent(apart):
    tab = apart()
    kinds = {q.kind: key for key, q in reversed(QUESTIONS.items())}
    for kind, key in kinds.items():
        page = open_page(tab, key)
        settled(page)
        sent: list[tuple[str, str]] = []
        page.on("request", lambda r, sent=sent: sent.append((r.method, urlsplit(r.url).path)))
        question, form = QUESTIONS[key], page.locator("[data-question]")
        check, said = form.locator(".is-main"), form.locator(".fa-verdict")
        if kind != "order":
            check.click()
            assert "first" in said.inner_text()
        WRONG[kind](form, question)
        check.click()
        assert said.inner_text().startswith("✗ Not so. ") and len(said.inner_text()) > 20
        if kind == "number":
            assert question.mistakes[0][1] in said.inner_text(), "what it would give"
        assert page.locator(".fa-dot.is-done[aria-current]").count() == 0
        assert form.evaluate(INSIDE) >= -0.5, (kind, "both are in sight")
        if kind == "click":
            form.locator("[data-at='0,0']").click()  # taken back
        elif question.variants and kind != "choice":
            form.get_by_role("button", name=re.compile("Try again|Another")).click()
            question = question.variants[0]
        right(page, form, question)
        assert said.inner_text() == "", "what it was about has changed"
        check.click()
        assert said.inner_text().startswith("✓ Right. "), kind
        assert check.is_hidden() and (kind in ("order", "fill") or form.evaluate(INSIDE) >= -0.5)
        if kind == "order":
            # In sight once it has come; what the wrong order gave stands there until then.
            page.wait_for_function("node => node.scrollTop > 0", arg=form.element_handle())
        assert page.locator(".fa-dot.is-done[aria-current]").count() == 1
        # What a word means may be asked for when the pointer passes one, a screen before it is.
        asked = ("/fa/learn", "/fa/glossary", ".html")
        assert all(method == "GET" and path.endswith(asked) for method, path in sent), sent
    kept = json.loads(page.evaluate("localStorage.getItem('fa-learn')"))
    assert kept == {QUESTIONS[key].key: "right" for key in kinds.values()}
    page.reload()
    shown(page, key)
    assert page.locator(".fa-dot.is-done").count() == len(kinds)
    assert kind == "order" or said.inner_text().startswith("✓ Right. "), "the verdict is kept"


def mistaken(form, question):
    """Gives every wrong answer of a choice, or one of another kind."""
    if question.kind == "choice":
        for at in set(range(len(question.options))) - {question.answer}:
            yield form.locator("input").nth(at).check()
    elif question.kind == "number":
        yield write(form, ["7.77" for _ in numbers(question)])
    elif question.kind == "click":
        yield WRONG["click"](form, question)


def test_a_question_stays_in_sight_above_the_reason_why_an_answer_is_wrong(apart):
    page, found = open_page(apart(), "dot"), {}
    for key, question in QUESTIONS.items():
        page.evaluate(GO, key)
        shown(page, key)
        form = settled(page).locator("[data-question]")
        for _ in mistaken(form, question):
            form.locator(".is-main").click()
            said = form.locator(".fa-verdict").inner_text()
            by = form.evaluate("(node) => node.scrollHeight - node.clientHeight")
            if by > 8:
                found[f"{key}: {said}"] = by
    assert found == {}


def test_a_second_try_has_new_numbers_and_a_closed_control_opens_after_the_answer(apart):
    """With a lesson whose screen is given variants and a closed choice on its way here."""
    lesson = next(r for r in lessons() if r.question.kind == "number" and not r.question.fields)
    tab = apart()
    page = tab.page
    blank = Question(lesson.question.key, "number", "", reasons=("Yes.", "No."))

    def varied(route):
        html = route.fetch().text()
        second = replace(blank, words="2, in GiB?", answer=4, hint="H.")
        mistakes = ((6.9, "Six."), (8, "Eight."))
        asked = replace(blank, words="1, in GiB?", answer=3, hint="Count.", mistakes=mistakes)
        asked = replace(asked, variants=(second,))
        html = html.replace(render_question(lesson.question), render_question(asked))
        sizes = (("16", "16"), ("64", "64"))
        control = Control("d", "d", "16", "choice", choices=sizes, closed=("64",))
        html = html.replace(render_widget(lesson.key), render_widget(lesson.key, [control]))
        route.fulfill(body=html, content_type="text/html")

    page.route(f"**/fa/learn/{lesson.key}.html*", varied)
    open_page(tab, lesson.key)
    form = page.locator("[data-question]")
    shut = page.locator('[data-widget] input[value="64"]')
    page.wait_for_selector("[data-widget] .fa-closed")
    tied = page.locator("[data-widget] input[aria-describedby=fa-closed]")
    assert tied.count(), "it is read out with the choices that are open"
    assert shut.is_disabled() and page.inner_text(".fa-closed") == "64 opens after your answer."
    click(form, "Hint")
    assert form.locator(".fa-verdict").inner_text() == "Count.", "one place for what is said"
    form.locator("input").fill("7")
    click(form, "Check")
    assert form.locator(".fa-verdict").inner_text() == "✗ Not so. Too large. No."
    assert shut.is_disabled() and not form.get_by_role("button", name="Check").is_visible()
    click(form, "Try again, with new numbers")
    assert form.locator("legend").inner_text() == "2, in GiB?", "the same words, other numbers"
    assert form.locator(".fa-unit").inner_text() == "GiB"
    form.locator("input").fill("4 MiB")
    form.locator("input").press("Enter")
    assert form.locator(".fa-verdict").inner_text() == "Type the number in GiB, not in MiB."
    check = form.get_by_role("button", name="Check")
    assert "is-ready" in check.get_attribute("class")
    form.locator("input").fill("12/3 gib")
    form.locator("input").press("Enter")
    assert form.locator(".fa-verdict").inner_text() == "✓ Right. Yes."
    assert not check.is_visible(), "there is nothing more to check"
    assert not form.get_by_role("button", name="Hint").is_visible()
    assert shut.is_enabled() and not tied.count() and page.locator(".fa-closed").count() == 0


def test_an_older_address_leads_to_its_new_place(tab):
    """Level 0 is the entrance's self-test, and so is whatever no screen ever had."""
    page = open_page(tab)
    for old, new in {**MOVED, "level0": "entrance"}.items():
        page.evaluate(TO, f"?page=learn&lesson={old}")
        shown(page, new)
    page.evaluate(TO, "?page=learn&rung=mask")  # the key that older addresses have
    shown(page, "mask")
    page.wait_for_function("location.search.includes('lesson=mask')")
    assert "rung" not in page.url
    page.evaluate(TO, "?page=learn&lesson=entrance")
    shown(page, "entrance")
    assert page.get_by_role("link", name="Where should I start?").is_visible()


def test_every_right_order_is_right(apart):
    """O and ℓ change places: the run is right, so the verdict is."""
    page = open_page(apart(), "online")
    form = page.locator("[data-question]")
    arrange(page, form, QUESTIONS["online"])
    form.locator(".fa-handle").last.press("ArrowUp")
    click(form, "Run")
    assert form.locator(".fa-verdict").inner_text() == (
        "✓ Right. O and ℓ may come in either order."
    )
    assert form.locator(".fa-line-mark").all_inner_texts() == ["✓"] * 6
    form.locator(".fa-given > *").first.wait_for()


def test_a_path_ends_with_what_is_known_and_the_next_one(apart):
    quick, hour, _ = PATHS
    *others, last = quick.lessons
    page = open_page(apart(), last)
    known = {QUESTIONS[key].key: "right" for key in others}
    page.evaluate("(known) => localStorage.setItem('fa-learn', JSON.stringify(known))", known)
    page.evaluate("localStorage.setItem('fa-learn-path', 'quick')")
    page.reload()
    shown(page, last)
    form, end = page.locator("[data-question]"), page.locator(".fa-path-end")
    assert not end.count()
    write(form, numbers(QUESTIONS[last]))
    click(form, "Check")
    after = next(key for key in hour.lessons if key not in quick.lessons)
    title = f"{NUMBERS[after]} {next(r.title for r in lessons() if r.key == after)}"
    assert end.inner_text() == f"{quick.done} Next: {title}, on the 1-hour path."
    page.locator(".fa-lesson-next", has_text=title).click()
    shown(page, after)
    assert page.inner_text(".fa-lesson-place") == f"1 hour · 2 of {len(hour.lessons)}"


def test_a_grid_of_numbers_says_which_row_and_column(tab):
    page = open_page(tab, "mask")
    grid = page.locator("#learn-mask .fa-click-grid")
    assert grid.locator("span").all_inner_texts() == [*"01234", *"34"], "the rows are tokens"
    first = grid.locator("[data-at='0,0']")
    assert first.get_attribute("aria-label").endswith(", row 3, column 0")
    page = open_page(tab, "when_not")
    assert page.locator("#learn-when_not .fa-click-grid span").count() == 0
