"""Of what kind a number is: no figure is shown or saved without one of these beside it.

A ``Kind`` is made by one of the functions below and asked for by everything that makes a card, a
chart, a table with downloads or a file; the same words stand in all of them.
"""

from __future__ import annotations

from dataclasses import dataclass

from explainer.base.records import BENCH, about, load

WORDS = ("computed", "counted", "simulated", "compiled", "measured", "recorded", "data sheet")


@dataclass(frozen=True)
class Kind:
    """``text``: beside a figure, in every mode. ``full``: with all that is known, for hovering and
    for files; "" for the same. Raises ValueError for a text that begins with none of WORDS."""

    text: str
    full: str = ""

    def __post_init__(self) -> None:
        if not self.text.startswith(WORDS):
            raise ValueError(f"kind = {self.text!r} must begin with one of {', '.join(WORDS)}.")

    def __str__(self) -> str:
        return self.full or self.text

    def __add__(self, other: Kind) -> Kind:
        """Of figures of two kinds side by side; the same one twice is said once."""
        both = [x for x in other.text.split("; ") if x not in self.text.split("; ")]
        if not both:
            return self
        return Kind("; ".join([self.text, *both]), f"{self}; {other}")


def required(kind: object) -> Kind:
    """The same. Raises TypeError for anything else, such as a remark in its place."""
    if not isinstance(kind, Kind):
        raise TypeError(f"kind = {kind!r} must be a Kind: computed(), measured(device) and so on.")
    return kind


def computed(how: str = "") -> Kind:
    """Worked out here, from a formula or by the reference implementation."""
    return _with("computed", how)


def counted(how: str) -> Kind:
    """Added up while a real kernel ran in Triton's interpreter."""
    return _with("counted in Triton's interpreter", how)


def simulated(model: str = "") -> Kind:
    """What a model of the card does."""
    return _with("simulated", model)


def compiled(arch: str) -> Kind:
    """What the compiler made for this architecture, as recorded; no GPU was needed."""
    record = load("compiled")
    versions = f"torch {record['versions']['torch']}, Triton {record['versions']['triton']}"
    text = f"compiled for {arch}, {record['date']}"
    return Kind(text, f"{text}, {versions}")


def measured(device: str, when: str = "") -> Kind:
    """In this very run, on this device."""
    text = f"measured on {device}"
    return Kind(text, f"{text}, {when}" if when else "")


def recorded(name: str = BENCH, what: str = "") -> Kind:
    """Measured earlier; the record says where and when. ``what``: for the full text."""
    record = load(name)
    text = f"recorded on {record['device']}, {record['date']}"
    return Kind(text, f"{about(name)}{': ' * bool(what)}{what}")


def cited(source: str) -> Kind:
    """Taken from a manufacturer's document."""
    return _with("data sheet", source)


def _with(text: str, more: str) -> Kind:
    return Kind(text, f"{text}: {more}" if more else "")
