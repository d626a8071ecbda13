"""What stands behind the lessons, as HTML: claims, glossary, papers, the handout, code to copy."""

from __future__ import annotations

from markupsafe import Markup

from explainer.base.texts import Texts
from explainer.learn import claims, ecosystem, glossary, reference
from explainer.learn.blocks import code
from explainer.learn.content import SECTIONS, Claim, Snippet
from explainer.learn.registry import widgets
from explainer.views import learn_teaching
from explainer.views.html import div, tag
from explainer.views.learn_parts import (
    in_json,
    paper_link,
    text,
    widget_place,
)

tell = Texts("learn")

NEEDS = tell.named("learn_sections.needs")


def claim_card(claim: Claim) -> str:
    """One claim: what is said, and folded whether it is so."""
    said = {"key": claim.key, "truth": claim.truth, "why": claim.why, "source": claim.source}
    truth = tell("learn_sections.true" if claim.truth else "learn_sections.false")
    verdict = tag("p", tag("b", truth, " "), claim.why)
    named = tell("learn_sections.source", source=claim.source)
    source = tag("p", named, class_="fa-fine") if claim.source else Markup()
    words = tag("h3", f"“{claim.words}”", class_="fa-claim-words", tabindex=-1)
    answer = tag("details", tag("summary", tell("learn_sections.answer")), verdict, source)
    shown = widget_place(claim.widget) if claim.widget else Markup()
    proof = div("fa-proof", shown, hidden="")
    told = in_json("data-claim", said, words + answer + proof, class_="fa-claim")
    return tag("article", told, class_="fa-claim-card")


def snippet_card(snippet: Snippet) -> str:
    """A piece of code to copy, and what it needs."""
    needs = NEEDS.get(snippet.needs, tell("learn_sections.package", name=snippet.needs))
    block = in_json("data-block", code(snippet.title, snippet.code))
    head = tag("h3", snippet.title, tabindex=-1) + tag("span", needs, class_="fa-fine")
    inside = div("fa-snippet-head", head) + tag("p", snippet.words)
    return tag("section", inside, block, class_="fa-card fa-snippet", aria_label=snippet.title)


def _terms() -> str:
    """The glossary in three lists, and a field that narrows them."""
    field = tag(
        "label",
        tag("span", tell("learn_sections.find")),
        tag("input", type="search", data_find="1", autocomplete="off", spellcheck="false"),
        class_="fa-find",
    )
    lists = Markup()
    for title, terms in glossary.groups().items():
        rows = Markup()
        for term in terms:
            name = f"{term.symbol}, {term.name}" if term.symbol else term.name
            rows += div("", tag("dt", name), tag("dd", term.words))
        lists += tag("section", tag("h3", title), tag("dl", rows, class_="fa-terms"))
    count = tell("learn_sections.terms", n=len(glossary.TERMS))
    said = tag("span", count, class_="fa-fine", role="status")
    return div("fa-finder", field, said) + lists


def _papers() -> str:
    papers = (
        tag(
            "li",
            tag("b", f"{p.title}."),
            f" {p.authors}, {p.year}. {p.brought} ",
            paper_link(p.place, p.url) if p.url else tag("span", p.place, class_="fa-fine"),
        )
        for p in reference.PAPERS
    )
    reading = (tag("li", tag("b", f"{title}."), f" {words}") for title, words in reference.READING)
    further = tag("h3", tell("learn_sections.further"))
    return div("fa-papers", tag("ul", *papers), further, tag("ul", *reading))


def section(key: str, words: str) -> str:
    """The body of a section, below its title."""
    intro = text(words) if words else Markup()
    if key == "claims":
        return intro + div("fa-claims", *map(claim_card, claims.CLAIMS))
    if key == "end":
        return intro + tag("ol", *(tag("li", x) for x in SECTIONS[key]["lines"]), class_="fa-end")
    if key == "wild":
        return (
            intro
            + widget_place("backends")
            + div("fa-snippets", *map(snippet_card, ecosystem.SNIPPETS))
        )
    if key == "glossary":
        return intro + _terms()
    if key == "papers":
        return intro + _papers()
    if key == "sources":
        return intro + learn_teaching.sources()
    if key == "lecturers":
        return intro + learn_teaching.lecturers()
    if key == "handout":
        sheets = ("handout1", "handout2")
        tools = div(
            "fa-tools",
            *(
                tag("button", said, type="button", class_="fa-small", data_print=what)
                for what, said in tell.named("learn_sections.print").items()
            ),
        )
        return (
            intro
            + tools
            + Markup().join(tag("h3", widgets()[k].title) + widget_place(k) for k in sheets)
        )
    return intro + widget_place(key)
