"""Text is escaped wherever a template puts it, and a template refuses a value that is not there."""

from __future__ import annotations

from html import unescape

import pytest
from jinja2 import TemplateNotFound, UndefinedError
from markupsafe import Markup

from explainer.base.kinds import computed, measured
from explainer.views.templates import ENVIRONMENT, render
from tests.strict_html import Strict

EVIL = "</p><script>alert('1')</script>\"&amp;"
MACROS = """{% from "shared.html" import bar, card, downloads, figures, finding, table, view %}"""
PARTS = {
    "text": "<p>{{ evil }}</p>",
    "among elements": "<p><b>1</b>{{ evil }}<b>2</b></p>",
    "attribute": """<p title="{{ evil }}"></p>""",
    "JSON in an attribute": """<p data-rows="{{ [evil]|json }}"></p>""",
    "card's title": """{% call card("all", evil, kind) %}{% endcall %}""",
    "card's kind": """{% call card("all", "", evil_kind) %}{% endcall %}""",
    "card's remark": """{% call card("all", "", kind, evil) %}{% endcall %}""",
    "card's body": """{% call card("all", "", kind) %}{{ evil }}{% endcall %}""",
    "bar": """{{ bar(evil, 0.5, ["1"], "naive") }}""",
    "bar's figure": """{{ bar("", 0.5, [evil], "naive") }}""",
    "table's head": """{{ table([evil], [["1"]], "") }}""",
    "table's row": """{{ table([""], [[evil, "1"]], "") }}""",
    "table's cell": """{{ table([""], [["1", evil]], "") }}""",
    "caption": """{{ table([""], [], evil) }}""",
    "finding": "{{ finding(evil, kind) }}",
    "view": """{% call view("memory", evil) %}{% endcall %}""",
    "figures": """{{ figures("x", kind, ("a",), [{"a": evil}], "caption") }}""",
    "figures' kind": """{{ figures("x", evil_kind, ("a",), [{"a": 1}], "caption") }}""",
    "figures' caption": """{{ figures("x", kind, ("a",), [], evil) }}""",
    "downloads": "{% call downloads() %}{{ evil }}{% endcall %}",
}
VALUES = {
    "evil": EVIL,
    "kind": computed(),
    "evil_kind": measured(EVIL),
}


def rendered(source: str) -> str:
    return ENVIRONMENT.from_string(MACROS + source).render(VALUES)


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
    assert isinstance(render("run/refusal", sentence=EVIL), Markup)


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
