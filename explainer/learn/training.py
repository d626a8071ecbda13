"""A small model trained with our kernels and with PyTorch's attention: two recorded loss curves."""

from __future__ import annotations

from explainer.base.amounts import written
from explainer.base.records import TRAINED, load
from explainer.learn.blocks import Block, plot, text

MOST_APART = 0.01  # of the last losses, relative: below it the sentence says good


def curves(record: dict) -> dict[str, list[float]]:
    """{attention: the loss before each step}, ours and PyTorch's."""
    return {row["attention"]: row["losses"] for row in record["rows"]}


def apart(record: dict) -> list[float]:
    """How far ours is from PyTorch's at each step, relative to PyTorch's."""
    ours, theirs = curves(record).values()
    return [abs(a - b) / b for a, b in zip(ours, theirs, strict=True)]


def most_apart(name: str) -> str:
    """The largest of these in a record, in percent."""
    return f"{written(100 * max(apart(load(name))), 2)} %"


def blocks() -> list[Block]:
    """The two losses of the first record, a card's if there is one, and where it was made."""
    name = TRAINED[0]
    record = load(name)
    found, off = curves(record), apart(record)
    sizes, versions = record["sizes"], record["versions"]
    ours, theirs = (y[-1] for y in found.values())
    return [
        plot("Loss before each step, nats per character",
             [{"name": title, "x": [*range(len(off))], "y": y, "colour": colour}
              for (title, y), colour in zip(found.items(), ("o", "q"), strict=True)],
             x_label="step", y_label="loss"),
        text(f"At the last of {len(off)} steps: {ours:.6f} and {theirs:.6f}. At no step are they "
             f"further apart than {most_apart(name)} of the loss.",
             "good" if off[-1] < MOST_APART else "bad"),
        text(f"{sizes['layers']} layers, {sizes['width']} wide, {sizes['heads']} heads, "
             f"{sizes['batch']} sequences of {sizes['length']} characters per step, AdamW, "
             f"{record['dtype']}; recorded {_where(record)}, {record['date']}, with "
             f"torch {versions['torch']} and Triton {versions['triton']}: "
             f"{record['command']}", "fine"),
    ]  # fmt: skip


def _where(record: dict) -> str:
    interpreted = "interpreter" in record["device"]
    return "on a CPU, in Triton's interpreter" if interpreted else f"on an {record['device']}"
