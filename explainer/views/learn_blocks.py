"""The blocks of a widget's answer as the browser takes them: as HTML, but for pictures, which its
scripts draw."""

import re
from collections.abc import Mapping, Sequence

from markupsafe import Markup

from explainer.learn.blocks import Block
from explainer.learn.registry import answer
from explainer.views.learn_kit import render_marks
from explainer.views.templates import render

NUMBER = re.compile(r"([−\-+±≈~<>]? ?[\d.∞]|NaN|–|—|$)")
LONGEST_NUMBER = 18  # characters


def number_columns(rows: Sequence[Sequence[str]]) -> list[bool]:
    """Return of each column whether all its cells are numbers; the first one names the rows."""
    return [
        k > 0 and all(NUMBER.match(text) and len(text) < LONGEST_NUMBER for text in column)
        for k, column in enumerate(zip(*rows, strict=True))
    ]


def render_block(block: Mapping) -> Markup:
    """Render one block that is still."""
    return render("learn/blocks", block=block, number_columns=number_columns)


def block_data(block: Block) -> Block:
    """Return a block for the browser: what its scripts draw as it is, the others as HTML with the
    words that a screen reader says."""
    if block["type"] == "picture":
        marks = block["data"].get("marks")
        return block | {"data": {"html": str(render_marks(marks))}} if marks else block
    words = block["words"] if block["type"] == "text" and block["kind"] != "fine" else ""
    return {"type": "html", "html": str(render_block(block)), "words": words}


def answer_data(query: Mapping[str, str]) -> dict[str, list[Block]]:
    """Return a widget's answer for the browser. Raises ProblemError as ``answer`` does."""
    return {"blocks": [block_data(block) for block in answer(query)["blocks"]]}
