"""Read the texts of the pages, which stand apart from the code: ``assets/texts/<page>.json``.

A text names its values in braces, formatted as Python formats them: {n:,}. {n:# tile} counts them:
“1 tile”, “2 tiles”. {size:bytes} and {off:significant 2} name a function of amounts.FORMATS, and
its digits. Several values in one place, a list or an array, are each formatted, with commas
between. A figure of the register stands where its key is: {fa3.h100}. A script
brings every text of the files that it imports, so the texts of Python alone, or of the script of a
mode, lie in another: <page>_scripts.json, step_form.json, step_video.json.
"""

import json
from collections.abc import Mapping
from functools import cache
from string import Formatter
from typing import Any

import numpy as np

from explainer.base.amounts import FORMATS, count
from explainer.base.facts import filled
from explainer.base.paths import ASSETS

FOLDER = ASSETS / "texts"


@cache
def stored(page: str) -> dict[str, Any]:
    """Load the texts of a page: by key one, a list of them, or several by name."""
    return json.loads(filled((FOLDER / f"{page}.json").read_text(encoding="utf-8")))


class _Writer(Formatter):
    """Write values as Python does, or by a function of amounts.FORMATS, or counted."""

    def format_field(self, value: Any, format_spec: str) -> str:
        if isinstance(value, list | tuple | np.ndarray):
            return ", ".join(self.format_field(one, format_spec) for one in value)
        name, _, argument = format_spec.partition(" ")
        if name == "#":
            return count(value, argument)
        if name in FORMATS:
            return FORMATS[name](value, *map(int, argument.split()))
        return format(value, format_spec)


WRITER = _Writer()


def fill(text: str, values: Mapping[str, object]) -> str:
    """Return a text with the values in its places. Raises KeyError for a value that is missing."""
    return WRITER.vformat(text, (), values)


class Texts:
    """The texts of one page, by its name, or any others by key. Raises KeyError for a key, or a
    value in a text, that is not there, and for a value that the text has no place for."""

    def __init__(self, texts: str | Mapping[str, Any]) -> None:
        self._stored = stored(texts) if isinstance(texts, str) else texts

    def __call__(self, key: str, /, **values: object) -> str:
        text = self._stored[key]
        if unused := values.keys() - {name for _, name, _, _ in WRITER.parse(text)}:
            raise KeyError(f"{key} has no place for {', '.join(sorted(unused))}")
        return fill(text, values)

    def row(self, key: str) -> tuple[str, ...]:
        """A list's texts: the heads of a table and the like."""
        return tuple(self._stored[key])

    def named(self, key: str) -> dict[str, str]:
        """Texts by name: the choices of a control and the like."""
        return dict(self._stored[key])
