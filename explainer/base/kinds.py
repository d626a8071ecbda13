"""Of what kind a number is: no figure is shown or saved without one of these beside it.

A ``Kind`` is made by one of the functions below and asked for by everything that makes a card, a
chart, a table with downloads or a file; the same words stand in all of them.
"""

from dataclasses import dataclass

from explainer.base.records import BENCH, about, load
from explainer.base.texts import Texts

say = Texts("kinds")


@dataclass(frozen=True)
class Kind:
    """``text``: beside a figure, in every mode. ``full``: with all that is known, for hovering and
    for files; "" for the same."""

    text: str
    full: str = ""

    def __str__(self) -> str:
        return self.full or self.text


def computed(how: str = "") -> Kind:
    """Worked out here, from a formula or by the reference implementation."""
    return _with(say("computed"), how)


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


def recorded(name: str = BENCH) -> Kind:
    """Measured earlier; the record says where and when."""
    record = load(name)
    text = say("recorded", device=record["device"], date=record["date"])
    return Kind(text, about(name))


def cited(source: str) -> Kind:
    """Taken from a manufacturer's document."""
    return _with(say("cited"), source)


def _with(text: str, more: str) -> Kind:
    return Kind(text, say("more", kind=text, more=more) if more else "")
