"""What the Memory and Parallel pages share: a workload's controls, its place in the address."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import parse_qsl

import gradio as gr

from explainer.base.cards import CARDS
from explainer.base.fields import ProblemError
from explainer.base.texts import Texts
from explainer.memory.workload import KEYS, MAX_BLOCK, MIN_N, Workload
from explainer.pages import masks
from explainer.pages.browser import Fields
from explainer.pages.components import CONTROLS
from kernels.spec.fields import DTYPES, MAX_N

shared = Texts("shared")
LABELS = shared.named("sizes")
SIZES, SLIDERS = CONTROLS["workload"], CONTROLS["workload_sliders"]


def query_of(values: Mapping[str, object]) -> dict[str, str]:
    """Write the controls' values as a query."""
    return {key: str(value) for key, value in values.items()}


def parse_address(text: object) -> dict[str, str]:
    """Read a query string."""
    return dict(parse_qsl(str(text)[:2000], keep_blank_values=True))


def parse(query: Mapping[str, str], plain: Mapping[str, str]) -> Workload:
    """Parse the query's workload; a missing key is the page's default. Raises ProblemError."""
    given = {k: _plain(v) for k, v in query.items() if k in KEYS}
    own = {k: v for k, v in plain.items() if k in KEYS}
    found = _shrunk(own | given)
    return Workload.from_query(found | {"mask": masks.preset_text(found["mask"], found["n"])})


def _plain(value: str) -> str:
    """“ 8,192 ” → “8192”: as the page itself writes numbers; 4096.0, a slider's, → 4096."""
    text = value.strip()
    if re.fullmatch(r"\d{1,3}(,\d{3})+", text):
        return text.replace(",", "")
    return text.removesuffix(".0")


def _shrunk(query: Mapping[str, str]) -> dict[str, str]:
    """A block larger than the sequence shrinks with it, as on the Step page."""
    found = dict(query)
    if (n := found.get("n", "")).isdecimal() and int(n) >= MIN_N:
        for block in ("br", "bc"):
            if found[block].isdecimal() and MAX_BLOCK >= int(found[block]) > int(n):
                found[block] = n
    return found


def sizes_of_step(text: object) -> dict[str, str]:
    """Fit the Step page's Problem to a workload: at least 16 rows, blocks of 16 to 256."""
    query = parse_address(text)
    for key, most in (("n", MAX_N), ("br", MAX_BLOCK), ("bc", MAX_BLOCK)):
        if query.get(key, "").isdecimal():
            query[key] = str(min(most, max(MIN_N, int(query[key]))))
    return query


def control_values(
    query: Mapping[str, str], plain: Mapping[str, str], now: Mapping[str, object] | None = None
) -> dict[str, Any]:
    """Compute the values of the workload's controls for this query; for a bad one, those of ``now``
    or else the defaults."""
    try:
        values = parse(query, plain).to_query()
    except ProblemError:
        if now:
            return {key: now[key] for key in KEYS}
        values = Workload.from_query(plain).to_query()
    return {k: float(values[k]) if k in SLIDERS and "sliders" in plain else values[k] for k in KEYS}


class FreeSlider(gr.Slider):
    """Takes what was typed beside it, also beyond its ends: the workload says what is allowed."""

    def preprocess(self, payload):
        return payload

    def get_block_name(self) -> str:
        return "slider"  # drawn by Gradio's own


def size_menus(sizes: Mapping[str, Iterable[int | str]], at: Mapping[str, Any]) -> Fields:
    """Build menus of sizes that also take any number that is typed."""
    with gr.Row(elem_classes="fa-sizes"):
        return {
            key: gr.Dropdown(
                [str(x) for x in choices],
                value=str(at[key]),
                label=LABELS[key],
                allow_custom_value=True,
                min_width=80,
            )
            for key, choices in sizes.items()
        }


def precision(at: Mapping[str, Any]) -> gr.Radio:
    """Build the control of the precision."""
    return gr.Radio(list(DTYPES), value=at["dtype"], label=shared("precision"))


def controls(at: Mapping[str, Any], *, sliders: bool) -> Fields:
    """Build the controls, by the keys of ``control_values``, their first values."""
    made: Fields = {}
    cards = [(card.name, key) for key, card in CARDS.items()]
    made["card"] = gr.Dropdown(
        cards, value=at["card"], label=shared("card"), filterable=False, elem_classes="fa-select"
    )
    if sliders:
        for key, (low, high, step) in SLIDERS.items():
            made[key] = FreeSlider(low, high, float(at[key]), step=step, label=LABELS[key])
    made |= size_menus({key: SIZES[key] for key in SIZES if key not in made}, at)
    made["mask"] = masks.menu(at["mask"])
    masks.keep_names(made["mask"], made["n"])
    made["dtype"] = precision(at)
    return {key: made[key] for key in KEYS}
