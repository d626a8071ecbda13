"""What one tensor-core instruction multiplies, by generation and format, to scale."""

import numpy as np

from explainer.learn.kit import Block, Words
from explainer.learn.matrix_units import GENERATIONS, instructions

t = Words(__name__)

ON_SCREEN = ("sm_70", "sm_80", "sm_90", "sm_100")
UNIT = 32  # numbers that a drawn cell stands for, each way


def compute(format: str, tile: str) -> Block:
    """Show each generation's instruction: its shape, who runs it, where its operands lie, its rate
    and how many a tile takes."""
    br, bc, d = map(int, tile.split())
    cards = [GENERATIONS[arch] for arch in ON_SCREEN]
    counts, shapes, rates, drawings = {}, {}, {}, {}
    for arch, gen in zip(ON_SCREEN, cards, strict=True):
        if format in gen.formats:
            shapes[gen.name], rates[gen.name] = gen.at(format)
            counts[gen.name] = instructions(arch, br, bc, d, format)
            m, n, _ = shapes[gen.name]
            drawings[gen.name] = np.ones((max(1, m // UNIT), max(1, n // UNIT)))
    able = [gen for gen in cards if gen.name in counts]
    spoken = [
        t(
            "said",
            name=gen.name,
            instruction=gen.instruction,
            shape=" × ".join(map(str, shapes[gen.name])),
            n=counts[gen.name],
        )
        for gen in able
    ]
    return t.picture(
        format=format,
        br=br,
        bc=bc,
        d=d,
        said=" ".join(spoken),
        names=[gen.name for gen in cards],
        shapes=[shapes.get(gen.name) for gen in cards],
        drawings=[drawings.get(gen.name) for gen in cards],
        able=able,
        rates=rates,
        counts=counts,
    )


def question(arch: str, br: int, bc: int, d: int) -> dict:
    """The answer, and: d left out, counts added up."""
    each = [instructions(arch, *x) for x in ((br, 1, 1), (1, bc, 1), (1, 1, d))]
    return {"answer": float(instructions(arch, br, bc, d)), "wrong": (each[0] * each[1], sum(each))}
