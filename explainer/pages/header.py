"""The bar above all pages: name, state of the kernel, link to what is on screen."""

from __future__ import annotations

import gradio as gr

BAR = """
<div class="fa-bar-top">
  <h1>FlashAttention, tile by tile</h1>
  <span class="fa-kernel-chip" role="status" hidden></span>
  <button type="button" class="fa-share fa-start-tour">Tour</button>
  <button type="button" class="fa-share fa-copy">Copy link</button>
</div>
"""

# The address bar always holds the Problem and the step; sharing is copying it.
ON_LOAD = """
const tour = element.querySelector(".fa-start-tour");
tour.addEventListener("click", () => document.dispatchEvent(new Event("fa:tour")));
const share = element.querySelector(".fa-copy");
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
