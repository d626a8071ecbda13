"""A small model trained with our kernels and with PyTorch's attention: two recorded loss curves."""

from __future__ import annotations

from collections.abc import Mapping

from explainer.base.amounts import written
from explainer.base.records import TRAINED, load
from explainer.learn.blocks import Block, Widget, plot, text
from explainer.learn.content import SECTIONS
from explainer.learn.controls import pick

MOST_APART = 0.01  # of the last losses, relative: below it the card says good
ON_A_CARD = "On a GPU: not recorded yet. python -m kernels.measure.training FILE does it."


def curves(record: dict) -> dict[str, list[float]]:
    """{attention: the loss before each step}, ours and PyTorch's."""
    return {row["attention"]: row["losses"] for row in record["rows"]}


def apart(record: dict) -> list[float]:
    """How far ours is from PyTorch's at each step, relative to PyTorch's."""
    ours, theirs = curves(record).values()
    return [abs(a - b) / b for a, b in zip(ours, theirs, strict=True)]


def _training(v: Mapping[str, float | str]) -> list[Block]:
    name = str(v.get("record", TRAINED[0]))
    record = load(name)
    found, off = curves(record), apart(record)
    sizes, versions = record["sizes"], record["versions"]
    steps = [*range(len(off))]
    ours, theirs = (y[-1] for y in found.values())
    blocks = [
        plot("Loss before each step, nats per character",
             [{"name": title, "x": steps, "y": y, "colour": colour}
              for (title, y), colour in zip(found.items(), ("o", "q"), strict=True)],
             x_label="step", y_label="loss"),
        text(f"At the last of {len(steps)} steps: {ours:.6f} and {theirs:.6f}. At no step are they "
             f"further apart than {written(100 * max(off), 2)} % of the loss.",
             "good" if off[-1] < MOST_APART else "bad"),
        plot("How far apart, relative to the loss; gaps where no digit differs",
             [{"name": "", "x": steps, "y": [x or None for x in off], "colour": "plain",
               "points": True}], x_label="step", log_y=True),
        text(f"{sizes['layers']} layers, {sizes['width']} wide, {sizes['heads']} heads, "
             f"{sizes['batch']} sequences of {sizes['length']} characters per step, AdamW, "
             f"{record['dtype']}; recorded {_where(name)}, {record['date']}, with "
             f"torch {versions['torch']} and Triton {versions['triton']}: "
             f"{record['command']}", "fine"),
    ]  # fmt: skip
    return [*blocks, text(ON_A_CARD, "fine")] if TRAINED == ("training_cpu",) else blocks


def _where(name: str) -> str:
    device = load(name)["device"]
    return "on a CPU, in Triton's interpreter" if "interpreter" in device else f"on an {device}"


_RECORD = pick("record", "Trained", TRAINED[0], [(x, _where(x)) for x in TRAINED])


def blocks() -> list[Block]:
    """The two losses of the first record, and where they were recorded."""
    curves_, said, _, fine, *_ = _training({})
    return [curves_, said, fine]


WIDGETS = (
    Widget("training", SECTIONS["training"]["title"], (_RECORD,) * (len(TRAINED) > 1), _training),
)
