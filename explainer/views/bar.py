"""The bar above all pages, as HTML: assets/js/site/bar.js makes it live."""

from __future__ import annotations

from explainer.base.texts import Texts
from explainer.learn.content import PAGES
from explainer.learn.course import NUMBERS
from explainer.learn.registry import lessons
from explainer.views.html import PASSES, div, tag
from explainer.views.learn_parts import address

say = Texts("shared")


def _explains(page: str) -> str:
    """The lessons that lead to this page, to be gone to from there."""
    found = [lesson for lesson in lessons() if any(link.page == page for link in lesson.links)]
    links = (
        tag("a", f"{NUMBERS[lesson.key]} {lesson.title}", href=address(lesson.key))
        for lesson in found
    )
    return (
        div("fa-explains", tag("p", say("bar.explained")), *links, data_explains=page, hidden="")
        if found
        else ""
    )


EXPLAINS = "".join(_explains(page) for page in PAGES if page != "paper")
SAVES = "".join(
    tag("button", text, type="button", data_save=key) for key, text in say.named("saves").items()
)
BAR = f"""
<div class="fa-bar-top">
  <p class="fa-live" role="status" aria-live="polite"></p>
  <h1>{say("bar.name")}<span>{say("bar.name_more")}</span></h1>
  <a class="fa-share fa-to-lesson" href="?page=learn" hidden></a>
  <span class="fa-kernel-chip" role="status" hidden></span>
  <div class="fa-pass" role="group" aria-label="{say("pass")}">
    <button type="button" data-pass="forward" aria-pressed="true">{PASSES["forward"]}</button>
    <button type="button" data-pass="backward" aria-pressed="false">{PASSES["backward"]}</button>
  </div>
  <button type="button" class="fa-share fa-start-tour">{say("bar.tour")}</button>
  <button type="button" class="fa-share fa-start-present">{say("bar.present")}</button>
  <button type="button" class="fa-share fa-start-symbols" aria-haspopup="dialog"
    aria-label="{say("bar.keys")}" title="{say("bar.keys")}">?</button>
  <details class="fa-menu">
    <summary class="fa-share">{say("bar.more")}</summary>
    <div>
      <button type="button" class="fa-start-predict"
        aria-pressed="false">{say("bar.predict")}</button>
      <button type="button" class="fa-copy">{say("bar.link")}</button>
      <button type="button" class="fa-copy-embed">{say("bar.embed")}</button>
      {EXPLAINS}
      <p id="fa-export">{say("bar.export")}</p>
      <div role="group" aria-labelledby="fa-export">
        {SAVES}
      </div>
    </div>
  </details>
</div>
"""
