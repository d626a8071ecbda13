"""Read the folders of the lessons, ``explainer/learn/lessons/<key>/``.

``text.md`` begins with its front matter between two lines of ``---``: title, headline,
lines, links, needs, gives, ground. Then comes the text, and behind ``## More`` what opens on
demand. ``lesson.yaml`` has ``picture``, the title of the picture, with its ``controls``, the
``question`` (as content.Question has it), and the picture's ``words`` and ``marks``. ``also`` has
further widgets of the lesson.
``lesson.py`` computes (see explainer/learn/kit.py).

Figures of the register stand where their keys are in braces.
"""

from functools import cache
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import yaml

from explainer.base.facts import filled

FOLDER = Path(__file__).parent / "lessons"
KEYS = tuple(sorted(path.parent.name for path in FOLDER.glob("*/text.md")))
RULE = "---\n"
MORE = "\n## More\n"
# In C, which wheels of PyYAML have, a fifth of the time: all lessons are read at the start.
LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def _read(key: str, name: str) -> str:
    return filled((FOLDER / key / name).read_text(encoding="utf-8"))


@cache
def read_text(key: str) -> dict[str, Any]:
    """Return the front matter of a lesson with its ``words`` and what folds, ``more``."""
    _, front, body = _read(key, "text.md").split(RULE, 2)
    words, _, more = body.partition(MORE)
    return yaml.load(front, LOADER) | {"words": words.strip(), "more": more.strip()}


@cache
def read_data(key: str) -> dict[str, Any]:
    """Return what ``lesson.yaml`` has."""
    return yaml.load(_read(key, "lesson.yaml"), LOADER)


def read_shown(name: str) -> dict[str, Any]:
    """Return the blocks that ``explainer/learn/<name>.yaml`` describes, by what shows them."""
    return yaml.load(filled((FOLDER.parent / f"{name}.yaml").read_text("utf-8")), LOADER)


def read_widgets() -> dict[str, dict]:
    """Return {widget: its title and controls} of all lessons; a lesson's own has its key."""
    found: dict[str, dict] = {}
    for key in KEYS:
        data = read_data(key)
        found[key] = {"title": data["picture"], "controls": data.get("controls", {})}
        found |= data.get("also", {})
    return found


@cache
def modules() -> dict[str, ModuleType]:
    """Return {key: its ``lesson.py``} of the lessons that have one."""
    return {
        key: import_module(f"explainer.learn.lessons.{key}.lesson")
        for key in KEYS
        if (FOLDER / key / "lesson.py").exists()
    }
