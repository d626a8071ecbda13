"""What stands below the questions of Level 0 once they are answered: the same thing computed."""

from __future__ import annotations

import numpy as np

from explainer.algorithms.traffic import asked, least
from explainer.base.amounts import amount, shown, written
from explainer.base.cards import CARDS
from explainer.base.formats import FORMATS
from explainer.learn.blocks import Block, bars, matrix, table, text
from explainer.learn.rungs_low import measures, products, softmax
from explainer.learn.safe import in_format
from explainer.memory.levels import levels
from explainer.memory.workload import Workload

VECTOR = np.array([3.0, 4.0])
PAIR = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
LEFT, RIGHT = np.array([[1, 2], [3, 4]]), np.array([[2, 0], [1, 3]])
LARGE = np.array([1000.0, 1001.0, 1002.0])
CAT_SCORES = np.array([[2.1, 6.5, 3.4]])
WORDS = ("The", "cat", "sat")
FOUR = np.tile([1.0, 2.0, 3.0, 4.0], (4, 1))
SCORES = np.arange(1.0, 10.0).reshape(3, 3)
HIDDEN = np.array([[0, 0, 1], [0, 1, 1], [0, 0, 0]])
CARD, N, D = "h100", 4096, 64  # of the three questions about memory


def norm() -> list[Block]:
    return [text(f"√({products(VECTOR, VECTOR, 0)}) = {shown(measures(VECTOR, VECTOR)['norm_a'])}")]


def dot() -> list[Block]:
    dot = measures(*PAIR)["dot"]
    return [text(f"{products(PAIR[0], PAIR[1], 0)} = {shown(dot, 0)}")]


def product() -> list[Block]:
    return [
        matrix("A", LEFT, colour="q", digits=0),
        matrix("B", RIGHT, colour="k", digits=0),
        matrix("A B", LEFT @ RIGHT, colour="o", digits=0),
        matrix("B A, which is another matrix", RIGHT @ LEFT, digits=0),
    ]


def share() -> list[Block]:
    e = np.exp(PAIR[:1])
    return [
        matrix("exp of each, and softmax: divided by their sum", np.vstack([e, e / e.sum()]),
               row_labels=("exp", "softmax"), col_labels=("1", "2", "3"), digits=3, heat=False),
    ]  # fmt: skip


def axis() -> list[Block]:
    return [
        matrix("dim = 1: along each row", softmax(PAIR, 1), colour="s", digits=3, heat=True),
        matrix("dim = 0: down each column", softmax(PAIR, 0), colour="s", digits=3, heat=True),
    ]


def memory() -> list[Block]:
    found, card = levels(Workload(n=N, d=D, card=CARD)), CARDS[CARD]
    shared, hbm = (next(x for x in found if x.key == key) for key in ("shared", "hbm"))
    items = [
        (x.name, x.bytes_per_s / 1e12, f"{x.bytes_per_s / 1e12:.3g} TB/s, {amount(x.size_bytes)}")
        for x in (shared, hbm)
    ]
    return [
        bars(f"Rate and size, {card.name}", items, colour="m"),
        text(
            f"Sources: {card.source}. Shared memory: {card.shared_bytes_per_clock} bytes per SM "
            "and clock.",
            "fine",
        ),
    ]


def maximum() -> list[Block]:
    plain, safe = (in_format(LARGE, "fp32", subtract) for subtract in (False, True))
    return [
        matrix("exp of the numbers as they are, and the weights", [plain["e"], plain["weights"]],
               row_labels=("exp", "weights"), digits=3),
        matrix("With the maximum subtracted first", [safe["z"], safe["e"], safe["weights"]],
               row_labels=("x − m", "exp", "weights"), digits=3),
    ]  # fmt: skip


def tiles() -> list[Block]:
    items = [
        (f"{side} × {side}", float(moved), amount(moved))
        for side in (1, 16, 64, 128)
        for moved in [asked(N, D, "full", "fp16", "fa2", side, side)]
    ]
    title = f"Bytes that FA-2 asks L2 for, N = {N:,}, d = {D}, fp16, by its tiles"
    return [
        bars(title, items, colour="o", log=True),
        text("The products are the same in all four: only how often K and V are read differs."),
    ]


def cat() -> list[Block]:
    return [
        matrix("Softmax of the scores of “cat”", np.vstack([CAT_SCORES, softmax(CAT_SCORES)]),
               row_labels=("score", "weight"), col_labels=WORDS, digits=3, colour="s"),
    ]  # fmt: skip


def causal() -> list[Block]:
    add = np.where(np.tril(np.ones((4, 4))) == 1, 0.0, -np.inf)
    return [
        matrix("The mask that is added", add, digits=0),
        matrix("Softmax of scores 1, 2, 3, 4 in every row, masked", softmax(FOUR + add),
               colour="s", digits=3, heat=True),
    ]  # fmt: skip


def zero_one() -> list[Block]:
    masked = np.where(HIDDEN == 1, -np.inf, SCORES)
    marks = [(int(r), int(c)) for r, c in np.argwhere(HIDDEN)]
    return [
        matrix("Scores, −∞ where the mask is 1", masked, digits=0, marks=marks),
        matrix("Weights", softmax(masked), colour="s", digits=3, heat=True, marks=marks),
    ]


def fusion_bytes() -> tuple[int, int]:
    """The least bytes of one head: three kernels, and FA-2."""
    return tuple(least(N, D, "fp16", order) for order in ("standard", "fa2"))


def fusion() -> list[Block]:
    apart, fused = fusion_bytes()
    items = [("three kernels", float(apart), amount(apart)), ("one", float(fused), amount(fused))]
    return [
        bars(f"Bytes through HBM, at least, one head, N = {N:,}, d = {D}, fp16", items,
             colour="s"),
        text(f"{apart / fused:.1f} times fewer, not none: Q, K and V come in and O goes out. (The "
             "L2 cache is asked for K and V again for every row block.)"),
    ]  # fmt: skip


def sixteen() -> list[Block]:
    half = CARDS[CARD].tensor_tflops
    rates = {"fp32": CARDS[CARD].fp32_tflops, "fp16": half, "bf16": half}
    rows = [
        (name, f"{f.width // 8}", f"{f.mantissa_bits}", written(f.largest, 3), f"{rates[name]:g}")
        for name in ("fp32", "fp16", "bf16")
        for f in [FORMATS[name]]
    ]
    head = ("format", "bytes", "mantissa bits", "largest number", "TFLOP/s")
    return [
        table(f"What a format costs and gives; rates of the {CARDS[CARD].name}", head, rows),
        text(f"Rates: {CARDS[CARD].source}.", "fine"),
    ]
