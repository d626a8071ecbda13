"""What the pages say, apart from the code that says it: ``assets/texts/<page>.json``.

A text names its values in braces, formatted as Python formats them: {n:,}. {n:# tile} counts them:
“1 tile”, “2 tiles”. A figure of the register stands where its key is: {fa3.h100}.
"""

from __future__ import annotations

import json
from functools import lru_cache
from string import Formatter

from explainer.base.amounts import count
from explainer.base.facts import filled
from explainer.base.paths import ASSETS

FOLDER = ASSETS / "texts"


class _Strict(Formatter):
    """Every value has its place, and every place its value."""

    def format_field(self, value: object, spec: str) -> str:
        return count(value, spec[2:]) if spec.startswith("# ") else format(value, spec)

    def check_unused_args(self, used: set, args: tuple, values: dict) -> None:
        if unused := set(values) - used:
            raise KeyError(f"no place in the text for {', '.join(sorted(unused))}")


@lru_cache(maxsize=8)
def stored(page: str) -> dict[str, str | list | dict]:
    """The texts of a page as they are written: one, a list of them, or several by name."""
    return json.loads(filled((FOLDER / f"{page}.json").read_text(encoding="utf-8")))


class Texts:
    """The texts of one page. Raises KeyError for a key, or a value in a text, that is not there,
    and for a value that the text has no place for."""

    def __init__(self, page: str) -> None:
        self._stored, self._form = stored(page), _Strict()

    def __call__(self, key: str, **values: object) -> str:
        return self._form.vformat(self._stored[key], (), values)

    def row(self, key: str) -> tuple[str, ...]:
        """A list's texts: the heads of a table and the like."""
        return tuple(self._stored[key])

    def named(self, key: str) -> dict[str, str]:
        """Texts by name: the choices of a control and the like."""
        return dict(self._stored[key])
