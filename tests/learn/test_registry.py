"""The Learn page as a whole: every widget answers everywhere, the ladder is complete, and its HTML
is sound."""

import json
import re
from collections.abc import Iterator
from functools import partial
from html import unescape
from itertools import pairwise
from urllib.parse import parse_qsl

import pytest

from explainer.base.fields import ProblemError
from explainer.learn import claims, course, ecosystem, glossary
from explainer.learn.blocks import PICTURES
from explainer.learn.registry import answer, lessons, self_test, widgets
from explainer.learn.widgets import entries as widget_entries
from explainer.trace import trace
from explainer.views import learn_screens
from explainer.views.learn_parts import LEAD, SENTENCE, lesson_text, split_lead
from tests.effort import assert_light
from tests.learn.scenes import ends
from tests.strict_html import Strict

MOST_BYTES = 40_000
SCREENS = learn_screens.keys()


def whole() -> str:
    """Every screen of the page below each other."""
    return "".join(map(learn_screens.screen, SCREENS))


def queries(key: str) -> Iterator[dict[str, str]]:
    yield {}
    for control in widgets()[key].controls:
        for value in ends(control):
            yield {control.key: str(value)}


@pytest.mark.parametrize("key", widgets())
def test_a_widget_answers_at_both_ends_of_every_control(key):
    for query in queries(key):
        found = answer({"w": key, **query})
        assert found["blocks"], query
        for block in found["blocks"]:
            assert block.get("label") or block.get("words"), query
            if block["type"] == "picture":
                assert block["name"] in PICTURES and block["words"].strip(), query
        sent = json.dumps(found, allow_nan=False, ensure_ascii=False).encode()
        assert len(sent) < MOST_BYTES, (query, len(sent))
        assert json.loads(sent) == json.loads(json.dumps(found)), query


def test_no_step_stands_still():
    """Every press of the player shows something new."""
    for key, widget in widgets().items():
        for control in (c for c in widget.controls if c.key == "step"):
            steps = range(int(control.low), int(control.high) + 1, int(control.step))
            seen = [json.dumps(answer({"w": key, "step": str(at)})) for at in steps]
            assert all(now != before for before, now in pairwise(seen)), key


def test_keys_are_unique_and_every_widget_has_a_place():
    assert {*widgets()} == {*widget_entries()}
    html = whole()
    for key, widget in widgets().items():
        assert f'data-widget="{key}"' in html or f'"run":"{key}"' in html, key
        for control in widget.controls:
            assert control.kind in ("range", "choice", "text", "toggle")
            if not isinstance(control.closed, bool):
                assert {*control.closed} <= {*dict(control.choices)} - {control.value}, control
        keys = [control.key for control in widget.controls]
        assert len(set(keys)) == len(keys) and not {"w", "build"} & set(keys)


def test_what_stands_above_a_phone_s_picture_is_a_sentence_or_two():
    for lesson in lessons():
        first = lesson.words.split("\n\n")[0]
        begin, _ = split_lead(first)
        assert first.startswith(begin) and begin[-1] in ".?!:", (lesson.key, begin)
        assert len(begin) <= LEAD or len(SENTENCE.split(begin)) == 1
    assert split_lead("One. Two. Three.") == ("One. Two.", "Three.")
    assert split_lead("O. " + "X" * LEAD + ".")[0] == "O.", "a long second one stays below"
    marked = lesson_text("A softmax. Then softmax < 2. And more.\n\nSoftmax again.")
    assert str(marked).count("<abbr") == 1 and len(marked["paragraphs"]) == 1
    assert "&lt; 2" in str(marked)


@pytest.mark.parametrize("value", ["", "nan", "inf", "-1e99", "many", "<b>", "9" * 5000, "\x1b[0m"])
def test_a_bad_value_gets_one_sentence(value):
    for key, widget in widgets().items():
        for control in widget.controls:
            if control.kind == "text" or value in dict(control.choices):
                continue
            with pytest.raises(ProblemError) as caught:
                answer({"w": key, control.key: value})
            said = str(caught.value)
            assert said.startswith(f"{control.key} = ") and control.label in said
            assert said.endswith(".") and said.isprintable() and len(said) < 400


def find_lessons(links: list[str]) -> list[str | None]:
    """The lesson that each link names, None for one that names none."""
    return [dict(parse_qsl(link[1:])).get("lesson") for link in links]


@pytest.mark.parametrize("key", SCREENS)
def test_the_html_is_sound(key):
    page = Strict(learn_screens.screen(key))
    ids = page.values("id")
    assert len(set(ids)) == len(ids) and f"learn-{key}-title" in ids
    assert {*page.values("aria-labelledby", "aria-describedby")} <= set(ids)
    assert {*page.values("data-term")} <= {term.key for term in glossary.TERMS}
    links = page.values("href")
    assert {*find_lessons([x for x in links if "page=learn" in x])} <= {None, *SCREENS}
    for tag, attributes in page.tags:
        assert tag not in ("script", "style", "iframe", "img", "link", "object", "form")
        assert not [name for name in attributes if name.startswith("on")]
        for name, value in attributes.items():
            if name.startswith("data-") and value and value[0] in "[{":
                json.loads(value)
        if not attributes.get("href", "?").startswith("?"):  # a paper, which is not told whence
            assert attributes["href"].startswith("https://")
            assert (attributes["rel"], attributes["target"]) == ("noreferrer", "_blank")


def test_each_lesson_leads_to_the_next_and_the_last_to_the_map():
    addresses = [*(f"?page=learn&amp;lesson={lesson.key}" for lesson in lessons()), "?page=learn"]
    for lesson, after in zip(lessons(), addresses[1:], strict=True):
        html = learn_screens.screen(lesson.key)
        assert re.findall('class="fa-lesson-next" href="([^"]*)"', html) == [after]


def test_the_entrance_leads_to_every_lesson_and_its_paths_to_their_first():
    first, *led = find_lessons(Strict(learn_screens.screen("entrance")).values("href"))
    assert first == "start"
    assert [key for key in led if key in course.NUMBERS][3:] == [lesson.key for lesson in lessons()]
    assert led[:3] == [path.lessons[0] for path in course.PATHS]
    assert {"claims", "glossary", "formulas", "papers", "handout"} <= set(led)


def test_every_claim_and_every_piece_of_code_is_there():
    page = Strict(whole())
    keys = [json.loads(value)["key"] for value in page.values("data-claim")]
    assert sorted(keys) == sorted(claim.key for claim in claims.CLAIMS)
    pieces = re.findall(r"<pre><code>(.*?)</code></pre>", whole(), re.DOTALL)
    lines = {unescape(re.sub(r"<[^>]*>", "", piece)) for piece in pieces}
    assert lines == {snippet.code for snippet in ecosystem.SNIPPETS}
    assert len(page.values("data-question")) == len(lessons()) + len(self_test())


def test_a_control_is_in_sight_where_it_changes_what_is_shown():
    """Every control that serves some views of its widget, against what the widget answers."""
    seen = set()
    for widget in widgets().values():
        for control in (c for c in widget.controls if c.serves):
            key, wanted = control.serves
            (view,) = (c for c in widget.controls if c.key == key)
            assert {*wanted} <= {*dict(view.choices)}
            for value, _ in view.choices:
                shown = [
                    json.dumps(answer({"w": widget.key, key: value, control.key: end}))
                    for end in ends(control)
                ]
                changes = len(set(shown)) > 1
                assert changes == (value in wanted), (widget.key, control.key, value)
            seen.add(widget.key)
    assert seen


@pytest.mark.parametrize("key", widgets())
def test_an_answer_is_little_work(key):
    """Lines of Python and bytes; the pipeline's simulation and the training runs are kept."""
    trace.cache_clear()
    assert_light(
        partial(answer, {"w": key}), 1_000_000 if key in ("overlap", "amp") else 30_000, 10_000_000
    )
