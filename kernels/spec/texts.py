"""Texts such as ``name:1,2&name``: their words with their places, and the sentences that refuse."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


def cut(text: str) -> str:
    """“text”, not all of it if it is long."""
    printable = "".join(c if c.isprintable() else "?" for c in text[:25])
    return f"“{printable if len(printable) <= 24 else printable[:24] + '…'}”"


def short(x: float) -> str:
    """The one text of a number: the shortest that reads back the same, 1 and not 1.0."""
    return str(int(x)) if x.is_integer() else repr(x)


@dataclass(frozen=True)
class Word:
    """One ``name`` or ``name:1,2`` of a text, without blanks; ``place`` is that of its first
    character, from 1. ``error`` is the class of what refuses it."""

    text: str
    place: int
    error: type[ValueError]

    def wrong(self, why: str) -> ValueError:
        """“word” at character 8 why: as part of a sentence, without its end."""
        return self.error(f"{cut(self.text)} at character {self.place}{why}")

    @property
    def numbers(self) -> list[str]:
        """What stands after the colon, between commas."""
        _, colon, rest = self.text.partition(":")
        return rest.split(",") if colon else []

    def entry(self, known: Mapping, besides: str = ""):
        """What its name means in a registry, whose entries name their ``numbers``, the last of
        which may be there up to ``most`` times. Raises where there is no such name, or not that
        many numbers."""
        name = self.text.partition(":")[0]
        if not self.text:
            raise self.error(f"a name is missing at character {self.place}")
        if name not in known:
            raise self.wrong(f" is none of {besides}{', '.join(known)}")
        entry = known[name]
        least = len(entry.numbers)
        most = least - 1 + entry.most if least else 0
        if not least <= len(self.numbers) <= most:
            wants = f"{name}:{','.join(entry.numbers)}" if least else f"{name} without numbers"
            many = f", with at most {entry.most} {entry.numbers[-1]}" if most > least else ""
            raise self.wrong(f" must be {wants}{many}")
        return entry

    def whole(self, what: str, text: str, low: int, high: int) -> int:
        """A whole number of this word."""
        if text.isascii() and text.isdigit() and len(text) <= 9 and low <= int(text) <= high:
            return int(text)
        raise self.wrong(f": {what} must be a whole number from {low} to {high:,}, not {cut(text)}")


def words(text: str, error: type[ValueError], place: int = 1) -> list[Word]:
    """What stands between the ``&`` of a text that begins at character ``place``."""
    found = []
    for part in text.split("&"):
        blanks = len(part) - len(part.lstrip())
        found.append(Word("".join(part.split()), place + blanks, error))
        place += len(part) + 1
    return found


def checked(value: object, error: type[ValueError], example: str, most: int) -> str:
    """The value if it is a text that is short enough to be read."""
    if not isinstance(value, str):
        raise error(f"it must be a text such as {example}")
    if len(value) > most:
        raise error(f"it has {len(value):,} characters, and at most {most:,} are read")
    return value
