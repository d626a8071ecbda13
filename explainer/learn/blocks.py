"""Build blocks: the plain JSON values of a widget's answer. explainer/views/learn_blocks.py renders
them; assets/js/learn/blocks.js draws pictures."""

from collections.abc import Mapping, Sequence
from typing import Any

from explainer.base.paths import ASSETS
from explainer.base.texts import Texts

t = Texts("learn")
PICTURES = tuple(sorted(path.stem for path in (ASSETS / "js/learn/pictures").glob("*.js")))

Block = dict[str, Any]


def text(words: str, kind: str = "plain") -> Block:
    """A sentence; ``kind`` plain | good | bad | fine (small)."""
    return {"type": "text", "words": words, "kind": kind}


def table(label: str, head: Sequence[str], rows: Sequence[Sequence[str]]) -> Block:
    """Text in cells; the first of each row is its heading."""
    return {"type": "table", "label": label, "head": list(head), "rows": [list(r) for r in rows]}


def picture(name: str, label: str, words: str, data: Mapping[str, object]) -> Block:
    """What moves under the hand: ``data`` (JSON values) drawn by
    assets/js/learn/pictures/<name>.js; ``words`` says it to who cannot see it."""
    return {"type": "picture", "name": name, "label": label, "words": words, "data": dict(data)}


def formula(label: str, mathml: str, source: str = "") -> Block:
    """Constant MathML of ours (never the reader's text), what is inside of <math>; ``source`` in
    small type below it."""
    return {"type": "formula", "label": label, "mathml": mathml, "source": source}


def code(label: str, lines: str) -> Block:
    """Code to be read or copied."""
    return {"type": "code", "label": label, "lines": lines}
