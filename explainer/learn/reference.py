"""The reference: formulas typeset, figures with their sources, papers, and two pages to print."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from explainer.algorithms import tiling, traffic
from explainer.algorithms.algorithm import CONVENTIONS
from explainer.algorithms.registry import ALGORITHMS
from explainer.base.amounts import amount, listed
from explainer.base.cards import CARDS, Card
from explainer.base.facts import FACTS, Fact
from explainer.base.records import about
from explainer.learn.blocks import Block, formula, t, table, text
from explainer.learn.content import stored
from explainer.learn.linear_algebra import make_problem
from explainer.memory import levels, tile_budget, traffic_series
from explainer.memory.traffic_series import DRAM, PORTS
from explainer.memory.workload import Workload
from explainer.problem import Problem

# {entry of the register, which says what it is: MathML inside of <math>}; what each one says is
# checked in tests/learn/test_reference.py.
_MATHML: dict[str, str] = stored("formulas")


def _formula(key: str) -> Block:
    return formula(FACTS[key].says, _MATHML[key], FACTS[key].ground)


FORMULA_BLOCKS: tuple[Block, ...] = tuple(map(_formula, _MATHML))

# ---- figures and their sources -------------------------------------------------------------------


def _figure_row(entry: Fact) -> tuple[str, ...]:
    """Figures and days in one piece each."""
    figure = re.sub("(?<!,) ", "\u00a0", entry.shown)
    day = entry.looked_up.replace("-", "\u2011")
    return figure, entry.says, entry.ground, day


def _card_row(card: Card) -> tuple[str, ...]:
    return (
        card.name,
        str(card.sms),
        amount(card.hbm_bytes),
        f"{card.hbm_bytes_per_s / 1e9:,.0f}",
        amount(card.l2_bytes),
        amount(card.shared_bytes),
        f"{card.tensor_tflops:g}",
        f"{card.fp32_tflops:g}",
        card.source,
    )


FIGURE_BLOCKS: tuple[Block, ...] = (
    table(
        t("reference.figures"),
        t.row("reference.figures.head"),
        [_figure_row(x) for x in FACTS.values() if x.shown],
    ),
    table(
        t("reference.cards"),
        t.row("reference.cards.head"),
        [_card_row(card) for card in CARDS.values()],
    ),
)

# ---- papers and further reading ------------------------------------------------------------------


@dataclass(frozen=True)
class Paper:
    """``where``: an arXiv id ("2205.14135") or, for what is not there, the place, as text."""

    title: str
    authors: str
    year: int
    where: str
    brought: str

    @property
    def url(self) -> str:
        """Where it can be read; "" for what has no address."""
        if self.where[:4].isdigit():
            return f"https://arxiv.org/abs/{self.where}"
        return f"https://{self.where}" if re.fullmatch(r"[\w.-]+\.\w+/\S*", self.where) else ""

    @property
    def place(self) -> str:
        """Where it is, as text."""
        return f"arXiv {self.where}" if self.where[:4].isdigit() else self.where


PAPERS = tuple(Paper(**entry) for entry in stored("papers"))
READING = stored("reading")  # (what it is, what for)

# ---- the handout ---------------------------------------------------------------------------------

EXAMPLE = make_problem(1024, 64, 64, dtype="fp16")
LARGE = Workload(card="h200", n=4096, d=64, block_q=64, block_k=64, batch=1, heads=1)

# phase, what is computed, the symbols in it; the last two stand after the loop over j.
LINES = stored("handout")


def _amount(n_bytes: int) -> str:
    """In one piece: no line of the printed sheet ends within it."""
    return amount(n_bytes).replace(" ", "\u00a0")


def _moved(order: str, convention: str) -> int:
    return traffic.both(traffic.summed(replace(EXAMPLE, order=order), convention))


def _orders() -> tuple[Block, Block]:
    names, how = t.named("reference.names"), t.named("reference.loops")
    shown, loops, counted = t.named("reference.saved"), [], []
    for order, forms in t.named("reference.forms").items():
        name = names[order]
        saved = listed([shown.get(x, x) for x in ALGORITHMS[order].saved_for_backward])
        loops.append((name, how[order], saved))
        row = [name]
        for convention, form in zip(CONVENTIONS, forms, strict=True):
            moved, standard = _moved(order, convention), _moved("standard", convention)
            row += [form, f"{_amount(moved)}, {moved / standard:.2f} ×"]
        counted.append(tuple(row))
    example = t(
        "reference.example", n=EXAMPLE.n, d=EXAMPLE.d, side=EXAMPLE.block_q, dtype=EXAMPLE.dtype
    )
    head = t.row("reference.bytes.head")
    return (
        table(t("reference.orders"), t.row("reference.orders.head"), loops),
        table(t("reference.bytes", shown=example), head, counted),
    )


def numbers() -> tuple[tuple[str, str], ...]:
    """Five numbers to remember: (number, what it is)."""
    square = dict(levels.hbm_tensors(LARGE, "standard"))["S"]
    saved = dict(levels.hbm_tensors(LARGE, "fa2"))["lse"]
    computed, measured = traffic_series.gains(LARGE)
    far = [traffic.requested_bytes(n, 64, "full", "fp16", "fa2", 128, 128) for n in (8192, 16384)]
    tiles = tiling.counts(Problem(n=16, block_q=1, block_k=1, mask="causal"))
    card = CARDS["h200"]
    side = tile_budget.largest_square(EXAMPLE, card)
    return (
        (
            f"{square // saved:,} ×",
            t("reference.number.s", n=LARGE.n, square=_amount(square), kept=_amount(saved)),
        ),
        (
            t("reference.number.gains", gains=computed[PORTS], dram=measured[DRAM]),
            t("reference.number.bytes", n=LARGE.n, about=about("traffic_nvidia_h200")),
        ),
        (f"{far[1] / far[0]:.2f} ×", t("reference.number.doubled")),
        (f"{1 - tiles['skipped'] / 256:.3f}", t("reference.number.tiles")),
        (
            _amount(card.shared_bytes),
            t(
                "reference.number.tile",
                card=card.name,
                registers=_amount(card.registers_per_sm_bytes),
                side=side,
                d=EXAMPLE.d,
                dtype=EXAMPLE.dtype,
            ),
        ),
    )


_FIRST = ("formula.1", "formula.4", "formula.5", "formula.7", "formula.8", "formula.11")

# The blocks of the two printed pages.
HANDOUT = (
    (
        text(t("reference.handout.intro")),
        table(t("reference.handout.lines"), t.row("reference.handout.lines_head"), LINES),
        *(formula(FACTS[key].says, _MATHML[key]) for key in _FIRST),
    ),
    (
        *_orders(),
        table(t("reference.handout.numbers"), t.row("reference.handout.numbers_head"), numbers()),
        text(t("reference.handout.counts"), "fine"),
        text(t("reference.handout.sources"), "fine"),
    ),
)
WIDGETS = {
    "formulas": lambda: list(FORMULA_BLOCKS),
    "facts": lambda: list(FIGURE_BLOCKS),
    "handout1": lambda: list(HANDOUT[0]),
    "handout2": lambda: list(HANDOUT[1]),
}
