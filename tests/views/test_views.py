"""The Memory and Parallel pages' views: they render for any workload, escape what was asked, and
every mark of a chart says where it is from."""

from __future__ import annotations

import re
from html import unescape
from html.parser import HTMLParser

import numpy as np
import pytest

from explainer.base.fields import ProblemError
from explainer.pages import memory, parallel
from explainer.pages.workload import parse

PAGES = {"memory": memory, "parallel": parallel}
VIEWS = [(name, view) for name, page in PAGES.items() for view in page.VIEWS]
SHOWN = [(*place, "forward") for place in VIEWS]
SHOWN += [(name, v, "backward") for name, page in PAGES.items() for v in page.PASSED]
WORKLOADS = {
    "defaults": {},
    "Turing": {"card": "t4"},
    "shortest": {"n": "16"},
    "longest and widest": {"n": "65536", "d": "256", "br": "256", "bc": "256", "card": "a100"},
    "fp32": {"dtype": "fp32", "card": "rtxpro6000", "n": "512"},
    "ragged": {"n": "1000", "d": "80", "br": "100", "bc": "33", "mask": "causal"},
    "many heads": {"b": "16", "h": "64", "n": "1024"},
    "thin": {"d": "1", "br": "16", "bc": "256", "h": "1", "card": "rtx4090"},
}
ORIGIN = re.compile(r"\b(computed|counted|measured|simulated|recorded|peak)\b")
EVIL = "<script>alert(1)</script>\"'&"


class Strict(HTMLParser):
    """Every element is closed, in order; gathers elements and text."""

    VOID = ("br", "img", "input", "hr")

    def __init__(self, html: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict]] = []
        self.words: list[str] = []
        self.feed(html)
        self.close()
        assert not self.open, self.open

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open and self.open.pop() == tag, tag

    def handle_data(self, data):
        self.words.append(data)


@pytest.mark.parametrize("changed", WORKLOADS.values(), ids=WORKLOADS)
@pytest.mark.parametrize(("page", "view", "pass_"), SHOWN)
def test_every_view_renders_any_workload(page, view, pass_, changed):
    asked = {"view": view, "pass": pass_, "mode": "present" if changed.get("n") == "1000" else ""}
    head, left, right, tail = PAGES[page].render(asked | changed)
    html = head + tail
    parsed = Strict(html)
    assert (f'data-testid="{page}"' in html) or "fa-run-refused" in head
    assert not {"script", "iframe", "object"} & {tag for tag, _ in parsed.tags}
    words = " ".join(parsed.words)
    assert not re.search(r"\b(nan|inf|None|True|False)\b", words), words
    for update in (left, right):
        figure = update["value"]
        assert update["visible"] == (figure is not None)
        for trace in figure.data if figure is not None else ():
            assert trace.hoverinfo == "text" and len(trace.hovertext) == len(trace.y)
            assert all(ORIGIN.search(t) and "nan" not in t for t in trace.hovertext), trace.name
            values = np.array(
                trace.x if trace.type == "bar" and trace.base is not None else trace.y, float
            )
            assert np.isfinite(values).all() and (values >= 0).all()


@pytest.mark.parametrize("key", ["n", "d", "br", "bc", "b", "h", "mask", "dtype", "card"])
@pytest.mark.parametrize("page", PAGES)
@pytest.mark.parametrize("value", [EVIL, "", "-1", "nan", "9" * 400], ids=range(5))
def test_a_bad_value_is_one_escaped_sentence(page, key, value):
    views = {"memory": "capacity", "parallel": "decode"}
    head, left, right, tail = PAGES[page].render({"view": views[page], key: value})
    assert (left["visible"], right["visible"], tail) == (False, False, "")
    assert "<script" not in head and 'role="alert"' in head
    sentence = "".join(Strict(head).words)
    assert sentence.startswith(f"{key} = ") and sentence.endswith(".")
    with pytest.raises(ProblemError) as caught:
        parse({key: value}, PAGES[page].PLAIN)
    assert sentence == str(caught.value)


@pytest.mark.parametrize(("page", "view"), [*VIEWS, ("memory", EVIL), ("parallel", EVIL)])
def test_what_else_an_address_holds_never_reaches_the_page(page, view):
    others = dict.fromkeys(("show", "case", "pass", "mode", "seed", EVIL), EVIL)
    head, _, _, tail = PAGES[page].render({"view": view} | others)
    assert "alert(1)" not in unescape(head + tail)
