"""Text is escaped wherever a template puts it, and a template refuses a value that is not there."""

from html import unescape

import pytest
from jinja2 import UndefinedError

from explainer.views.templates import ENVIRONMENT
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


def test_a_value_that_is_not_there_is_an_error():
    with pytest.raises(UndefinedError, match="nothing"):
        rendered("{{ nothing }}")
