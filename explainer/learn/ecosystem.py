"""Attention in the wild: code to copy, and which of PyTorch's backends takes which input.

Every snippet is run by tests/learn/test_ecosystem.py in a process of its own; those that need a
GPU or a package that is not installed say so in ``needs`` and in their words.
"""

import re
from collections.abc import Iterator

from explainer.base import records
from explainer.base.facts import filled
from explainer.learn.blocks import Block, t, table
from explainer.learn.content import TEXTS, Snippet, stored

CHECKED = t("ecosystem.checked")  # there the GPU's snippets were run, too


def speed_ratio() -> tuple[float, float]:
    """Least and most that SDPA's cuDNN backend was faster than its flash backend, in the recorded
    benchmark: every N, d, mask and 16-bit format that both ran."""
    fast, slow = (
        {
            (r["dtype"], r["n"], r["d"], r["mask"]): r["tflops"]
            for r in records.rows_where(method=method)
            if r.get("tflops")
        }
        for method in ("sdpa_cudnn", "sdpa_flash")
    )
    ratios = [fast[key] / slow[key] for key in fast.keys() & slow.keys()]
    return min(ratios), max(ratios)


_LEAST, _MOST = speed_ratio()
SPEED = t("ecosystem.speed", least=_LEAST, most=_MOST)
BACKENDS: Block = table(
    t("ecosystem.backends"),
    t.row("ecosystem.head"),
    stored("backends", checked=CHECKED, speed=SPEED, about=records.about()),
)


def _snippets() -> Iterator[Snippet]:
    """Of ``assets/learn/snippets.md``: "key: title [needs]", the words, the code."""
    head = r"^## (?P<key>.+?): (?P<title>[^\[\n]+?)(?: \[(?P<needs>.+)\])?\n\n"
    body = r"(?P<words>[^`]+)\n\n```python\n(?P<code>[^`]+)```\n"
    for found in re.finditer(head + body, (TEXTS / "snippets.md").read_text("utf-8"), re.M):
        words = filled(" ".join(found["words"].split()))
        yield Snippet(**found.groupdict("") | {"words": words})


SNIPPETS = tuple(_snippets())
WIDGETS = {
    "backends_table": lambda: [BACKENDS],
}
