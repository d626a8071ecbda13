"""A whole kernel in 35 lines, in six groups, beside what each group does to our sentence."""

from functools import cache
from pathlib import Path

import numpy as np

from explainer.learn.example import WORDS, K, Q, V
from explainer.learn.folder import read_data
from explainer.learn.kit import Block, Words
from explainer.learn.linear_algebra import attend, online_softmax

t = Words(__name__)

SOURCE = (Path(__file__).parent / "kernel.txt").read_text("utf-8")
LINES = tuple(SOURCE.splitlines())
# The lines of each group; the launch belongs to the first one.
GROUPS = read_data("read")["lines"]
ROW, BLOCK = 7, 2  # "tired", and the key block "because it" in which its maximum rises
# A line of the kernel that a question asks about, and what stands there with a fault.
ASKED = {
    "mask": ("keys[None, :], s", "keys[None, :] - 1, s"),
    "sum": ("alpha * l +", "l +"),
    "divide": ("o / l[:, None]", "o"),
}


def group_of(line: int) -> int:
    """Return the group that a line belongs to; other lines' is none, −1."""
    return next((k for k, lines in enumerate(GROUPS) if line in lines), -1)


@cache
def numbers() -> dict[str, float]:
    """Return m and ℓ of the row "tired" before and after the block, α, and the block's sum of p."""
    S = attend(Q, K, V, np.tri(len(WORDS), dtype=bool))[0][ROW : ROW + 1]
    states = [*online_softmax(S, V, 2)]
    before, after = states[BLOCK - 1], states[BLOCK]
    m, m_new, l, l_new = (float(x[0, 0]) for x in (before.m, after.m, before.l, after.l))
    return {
        "m": m,
        "m_new": m_new,
        "alpha": float(np.exp(m - m_new)),
        "l": l,
        "l_new": l_new,
        "p": float(after.P.sum()),
    }


def compute(line: int) -> Block:
    """Show the code with the group of ``line`` marked, and what each group does."""
    group = group_of(line)
    on = GROUPS[group] if group >= 0 else []
    return t.picture(
        group=group,
        title=t.row("groups")[group] if group >= 0 else t("choose"),
        on=on,
        lines="\n".join(LINES[k] for k in on),
        **numbers(),
    )


@cache
def off(fault: str) -> float:
    """Return the largest error of O on our sentence with a fault in one of the lines ASKED."""
    n = len(WORDS)
    S = attend(Q, K, V, np.tri(n, k=int(fault == "mask"), dtype=bool))[0]
    states = [*online_softmax(S, V, 2)]
    l = sum(x.P.sum(axis=1, keepdims=True) for x in states) if fault == "sum" else states[-1].l
    O = states[-1].O / (1 if fault == "divide" else l)
    return float(np.abs(O - attend(Q, K, V, np.tri(n, dtype=bool))[2]).max())


def question(fault: str) -> dict:
    """Four lines of the kernel, one of them with a fault."""
    options = []
    for name, (right, wrong) in ASKED.items():
        line = next(line for line in LINES if right in line).strip()
        is_wrong = name == fault
        why = t.named("wrong" if is_wrong else "right")[name]
        options.append((line.replace(right, wrong) if is_wrong else line, why))
    words = t("question", off=off(fault))
    return {"options": tuple(options), "answer": [*ASKED].index(fault), "words": words}


def figures() -> dict[str, object]:
    """Return what the texts name."""
    return {"off_divide": off("divide")}
