# ruff: noqa: E501
"""Every claim of a phase's sentence about rows, α, bytes and tiles, against NumPy's trace.

``CLAIMS`` has a pattern per kind of sentence; a name in angle brackets is a value of ``VALUES``, what
else it catches its condition judges, worked out here from the trace, a dense mask and the transfers.
A sentence that no pattern knows fails, and so does a number that no pattern caught.
"""

import json
import random
import re
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from explainer.algorithms.registry import OF_PASS
from explainer.algorithms.traffic import both, summed
from explainer.base.amounts import amount
from explainer.problem import Problem
from explainer.trace import TRACES
from explainer.web.wire import pack
from kernels.spec.fields import ORDERS
from kernels.spec.masks import parse
from tests.by_hand import NAMES, drawn, scores, seen, softmax
from tests.tables import table
from tests.tools import NODE

TABLE = table(__file__)

NUMBER = r"\(?(?:−?∞|NaN|−?[\d.]+(?:e−?\d+)?)\)?"
COUNT, LIST, SIZE = r"[\d,]+", r"[\d, and]+", r"[\d.,]+ \w+"
SUBSCRIPTS = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")


def is_number(text: str, x: float) -> bool:
    """Whether ``text`` is x as far as it is written out."""
    text = text.strip("()").replace("−", "-").replace(",", "")
    if "∞" in text or text == "NaN":
        return str(float(x)) == text.replace("∞", "inf").replace("NaN", "nan")
    digits, _, power = text.partition("e")
    places = len(digits.partition(".")[2])
    return abs(float(text) - float(x)) <= 0.5001 * 10.0 ** (int(power or 0) - places) + 1e-12


def items(names: str) -> list[str]:
    return re.split(r", | and | … ", names)


def agrees(text: str, wanted: Any) -> bool:
    """Is this the value: a size, a list of rows, or a number as far as it is written out?"""
    if isinstance(wanted, str):
        return text == wanted
    if isinstance(wanted, list):
        return [int(k) for k in items(text)] == wanted
    return is_number(text, wanted)


class Place:
    """A phase of a visit, and the row that its sentence is about."""

    def __init__(self, run: Any, pass_: str, said: dict) -> None:
        self.run, self.p, self.pass_, self.said = run, run.problem, pass_, said
        self.visit = run.visits[said["step"]]
        self.phase, self.row = said["phase"], said["row"]
        n, i, j = self.p.n, self.visit.i, self.visit.j
        every = np.arange(n)
        self.rows = every[:0] if i is None else every[i * self.p.block_q :][: self.p.block_q]
        self.cols = every if j is None else every[j * self.p.block_k :][: self.p.block_k]
        self.r = None if self.row is None else int(self.row - self.rows[0])
        self.seen = seen(self.p)
        self.tile = self.seen[np.ix_(self.rows, self.cols)]
        self.order = OF_PASS[pass_][self.p.order]

    def of(self, name: str) -> float:
        """A statistic of the followed row."""
        return getattr(self.visit, name)[self.r]

    def kept(self) -> list[int]:
        """The rows that had a maximum and keep it."""
        v = self.visit
        return self.rows[(v.m_new == v.m_old) & (v.m_old > -np.inf)].tolist()

    def blind(self) -> list[int]:
        """The rows that see no key at all."""
        return self.rows[~self.seen[self.rows].any(1)].tolist()

    def moved(self, op: str) -> list:
        """The visit's transfers of this kind, in order."""
        return [t for t in self.visit.transfers if t.op == op]

    def tensors(self, op: str) -> set[str]:
        return {t.tensor for t in self.moved(op)}

    def size(self, *tensors: str) -> str:
        """Bytes written of these tensors, or of all."""
        written = self.moved("write")
        return amount(sum(t.nbytes for t in written if not tensors or t.tensor in tensors))

    def is_first(self) -> bool:
        """Does no visit of the same rows before it compute something, in this lane?"""
        now = self.visit
        return not any(
            v.i == now.i and v.phases and v.lane == now.lane and v.stage is None
            for v in self.run.visits[: self.said["step"]]
        )

    def rises(self) -> bool:
        return self.of("m_new") > self.of("m_old") > -np.inf

    def stays(self) -> bool:
        top, now = self.of("m_old"), self.of("m_new")
        return now == top > -np.inf and self.of("row_max") <= top

    def is_whole_row(self) -> bool:
        return self.visit.stage in ("softmax", "combine")

    def adds(self) -> list:
        """The visits that add to dQ of these rows."""
        same = [v for v in self.run.visits if v.i == self.visit.i and v.stage is None]
        return [v for v in same if v.part_dQ is not None]


STATS = ("m_old", "m_new", "row_max", "alpha", "l_old", "row_sum", "l_new")
# What a sentence may name: how it is written, and what it is.
VALUES: dict[str, tuple[str, Callable[[Place], Any]]] = {
    **{name: (NUMBER, lambda p, name=name: p.of(name)) for name in STATS},
    "row": (COUNT, lambda p: p.row),
    "sink": (NUMBER, lambda p: p.p.sink),
    "D": (NUMBER, lambda p: p.run.D[p.row]),
    "lse": (NUMBER, lambda p: p.run.lse[p.blind()][0]),
    "dropout": (NUMBER, lambda p: p.p.dropout),
    "rest": (NUMBER, lambda p: 1 - p.p.dropout),
    "n": (COUNT, lambda p: p.p.n),
    "n2": (COUNT, lambda p: p.p.n),
    "last": (COUNT, lambda p: p.p.n - 1),
    "rows": (COUNT, lambda p: len(p.rows)),
    "keys": (COUNT, lambda p: len(p.cols)),
    "lanes": (COUNT, lambda p: p.p.block_k - len(p.cols)),
    "parts_of_keys": (COUNT, lambda p: p.order.lanes),
    "hidden": (COUNT, lambda p: (~p.tile).sum()),
    "scores": (COUNT, lambda p: p.tile.size),
    "kept": (LIST, Place.kept),
    "kept_count": (COUNT, lambda p: len(p.kept())),
    "blind": (LIST, Place.blind),
    "part": (COUNT, lambda p: p.adds().index(p.visit) + 1),
    "parts": (COUNT, lambda p: len(p.adds())),
    "size": (SIZE, lambda p: p.size(*(("dQ",) if p.phase == "dQ" else ()))),
    "dKV_size": (SIZE, lambda p: p.size("dK", "dV")),
}


def name_of(t) -> str:
    block = t.block if isinstance(t.block, tuple) else (t.block,)
    return ("ℓ" if t.tensor == "l" else t.tensor) + "".join(map(str, block)).translate(SUBSCRIPTS)


def moves(p: Place, names: str, way: str, size: str) -> bool:
    """These blocks cross, all of them unless some are left out, and so many bytes."""
    crossing = p.moved("read" if way == "read from" else "write")
    true, found = [name_of(t) for t in crossing], items(names)
    listed = found == true if "…" not in names else found == [*true[:2], true[-1]]
    return listed and size == amount(sum(t.nbytes for t in crossing))


def saves(p: Place, size: str, products: str) -> bool:
    """What a tile of as many rows and keys moves, where there is one, but for the blocks of the
    outer loop, which stay."""
    shape = p.tile.shape
    if int(products.replace(",", "")) != p.tile.size:
        return False
    inner = {"K", "V"} if p.order.outer == "rows" else set("QOml") | {"dO", "dQ", "lse", "D"}
    for k, v in enumerate(p.run.visits):
        if v.phases and v.stage is None and v.i is not None and v.j is not None:
            at = Place(p.run, p.pass_, {**p.said, "step": k, "row": None})
            if at.tile.shape == shape:
                return size == amount(sum(t.nbytes for t in v.transfers if t.tensor in inner))
    return True


def skips(p: Place) -> bool:
    """Are the tiles that bring something those with a visible score, one by one?"""
    at_work = {(v.i, v.j) for v in p.run.visits if v.transfers and v.j is not None}
    visible = zip(*np.nonzero(p.seen), strict=True)
    return at_work == {(int(r) // p.p.block_q, int(k) // p.p.block_k) for r, k in visible}


def hides(p: Place, who: str, how: str) -> bool:
    """Each of these predicates hides some of what the tile hides, and together they hide all that
    is hidden there ("tile": every score)."""
    hidden = ~p.tile
    who = who.lower()
    if who.startswith("the mask"):
        return hidden.any() if how == "some" else hidden.all()
    named = re.findall(rf"({'|'.join(NAMES)})((?: [\d, ]*\d)?)", who)
    texts = [f"{name}:{x.replace(' ', '')}" if x else name for name, x in named]
    whole = re.split("[&|]", str(p.p.mask))
    named = [t for t in whole if t in texts or ("block" in who and t.startswith("block"))]
    parts = [~parse(text).keep(p.p.n, p.p.n)[np.ix_(p.rows, p.cols)] for text in named]
    together = np.logical_or.reduce(parts)
    some = [x.any() for x, text in zip(parts, named, strict=True) if text in texts]
    return all(some) and (together >= hidden).all() and (how == "some" or hidden.all())


def fails(p: Place, power: str, factor: str = "1") -> bool:
    """The smallest whole factor at which float32's exp of the row's largest score fails."""
    m, k = float(p.of("m_new")), int(factor.replace(",", ""))
    with np.errstate(over="ignore", under="ignore"):
        fp32 = [float(np.exp(np.float64(f * m)).astype("f4")) for f in (k - 1, k)]
    limit = np.inf if m > 0 else 0.0
    return fp32[1] == limit and fp32[0] != limit and is_number(power, k * m)


def is_faint(p: Place) -> bool:
    v = p.visit
    return bool(((v.alpha == 1) & (v.row_sum < 1e-3 * v.l_new)).all())


def never(p: Place, *tensors: str) -> bool:
    return not any(t.tensor in tensors for v in p.run.visits for t in v.transfers)


def sums_to_zero(p: Place) -> bool:
    """Over all its keys; of a sink to D times its weight."""
    total = 0.0
    for v in p.run.visits:
        if v.dS is not None and (v.i, v.stage) == (p.visit.i, p.visit.stage):
            slope = 1.0 if v.slope is None else v.slope[p.r].astype(float)
            if np.min(slope) < 0.02:  # the slope has taken most of it away
                return True
            total += float((v.dS[p.r] / slope).sum())
    D = float(p.run.D[p.row])
    wanted = 0.0 if p.p.sink is None else float(np.exp(p.p.sink - p.run.lse[p.row]) * D)
    return abs(total - wanted) < (1e-5 if p.p.dtype == "fp32" else 0.05) * (1 + abs(D))


def is_close(x: float, wanted: float) -> bool:
    return bool(abs(x - wanted) <= 1e-5 * abs(x) + 1e-7)


def is_maximum(p: Place, first: str, second: str) -> bool:
    """Of the old maximum and the largest score; in a whole row of that and the sink."""
    top = p.of("row_max")
    both = (top, np.float32(p.p.sink)) if p.is_whole_row() else (p.of("m_old"), top)
    return agrees(first, both[0]) and agrees(second, both[1]) and p.of("m_new") == max(both)


def weights(p: Place) -> np.ndarray:
    with np.errstate(over="ignore", invalid="ignore"):
        m = p.of("m_new")
        return np.exp(p.visit.S[p.r] - (0 if m == -np.inf else m))


Claim = Callable[..., bool]
ROW = "Row <row>(?: “[^”]*”)?"
CLAIMS: list[tuple[str, Claim]] = [
    (rf"([^.]+?) (?:is|are) (read from|written to) HBM, ({SIZE})(?:, at every tile)?\.", moves),
    # load
    (
        r"Nothing is computed yet(?:: m = <sink>, the sink, and ℓ = 1)?\. Next: every row of Q[₀-₉]+ meets every key of K[₀-₉]+\.",
        lambda p: p.said["step"] == 0 and p.visit.phases[1] == "scores",
    ),
    (
        r"A new row block: m = <m_old>(?:, the sink, and ℓ = 1|, ℓ = 0), O[₀-₉]+ = 0\.",
        Place.is_first,
    ),
    (r"Q[₀-₉]+, O[₀-₉]+, m and ℓ are still on chip\.", lambda p: not p.is_first()),
    (
        r"FA-1 reads and writes O[₀-₉]+, m and ℓ again for every key block\.",
        lambda p: p.tensors("read") >= {"O", "m", "l"} <= p.tensors("write"),
    ),
    (
        r"No query of this row block sees a key under the mask.*?: m = [^=]+(?:, the sink, and)?,? ℓ = \d, O[₀-₉]+ = 0, and no tile is computed\.|O[₀-₉]+ = 0 is written to HBM with lse[₀-₉]+: (?:nothing|the sink alone) was summed\. ?lse[₀-₉]+ = <lse>",
        lambda p: not p.seen[p.rows].any(),
    ),
    (r"RoPE rotated Q and K before this, row by row by its position\.", lambda p: p.p.rope > 0),
    (
        r"The block table(?:, whose 4 bytes per page are not counted,)? says that key block (\d+) is in page (\d+)\.",
        lambda p, block, page: (
            p.visit.j == int(block)
            and p.p.block_table[int(block)] == int(page)
            and p.tensors("read") & {"K", "V"}
        ),
    ),
    (
        r"The block table says which page each key block is in\.",
        lambda p: p.p.block_table and "V" in p.tensors("read"),
    ),
    # scores, mask
    (
        r"<hidden> of <scores> scores become −∞: their key comes after their query",
        lambda p: ((p.cols[None] > p.rows[:, None]) == ~p.tile).all(),
    ),
    (
        r"<hidden> of <scores> scores become −∞: (.+?) hides? their key",
        lambda p, who: hides(p, who, "some"),
    ),
    (r"A tile where all are masked is skipped: neither loaded nor computed\.", skips),
    (
        r"The lane without a key: 0\.|[;.]? ?[Tt]he lane beyond key <last> holds no key: its 0 becomes −∞ and enters no sum\.",
        lambda p: p.p.block_k - len(p.cols) == 1,
    ),
    (
        r"Every query here sees every key, so nothing changes\. Lanes beyond row <last> hold no query, and nothing of them is stored\.",
        lambda p: p.tile.all(),
    ),
    (r"Every key comes after every query here(?=[,:])", lambda p: p.cols.min() > p.rows.max()),
    (
        r"No query here sees any of these keys under the mask.*?(?=, so|: P)",
        lambda p: not p.tile.any(),
    ),
    (
        r"(.+?) (?:together )?hides? this whole tile(?=[,:])",
        lambda p, who: hides(p, who, "tile"),
    ),
    (
        r", so nothing is loaded and nothing computed\.|: P = 0, so no gradient flows, and nothing is loaded\.",
        lambda p: not p.visit.transfers and not p.visit.phases,
    ),
    (rf"That saves ({SIZE}) and ({COUNT}) dot products\.", saves),
    # max
    (
        rf"{ROW} meets its first scores: m is the largest\.",
        lambda p: p.of("m_old") == -np.inf < p.of("m_new") == p.of("row_max"),
    ),
    (rf"{ROW} meets a larger score, so m rises\.", Place.rises),
    (
        rf"{ROW} meets no larger score, so m stays, as in every row\.",
        lambda p: p.stays() and len(p.kept()) == len(p.rows),
    ),
    (rf"{ROW} meets no larger score, so m stays\.", Place.stays),
    (
        rf"{ROW} sees no key here, so m stays\.",
        lambda p: p.stays() and not p.tile[p.r].any(),
    ),
    (rf"{ROW} sees no key yet: it has no maximum\.", lambda p: p.of("m_new") == -np.inf),
    (
        rf"{ROW} starts at its sink\. A score is larger, so m rises\.",
        lambda p: p.is_first() and p.of("m_old") == np.float32(p.p.sink) < p.of("m_new"),
    ),
    (
        rf"{ROW} starts at its sink\. No score is larger, so m stays\.",
        lambda p: p.is_first() and p.of("m_old") == np.float32(p.p.sink) == p.of("m_new"),
    ),
    (
        rf"{ROW}: m is its largest score, or its sink\.",
        lambda p: p.is_whole_row() and p.p.sink is not None,
    ),
    (
        rf"{ROW}: m is its largest score\.",
        lambda p: p.is_whole_row() and p.of("m_new") == p.of("row_max"),
    ),
    (
        rf"{ROW}: (?:the largest lse of its parts|the weights are added up)\.|O[₀-₉]+ is the weighted mean of its parts: the softmax over all keys, exactly\.",
        Place.is_whole_row,
    ),
    (rf"m = max\(({NUMBER}), ({NUMBER})\) = <m_new>", is_maximum),
    (
        rf"Without m, scores ({COUNT}) times as large would (?:overflow|vanish in) fp32: exp\(({NUMBER})\) = (∞|0), and (?:∞ ÷ ∞|0 ÷ 0) is NaN\.",
        lambda p, factor, power, limit: (
            fails(p, power, factor) and (limit == "∞") == (p.of("m_new") > 0)
        ),
    ),
    (
        rf"Without m, exp\(({NUMBER})\) (?:would overflow fp32 to ∞, and ∞ ÷ ∞|and all other weights would be 0 in fp32, and 0 ÷ 0) is NaN\.",
        fails,
    ),
    # exp
    (
        rf"{ROW}: with m subtracted, exp cannot overflow: weights are at most 1\.",
        lambda p: weights(p).max() <= 1 and p.of("l_old") == 0,
    ),
    (r"Nothing was summed before, so there is nothing to rescale\.", lambda p: p.of("l_old") == 0),
    (rf"{ROW} sees no key yet: all its weights are 0\.", lambda p: not weights(p).any()),
    (
        rf"{ROW}: ℓ and O were summed with the old m, so α shrinks them\.",
        lambda p: p.rises() and p.of("alpha") < 1 and p.of("l_old") > 0,
    ),
    (
        rf"{ROW}: m rose over its sink, so the sink's 1 in ℓ shrinks\.",
        lambda p: p.rises() and p.is_first() and p.of("l_old") == 1,
    ),
    (
        rf"{ROW}: m stayed, so its ℓ and O keep their size\.",
        lambda p: p.of("m_new") == p.of("m_old") and p.of("alpha") == 1,
    ),
    (
        r"α = exp\(<m_old> − <m_new>\) = <alpha>",
        lambda p: is_close(p.of("alpha"), np.exp(float(p.of("m_old")) - float(p.of("m_new")))),
    ),
    # sum
    (rf"{ROW}: ℓ is the sum of its weights\.", lambda p: p.is_whole_row() or p.of("l_old") == 0),
    (
        rf"{ROW}: ℓ is the sum of its weights and of its sink's weight, which has no value\.",
        lambda p: p.is_whole_row() and p.p.sink is not None,
    ),
    (rf"{ROW}: its old sum, plus the new weights\.", lambda p: p.of("alpha") == 1),
    (rf"{ROW}: its old sum times α, plus the new weights\.", lambda p: p.of("alpha") < 1),
    (
        rf"{ROW}: the sink's 1 times α, plus the new weights\.",
        lambda p: p.is_first() and p.of("l_old") == 1,
    ),
    (
        r"ℓ = <alpha> × <l_old> \+ <row_sum> = <l_new>",
        lambda p: is_close(p.of("l_new"), p.of("alpha") * p.of("l_old") + p.of("row_sum")),
    ),
    (r"The new weights are too small to (?:change a digit|show)\.", is_faint),
    # output
    (
        r"V[₀-₉]+, weighted by P, is added to O[₀-₉]+\. It was 0: there is nothing to shrink\.",
        lambda p: p.is_first() or (p.visit.m_old == -np.inf).all(),
    ),
    (
        r"V[₀-₉]+, weighted by P, is added to α·O[₀-₉]+\. S is not needed again\.",
        lambda p: not p.is_first() and never(p, "S", "P"),
    ),
    (
        r"V[₀-₉]+, weighted by P, is added to O[₀-₉]+, which is divided by the new ℓ at every tile\.",
        lambda p: p.p.order == "fa1",
    ),
    (r"V[₀-₉]+, weighted by P after dropout, is added to O[₀-₉]+\.", lambda p: p.p.dropout > 0),
    (
        r"O[₀-₉]+ is V, weighted by P, which is read back from HBM\.",
        lambda p: p.visit.stage == "output",
    ),
    (
        r"S and P are dropped now: m, ℓ and O hold all that later tiles need\.",
        lambda p: p.order.output == "unnormalized" and never(p, "S", "P"),
    ),
    # store
    (
        r"O[₀-₉]+ is (?:divided by ℓ, once, and )?written to HBM with lse[₀-₉]+\.",
        lambda p: p.tensors("write") == {"O", "lse"},
    ),
    (r"S, P and dS are never written to HBM\.", lambda p: never(p, "S", "P", "dS")),
    (
        r"All <n> × <n2> (?:scores|weights|numbers) will be written\.",
        lambda p: not never(p, p.moved("write")[0].tensor),
    ),
    # backward
    (
        r"No query sees a key of K[₀-₉]+ under the mask.*?: dK[₀-₉]+ = dV[₀-₉]+ = 0\.|dK[₀-₉]+ = 0 and dV[₀-₉]+ = 0 are written to HBM: nothing was summed\.",
        lambda p: not p.seen[:, p.cols].any(),
    ),
    (
        r"K[₀-₉]+ and V[₀-₉]+ are loaded and stay on chip\. dK[₀-₉]+ and dV[₀-₉]+ begin at 0; row blocks follow one by one\.",
        lambda p: {"K", "V"} <= p.tensors("read"),
    ),
    (
        r"((?:[QdOlseDmℓ₀-₉]+(?:, | and ))+[QdOlseDmℓ₀-₉]+) are loaded\. K[₀-₉]+, V[₀-₉]+, dK[₀-₉]+ and dV[₀-₉]+ are still on chip\.",
        lambda p, names: (
            {re.sub("[₀-₉]", "", x).replace("ℓ", "l") for x in items(names)} == p.tensors("read")
        ),
    ),
    (
        r"First, a small kernel reads O[₀-₉]+ and dO[₀-₉]+ once, for one number per row, D\.",
        lambda p: p.visit.stage == "D" and p.tensors("read") == {"O", "dO"},
    ),
    (
        r"S is never written to HBM\.|No score was stored: S[₀-₉,]+ is computed again, from Q[₀-₉]+ and K[₀-₉]+\.",
        lambda p: never(p, "S", "P"),
    ),
    (r"P[₀-₉,]+ is computed again too, from (?:lse[₀-₉]+|m and ℓ)\.", lambda p: never(p, "P")),
    (
        r"Already divided by ℓ: no maximum, no sum\.|No maximum, no sum: both are known\. m \+ log ℓ is shown as lse\.",
        lambda p: p.run.lse[p.row] > -np.inf,
    ),
    (rf"{ROW} sees no key: its P is 0\.", lambda p: not p.seen[p.row].any()),
    (
        r"dO[₀-₉]+, weighted by P(?: from HBM)?, is added to dV[₀-₉]+(?:, which stays on chip)?\.",
        lambda p: p.visit.dV is not None,
    ),
    (
        rf"{ROW}: D = <D>\. (?:Each|Before the slope each) row of dS sums to (0|D times its sink's weight), over all its keys\.",
        lambda p, total: (total == "0") == (p.p.sink is None) and sums_to_zero(p),
    ),
    (
        r"dQ[₀-₉]+ is sent to HBM and added there: part <part> of <parts>\.|Every key block adds to these rows, atomically, so no block can keep them on chip\.",
        lambda p: p.moved("add"),
    ),
    (
        r"Part <part> of <parts> is added to dQ[₀-₉]+, which was read from HBM and is written back\.",
        lambda p: "dQ" in p.tensors("read"),
    ),
    (r"K[₀-₉]+, weighted by dS from HBM, is added to dQ[₀-₉]+\.", lambda p: p.visit.stage == "dQ"),
    (
        r"Last, a small kernel: dQ[₀-₉]+ has all its parts and is read once more\.|dQ[₀-₉]+ was added up without the scale of the scores: it is applied here\.|In fp32 until now, then (?:fp32|fp16|bf16)\.|dQ[₀-₉]+ is written to HBM: these gradients are done\.",
        lambda p: p.visit.stage == "scale",
    ),
    (
        r"Q[₀-₉]+, weighted by dS(?: from HBM)?, is added to dK[₀-₉]+(?:, which stays on chip)?\.",
        lambda p: p.visit.dK is not None,
    ),
    (
        r"dK[₀-₉]+, scaled once, and dV[₀-₉]+ are written to HBM: this column is done\.",
        lambda p: (
            p.visit.i
            == max(
                v.i
                for v in p.run.visits
                if v.j == p.visit.j and v.i is not None and v.stage is None and v.phases
            )
        ),
    ),
    (
        r"The other heads that share K[₀-₉]+ and V[₀-₉]+ add their parts\.",
        lambda p: p.p.q_heads > p.p.kv_heads,
    ),
    (
        r"D[₀-₉]+ is written to HBM, and dQ[₀-₉]+ begins at 0: parts will be added to it\.",
        lambda p: p.tensors("write") == {"D", "dQ"},
    ),
    (
        r"(d[QKV])[₀-₉]+(?:, scaled,)? is written to HBM\.",
        lambda p, a: a in p.tensors("write"),
    ),
    *[(pattern, lambda p: True) for pattern in TABLE["unjudged"]],
]
# Formulas say how, not how much; what they are called by is judged where a line of code is.
FORMULA = re.compile(
    r"(?:S|P|dP|dS|dV|dK|dQ|O)[₀-₉,]* (?:=|←|\+=) .*|weight = .*|lse′?[₀-₉]* = m \+ log ℓ|dQ / √\d+|dK / √\d+"
)
PATTERNS = [
    (re.compile(re.sub(r"<(\w+)>", lambda m: f"(?P<{m[1]}>{VALUES[m[1]][0]})", pattern)), claim)
    for pattern, claim in CLAIMS
]


def holds(place: Place, found: re.Match, claim: Claim) -> bool:
    """Is what this pattern caught so?"""
    named = {name: text for name, text in found.groupdict().items() if text is not None}
    others = [x for k, x in enumerate(found.groups(), 1) if k not in found.re.groupindex.values()]
    return all(agrees(text, VALUES[name][1](place)) for name, text in named.items()) and bool(
        claim(place, *others)
    )


def judge(run: Any, pass_: str, said: dict) -> list[str]:
    """What is wrong in what is said of a place, and what nobody knows how to judge."""
    place = Place(run, pass_, said)
    where = f"{place.p.to_query()} {pass_} step {said['step']} {said['phase']} row {said['row']}"
    wrong = []
    formula = "" if FORMULA.fullmatch(said["formula"]) else said["formula"]
    rest = whole = " ".join(x for x in (said["words"], formula, said["aside"]) if x)
    while rest:
        matches = ((pattern.match(rest), claim) for pattern, claim in PATTERNS)
        found, claim = next((one for one in matches if one[0]), (None, None))
        if not found:
            return [*wrong, f"{where}: nobody judges: {rest}"]
        try:
            if not holds(place, found, claim):
                wrong.append(f"{where}: not so: {found[0]} (in: {whole})")
        except (AttributeError, IndexError, TypeError, ValueError) as error:
            wrong.append(f"{where}: {error!r} at {found[0]}")
        rest = rest[found.end() :].lstrip(" .")
    return wrong


def problems(count: int) -> list[tuple[Problem, str]]:
    """Small ones of every kind, with a pass; always the same."""
    draw = random.Random(34)
    found = []
    for k, p in enumerate(drawn(count, 34)):
        q_heads, kv_heads, head = draw.choice([(1, 1, 0), (1, 1, 0), (4, 2, 1), (8, 8, 0)])
        order = ORDERS[k % len(ORDERS)]
        backward = k % 3 == 2 and order in OF_PASS["backward"]
        p = replace(
            p,
            d=p.d + p.d % 2,
            mask=draw.choice([p.mask, p.mask, "full", "causal"]),
            order=order,
            inputs=draw.choice(["random", "rising", "spike"]),
            gain=draw.choice([1.0, 1.0, 4.0]),
            q_heads=q_heads,
            kv_heads=kv_heads,
            head=head,
            rope=draw.choice([0.0, 0.0, 100.0]),
            dropout=0.0 if backward else draw.choice([0.0] * 5 + [0.25]),
            cache="paged" if k % 3 == 1 else "contiguous",
        )
        found.append((p, "backward" if backward else "forward"))
    opened = [Problem(mask="causal&window:5,0"), Problem(n=10, mask="window:3,1"), Problem()]
    return found + [(p, "forward") for p in opened]


@pytest.fixture(scope="module")
def said(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[Any, str, dict]]:
    """(run, pass, what the page says) of all of them."""
    folder = tmp_path_factory.mktemp("traces")
    cases = {f"{k:03}": case for k, case in enumerate(problems(90))}
    for name, (problem, pass_) in cases.items():
        (folder / name).write_bytes(pack(problem, pass_))
    script = Path(__file__).parent / "sentences.mjs"
    done = subprocess.run([NODE, str(script), str(folder)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    texts = json.loads(done.stdout)
    return [(TRACES[pass_](p), pass_, texts[name]) for name, (p, pass_) in cases.items()]


def test_every_claim_of_2000_sentences_is_so(said):
    """ST 1: a row that met its first score was said to keep its m, beside −∞ → 1.26."""
    wrong, count = [], 0
    for run, pass_, texts in said:
        for place in texts["places"]:
            wrong += judge(run, pass_, place)
            count += 1
    assert not wrong, f"{len(wrong)} of {count}\n" + "\n".join(wrong[:: 1 + len(wrong) // 30])
    assert count >= 2_000


@pytest.mark.parametrize("why", TABLE["why"])
def test_the_page_that_opens_says_why(said, why):
    """ST 8: only the tour said what goes wrong without m."""
    (places,) = (texts["places"] for run, _, texts in said if run.problem == Problem())
    assert any(re.search(why, f"{place['words']} {place['aside']}") for place in places)


def test_the_exact_result_and_the_bytes_beside_it(said):
    """What the end of a run compares O with is softmax in float64; the bytes are those of all
    transfers so far, beside standard attention's (ST 8: both stood under Traffic alone)."""
    judged = 0
    for run, pass_, texts in said:
        p, done = run.problem, 0
        standard = both(summed(replace(p, order="standard"), pass_=pass_))
        for place in texts["places"]:
            visit = run.visits[place["step"]]
            if place["phase"] == (visit.phases or ("skip",))[-1]:
                done = sum(t.nbytes for v in run.visits[: place["step"] + 1] for t in v.transfers)
                assert place["own"] == done
            if p.order != "standard":
                assert place["all"] == standard and 0 < place["now"] <= standard
        assert texts["places"][-1]["now"] == texts["places"][-1]["all"]
        if pass_ == "forward" and not p.dropout:
            s = scores(p, run.Q.astype(float), run.K.astype(float))
            P = softmax(p, np.where(seen(p), s, -np.inf))[2]
            found = np.array(texts["truth"]["O"]).reshape(p.n, p.d)
            assert np.abs(found - P @ run.V.astype(float)).max() < 1e-12
            judged += 1
        for name, flat in texts["truth"].items():
            ours = getattr(run, name)
            slack = (2e-5 if p.dtype == "fp32" else 0.1) * max(1, np.abs(ours).max())
            np.testing.assert_allclose(np.reshape(flat, ours.shape), ours, 0, slack, err_msg=name)
    assert judged > 20
