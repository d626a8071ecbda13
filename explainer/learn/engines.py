"""6.5: serving engines: where their caches lie, and which kernels they call."""

from __future__ import annotations

from explainer.base.facts import fact
from explainer.learn.blocks import Block, t, table
from explainer.learn.content import stored

ENGINES: Block = table(
    t("engines.label", day=fact("engines.seen")), t.row("engines.head"), stored("engines")
)


def places(tokens: int, size: int) -> int:
    """Places that pages of this size hold for so many tokens: the last page may be part empty."""
    return -(-tokens // size) * size


WIDGETS = {
    "engines": lambda: [ENGINES],
}


def _question(tokens: int, size: int) -> dict:
    full, over = divmod(tokens, size)
    why = t("engines.why", tokens=tokens, full=full, size=size, over=over, empty=size - over)
    return {
        "answer": places(tokens, size) - tokens,
        "reasons": (why, t("engines.how")),
        "wrong": (over, 0, size),
    }


QUESTIONS = {"engines": _question}
