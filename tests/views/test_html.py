"""Text is escaped wherever it is put, by every helper, whoever calls it."""

from __future__ import annotations

from html import unescape

import pytest
from markupsafe import Markup

from explainer.base.kinds import computed, measured
from explainer.views import drawings, html

EVIL = "</p><script>alert('1')</script>\"&amp;"
MADE = {
    "tag": html.tag("p", EVIL),
    "among elements": html.tag("p", html.tag("b", "1"), EVIL, html.tag("b", "2")),
    "added to an element": html.tag("p", html.tag("b", "1") + EVIL),
    "before an element": html.tag("p", EVIL + html.tag("b", "1")),
    "attribute": html.tag("p", "", title=EVIL),
    "attribute of Markup": html.tag("p", "", title=Markup(EVIL)),
    "div": html.div("fa-run", EVIL),
    "class": html.div(EVIL),
    "words": html.words(EVIL),
    "card's title": html.card("all", EVIL, computed(), ""),
    "card's kind": html.card("all", "", measured(EVIL), ""),
    "card's remark": html.card("all", "", computed(), EVIL),
    "card's body": html.card("all", "", computed(), "", EVIL),
    "bar": html.bar(EVIL, 0.5, ("1",), "naive"),
    "bar's figure": html.bar("", 0.5, (EVIL,), "naive"),
    "absent": html.absent("", EVIL),
    "table's head": html.table((EVIL,), [("1",)], ""),
    "table's row": html.table(("",), [(EVIL, "1")], ""),
    "table's cell": html.table(("",), [("1", EVIL)], ""),
    "caption": html.table(("",), [], EVIL),
    "said": html.said(EVIL, computed()),
    "page": html.memory_page(EVIL, view="levels"),
    "view": html.memory_page(view=EVIL),
    "figures": html.figures_of("x", computed(), ("a",), [{"a": EVIL}], "caption"),
    "figures' kind": html.figures_of("x", measured(EVIL), ("a",), [{"a": 1}], "caption"),
    "figures' caption": html.figures_of("x", computed(), ("a",), [], EVIL),
    "saving": html.saving(EVIL),
    "drawing": drawings.trips({"title": [("fa2", {EVIL: (1, 1)})]}, 1, 1),
    "drawing's title": drawings.trips({EVIL: [("fa2", {"Q": (1, 1)})]}, 1, 1),
    "drawing's label": drawings.area(1, 2, EVIL),
}


@pytest.mark.parametrize("helper", MADE)
def test_hostile_text_stays_text(helper):
    made = MADE[helper]
    assert isinstance(made, Markup)
    assert "<script" not in made and "</p><" not in made and "alert('" not in made
    assert "alert" in unescape(made) and "&amp;amp;" in made


def test_what_is_markup_is_not_escaped_twice():
    inner = html.tag("b", "<1>")
    assert html.div("a", inner) == '<div class="a"><b>&lt;1&gt;</b></div>'
    assert html.div("a", Markup().join([inner, "&"])) == html.div("a", inner, "&")
