"""What one matrix instruction multiplies, by generation and format."""

from __future__ import annotations

from dataclasses import dataclass

from explainer.base.cards import CARDS, Card
from explainer.base.facts import number
from explainer.learn.blocks import Block, t, text
from explainer.learn.content import stored
from explainer.learn.scene import box, draw_text, panel, scene

BITS = {"fp16": 16, "bf16": 16, "tf32": 32, "fp8": 8, "fp4": 4}  # of an operand in a register


@dataclass(frozen=True)
class Generation:
    """Matrix units of one architecture. ``shape`` (m, n, k) of one instruction with fp16 operands
    and fp32 sums, its largest, of which it does ``at_once``; ``fma`` multiply-adds of an SM in a
    clock, fp16 with fp32 sums; ``a``, ``b`` and ``sums`` where the operands and sums may lie."""

    name: str
    instruction: str
    shape: tuple[int, int, int]
    threads: str
    fma: int
    formats: tuple[str, ...]
    source: str
    a: str
    b: str
    sums: str
    at_once: int = 1

    def at(self, fmt: str) -> tuple[tuple[int, int, int], int]:
        """Shape and multiply-adds a clock for another format: half the bits, twice the k."""
        m, n, k = self.shape
        return (m, n, k * 16 // BITS[fmt]), self.fma * 16 // BITS[fmt]


GENERATIONS = {entry.pop("arch"): Generation(**entry) for entry in stored("matrix_units")}


ON_SCREEN = ("sm_70", "sm_80", "sm_90", "sm_100")
WIDTH, HEIGHT, SCALE = 196.0, 338.0, 0.5


def clock_hz(card: Card) -> float:
    """The clock that a card's TFLOP/s of fp16 products belong to."""
    return card.tensor_tflops * 1e12 / (2 * GENERATIONS[card.arch].fma * card.sms)


def exps_per_s(card: Card) -> float:
    """Exponentials of all SMs per second, at the clock of the card's product rate."""
    return number("sm.exps") * card.sms * clock_hz(card)


def instructions(arch: str, br: int, bc: int, d: int, fmt: str = "fp16") -> int:
    """How many of a generation's one tile's S = Q Kᵀ takes; a started one counts whole."""
    gen = GENERATIONS[arch]
    m, n, k = gen.at(fmt)[0]
    products = -(-br // m) * -(-bc // min(n, -(-bc // 8) * 8)) * -(-d // k)  # n in steps of 8
    return -(-products // gen.at_once)


def rate(arch: str, fmt: str) -> float | None:
    """TFLOP/s of the first card of this generation, dense; None where none is in the table."""
    found = next((c.tensor_tflops for c in CARDS.values() if c.arch == arch), None)
    if arch == "sm_70":  # no page has this card
        found = number("v100.tensor")
    return None if found is None else found * 16 / BITS[fmt]


def _shape(shape: tuple[int, int, int], gen: Generation) -> str:
    """As it stands in the picture: m × n × k, and how many of them."""
    wording = " × ".join(map(str, shape))
    return t("matrix_units.at_once", shape=wording, n=gen.at_once) if gen.at_once > 1 else wording


def _generation(arch: str, fmt: str, br: int, bc: int, d: int) -> dict[str, object]:
    """One instruction to scale: A (m, k), B (k, n), the sums (m, n), and who does what."""
    gen = GENERATIONS[arch]
    left, top = 30.0, 56.0
    shapes = [
        draw_text(0, 18, gen.name, "is-bold"),
        draw_text(0, 40, gen.instruction, "is-mono"),
    ]
    if fmt not in gen.formats:
        shapes.append(draw_text(0, 130, t("matrix_units.refused", format=fmt), "is-quiet"))
        return panel(WIDTH, HEIGHT, shapes)
    (m, n, k), fma = gen.at(fmt)
    high, wide, deep = (max(2.0, x * SCALE) for x in (m, n, k))
    for x in (left + at * (deep + wide + 16) for at in range(gen.at_once)):
        shapes += [
            box(x, top + deep + 4, deep, high, hue="q", look="is-full", key="a"),
            box(x + deep + 4, top, wide, deep, hue="k", look="is-full", key="b"),
            box(x + deep + 4, top + deep + 4, wide, high, hue="o", key="c"),
        ]
    speed = rate(arch, fmt)
    lines = (
        (_shape((m, n, k), gen), "is-bold"),
        (gen.threads, "is-small"),
        (f"A: {gen.a}", "is-small"),
        (f"B: {gen.b}", "is-small"),
        (t("matrix_units.sums", where=gen.sums), "is-small"),
        (t("matrix_units.fma", n=fma), "is-small"),
        (f"{speed:,.0f} TFLOP/s" if speed else "", "is-small"),
        (t("matrix_units.per_tile", n=instructions(arch, br, bc, d, fmt)), "is-bold"),
    )
    below = [draw_text(0, 176 + 22 * at, words, look) for at, (words, look) in enumerate(lines)]
    return panel(WIDTH, HEIGHT, shapes, below)


def _cores(format: str, tile: str) -> list[Block]:
    br, bc, d = (int(x) for x in tile.split())
    spoken = []
    for arch in ON_SCREEN:
        gen = GENERATIONS[arch]
        if format not in gen.formats:
            spoken.append(t("matrix_units.refused_words", name=gen.name, format=format))
            continue
        shape, fma = gen.at(format)
        spoken.append(
            t(
                "matrix_units.words",
                name=gen.name,
                instruction=gen.instruction,
                shape=_shape(shape, gen),
                threads=gen.threads,
                a=gen.a,
                b=gen.b,
                sums=gen.sums,
                fma=fma,
                n=instructions(arch, br, bc, d, format),
            )
        )
    return [
        scene(
            t("matrix_units.label", format=format),
            " ".join(spoken),
            *(_generation(arch, format, br, bc, d) for arch in ON_SCREEN),
        ),
        text(t("matrix_units.note"), "fine"),
    ]


WIDGETS = {
    "cores": _cores,
}


def _count(arch: str, br: int, bc: int, d: int) -> dict:
    """The answer, and: d left out, counts added up."""
    each = [instructions(arch, *x) for x in ((br, 1, 1), (1, bc, 1), (1, 1, d))]
    return {"answer": float(instructions(arch, br, bc, d)), "wrong": (each[0] * each[1], sum(each))}


QUESTIONS = {"cores": _count}
