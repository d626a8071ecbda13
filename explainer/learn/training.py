"""A small model trained with our kernels and with PyTorch's attention: two recorded loss curves."""

from __future__ import annotations

from explainer.base.amounts import format_significant
from explainer.base.records import TRAINED, load
from explainer.learn.blocks import Block, plot, t, text

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
    return f"{format_significant(100 * max(apart(load(name))), 2)} %"


def blocks() -> list[Block]:
    """The two losses of the first record, a card's if there is one, and where it was made."""
    name = TRAINED[0]
    record = load(name)
    found, off = curves(record), apart(record)
    versions, sizes = record["versions"], dict(record["sizes"])
    del sizes["rate"]
    ours, theirs = (y[-1] for y in found.values())
    return [
        plot(
            t("training.losses"),
            [
                {"name": title, "x": [*range(len(off))], "y": y, "colour": colour}
                for (title, y), colour in zip(found.items(), ("o", "q"), strict=True)
            ],
            x_label=t("training.step"),
            y_label=t("training.loss"),
        ),
        text(
            t("training.apart", steps=len(off), ours=ours, theirs=theirs, most=most_apart(name)),
            "good" if off[-1] < MOST_APART else "bad",
        ),
        text(
            t(
                "training.recorded",
                **sizes,
                dtype=record["dtype"],
                where=_where(record),
                date=record["date"],
                torch=versions["torch"],
                triton=versions["triton"],
                command=record["command"],
            ),
            "fine",
        ),
    ]


def _where(record: dict) -> str:
    if "interpreter" in record["device"]:
        return t("training.interpreter")
    return t("training.card", card=record["device"])
