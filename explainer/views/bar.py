"""The bar above all pages, as HTML: assets/js/site/bar.js makes it live."""

from __future__ import annotations

from explainer.learn.content import PAGES
from explainer.learn.course import NUMBERS
from explainer.learn.registry import rungs
from explainer.views.html import div, tag
from explainer.views.learn_parts import to


def _explains(page: str) -> str:
    """The rungs that lead to this page, to be gone to from there."""
    found = [rung for rung in rungs() if any(link.page == page for link in rung.links)]
    links = (tag("a", f"{NUMBERS[rung.key]} {rung.title}", href=to(rung.key)) for rung in found)
    return div("fa-explains", tag("p", "Explained in Learn"), *links, data_explains=page,
               hidden="") if found else ""  # fmt: skip


EXPLAINS = "".join(_explains(page) for page in PAGES if page != "paper")
BAR = f"""
<div class="fa-bar-top">
  <p class="fa-said" role="status" aria-live="polite"></p>
  <h1>FlashAttention<span>, tile by tile</span></h1>
  <a class="fa-share fa-to-rung" href="?page=learn" hidden></a>
  <span class="fa-kernel-chip" role="status" hidden></span>
  <div class="fa-pass" role="group" aria-label="Pass">
    <button type="button" data-pass="forward" aria-pressed="true">Forward</button>
    <button type="button" data-pass="backward" aria-pressed="false">Backward</button>
  </div>
  <button type="button" class="fa-share fa-start-tour">Tour</button>
  <button type="button" class="fa-share fa-start-present">Present</button>
  <button type="button" class="fa-share fa-start-symbols" aria-haspopup="dialog"
    aria-label="Keys and symbols" title="Keys and symbols">?</button>
  <details class="fa-menu">
    <summary class="fa-share">More</summary>
    <div>
      <button type="button" class="fa-start-predict" aria-pressed="false">Predict</button>
      <button type="button" class="fa-copy">Copy link</button>
      <button type="button" class="fa-copy-embed">Copy embed code</button>
      {EXPLAINS}
      <p id="fa-export">Export</p>
      <div role="group" aria-labelledby="fa-export">
        <button type="button" data-save="png">This frame, PNG</button>
        <button type="button" data-save="svg">This frame, SVG</button>
        <button type="button" data-save="webm">Animation, WebM video</button>
        <button type="button" data-save="html">Animation, offline HTML</button>
        <button type="button" data-save="json">Trace, JSON</button>
        <button type="button" data-save="npz">Trace, NumPy .npz</button>
      </div>
    </div>
  </details>
</div>
"""
