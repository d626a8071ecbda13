"""The register of facts: every figure that a page states, with its source or what derives it.

``assets/facts.json``, an entry a line. A text names an entry in braces, {fa3.h100}; code asks for
it by ``fact`` or ``number``. tests/test_facts.py finds a figure on a page that has no entry.
"""

import json
import re
from dataclasses import dataclass

from explainer.base.paths import ASSETS

PLACE = re.compile(r"\{(\w+(?:\.\w+)+)\}")


@dataclass(frozen=True)
class Fact:
    """``shown`` as a page writes it, with its unit where it has one; ``says`` what it is.

    Its ground is one of three: ``source`` (paper and section, document, address) with ``seen``, the
    day it was looked up; ``derived``, what it follows from, which a test computes; ``measured``, by
    whom and how. A formula's ``shown`` is empty: explainer/learn/reference.py typesets it.
    """

    key: str
    shown: str
    says: str
    source: str = ""
    seen: str = ""
    derived: str = ""
    measured: str = ""

    @property
    def ground(self) -> str:
        """Where it is from, as a page says it."""
        return self.source or self.measured or self.derived

    @property
    def looked_up(self) -> str:
        """The day, or how else the figure came about."""
        return self.seen or ("measured" if self.measured else "computed")


def _read() -> dict[str, Fact]:
    entries = json.loads((ASSETS / "facts.json").read_text(encoding="utf-8"))
    return {entry["key"]: Fact(**entry) for entry in entries}


FACTS = _read()


def fact(key: str) -> str:
    """An entry as a page writes it. Raises KeyError with the key for one that is not there."""
    return FACTS[key].shown


def number(key: str) -> float:
    """The number that an entry begins with: “989 TFLOP/s” is 989, “3.9 × 10¹²” is 3.9e12."""
    found = re.match(r"([\d,]+(?:\.\d+)?)(?: × 10([⁰¹²³⁴⁵⁶⁷⁸⁹]+))?", fact(key))
    if found is None:
        raise ValueError(f"the fact {key} does not begin with a number")
    power = (found[2] or "0").translate(str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789"))
    return float(found[1].replace(",", "") + "e" + power)


def filled(text: str) -> str:
    """The text with each {key} of the register replaced by what is shown for it."""
    return PLACE.sub(lambda found: fact(found[1]), text)
