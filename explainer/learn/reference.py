"""The reference: formulas typeset, figures with their sources, papers, and two pages to print."""

import re
from dataclasses import dataclass, replace
from typing import Any

from explainer.algorithms import tiling, traffic
from explainer.algorithms.algorithm import CONVENTIONS
from explainer.algorithms.registry import ALGORITHMS
from explainer.base.amounts import amount, listed
from explainer.base.cards import CARDS
from explainer.base.facts import FACTS, Fact
from explainer.base.records import about
from explainer.learn.blocks import Block, formula
from explainer.learn.content import stored
from explainer.learn.folder import read_shown
from explainer.learn.kit import read_blocks
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


def _order(order: str) -> tuple[str, list[str]]:
    """Return what an order saves for the backward pass, and by each convention its bytes."""
    saved, moved = ALGORITHMS[order].saved_for_backward, []
    for convention in CONVENTIONS:
        mine, standard = _moved(order, convention), _moved("standard", convention)
        moved.append(f"{_amount(mine)}, {mine / standard:.2f} ×")
    return listed([{"P": "P, N × N", "l": "ℓ"}.get(x, x) for x in saved]), moved


def _values() -> dict[str, Any]:
    """Return what reference.yaml names."""
    square = dict(levels.hbm_tensors(LARGE, "standard"))["S"]
    kept = dict(levels.hbm_tensors(LARGE, "fa2"))["lse"]
    computed, measured = traffic_series.gains(traffic_series.points(LARGE))
    far = [traffic.requested_bytes(n, 64, "full", "fp16", "fa2", 128, 128) for n in (8192, 16384)]
    tiles = tiling.counts(Problem(n=16, block_q=1, block_k=1, mask="causal"))
    card = CARDS["h200"]
    saved, moved = zip(*map(_order, ("standard", "fa1", "fa2")), strict=True)
    return globals() | {
        "facts": [_figure_row(x) for x in FACTS.values() if x.shown],
        "rates": [one.hbm_bytes_per_s / 1e9 for one in CARDS.values()],
        "saved": saved,
        "moved": moved,
        "times": square // kept,
        "square": _amount(square),
        "kept": _amount(kept),
        "asked": computed[PORTS],
        "dram": measured[DRAM],
        "about": about("traffic_nvidia_h200"),
        "doubled": far[1] / far[0],
        "tiles": 1 - tiles["skipped"] / 256,
        "card": card,
        "shared": _amount(card.shared_bytes),
        "registers": _amount(card.registers_per_sm_bytes),
        "side": tile_budget.largest_square(EXAMPLE, card),
    }


_FIRST = ("formula.1", "formula.4", "formula.5", "formula.7", "formula.8", "formula.11")

_SHOWN = {key: read_blocks(parts, _values()) for key, parts in read_shown("reference").items()}

FIGURE_BLOCKS = _SHOWN["facts"]
# The blocks of the two printed pages.
HANDOUT = (
    [*_SHOWN["handout1"], *(formula(FACTS[key].says, _MATHML[key]) for key in _FIRST)],
    _SHOWN["handout2"],
)
WIDGETS = {
    "formulas": lambda: list(FORMULA_BLOCKS),
    "facts": lambda: FIGURE_BLOCKS,
    "handout1": lambda: HANDOUT[0],
    "handout2": lambda: HANDOUT[1],
}
