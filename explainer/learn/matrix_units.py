"""What one matrix instruction multiplies, by generation and format."""

from dataclasses import dataclass

from explainer.base.cards import Card
from explainer.base.facts import number
from explainer.learn.content import stored

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
