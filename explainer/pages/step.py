"""The Step page: controls on the left, the player beside them."""

from __future__ import annotations

from dataclasses import dataclass

import gradio as gr

from explainer.algorithms.inputs import INPUTS
from explainer.algorithms.registry import LABELS
from explainer.algorithms.schedule import check_size
from explainer.base.fields import DTYPES, ProblemError
from explainer.base.own_data import MAX_CHARACTERS
from explainer.learn.tour import CHAPTERS
from explainer.pages.opening import MERGE, controls_follow
from explainer.pages.player import Player
from explainer.problem import Problem

ORDER_CHOICES = [(label, key) for key, label in LABELS.items()]
TOUR = {str(k): chapter for k, chapter in enumerate(CHAPTERS, 1)}
LARGE_N = (512, 1024, 2048, 4096, 8192, 16384)
MASK_CHOICES = [("Causal", "causal"), ("Full", "full")]

# Controls → the query that the player loads. Runs in the browser: changing a slider costs one
# cacheable GET and no event on the server. A block larger than the sequence shrinks with it.
ASK = """
(data, seed, n, d, br, bc, mask, order, dtype, text, gain) => {
  const block = (size) => Math.max(1, Math.min(size, n));
  const query = { n, d, br: block(br), bc: block(bc), mask, order, dtype, data, seed, gain };
  if (data === "sentence" || data === "own") query.text = text;
  return [new URLSearchParams(query).toString(), block(br), block(bc)];
}
"""

# The player showed a Problem that the controls did not ask for, a chapter of the tour: they follow.
FOLLOW = """
(query) => {
  const p = new URLSearchParams(query);
  const sizes = ["seed", "n", "d", "br", "bc"].map((key) => Number(p.get(key)));
  const choices = [p.get("data"), ...sizes, p.get("mask"), p.get("order"), p.get("dtype")];
  return [...choices, p.get("text") ?? "", Number(p.get("gain") ?? 1)];
}
"""

# A length beyond the slider comes with a head and with tiles as they are used.
LARGE = """
(large, data, seed, n, d, br, bc, mask, order, dtype, text, gain) => {
  [n, d, br, bc] = large ? [large, 64, 128, 64] : [16, 8, 4, 4];
  const named = data === "sentence" || data === "own" ? "random" : data;
  const query = { n, d, br, bc, mask, order, dtype, data: named, seed, gain };
  return [new URLSearchParams(query).toString(), n, d, br, bc];
}
"""

# A sentence has as many rows as words, a CSV the N and d of its blocks: the sizes follow the data,
# and text that is typed is used.
START = """
(data, seed, n, d, br, bc, mask, order, dtype, text, gain) => {
  const chosen = CHOSEN; // from the menu, else typed: then nothing is put in its place
  const blocks = text.trim().split(/\\n\\s*\\n/).map((part) => part.trim().split("\\n"));
  if (!chosen && text.trim() && data !== "own") data = blocks.length === 3 ? "own" : "sentence";
  if (data === "own" && chosen && blocks.length !== 3) {
    text = "1, 0\\n0, 1\\n1, 1\\n\\n2, 0\\n0, 2\\n1, 1\\n\\n1, 2\\n3, 4\\n5, 6";
    [n, d] = [3, 2];
  } else if (data === "own") [n, d] = [blocks[0].length, blocks[0][0].split(/[,;]/).length];
  if (data === "sentence" && chosen && blocks.length === 3) text = "";
  if (data === "sentence") n = text.trim() ? text.trim().split(/\\s+/).length : 6;
  else if (data !== "own" && n === 6) [n, br, bc] = [16, 4, 4];
  if (data === "sentence" || data === "own") [br, bc] = [Math.min(n, 2), Math.min(n, 2)];
  const query = { n, d, br, bc, mask, order, dtype, data, seed, gain };
  if (data === "sentence" || data === "own") query.text = text;
  return [new URLSearchParams(query).toString(), data, n, d, br, bc, text];
}
"""


# The controls follow the address; the player, which reads it too, only where they differ from it.
FOLLOW_ADDRESS = f"""
(text, query, ...now) => {{
  const values = ({MERGE})(text, ...now);
  if (JSON.stringify(values) === JSON.stringify(JSON.parse(text).asked)) return [query, ...values];
  const [changed, br, bc] = ({ASK})(...values);
  return [changed, ...values.slice(0, 4), br, bc, ...values.slice(6)];
}}
"""


@dataclass(frozen=True)
class StepPage:
    """Handles that the app wires to other pages; ``controls`` in the order of ``values``."""

    player: Player
    controls: list[gr.components.Component]
    run: gr.Button


def values(problem: Problem) -> list[str | int | float]:
    """What each control shows for a Problem, in the order of ``StepPage.controls``."""
    mask = str(problem.mask)
    sizes = [problem.n, problem.d, problem.block_q, problem.block_k]
    choices = [mask, problem.order, problem.dtype]
    return [problem.inputs, problem.seed, *sizes, *choices, problem.text, problem.gain]


def own_data(text: str, gain: float) -> tuple[gr.Textbox, gr.Slider]:
    """The controls for the user's own data, folded away until wanted."""
    with gr.Accordion("Own data, scale of logits", open=False, elem_classes="fa-own"):
        own_text = gr.Textbox(
            text,
            label="Sentence, or Q, K, V as CSV",
            placeholder="the cat sat on the mat",
            lines=3,
            max_lines=6,
            max_length=MAX_CHARACTERS,
        )
        factor = gr.Slider(0.25, 32, gain, step=0.25, label="Logits times")
    return own_text, factor


def large_sizes() -> gr.Dropdown:
    """Lengths beyond the slider: shown as tiles, with the numbers of whichever is chosen."""
    lengths = [("by the slider", 0), *((f"N = {n:,}", n) for n in LARGE_N)]
    return gr.Dropdown(
        lengths, value=0, label="Large N", filterable=False, elem_classes="fa-select"
    )


def prefill(request: gr.Request) -> list[str | int]:
    """Control values for the address that was opened; a bad address shows the default Problem."""
    query = dict(request.query_params)
    chapter = query.get("tour", "")
    if chapter in TOUR:
        return values(TOUR[chapter].problem)
    try:
        problem = Problem.from_query(query)
        check_size(problem)
        return values(problem)
    except ProblemError:
        return values(Problem())


def build() -> StepPage:
    """Lays the page out inside the caller's tab and wires the controls to the player."""
    start = values(Problem())
    with gr.Row(elem_classes="fa-page"):
        with gr.Column(elem_classes="fa-controls", scale=0, min_width=216):
            with gr.Row(elem_classes="fa-start-row"):
                choices = [(label, name) for name, label in INPUTS.items()]
                data = gr.Dropdown(choices, value=start[0], label="Start from", filterable=False)
                seed = gr.Number(start[1], label="Seed", min_width=64)
            n = gr.Slider(1, 256, start[2], step=1, label="Sequence length N")
            d = gr.Slider(1, 128, start[3], step=1, label="Head dimension d")
            br = gr.Slider(1, 128, start[4], step=1, label="Query block Br")
            bc = gr.Slider(1, 128, start[5], step=1, label="Key block Bc")
            mask = gr.Radio(MASK_CHOICES, value=start[6], label="Mask")
            order = gr.Radio(ORDER_CHOICES, value=start[7], label="Loop order")
            dtype = gr.Radio(list(DTYPES), value=start[8], label="Precision")
            text, gain = own_data(*start[9:])
            large = large_sizes()
            run = gr.Button("Run the real kernel", variant="primary", elem_classes="fa-primary")
        with gr.Column(elem_classes="fa-main"):
            player = Player(elem_id="player")
    controls = [data, seed, n, d, br, bc, mask, order, dtype, text, gain]
    for control in (*controls[1:9], gain):
        control.input(None, controls, [player, br, bc], js=ASK)
    player.shown(None, player, controls, js=FOLLOW)
    large.input(None, [large, *controls], [player, n, d, br, bc], js=LARGE)
    for event, chosen in ((data.input, "true"), (text.input, "false")):
        sized = [player, data, n, d, br, bc, text]
        event(None, controls, sized, js=START.replace("CHOSEN", chosen))
    return StepPage(player, controls, run)


def open_address(demo: gr.Blocks, page: StepPage) -> None:
    """When the page is opened its controls show what its address asks for."""
    places = [page.player, *page.controls]
    controls_follow("step", demo, prefill, values(Problem()), places, places, FOLLOW_ADDRESS)
