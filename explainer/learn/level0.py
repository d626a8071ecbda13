"""Level 0: what a newcomer asks before FlashAttention, as questions of our own. Each is answered by
a rung of the ladder, and by a computation that stands below it once it is answered.

The list is that of the note "FlashAttention2", QTCM (questions that came to mind): norm, dot
product, matrix product, softmax and its axis, SRAM and DRAM, the maximum, tiling, the causal mask,
masks of 0 and 1, kernel fusion, mixed precision; and the worked example "The cat sat". Each code is
run with PyTorch by tests/learn/test_level0.py: ``answer`` must come out as the question says.
"""

from __future__ import annotations

from explainer.learn import level0_shown
from explainer.learn.blocks import Widget, code
from explainer.learn.content import Known, Question, stored

# What is shown below a question is the function of its name.
KNOWN = tuple(
    Known(
        **entry | {"question": Question(**entry["question"])},
        show=getattr(level0_shown, entry["question"]["key"].split("-", 1)[1].replace("-", "_")),
    )
    for entry in stored("level0")
)

WIDGETS = tuple(
    Widget(
        known.question.key,
        f"{known.title}: computed",
        (),
        lambda _, known=known: [
            *known.show(), *([code("The same in PyTorch", known.code)] if known.code else []),
        ],
    )
    for known in KNOWN
)  # fmt: skip
