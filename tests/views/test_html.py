"""Text is escaped wherever a template puts it, and a template refuses a value that is not there."""

from __future__ import annotations

from html import unescape

import pytest
from jinja2 import TemplateNotFound, UndefinedError
from markupsafe import Markup

from explainer.views.bar import render_bar
from explainer.views.templates import ENVIRONMENT, render
from tests.strict_html import Strict

EVIL = "</p><script>alert('1')</script>\"&amp;"
PARTS = {
    "text": "<p>{{ evil }}</p>",
    "among elements": "<p><b>1</b>{{ evil }}<b>2</b></p>",
    "attribute": """<p title="{{ evil }}"></p>""",
    "JSON in an attribute": """<p data-rows="{{ [evil]|json }}"></p>""",
}
VALUES = {"evil": EVIL}


def rendered(source: str) -> str:
    return ENVIRONMENT.from_string(source).render(VALUES)


@pytest.mark.parametrize("part", PARTS)
def test_hostile_text_stays_text(part):
    html = rendered(PARTS[part])
    Strict(html)
    assert "<script" not in html and "alert('" not in html
    assert "alert" in unescape(html) and "&amp;amp;" in html


def test_what_is_markup_is_not_escaped_twice():
    inner = Markup("<b>&lt;1&gt;</b>")
    source = "<div>{{ inner }}&amp;</div>"
    assert ENVIRONMENT.from_string(source).render(inner=inner) == f"<div>{inner}&amp;</div>"
    assert isinstance(render_bar(), Markup)


def test_a_line_break_between_tags_is_layout_and_one_in_a_text_stays():
    source = (
        "<ul>\n  {% for x in [1, 2] %}\n  <li>{{ x }}</li>\n  {% endfor %}\n</ul>\n<p>a\n b</p>"
    )
    html = ENVIRONMENT.from_string(source).render()
    assert html == "<ul><li>1</li><li>2</li></ul><p>a\n b</p>"
    assert ENVIRONMENT.from_string("{{ text }}").render(text=">\n<") == "&gt;\n&lt;"


def test_a_value_or_a_template_that_is_not_there_is_an_error():
    with pytest.raises(UndefinedError, match="nothing"):
        rendered("{{ nothing }}")
    with pytest.raises(TemplateNotFound):
        render("memory/nothing")
