"""The reference: formulas typeset, figures with their sources, papers, and two pages to print."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from explainer.algorithms import tiling, traffic
from explainer.algorithms.algorithm import ASKED, CONVENTIONS
from explainer.algorithms.registry import ALGORITHMS, LABELS
from explainer.base.amounts import amount
from explainer.base.cards import CARDS, Card
from explainer.base.facts import FACTS, Fact
from explainer.base.records import about
from explainer.learn.blocks import Block, formula, table, text
from explainer.learn.content import stored
from explainer.memory import levels, tile_budget, traffic_series
from explainer.memory.traffic_series import DRAM
from explainer.memory.workload import Workload
from explainer.problem import Problem

# ---- formulas: constant MathML, built from words separated by spaces -----------------------------


def _token(token: str) -> str:
    """x a letter or word, 2 a number, else an operator; x_y below, x^y above, x′ primed."""
    if token.endswith("′"):
        return f"<msup>{_token(token[:-1])}<mo>′</mo></msup>"
    for mark, tag in (("^", "msup"), ("_", "msub")):
        if mark in token[1:]:
            base, other = token.rsplit(mark, 1)
            return f"<{tag}>{_token(base)}{_token(other)}</{tag}>"
    if token.replace(".", "").isdigit():
        return f"<mn>{token}</mn>"
    if token.isalpha():
        upright = ' mathvariant="normal"' if token == "Θ" else ""
        return f"<mi{upright}>{token}</mi>"
    return f"<mo>{token}</mo>"


FUNCTIONS = frozenset(("softmax", "exp", "log", "max", "min", "rowmax", "rowsum"))
APPLIED = "<mo>&#x2061;</mo>"  # the invisible “of”; a space is drawn where no bracket follows
OF = APPLIED + '<mspace width="0.17em"></mspace>'


def _flat(words: str) -> str:
    """Tokens beside each other; brackets are a pair only within one row."""
    tokens = words.split()
    parts = []
    for token, after in zip(tokens, [*tokens[1:], "("], strict=True):
        of = (APPLIED if after == "(" else OF) if token in FUNCTIONS else ""
        parts.append(_token(token) + of)
    return "".join(parts)


def _row(words: str) -> str:
    return f"<mrow>{_flat(words)}</mrow>"


def _frac(above: str, below: str) -> str:
    return f"<mfrac>{_row(above)}{_row(below)}</mfrac>"


def _root(of: str) -> str:
    return f"<msqrt>{_row(of)}</msqrt>"


def _over(operator: str, index: str) -> str:
    return f"<munder><mo>{operator}</mo>{_row(index)}</munder>"


_SUM_K, _SUM_P = _over("∑", "k"), _over("∑", "p")
_QK = _row("Q K^⊤")

# (label, what is inside of <math>); what each one says is checked in tests/learn/test_reference.py.
FORMULAS: tuple[tuple[str, str], ...] = (
    ("Attention", _flat("O = softmax (") + f"<mfrac>{_QK}{_root('d')}</mfrac>" + _flat(") V")),
    ("Softmax of a row", _row("P_j =")
     + f"<mfrac>{_row('exp ( S_j )')}<mrow>{_SUM_K}{_row('exp ( S_k )')}</mrow></mfrac>"),
    ("Safe softmax of a row", _row("m = max S , P_j =")
     + f"<mfrac>{_row('exp ( S_j − m )')}<mrow>{_SUM_K}{_row('exp ( S_k − m )')}</mrow></mfrac>"),
    ("Running maximum", _row("m′ = max ( m , rowmax S )")),
    ("Rescaling factor", _row("α = exp ( m − m′ )")),
    ("Weights of a tile", _row("P = exp ( S − m′ )")),
    ("Running sum", _row("ℓ′ = α ℓ + rowsum P")),
    ("Running output, FA-2", _row("O′ = α O + P V")),
    ("Division at the end, FA-2", _row("O =") + _frac("O′", "ℓ′")),
    ("Running output, FA-1", _row("O′ =") + _frac("ℓ α O + P V", "ℓ′")),
    ("Log-sum-exp", _row("lse = m + log ℓ")),
    ("Weights again, from lse", _row("P = exp ( S − lse )")),
    ("Parts of the keys combined: lse", _row("lse = log") + _SUM_P + _row("exp ( lse_p )")),
    ("Parts of the keys combined: O", _row("O =") + _SUM_P + _row("exp ( lse_p − lse ) O_p")),
    ("Elements asked, standard", _row("N d + Tc N d + 2 Tr N d + 4 N^2")),
    ("Elements asked, FA-1", _row("2 N d + Tc ( 3 N d + 4 N )")),
    ("Elements asked, FA-2", _row("2 N d + 2 Tr N d + N")),
    ("Least elements, standard", _row("4 N d + 4 N^2")),
    ("Least elements, FA-1", _row("4 N d + 2 N")),
    ("Least elements, FA-2", _row("4 N d + N")),
    ("Tiles computed when causal, of T × T", _frac("T + 1", "2 T")),
    ("Bound on the elements asked", _flat("Θ (") + _frac("N^2 d^2", "M") + _flat(")")),
    ("Block rule of the FA-1 paper", _flat("Bc = ⌈") + _frac("M", "4 d")
     + _flat("⌉ , Br = min ( Bc , d )")),
    ("Operations, forward", _row("4 B H N^2 d")),
)  # fmt: skip

# The register's entry of each formula, by its label
GROUNDS = {entry.says: entry.ground for entry in FACTS.values() if not entry.shown}
FORMULA_BLOCKS: tuple[Block, ...] = tuple(formula(x, ml, GROUNDS.get(x, "")) for x, ml in FORMULAS)

# ---- figures and their sources -------------------------------------------------------------------


def _figure_row(entry: Fact) -> tuple[str, ...]:
    """Figures and days in one piece each."""
    figure = re.sub("(?<!,) ", "\u00a0", entry.shown)
    day = entry.looked_up.replace("-", "\u2011")
    return figure, entry.says, entry.ground, day


def _card_row(card: Card) -> tuple[str, ...]:
    return (
        card.name, str(card.sms), amount(card.hbm_bytes), f"{card.hbm_bytes_per_s / 1e9:,.0f}",
        amount(card.l2_bytes), amount(card.shared_bytes), f"{card.tensor_tflops:g}",
        f"{card.fp32_tflops:g}", card.source,
    )  # fmt: skip


FIGURES: tuple[Block, ...] = (
    table("Figures", ("Figure", "What it is", "From", "Looked up"),
          [_figure_row(x) for x in FACTS.values() if x.shown]),
    table("Cards: what the driver reports and NVIDIA's documents say",
          ("Card", "SMs", "Memory", "GB/s", "L2", "Shared memory of a block", "fp16 TFLOP/s",
           "fp32 TFLOP/s", "From"), [_card_row(card) for card in CARDS.values()]),
)  # fmt: skip

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

SHOWN = Problem(n=1024, d=64, block_q=64, block_k=64, causal=False, dtype="fp16", inputs="random")
LARGE = Workload(card="h200", n=4096, d=64, block_q=64, block_k=64, batch=1, heads=1)

# phase, what is computed, the symbols in it; the last two stand after the loop over j.
LINES = stored("handout")
ORDER_FACTS = {  # loops; elements asked and least
    "standard": ("three passes over everything", "Nd + Tc·Nd + 2·Tr·Nd + 4N²", "4Nd + 4N²"),
    "fa1": ("keys outside, rows inside", "2Nd + Tc(3Nd + 4N)", "4Nd + 2N"),
    "fa2": ("rows outside, keys inside", "2Nd + 2·Tr·Nd + N", "4Nd + N"),
}
KEPT = {"P": "P, N × N", "l": "ℓ"}  # how a reader sees what is kept


def _amount(n_bytes: int) -> str:
    """In one piece: no line of the printed sheet ends within it."""
    return amount(n_bytes).replace(" ", "\u00a0")


def _moved(order: str, convention: str) -> int:
    return traffic.both(traffic.summed(replace(SHOWN, order=order), convention))


def _orders() -> tuple[Block, Block]:
    loops, counted = [], []
    for order, (how, *forms) in ORDER_FACTS.items():
        name = LABELS[order].replace("Standard", "standard")
        loops.append((name, how, " and ".join(KEPT.get(t, t) for t in ALGORITHMS[order].kept)))
        row = [name]
        for convention, form in zip(CONVENTIONS, forms, strict=True):
            moved, standard = _moved(order, convention), _moved("standard", convention)
            row += [form, f"{_amount(moved)}, {moved / standard:.2f} ×"]
        counted.append(tuple(row))
    shown = f"N = {SHOWN.n:,}, d = {SHOWN.d}, tiles {SHOWN.block_q}², {SHOWN.dtype}"
    head = ("", "Elements asked", "Bytes asked", "Least elements", "Least bytes")
    return (
        table(
            "The three orders", ("Order", "Loops", "Kept for backward, beside Q, K, V, O"), loops
        ),
        table(f"Bytes of one head, and × standard's: {shown}", head, counted),
    )


def numbers() -> tuple[tuple[str, str], ...]:
    """Five numbers to remember: (number, what it is)."""
    square = dict(levels.tensors(LARGE, "standard"))["S"]
    kept = dict(levels.tensors(LARGE, "fa2"))["lse"]
    gains = traffic_series.gains(LARGE) or {}
    far = [traffic.asked(n, 64, "full", "fp16", "fa2", 128, 128) for n in (8192, 16384)]
    tiles = tiling.counts(Problem(n=16, block_q=1, block_k=1, causal=True))
    card = CARDS["h200"]
    side = tile_budget.largest_square(SHOWN, card)
    return (
        (f"{square // kept:,} ×", f"S of one head at N = {LARGE.n:,} "
         f"({_amount(square)}) against lse ({_amount(kept)})"),
        (f"{gains[ASKED]:.1f} × and {gains[DRAM]:.0f} ×", "fewer bytes with FA-2 than with "
         f"standard attention, N = {LARGE.n:,}, both in 64 × 64 tiles: asked, and "
         f"measured at DRAM ({about('traffic_nvidia_h200')})"),
        (f"{far[1] / far[0]:.2f} ×", "bytes asked when N doubles from 8,192, "
         "128 × 128 tiles: IO stays quadratic"),
        (f"{1 - tiles['skipped'] / 256:.3f}", "of the tiles are computed when causal, 16 a side: "
         "more than half"),
        (_amount(card.shared_bytes), f"of shared memory for one program's Q, K and V on an "
         f"{card.name}, and {_amount(card.registers_per_sm_bytes)} of registers for S and O: "
         f"room for a tile of {side} × {side} at d = {SHOWN.d}, {SHOWN.dtype}"),
    )  # fmt: skip


@dataclass(frozen=True, eq=False)
class Page:
    """One printed page: its title and its blocks from top to bottom."""

    title: str
    blocks: tuple[Block, ...]


_FIRST = ("Attention", "Running maximum", "Rescaling factor", "Running sum", "Running output, FA-2",
          "Log-sum-exp")  # fmt: skip

HANDOUT = (
    Page("FlashAttention on two pages: the algorithm", (
        text("Softmax needs a row's maximum before its first exp. Online softmax does without: it "
             "keeps m and ℓ, and rescales by α when the maximum rises. So S never leaves the "
             "chip, and the result is exact."),
        table("FlashAttention-2, one head, forward", ("Phase", "Line", "Symbols"), LINES),
        *(formula(label, ml) for label, ml in FORMULAS if label in _FIRST),
    )),
    Page("FlashAttention on two pages: what it costs", (
        *_orders(),
        table("Five numbers to remember", ("Number", "What it is"), numbers()),
        text("Bytes asked: every load and store of every tile, which the L2 cache answers. Least: "
             "each matrix once a kernel, which HBM moves when caches answer every repeat. Extra "
             "memory and FA's least grow with N, what is asked still with N². Forward operations "
             "are the same within 1 %; the backward pass does a quarter more products.", "fine"),
        text("Sources: arXiv 2205.14135, 2307.08691, 1805.02867. Every number is computed by this "
             "app's own code, but what is said to be measured.", "fine"),
    )),
)  # fmt: skip
