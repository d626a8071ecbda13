"""Everything that the Learn page has, in its order, and the one way to ask a widget."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from explainer.base.fields import refused
from explainer.base.kept import kept
from explainer.learn import (
    backward,
    basics,
    claims,
    fp8,
    level0,
    online,
    pipeline,
    precision,
    reference,
    stable,
    systems,
    training,
    variants_shown,
    versions,
    wild,
)
from explainer.learn.blocks import Block, Widget, values
from explainer.learn.content import Rung

MODULES = (
    *(basics, stable, online, systems, versions, backward, variants_shown, precision, claims),
    *(training, pipeline, fp8, level0),
)
ORDER = (
    "dot", "matmul", "softmax", "cat", "attention", "safe", "mask", "tiles_why", "online", "fusion",
    "versions", "recompute", "formats", "variants", "when_not",
)  # fmt: skip
# What has no controls is a widget all the same: its blocks are fetched when they come into view.
STILL = (
    Widget("backends", "Which backend for which input", (), lambda _: [wild.BACKENDS]),
    Widget("formulas", "The formulas", (), lambda _: list(reference.FORMULA_BLOCKS)),
    Widget("facts", "Figures and their sources", (), lambda _: list(reference.FIGURES)),
    *(
        Widget(f"handout{k}", page.title, (), lambda _, page=page: list(page.blocks))
        for k, page in enumerate(reference.HANDOUT, 1)
    ),
)


@lru_cache(maxsize=1)
def widgets() -> dict[str, Widget]:
    """{key: widget} of the whole page. Raises ValueError if two share a key."""
    found: dict[str, Widget] = {}
    for widget in (*(w for module in MODULES for w in module.WIDGETS), *STILL):
        if widget.key in found:
            raise ValueError(f"two widgets are called {widget.key}")
        found[widget.key] = widget
    return found


@lru_cache(maxsize=1)
def rungs() -> tuple[Rung, ...]:
    """The ladder, from the bottom."""
    found = {rung.key: rung for module in MODULES for rung in getattr(module, "RUNGS", ())}
    return tuple(found[key] for key in ORDER)


def answer(query: Mapping[str, str]) -> dict:
    """{"blocks": […]} of the widget ``w`` with the controls that the query names.

    Raises ProblemError with one sentence for an unknown widget or a value out of its range.
    """
    key = str(query.get("w", ""))
    widget = widgets().get(key)
    if widget is None:
        raise refused({"w": key}, "there is no such widget")
    given = values(widget, query)
    return {"blocks": _computed(key, tuple(given.items()))}


@kept(8 << 20, lambda blocks: 6 * len(str(blocks)))  # objects, not text
def _computed(key: str, given: tuple) -> list[Block]:
    return widgets()[key].compute(dict(given))
