"""Judge common claims: what holds and what does not, each with its demonstration or its source."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import yaml

from explainer.base import records
from explainer.base.cards import CARDS
from explainer.base.facts import filled
from explainer.learn import claim_costs as costs
from explainer.learn import claim_demos as demos
from explainer.learn import claim_sums as sums
from explainer.learn.blocks import Block, t, table, text
from explainer.learn.content import Claim, stored
from explainer.learn.ecosystem import SPEED
from explainer.learn.kit import Mark, mark, picture, read_marks

_STORED = stored("claims", h100=CARDS["h100"].source, speed=SPEED, about=records.about())
CLAIMS = tuple(Claim(**entry) for entry in _STORED)

DEMONSTRATIONS = {
    "claim_exact": demos.exact,
    "claim_bits": demos.bits,
    "claim_io": costs.io,
    "claim_flops": costs.flops,
    "claim_again": costs.again,
    "claim_bound": costs.bound,
    "claim_shift": sums.shift,
    "claim_dq": sums.dq,
    "claim_exp": sums.exp_bound,
    "claim_length": sums.length,
    "claim_petaflop": sums.petaflop,
    "claim_constants": sums.constants,
    "claim_long": sums.long,
    "claim_tf32": demos.tf32,
    "claim_padded": demos.padded,
    "claim_topleft": demos.top_left,
}


def _bars(
    title: str,
    items: Sequence[tuple[str, float, str]],
    hue: str = "q",
    log: bool = False,
    limit: float | None = None,
) -> Block:
    """Draw bars of (name, value, what stands beside the bar); ``limit`` draws a line."""
    made = mark(
        "bars",
        title=title,
        items=[mark("bar", name=name, value=x, text=text, hue=hue) for name, x, text in items],
        log=log,
        limit=None if limit is None else (limit, t("blocks.limit")),
        remark=t("blocks.logarithmic") if log else "",
    )
    return picture(title, "; ".join(f"{name}: {beside}" for name, _, beside in items), made)


def _grid(title: str, **parts: Any) -> Block:
    """Draw a matrix, which a screen reader reads as a table."""
    return picture(title, title, mark("grid", name=title, **parts))


def _picture(label: str, spoken: str, marks: list[Mark]) -> Block:
    return picture(label, spoken, *marks)


BLOCKS = {"text": text, "table": table, "bars": _bars, "grid": _grid, "picture": _picture}
SHOWN = yaml.safe_load(filled(Path(__file__).with_suffix(".yaml").read_text("utf-8")))


def _show(widget: str, compute: Callable[..., demos.Values], /, **controls: Any) -> list[Block]:
    """Return the blocks of a demonstration with what it computes."""
    parts = read_marks(SHOWN[widget], compute(**controls))
    return [BLOCKS[part.pop("block")](**part) for part in parts]


WIDGETS = {key: partial(_show, key, compute) for key, compute in DEMONSTRATIONS.items()}
