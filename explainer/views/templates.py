"""Render the Jinja2 templates beside this file: HTML, which escapes what is not Markup; words."""

import html
import json
import re
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined, select_autoescape
from jinja2.ext import Extension
from markupsafe import Markup

from explainer.base import amounts
from explainer.base.texts import Texts


class _Layout(Extension):
    """Remove the line breaks and indentation between tags and statements from a template's source:
    they lay the file out, and on the page they would be spaces."""

    _BREAK = re.compile(r"(?<=[>}])\s*\n\s*(?=[<{])")

    def preprocess(self, source: str, name: str | None, filename: str | None = None) -> str:
        return self._BREAK.sub("", source)


def _percent(share: float) -> str:
    """Format a share as “13 %” or “0.21 %”."""
    return f"{100 * share:.0f} %" if share >= 0.1 or not share else f"{100 * share:.2g} %"


def _json(value: object) -> str:
    """Return JSON text for an attribute, which autoescape then quotes."""
    return json.dumps(value, allow_nan=False)


def _attribute_json(value: object) -> Markup:
    """Return compact JSON for an attribute in single quotes: JSON has so many double ones that
    escaping them would be a thirtieth of the Learn page."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return Markup(html.escape(text, quote=False).replace("'", "&#39;"))


def _cell_paths(cells: str, columns: int) -> list[tuple[str, str]]:
    """Return (letter, the path of its cells) of a map with one letter a cell, each 1 × 1."""
    paths: dict[str, str] = {}
    for row in range(len(cells) // columns):
        for run in re.finditer(r"(.)\1*", cells[row * columns : (row + 1) * columns]):
            path = f"M{run.start()} {row}H{run.end()}v1H{run.start()}z"
            paths[run[1]] = paths.get(run[1], "") + path
    return [*paths.items()]


ENVIRONMENT = Environment(
    loader=FileSystemLoader(Path(__file__).parent / "templates"),
    extensions=[_Layout],
    autoescape=select_autoescape(),
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
    auto_reload=False,
)
ENVIRONMENT.policies["truncate.leeway"] = 0  # truncate(60) means at most 60 characters
# A template reads its page's texts with {% set t = texts("memory") %}, as a module does with Texts.
ENVIRONMENT.globals |= {"texts": Texts}
ENVIRONMENT.filters |= amounts.FORMATS | {
    "attribute_json": _attribute_json,
    "cell_paths": _cell_paths,
    "json": _json,
    "list_words": amounts.listed,  # a, b and c
    "number": format,  # by Python's format specification: 1234|number(",")
    "percent": _percent,
}


def render(name: str, /, **values: object) -> Markup:
    """Render ``templates/<name>.html`` with these values.

    Raises jinja2.UndefinedError for a value that the template uses and does not get, KeyError for a
    text that is not there.
    """
    return Markup(ENVIRONMENT.get_template(f"{name}.html").render(values))


def render_words(name: str, /, **values: object) -> dict[str, str]:
    """Render ``templates/<name>.txt`` with these values: what it sets, by name, as plain text.

    Raises as :func:`render` does.
    """
    found = vars(ENVIRONMENT.get_template(f"{name}.txt").make_module(values))
    return {key: x.strip() for key, x in found.items() if isinstance(x, str) and key[0] != "_"}
