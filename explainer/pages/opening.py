"""What the address asks for, in the controls of a page that has just been opened."""

from __future__ import annotations

import json
from collections.abc import Callable

import gradio as gr

# The answer comes from the server: who was quicker and has already changed a control keeps that.
MERGE = """
(text, ...now) => {
  const { asked, plain } = JSON.parse(text);
  const same = (a, b) => JSON.stringify(a) === JSON.stringify(b);
  return now.map((value, k) => (same(value, plain[k]) ? asked[k] : value));
}
"""

# This part of the page has taken what the address says; site.js, which may come later, counts them.
OPENED = """
(...given) => {{
  setTimeout(() => {{
    (window.faOpened ??= []).push({name!r});
    document.dispatchEvent(new Event("fa:opened"));
  }}, 20);
  return ({js})(...given);
}}
"""
# Who presses a button before that means what the address asks for: the event waits for it.
ONCE_OPENED = """
async () => {
  while (!window.faOpened?.includes("run")) await new Promise((done) => setTimeout(done, 20));
}
"""


def controls_follow(
    name: str,
    demo: gr.Blocks,
    prefill: Callable[[gr.Request], list],
    plain: list,
    inputs: list[gr.components.Component],
    outputs: list[gr.components.Component],
    js: str = MERGE,
) -> None:
    """When ``demo`` is opened, ``js`` gives the ``outputs`` their values. It gets, as JSON, what
    ``prefill`` found in the address and what the controls say without one (``plain``), and then
    ``inputs`` as they are now."""

    def asked(request: gr.Request) -> str:
        return json.dumps({"asked": prefill(request), "plain": plain})

    answer = gr.Textbox(visible=False)
    quick = {"queue": False, "show_progress": "hidden", "api_visibility": "private"}
    loaded = demo.load(asked, None, answer, **quick)
    loaded.then(None, [answer, *inputs], outputs, js=OPENED.format(name=name, js=js))
