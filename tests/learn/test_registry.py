"""The Learn page as a whole: every widget answers everywhere, the ladder is complete, and its HTML
is sound."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator
from html.parser import HTMLParser
from itertools import pairwise

import pytest

from explainer.learn import claims, content, glossary, wild
from explainer.learn.blocks import Control
from explainer.learn.registry import MODULES, STILL, answer, questions, rungs, widgets
from explainer.problem import ProblemError
from explainer.views import learn_report

MOST_BYTES = 40_000


def ends(control: Control) -> list[object]:
    """What a reader can set it to: both ends of a range, every choice, both states."""
    return {
        "range": [control.low, control.high],
        "number": [control.low, control.high],
        "choice": [value for value, _ in control.choices],
        "toggle": ["0", "1"],
        "text": [control.value] if control.drawn else ["", "a b c"],
    }[control.kind]


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
        sent = json.dumps(found, allow_nan=False, ensure_ascii=False).encode()
        assert len(sent) < MOST_BYTES, (query, len(sent))
        assert json.loads(sent) == json.loads(json.dumps(found)), query


@pytest.mark.parametrize("key", [k for k, w in widgets().items() if w.controls])
def test_no_step_stands_still_before_the_last(key):
    """The player stops where a step shows nothing new, so only the end may be so."""
    control = next((c for c in widgets()[key].controls if c.key == "step"), None)
    if control is None:
        return
    at = int(control.low)
    seen = []
    while at <= control.high:
        seen.append(json.dumps(answer({"w": key, "step": str(at)})))
        at += int(control.step)
    new = [now != before for before, now in pairwise(seen)]
    assert True not in new[new.index(False) :] if False in new else True


def test_keys_are_unique_and_every_widget_has_a_place():
    assert len(widgets()) == sum(len(m.WIDGETS) for m in MODULES) + len(STILL)
    html = learn_report.page()
    for key, widget in widgets().items():
        assert f'data-widget="{key}"' in html or f'"run":"{key}"' in html, key
        keys = [control.key for control in widget.controls]
        assert len(set(keys)) == len(keys) and not {"w", "build"} & set(keys)


def test_the_page_has_the_rungs_in_the_course_s_order():
    html = learn_report.page()
    places = [html.index(f'id="learn-{rung.key}"') for rung in rungs()]
    assert places == sorted(places)


def test_every_kind_of_question_is_asked():
    assert {rung.question.kind for rung in rungs()} == {
        content.CHOICE, content.NUMBER, content.ORDER, content.CLICK, content.FILL,
    }  # fmt: skip


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


class Reader(HTMLParser):
    """What stands in a page: tags, ids, links inside it, texts."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.ids: list[str] = []
        self.links: list[str] = []
        self.named: list[str] = []
        self.terms: set[str] = set()
        self.data: dict[str, list[str]] = {}
        self.open: list[str] = []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.open.append(tag)
        for name, value in attrs:
            assert not name.startswith("on"), (tag, name)
            if name == "id":
                self.ids.append(value)
            elif name == "href":
                self.links.append(value)
            elif name in ("aria-labelledby", "aria-describedby"):
                self.named.append(value)
            elif name == "data-term":
                self.terms.add(value)
            elif name.startswith("data-") and value[:1] in "[{" and value:
                self.data.setdefault(name, []).append(value)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def test_the_html_is_sound():
    html = learn_report.page()
    page = Reader(html)
    assert not page.open, "every tag is closed"
    assert len(set(page.ids)) == len(page.ids)
    inside = [link[1:] for link in page.links if link.startswith("#")]
    assert set(inside) <= set(page.ids)
    contents = inside[: len(set(inside)) + 1]  # further links lead back to rungs
    assert contents[0] == "learn-level0", "who knows the ground is sent there first"
    assert len(set(contents)) == len(contents) - 1 >= 15  # it has an entry too
    assert set(page.named) <= set(page.ids)
    assert all(link.startswith(("#", "?")) for link in page.links), "nothing leads to another host"
    assert not page.tags & {"script", "style", "iframe", "img", "link", "object", "form"}
    assert len(page.terms) > 25 and page.terms <= {term.key for term in glossary.TERMS}
    for values in page.data.values():
        for value in values:
            json.loads(value)


def test_whatever_is_said_is_escaped(monkeypatch):
    assert "<script" not in learn_report.page().lower()
    evil = "</div><script>alert('x')</script>\"&"
    (claim, *_), (snippet, *_) = claims.CLAIMS, wild.SNIPPETS
    question = content.Question("evil", content.CHOICE, evil, options=((evil, evil),), answer=0)
    rung = dataclasses.replace(
        rungs()[0], title=evil, words=evil, question=question, headline=evil, lines=(evil,),
        links=(content.Link("step", evil, evil),), more=evil,
    )  # fmt: skip
    made = [
        learn_report._rung(rung),
        learn_report._claim(content.Claim(evil, evil, True, evil, claim.widget, evil)),
        learn_report._snippet(content.Snippet(evil, evil, evil, evil, evil)),
    ]
    for html in made:
        page = Reader(html)
        assert "script" not in page.tags and not page.open
    assert snippet.title in learn_report.page()


def test_every_claim_and_every_piece_of_code_is_there():
    page = Reader(learn_report.page())
    keys = {json.loads(value)["key"] for value in page.data["data-claim"]}
    assert keys == {claim.key for claim in claims.CLAIMS} and len(keys) == len(claims.CLAIMS)
    assert all(claim.why and claim.source for claim in claims.CLAIMS)
    lines = {json.loads(value)["lines"] for value in page.data["data-block"]}
    assert lines == {snippet.code for snippet in wild.SNIPPETS}
    assert len(page.data["data-question"]) == len(questions())
