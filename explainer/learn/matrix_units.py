"""Rung 13's widget: what one matrix instruction multiplies, by generation and format."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from explainer.base.cards import CARDS, Card
from explainer.learn.blocks import Block, Widget, table, text
from explainer.learn.content import stored
from explainer.learn.controls import pick

BITS = {"fp16": 16, "bf16": 16, "tf32": 32, "fp8": 8, "fp4": 4}  # of an operand in a register


@dataclass(frozen=True)
class Generation:
    """Matrix units of one architecture. ``shape`` (m, n, k) of one instruction with fp16 operands
    and fp32 sums, its largest; ``fma`` multiply-adds of an SM in a clock, fp16 with fp32 sums."""

    name: str
    instruction: str
    shape: tuple[int, int, int]
    threads: str
    fma: int
    formats: tuple[str, ...]
    source: str

    def at(self, fmt: str) -> tuple[tuple[int, int, int], int]:
        """Shape and multiply-adds a clock for another format: half the bits, twice the k."""
        m, n, k = self.shape
        return (m, n, k * 16 // BITS[fmt]), self.fma * 16 // BITS[fmt]


GENERATIONS = {entry.pop("arch"): Generation(**entry) for entry in stored("matrix_units")}


def clock_hz(card: Card) -> float:
    """The clock that a card's TFLOP/s of fp16 products belong to."""
    return card.tensor_tflops * 1e12 / (2 * GENERATIONS[card.arch].fma * card.sms)


def instructions(shape: tuple[int, int, int], br: int, bc: int, d: int) -> int:
    """How many of these one tile's S = Q Kᵀ takes; a started one counts whole."""
    m, n, k = shape
    return -(-br // m) * -(-bc // min(n, -(-bc // 8) * 8)) * -(-d // k)  # n in steps of 8


def _rate(arch: str, fmt: str) -> str:
    card = next((c for c in CARDS.values() if c.arch == arch), None)
    if card is None:
        return "—"
    return f"{card.tensor_tflops * 16 / BITS[fmt]:,.0f}"


def _formats(v: Mapping[str, float | str]) -> list[Block]:
    arch, br, bc, d = str(v["arch"]), int(v["br"]), int(v["bc"]), int(v["d"])
    asked, gen = str(v["format"]), GENERATIONS[arch]
    fmt = "tf32" if asked == "fp32" else asked
    rows = []
    for key, g in GENERATIONS.items():
        if fmt not in g.formats:
            rows.append((f"{key} {g.name}", g.instruction, "—", "—", "—"))
            continue
        (m, n, k), fma = g.at(fmt)
        rows.append((f"{key} {g.name}", f"{g.instruction}, {g.threads}", f"{m} × {n} × {k}",
                     f"{fma:,}", _rate(key, fmt)))  # fmt: skip
    label = f"One instruction with {fmt} operands, by generation"
    head = ("generation", "instruction", "m × n × k", "FMA an SM and clock", "TFLOP/s")
    out = [table(label, head, rows)]
    if asked == "fp32":
        out.append(text(
            "No matrix unit here multiplies fp32. It takes TF32: fp32's 8 exponent bits, 10 of its "
            "23 mantissa bits. Triton's tl.dot on fp32 is TF32 by default; PyTorch's matrix "
            "product needs to be allowed it.", "bad"))  # fmt: skip
    if fmt not in gen.formats:
        words = (
            f"The matrix units of {gen.name} do not take {fmt}: ordinary units, or a conversion."
        )
        return [*out, text(words, "bad")]
    shape, fma = gen.at(fmt)
    used, clocks = instructions(shape, br, bc, d), br * bc * d / fma
    out.append(text(
        f"S = Q Kᵀ of one tile, {br} × {bc} × {d}: {used:,} instruction{'s' * (used != 1)} on "
        f"{gen.name}, at least {clocks:,.0f} clocks of one SM."))  # fmt: skip
    if br < shape[0]:
        out.append(text(
            f"Br = {br} fills only part of m = {shape[0]}: the rest is wasted, or the compiler "
            "takes a smaller, slower instruction.", "bad"))  # fmt: skip
    words = "FMA: a multiply and an add, two FLOPs. Dense rates; other formats scaled from fp16 by"
    sums = "Sums in fp32; Hopper's fp8 units keep fewer bits of them."
    out.append(text(f"{words} their bits, as the data sheets do. {sums}", "fine"))
    sources = [(f"{key} {g.name}", g.source) for key, g in GENERATIONS.items()]
    return [*out, table("Where these numbers are from", ("generation", "source"), sources)]


WIDGETS = (Widget(
    "formats",
    "What one instruction multiplies",
    (
        pick("arch", "Generation", "sm_90",
             [(k, f"{k} {g.name}") for k, g in GENERATIONS.items()]),
        pick("format", "Format", "fp16", ("fp32", "tf32", "bf16", "fp16", "fp8", "fp4")),
        pick("br", "Br", 64, (16, 32, 64, 128, 256)),
        pick("bc", "Bc", 128, (16, 32, 64, 128, 256)),
        pick("d", "Head dimension d", 64, (16, 32, 64, 128, 256)),
    ),
    _formats,
),)  # fmt: skip
