"""The Learn page as a whole: every widget answers everywhere, the ladder is complete, and its HTML
is sound."""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Iterator
from functools import partial
from html import unescape
from itertools import pairwise
from urllib.parse import parse_qsl

import pytest

from explainer.base.fields import ProblemError
from explainer.learn import claims, content, course, ecosystem, glossary
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
    marked = lesson_text("A softmax. Then softmax. And more.\n\nSoftmax again.")
    assert str(marked).count("<abbr") == 1 and len(marked["paragraphs"]) == 1


@pytest.mark.parametrize("key", ["", "no-such", "<script>alert(1)</script>", "x" * 5000, "\x00\n"])
def test_an_unknown_widget_gets_one_sentence(key):
    with pytest.raises(ProblemError) as caught:
        answer({"w": key})
    said = str(caught.value)
    assert said.endswith("there is no such widget.") and len(said) < 120 and said.isprintable()


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


class Reader(Strict):
    """What stands in a page: names of elements, ids, links inside it, terms, data."""

    def __init__(self, html: str) -> None:
        super().__init__(html)
        self.names = {tag for tag, _ in self.tags}
        self.ids: list[str] = []
        self.links: list[str] = []
        self.named: list[str] = []
        self.terms: set[str] = set()
        self.data: dict[str, list[str]] = {}
        for name, value in (pair for _, attributes in self.tags for pair in attributes.items()):
            assert not name.startswith("on"), name
            if name == "id":
                self.ids.append(value)
            elif name == "href" and not value.startswith("https://"):
                self.links.append(value)
            elif name in ("aria-labelledby", "aria-describedby"):
                self.named.append(value)
            elif name == "data-term":
                self.terms.add(value)
            elif name.startswith("data-") and value[:1] in "[{" and value:
                self.data.setdefault(name, []).append(value)


@pytest.mark.parametrize("key", SCREENS)
def test_the_html_is_sound(key):
    page = Reader(learn_screens.screen(key))
    assert len(set(page.ids)) == len(page.ids) and f"learn-{key}-title" in page.ids
    assert set(page.named) <= set(page.ids)
    papers = {link.url for lesson in lessons() for link in lesson.links if link.url}
    assert all(link.startswith("?") or link in papers for link in page.links), "here, or a paper"
    screens = [dict(parse_qsl(link[1:])) for link in page.links if "page=learn" in link]
    assert {q["lesson"] for q in screens if "lesson" in q} <= set(SCREENS)
    assert not page.names & {"script", "style", "iframe", "img", "link", "object", "form"}
    assert page.terms <= {term.key for term in glossary.TERMS}
    for values in page.data.values():
        for value in values:
            json.loads(value)


def test_each_lesson_leads_to_the_next_and_the_last_to_the_map():
    addresses = [*(f"?page=learn&amp;lesson={lesson.key}" for lesson in lessons()), "?page=learn"]
    for lesson, after in zip(lessons(), addresses[1:], strict=True):
        html = learn_screens.screen(lesson.key)
        assert re.findall('class="fa-lesson-next" href="([^"]*)"', html) == [after]


def test_papers_open_beside_the_page_and_tell_nobody_where_from():
    html = whole()
    away = re.findall(r"<a [^>]*https://[^>]*>", html)
    assert len(away) >= 10
    assert all('rel="noreferrer"' in one and 'target="_blank"' in one for one in away)
    assert len(Reader(html).terms) > 25


def test_the_entrance_leads_to_every_lesson_and_its_paths_to_their_first():
    page = Reader(learn_screens.screen("entrance"))
    led = [dict(parse_qsl(link[1:])).get("lesson") for link in page.links]
    first, *led = led
    assert first == "start"
    assert [key for key in led if key in course.NUMBERS][3:] == [lesson.key for lesson in lessons()]
    assert led[:3] == [path.lessons[0] for path in course.PATHS]
    assert {"claims", "glossary", "formulas", "papers", "handout"} <= set(led)


def test_whatever_is_said_is_escaped(monkeypatch):
    assert "<script" not in whole().lower()
    evil = "</div><script>alert('x')</script>\"&"
    (claim, *_), (snippet, *_) = claims.CLAIMS, ecosystem.SNIPPETS
    question = content.Question("evil", content.CHOICE, evil, options=((evil, evil),), answer=0)
    lesson = dataclasses.replace(
        lessons()[0],
        title=evil,
        words=evil,
        question=question,
        headline=evil,
        lines=(evil,),
        links=(content.Link("step", evil, evil),),
        more=evil,
    )
    monkeypatch.setattr(
        claims, "CLAIMS", [content.Claim(evil, evil, True, evil, claim.widget, evil)]
    )
    monkeypatch.setattr(ecosystem, "SNIPPETS", [content.Snippet(evil, evil, evil, evil, evil)])
    made = [
        learn_screens.render_lesson(lesson),
        learn_screens.render_behind("claims"),
        learn_screens.render_behind("wild"),
    ]
    for html in made:
        page = Reader(html)
        assert "script" not in page.names
    assert snippet.title in whole()


def test_every_claim_and_every_piece_of_code_is_there():
    page = Reader(whole())
    keys = {json.loads(value)["key"] for value in page.data["data-claim"]}
    assert keys == {claim.key for claim in claims.CLAIMS} and len(keys) == len(claims.CLAIMS)
    assert all(claim.why and claim.source for claim in claims.CLAIMS)
    pieces = re.findall(r"<pre><code>(.*?)</code></pre>", whole(), re.DOTALL)
    lines = {unescape(re.sub(r"<[^>]*>", "", piece)) for piece in pieces}
    assert lines == {snippet.code for snippet in ecosystem.SNIPPETS}
    assert len(page.data["data-question"]) == len(lessons()) + len(self_test())


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
