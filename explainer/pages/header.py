"""The bar above all pages: name, state of the kernel, link to what is on screen."""

from __future__ import annotations

import gradio as gr

BAR = """
<div class="fa-bar-top">
  <p class="fa-said" role="status" aria-live="polite"></p>
  <h1>FlashAttention, tile by tile</h1>
  <span class="fa-kernel-chip" role="status" hidden></span>
  <button type="button" class="fa-share fa-start-tour">Tour</button>
  <button type="button" class="fa-share fa-start-predict" aria-pressed="false">Predict</button>
  <button type="button" class="fa-share fa-start-present">Present</button>
  <button type="button" class="fa-share fa-copy">Copy link</button>
  <button type="button" class="fa-share fa-start-symbols" aria-haspopup="dialog"
    aria-label="Keys and symbols" title="Keys and symbols">?</button>
  <details class="fa-menu">
    <summary class="fa-share">Export</summary>
    <div role="menu" aria-label="Export">
      <button type="button" role="menuitem" data-save="png">This frame, PNG</button>
      <button type="button" role="menuitem" data-save="svg">This frame, SVG</button>
      <button type="button" role="menuitem" data-save="html">Animation, offline HTML</button>
      <button type="button" role="menuitem" data-save="json">Trace, JSON</button>
      <button type="button" role="menuitem" data-save="npz">Trace, NumPy .npz</button>
    </div>
  </details>
</div>
"""

# The address bar always holds the Problem and the step; sharing is copying it.
ON_LOAD = """
// All of these are about the Step page: from another tab they lead there first.
function onStep(event) {
  const step = document.querySelector("#pages [role=tab]");
  if (step?.getAttribute("aria-selected") === "true") return document.dispatchEvent(event);
  const frame = (then) => () => requestAnimationFrame(then);
  const laidOut = frame(frame(() => document.dispatchEvent(event)));
  document.addEventListener("fa:page", laidOut, { once: true });
  step?.click();
}
for (const name of ["tour", "predict", "present"])
  element.querySelector(`.fa-start-${name}`).addEventListener("click", () => {
    const pages = [...document.querySelectorAll("#pages :is(.fa-run-page, .fa-learn)")];
    const here = pages.some((page) => page.checkVisibility());
    if (name === "present" && here) document.dispatchEvent(new Event("fa:present-here"));
    else onStep(new Event(`fa:${name}`));
  });
const symbols = element.querySelector(".fa-start-symbols");
symbols.addEventListener("click", () => document.dispatchEvent(new Event("fa:symbols")));
const share = element.querySelector(".fa-copy");
const menu = element.querySelector(".fa-menu");
menu.addEventListener("click", (event) => {
  const kind = event.target.dataset.save;
  if (!kind) return;
  menu.open = false;
  onStep(new CustomEvent("fa:save", { detail: kind }));
});
document.addEventListener("click", ({ target }) => { menu.open &&= menu.contains(target); });
menu.addEventListener("keydown", (event) => { if (event.key === "Escape") menu.open = false; });
share.addEventListener("click", async () => {
  try {
    await navigator.clipboard.writeText(window.location.href);
    share.textContent = "Copied";
  } catch {
    share.textContent = "Copy it from the address bar";
  }
  setTimeout(() => { share.textContent = "Copy link"; }, 1600);
});
"""


def build() -> gr.HTML:
    """The bar as a component that never re-renders."""
    return gr.HTML(
        "", html_template=BAR, js_on_load=ON_LOAD, apply_default_css=False, elem_id="top"
    )
