"""The Step page: the player, and controls that the words of its Problem open."""

from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any

import gradio as gr

from explainer.algorithms.inputs import INPUTS
from explainer.algorithms.registry import LABELS as ORDERS
from explainer.algorithms.schedule import check_size
from explainer.base.fields import FIELDS, KEYS, ProblemError
from explainer.base.own_data import MAX_CHARACTERS
from explainer.base.texts import Texts
from explainer.learn.tour import CHAPTERS
from explainer.pages.browser import Fields, here, opening
from explainer.pages.components import CONTROLS, shell
from explainer.problem import Problem
from explainer.web.bundle import OF_STEP
from kernels.spec.fields import CACHES, DTYPES, FP8

t = Texts("step_form")
LABELS = t.named("labels")
TOUR = {str(k): chapter for k, chapter in enumerate(CHAPTERS, 1)}
LARGE_N, SLIDERS = CONTROLS["step"]["large"], CONTROLS["step"]["sliders"]
MASK_CHOICES = [(t("causal"), "causal"), (t("full"), "full")]
RADIOS = {
    "mask": MASK_CHOICES,
    "order": [(label, key) for key, label in ORDERS.items()],
    "dtype": [*DTYPES, ("fp8", FP8)],
    "kv": [(t(name), name) for name in CACHES],
}


@dataclass(frozen=True)
class StepPage:
    """Handles that the app wires to other pages; ``controls`` by the keys of ``values``."""

    player: gr.HTML
    controls: Fields
    large: gr.Dropdown
    run: gr.Button


class FreeRadio(gr.Radio):
    """Keeps what is none of its choices, which the browser adds to them (``offered``)."""

    def preprocess(self, payload):
        return payload

    def get_block_name(self) -> str:
        return "radio"  # drawn by Gradio's own


def values(problem: Problem) -> dict[str, Any]:
    """{key: what its control shows} for a Problem."""
    found = {KEYS[field.name]: getattr(problem, field.name) for field in fields(problem)}
    texts = {"mask": str(problem.mask), "score": str(problem.score)}
    return found | texts | {"sink": problem.to_query().get("sink", "")}


def followed(problem: Problem) -> dict[str, str | int | float]:
    """The same, and which of the large lengths it has, if any."""
    return values(problem) | {"large": problem.n if problem.n in LARGE_N else 0}


def word_classes(word: str) -> list[str]:
    """The classes of a control that a word of the page's line of words shows, see words.js."""
    return ["fa-by-word", f"fa-by-{word}"]


def _folded(word: str, title: str) -> gr.Accordion:
    """A part of the controls that is folded away until wanted."""
    return gr.Accordion(title, open=False, elem_classes=["fa-own", *word_classes(word)])


def _large_sizes() -> gr.Dropdown:
    """Lengths beyond the slider: drawn as tiles, with the numbers of whichever is chosen."""
    lengths = [(t("large.none"), 0), *((t("large.n", n=n), n) for n in LARGE_N)]
    return gr.Dropdown(
        lengths,
        value=0,
        label=t("large"),
        filterable=False,
        elem_classes=["fa-select", *word_classes("n")],
    )


def prefill(query: dict) -> dict[str, str | int | float]:
    """Control values for the address that was opened; a bad address shows the default Problem."""
    chapter = query.get("tour", "")
    if chapter in TOUR:
        return followed(TOUR[chapter].problem)
    try:
        problem = Problem.from_query(query)
        check_size(problem)
        return followed(problem)
    except ProblemError:
        return followed(Problem())


def build() -> StepPage:
    """Lays the page out inside the caller's tab and wires the controls to the player."""
    at = values(Problem())
    controls: Fields = {}

    def add(kind: Callable, key: str, **options: Any) -> None:
        controls[key] = kind(value=at[key], label=LABELS[key], **options)

    with gr.Row(elem_classes="fa-page"):
        with gr.Column(elem_classes="fa-controls fa-step-controls", scale=0, min_width=216):
            with gr.Row(elem_classes=["fa-start-row", *word_classes("data")]):
                inputs = [(name, key) for key, name in INPUTS.items()]
                add(gr.Dropdown, "data", choices=inputs, filterable=False)
                add(gr.Number, "seed", min_width=64)
            for key, most in SLIDERS.items():
                word = word_classes("tiles" if key in ("br", "bc") else key)
                add(gr.Slider, key, minimum=1, maximum=most, step=1, elem_classes=word)
            for key, choices in RADIOS.items():
                word, radio = word_classes(key), FreeRadio if key == "mask" else gr.Radio
                add(radio, key, choices=choices, elem_classes=word)
                if key == "mask":
                    compose = gr.Button(t("compose"), size="sm", elem_classes=word)
            # What is rarely changed: the user's own data, what is done to scores, heads
            with _folded("data", t("own")):
                add(
                    gr.Textbox,
                    "text",
                    placeholder=t("text.example"),
                    lines=3,
                    max_lines=6,
                    max_length=MAX_CHARACTERS,
                )
                add(gr.Slider, "gain", minimum=0.25, maximum=32, step=0.25)
            with _folded("score", t("scores")):
                for key, example in {"score": "softcap:2&alibi", "sink": t("sink.example")}.items():
                    add(gr.Textbox, key, placeholder=example, max_lines=1)
            with _folded("heads", t("heads")):
                with gr.Row():
                    for key in ("hq", "hk", "head"):
                        add(gr.Number, key, precision=0, min_width=56)
                add(gr.Number, "rope")
                most = FIELDS["dropout"].high
                add(gr.Slider, "dropout", minimum=0, maximum=most, step=0.001)
            large = _large_sizes()
            run = gr.Button(
                t("run"),
                variant="primary",
                elem_classes=["fa-primary", *word_classes("all")],
            )
        with gr.Column(elem_classes="fa-main"):
            player = shell("step", "shown", later=("masks", *OF_STEP), elem_id="player")

    def with_player(*keys: str) -> Fields:
        return {"player": player} | {key: controls[key] for key in keys}

    for key, control in controls.items():
        if key in ("score", "sink"):  # whole: half a word is refused
            for typed in (control.submit, control.blur):
                typed(**here("ask", controls, with_player("br", "bc")))
        elif key not in ("data", "text"):
            control.input(**here("ask", controls, with_player("br", "bc")))
    follows = {**controls, "large": large}
    compose.click(**here("compose"))
    player.shown(**here("follow", with_player(), follows, sizes=LARGE_N, masks=MASK_CHOICES))
    large.input(**here("enlarge", {"large": large, **controls}, with_player(*SLIDERS)))
    for key in ("data", "text"):  # chosen from the menu, or typed
        places = with_player("data", *SLIDERS, "text")
        controls[key].input(**here("start", controls, places, chosen=key == "data"))
    return StepPage(player, controls, large, run)


def open_address(demo: gr.Blocks, page: StepPage) -> None:
    """When the page is opened its controls show what its address asks for."""
    places = {"player": page.player, **page.controls, "large": page.large}
    opening(demo, "followAddress", "step", places, followed(Problem()), masks=MASK_CHOICES)
