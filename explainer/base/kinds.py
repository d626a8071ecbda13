"""Of what kind a number is: no figure is shown or saved without one of these beside it.

A ``Kind`` is made by one of the functions below and asked for by everything that makes a card, a
chart, a table with downloads or a file; the same words stand in all of them.
"""

from __future__ import annotations

from dataclasses import dataclass

from explainer.base.records import BENCH, about, load
from explainer.base.texts import Texts

say = Texts("kinds")
WORDS = say.row("words")  # each of them begins with one


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
        """Of figures of two kinds side by side; equal ones are named once."""
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
    return _with(say("computed"), how)


def counted(how: str) -> Kind:
    """Added up while a real kernel ran in Triton's interpreter."""
    return _with(say("counted"), how)


def simulated(model: str = "") -> Kind:
    """What a model of the card does."""
    return _with(say("simulated"), model)


def compiled(arch: str) -> Kind:
    """What the compiler made for this architecture, as recorded; no GPU was needed."""
    record = load("compiled")
    values = {"arch": arch, "date": record["date"]}
    versions = {name: record["versions"][name] for name in ("torch", "triton")}
    return Kind(say("compiled", **values), say("compiled.full", **values, **versions))


def measured(device: str, when: str = "") -> Kind:
    """In this very run, on this device."""
    full = say("measured.full", device=device, when=when) if when else ""
    return Kind(say("measured", device=device), full)


def recorded(name: str = BENCH, what: str = "") -> Kind:
    """Measured earlier; the record says where and when. ``what``: for the full text."""
    record = load(name)
    text = say("recorded", device=record["device"], date=record["date"])
    return Kind(text, say("more", kind=about(name), more=what) if what else about(name))


def cited(source: str) -> Kind:
    """Taken from a manufacturer's document."""
    return _with(say("cited"), source)


def _with(text: str, more: str) -> Kind:
    return Kind(text, say("more", kind=text, more=more) if more else "")
