"""6.5: serving engines: where their caches lie, and which kernels they call."""

from __future__ import annotations

from explainer.base.facts import fact
from explainer.base.texts import Texts
from explainer.learn.blocks import Block, Widget, table
from explainer.learn.content import lesson, stored

tell = Texts("learn")
ENGINES: Block = table(
    tell("engines.label", day=fact("engines.seen")), tell.row("engines.head"), stored("engines")
)


def places(tokens: int, size: int) -> int:
    """Places that pages of this size hold for so many tokens: the last page may be part empty."""
    return -(-tokens // size) * size


WIDGETS = (Widget("engines", tell("engines.title"), (), lambda _: [ENGINES]),)
ASKED = ((1003, 16), (300, 64), (75, 32))  # tokens, page: question and variants


def _asked(tokens: int, size: int) -> dict:
    full, over = divmod(tokens, size)
    why = tell("engines.why", tokens=tokens, full=full, size=size, over=over, empty=size - over)
    return {
        "answer": places(tokens, size) - tokens,
        "words": tell("engines.question", tokens=tokens, size=size),
        "reasons": (why, tell("engines.how")),
        "wrong": (over, 0, size),
    }


_first, *_others = (_asked(*x) for x in ASKED)
LESSONS = (lesson("engines", **_first, variants=_others),)
