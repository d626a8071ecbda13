"""What the line of words of a page offers: the fields of a run and of a workload, with the choices
of each, as assets/js/lib/words.js draws them."""

import json
from collections.abc import Sequence
from typing import Any, TypedDict

from explainer.algorithms.inputs import INPUTS
from explainer.base.cards import CARDS
from explainer.base.fields import FIELDS
from explainer.base.fields import KEYS as KEY_OF
from explainer.base.paths import ASSETS
from explainer.base.texts import Texts
from explainer.engine.requests import EACH, METHODS
from explainer.learn.presets import PRESETS, SCALED
from explainer.memory.workload import Workload
from kernels.spec.fields import DTYPES, PASSES

CONTROLS = json.loads((ASSETS / "controls.json").read_text(encoding="utf-8"))
t, shared = Texts("words"), Texts("shared")
LABELS = Texts("step_form").named("labels") | shared.named("sizes")
WHOLE, MANY, LONG = "whole", "many", "long"  # how a value is typed or chosen, besides "text"
NAME_OF = {key: name for name, key in KEY_OF.items()}
# Fields that a run has, by their keys in the address; those before the gap stand in its line.
OF_RUN, RARE, OF_WORKLOAD = CONTROLS["words"].values()
Choices = Sequence[tuple[str, str]]


class _WordField(TypedDict):
    key: str
    label: str
    choices: Choices
    default: str


class WordField(_WordField, total=False):
    """One field: its ``choices`` as pairs of value and label. ``kind``: how another value is
    typed, "whole", "text" or "long"; "many": several choices, joined by commas; without one the
    choices are all there is. ``default``: what an emptied field means. A mask's ``templates``: the
    text of each preset as :attr:`explainer.learn.presets.Preset.template` has it, by its title."""

    kind: str
    templates: dict[str, str]


def _field(
    key: str, choices: Choices, kind: str = "", default: str | None = None, label: str = ""
) -> WordField:
    """Make a field; its default is that of the table of fields where none is given."""
    if default is None:
        own = FIELDS[NAME_OF[key]].default
        default = f"{own:g}" if isinstance(own, int | float) else str(own or "")
    label = label or LABELS[key]
    field: WordField = {"key": key, "label": label, "choices": choices, "default": default}
    if kind:
        field["kind"] = kind
    return field


def _sizes(sizes: dict[str, list[int | str]]) -> dict[str, WordField]:
    found = {}
    for key, offered in sizes.items():
        choices = [(str(x), f"{x:,}" if isinstance(x, int) else x) for x in offered]
        found[key] = _field(key, choices, WHOLE)
    return found


def _mask() -> WordField:
    field = _field("mask", [(x, x) for x in SCALED], "text", label=shared("mask"))
    field["templates"] = {p.title: p.template for p in PRESETS if p.title in SCALED}
    return field


def _dtype() -> WordField:
    names = [(name, name) for name in DTYPES]
    return _field("dtype", names, label=shared("precision"))


def workload_fields() -> list[WordField]:
    """The fields of the workload of Memory and Parallel; the pages' own defaults hold."""
    cards = [(key, card.name) for key, card in CARDS.items()]
    card = _field("card", cards, default=Workload.card, label=shared("card"))
    found = _sizes(CONTROLS["workload"]) | {"mask": _mask(), "dtype": _dtype(), "card": card}
    own = Workload().to_query()
    for key in OF_WORKLOAD:
        found[key]["default"] = own[key]
    return [found[key] for key in OF_WORKLOAD]


def run_fields() -> list[WordField]:
    """The fields of a run: those of its line, then the rare ones."""
    methods = t.named("methods")
    names = [(key, methods.get(key, label)) for key, label in METHODS.items()]
    scores = [(x, x) for x in dict.fromkeys(preset.score for preset in PRESETS)]
    passes = [*t.named("passes").items()]
    rows: list[tuple[Any, ...]] = [
        ("methods", names, MANY, "naive,fa2", t("methods.label")),
        ("data", [*INPUTS.items()], "", "random"),
        ("pass", passes, "", PASSES[0], shared("pass")),
        ("hk", [(EACH, t("each"))], WHOLE, EACH),
        ("score", scores, "text", "none"),
        ("text", [], LONG, ""),
        *((key, [], WHOLE) for key in ("seed", "head")),
        *((key, [], "text") for key in ("gain", "sink", "rope", "dropout")),
    ]
    found = _sizes(CONTROLS["run"]) | {"mask": _mask(), "dtype": _dtype()}
    found |= {key: _field(key, *rest) for key, *rest in rows}
    return [found[key] for key in (*OF_RUN, *RARE)]


def words() -> dict[str, list[WordField]]:
    """The fields by what they are of."""
    return {"run": run_fields(), "workload": workload_fields()}
