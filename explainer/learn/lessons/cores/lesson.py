"""What one tensor-core instruction multiplies, by generation and format, to scale."""

from __future__ import annotations

import numpy as np

from explainer.learn.kit import (
    Block,
    Mark,
    column,
    frame,
    grid,
    note,
    picture,
    row,
    table,
    words_of,
)
from explainer.learn.matrix_units import GENERATIONS, instructions

t = words_of(__name__)

ON_SCREEN = ("sm_70", "sm_80", "sm_90", "sm_100")
UNIT = 32  # numbers that a drawn cell stands for, each way


def _sums(m: int, n: int, k: int) -> Mark:
    """The sums of one instruction to scale; what is smaller than a cell is drawn as one."""
    cells = np.ones((max(1, m // UNIT), max(1, n // UNIT)))
    return grid(t("sums", m=m, n=n, k=k), cells, "o", size="small", key=f"{m} {n}")


def _generation(arch: str, fmt: str) -> Mark:
    """The sums of one instruction of a generation."""
    gen = GENERATIONS[arch]
    if fmt not in gen.formats:
        return frame(gen.name, note(t("refused", format=fmt), "fine"), look="empty")
    (m, n, k), _ = gen.at(fmt)
    return frame(gen.name, _sums(m, n, k), look="line")


def compute(format: str, tile: str) -> Block:
    """Show each generation's instruction: its shape, who runs it, where its operands lie, its rate
    and how many a tile takes."""
    br, bc, d = map(int, tile.split())
    rows, spoken = [], []
    for arch in ON_SCREEN:
        gen = GENERATIONS[arch]
        if format not in gen.formats:
            continue
        shape, fma = gen.at(format)
        count = instructions(arch, br, bc, d, format)
        rows.append(
            [
                gen.name,
                gen.instruction,
                gen.threads,
                gen.a,
                gen.b,
                gen.sums,
                f"{fma:,}",
                f"{count:,}",
            ]
        )
        wording = " × ".join(map(str, shape))
        spoken.append(
            t("spoken", name=gen.name, instruction=gen.instruction, shape=wording, n=count)
        )
    return picture(
        t("label", format=format),
        " ".join(spoken),
        row(*(_generation(arch, format) for arch in ON_SCREEN), align="stretch", grow=(3, 3, 4, 4)),
        column(
            table(t.row("head"), rows),
            note(t("scale", unit=UNIT, br=br, bc=bc, d=d), "fine"),
            aside=True,
        ),
    )


def question(arch: str, br: int, bc: int, d: int) -> dict:
    """The answer, and: d left out, counts added up."""
    each = [instructions(arch, *x) for x in ((br, 1, 1), (1, bc, 1), (1, 1, d))]
    return {"answer": float(instructions(arch, br, bc, d)), "wrong": (each[0] * each[1], sum(each))}
