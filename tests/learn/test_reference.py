"""Every formula parses and says what the code does; papers and handout are whole."""

from __future__ import annotations

import math
import re
import xml.etree.ElementTree as ET
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
import torch

from explainer.algorithms import tiling, traffic
from explainer.algorithms.transfers import PHASES
from explainer.base import cards, records
from explainer.base.amounts import amount
from explainer.learn import reference
from explainer.learn.reference import HANDOUT, PAPERS
from explainer.memory import tile_budget
from explainer.memory.workload import Workload
from explainer.parallel import split_keys
from explainer.problem import Problem
from explainer.trace import trace
from kernels.spec import masks
from tests.learn.scenes import sdpa

FORMULAS = [(block["label"], block["mathml"]) for block in reference.FORMULA_BLOCKS]
MATH = "http://www.w3.org/1998/Math/MathML"
APPLIED = "\u2061"  # invisible: a function is applied to what follows
# How many children each element may have; there are no others.
CHILDREN = dict.fromkeys(("msub", "msup", "mfrac", "munder"), (2,)) | {"msqrt": (1,)}
CHILDREN |= dict.fromkeys(("mi", "mn", "mo", "mspace"), (0,)) | dict.fromkeys(
    ("math", "mrow"), range(1, 50)
)

SMALL = (
    Problem(),
    Problem(n=14, d=8, block_q=4, block_k=5, causal=False, inputs="random", seed=3),
    Problem(n=23, d=16, block_q=5, block_k=3, inputs="random", seed=4),
)
SIZES = [(64, 16, 16, 16), (256, 64, 32, 64), (100, 32, 16, 24), (1023, 64, 64, 128), (7, 3, 2, 7)]


def visits(order: str):
    """(run, visit, its rows, its keys) of every computed visit of the small Problems."""
    for p in SMALL:
        run = trace(replace(p, order=order))
        for v in run.visits:
            if v.kind != "skipped":
                yield run, v, tiling.rows(run.problem, v.i), tiling.cols(run.problem, v.j)


def exp(x: np.ndarray, shift: np.ndarray) -> np.ndarray:
    """exp(x − shift) in float64; nothing seen yet counts nothing."""
    return np.exp(np.float64(x) - np.where(np.isneginf(shift), 0, shift))


def near(found, wanted) -> bool:
    return np.allclose(found, wanted, rtol=2e-5, atol=2e-6)


def dense(p: Problem) -> tuple[np.ndarray, torch.Tensor]:
    """Masked S in float64, and PyTorch's softmax of it."""
    run = trace(p)
    S = np.float64(run.Q) @ np.float64(run.K).T / math.sqrt(p.d)
    if p.is_causal:
        S[np.triu_indices(p.n, 1)] = -np.inf
    return S, torch.softmax(torch.from_numpy(S), dim=-1).numpy()


def problems(pair: Callable):
    """Compares the pair that a function gives, here of (S, P, run) of every small Problem."""
    for p in SMALL:
        assert near(*pair(*dense(p), trace(p)))


def each(pair: Callable, *orders: str):
    """Of every computed visit of these orders."""
    for order in orders:
        for _, v, _, _ in visits(order):
            assert near(*pair(v))


def output(order: str, of: Callable):
    """The accumulator after a visit from the one before it in the same row block."""
    last: dict[tuple, np.ndarray] = {}
    for run, v, _, keys in visits(order):
        old, last[run.problem, v.i] = last.get((run.problem, v.i), 0), v.O
        assert near(v.O, of(v, old, v.P @ run.V[keys]))


def stored(pair: Callable):
    """Of (run, visit, rows) of FA-2's last visit of every row block."""
    for run, v, rows, _ in visits("fa2"):
        assert "store" not in v.phases or near(*pair(run, v, rows))


def parts(pair: Callable):
    """Of the last row's attention in 1, 2 and 5 parts: (parts, O, lse)."""
    for p in SMALL:
        for splits in (1, 2, 5):
            found, o, lse = split_keys.parts(p, splits)
            assert near(*pair(found, o, lse)) and len(found) == splits
            S = torch.from_numpy(np.float64(trace(p).K) @ np.float64(trace(p).Q[-1])) * p.scale
            assert near(lse, torch.logsumexp(S, 0))
            assert near(o, torch.softmax(S, 0).numpy() @ trace(p).V)


def judge(run) -> np.ndarray:
    """PyTorch's attention of the run's inputs, (n, d)."""
    return sdpa(run.Q, run.K, run.V, is_causal=run.problem.is_causal)


def safe_softmax(S, P, run):
    S = S * 300  # beyond what exp can take
    weights = np.exp(S - S.max(1, keepdims=True))
    return weights / weights.sum(1, keepdims=True), torch.softmax(torch.from_numpy(S), dim=-1)


def moved(order: str, elements: Callable[[Problem], int]):
    """The closed form against the transfers, one by one, of fp32 (4 bytes an element)."""
    for n, d, br, bc in SIZES:
        p = Problem(n=n, d=d, block_q=br, block_k=bc, causal=False, order=order)
        assert traffic.total(p) == 4 * elements(p)


def least(order: str, elements: Callable[[Problem], int]):
    """The closed form against the transfers in one tile as large as the matrices; FA-1 reads the
    O, m and l that it starts from there too, which its least leaves out."""
    for n, d, _, _ in SIZES:
        p = Problem(n=n, d=d, block_q=n, block_k=n, causal=False, order=order)
        reads = {tensor: size for tensor, (size, _) in traffic.traffic(p).items()}
        begins = sum(reads.get(tensor, 0) for tensor in ("O", "m", "l"))
        assert traffic.total(p) - begins == 4 * elements(p)
        assert traffic.compulsory_bytes(n, d, "fp32", order) == 4 * elements(p)


def causal_fraction():
    for T in (1, 2, 4, 8, 16):
        tiles = tiling.counts(Problem(n=4 * T, block_q=4, block_k=4))
        assert 1 - tiles["skipped"] / T**2 == (T + 1) / (2 * T)


def paper_tile(w):
    """Br and Bc of the FlashAttention paper, Algorithm 1 line 1."""
    bc = math.ceil(w.hardware.shared_bytes // 2 / (4 * w.d))  # M in elements of fp16
    return min(bc, w.d), bc


def io_bound():
    """Θ(N²d²/M): with the paper's rule for the blocks, FA-1's bytes stay within constants of it."""
    for n, d in ((8192, 64), (16384, 64), (65536, 64), (8192, 128), (65536, 128)):
        w = Workload(card="a100", n=n, d=d)
        moved = traffic.requested_bytes(n, d, "full", "fp16", "fa1", *paper_tile(w))
        assert 4 < moved / (n**2 * d**2 / (w.hardware.shared_bytes / 2) * 2) < 16


def block_rule():
    """Q, K, V and O of a tile of this size share M, with Br = d the largest that S has room for."""
    for w in (Workload(card=card, n=65536, d=d) for card in cards.CARDS for d in (40, 64, 128)):
        br, bc = paper_tile(w)
        elements = 2 * bc * w.d + 2 * br * w.d  # K, V; Q, O
        assert elements <= w.hardware.shared_bytes // 2 + 4 * w.d


def operations():
    assert masks.flops(masks.of(False), 2 * 16, 4096, 4096, 64) == 4 * 2 * 16 * 4096**2 * 64


# label → (what the MathML says, what checks that against the code, and its arguments)
SAYS: dict[str, tuple] = {
    "Attention": ("O=softmax([QK^⊤]/[√[d]])V", problems, lambda S, P, run: (P @ run.V, judge(run))),
    "Softmax of a row": (
        "P_j=[exp(S_j)]/[∑_kexp(S_k)]",
        problems,
        lambda S, P, run: (np.exp(S) / np.exp(S).sum(1, keepdims=True), P),
    ),
    "Safe softmax of a row": ("m=maxS,P_j=[exp(S_j−m)]/[∑_kexp(S_k−m)]", problems, safe_softmax),
    "Running maximum": (
        "m^′=max(m,rowmaxS)",
        each,
        lambda v: (v.m_new, np.maximum(v.m_old, v.S.max(1))),
        "fa1",
        "fa2",
    ),
    "Rescaling factor": (
        "α=exp(m−m^′)",
        each,
        lambda v: (v.alpha, exp(v.m_old, v.m_new)),
        "fa1",
        "fa2",
    ),
    "Weights of a tile": (
        "P=exp(S−m^′)",
        each,
        lambda v: (v.P, exp(v.S, v.m_new[:, None])),
        "fa1",
        "fa2",
    ),
    "Running sum": (
        "ℓ^′=αℓ+rowsumP",
        each,
        lambda v: (v.l_new, v.alpha * v.l_old + v.P.sum(1)),
        "fa1",
        "fa2",
    ),
    "Running output, FA-2": (
        "O^′=αO+PV",
        output,
        "fa2",
        lambda v, O, PV: v.alpha[:, None] * O + PV,
    ),
    "Division at the end, FA-2": (
        "O=[O^′]/[ℓ^′]",
        stored,
        lambda run, v, rows: (judge(run)[rows], v.O / v.l_new[:, None]),
    ),
    "Running output, FA-1": (
        "O^′=[ℓαO+PV]/[ℓ^′]",
        output,
        "fa1",
        lambda v, O, PV: ((v.l_old * v.alpha)[:, None] * O + PV) / v.l_new[:, None],
    ),
    "Log-sum-exp": (
        "lse=m+logℓ",
        stored,
        lambda run, v, rows: (
            torch.logsumexp(torch.from_numpy(dense(run.problem)[0][rows]), 1),
            v.m_new + np.log(v.l_new),
        ),
    ),
    "Weights again, from lse": (
        "P=exp(S−lse)",
        problems,
        lambda S, P, run: (np.exp(S - run.lse[:, None]), P),
    ),
    "Parts of the keys combined: lse": (
        "lse=log∑_pexp(lse_p)",
        parts,
        lambda found, o, lse: (math.log(sum(math.exp(part.lse) for part in found)), lse),
    ),
    "Parts of the keys combined: O": (
        "O=∑_pexp(lse_p−lse)O_p",
        parts,
        lambda found, o, lse: (sum(math.exp(part.lse - lse) * part.O for part in found), o),
    ),
    "Elements asked, standard": (
        "Nd+TcNd+2TrNd+4N^2",
        moved,
        "standard",
        lambda p: p.n * p.d * (1 + p.Tc + 2 * p.Tr) + 4 * p.n**2,
    ),
    "Elements asked, FA-1": (
        "2Nd+Tc(3Nd+4N)",
        moved,
        "fa1",
        lambda p: 2 * p.n * p.d + p.Tc * (3 * p.n * p.d + 4 * p.n),
    ),
    "Elements asked, FA-2": (
        "2Nd+2TrNd+N",
        moved,
        "fa2",
        lambda p: 2 * p.n * p.d + 2 * p.Tr * p.n * p.d + p.n,
    ),
    "Least elements, standard": (
        "4Nd+4N^2",
        least,
        "standard",
        lambda p: 4 * p.n * p.d + 4 * p.n**2,
    ),
    "Least elements, FA-1": ("4Nd+2N", least, "fa1", lambda p: 4 * p.n * p.d + 2 * p.n),
    "Least elements, FA-2": ("4Nd+N", least, "fa2", lambda p: 4 * p.n * p.d + p.n),
    "Tiles computed when causal, of T × T": ("[T+1]/[2T]", causal_fraction),
    "Bound on the elements asked": ("Θ([N^2d^2]/[M])", io_bound),
    "Block rule of the FA-1 paper": ("Bc=⌈[M]/[4d]⌉,Br=min(Bc,d)", block_rule),
    "Operations, forward": ("4BHN^2d", operations),
}


SHAPES = {
    "msub": "{}_{}",
    "msup": "{}^{}",
    "mfrac": "[{}]/[{}]",
    "munder": "{}_{}",
    "msqrt": "√[{}]",
}


def said(mathml: str) -> str:
    """The formula on one line; every element a known one, with the children it must have."""

    def line(element: ET.Element) -> str:
        tag, inner = element.tag.removeprefix(f"{{{MATH}}}"), [line(e) for e in element]
        assert len(inner) in CHILDREN[tag]
        return SHAPES.get(tag, (element.text or "") + "{}" * len(inner)).format(*inner)

    return line(ET.fromstring(f'<math xmlns="{MATH}">{mathml}</math>')).replace(APPLIED, "")


@pytest.mark.parametrize(("label", "mathml"), FORMULAS, ids=[label for label, _ in FORMULAS])
def test_a_formula_parses_and_its_letters_are_those_that_are_checked(label, mathml):
    assert said(mathml) == SAYS[label][0]


@pytest.mark.parametrize("label", SAYS)
def test_a_formula_says_what_the_code_does(label):
    _, check, *arguments = SAYS[label]
    check(*arguments)


def test_papers_have_an_arxiv_number_or_a_place():
    needed = "1805.02867 2112.05682 2205.14135 2307.08691 2407.08608 1706.03762 2305.13245 "
    needed += "2412.05496 2309.06180"
    assert not set(needed.split()) - {p.where for p in PAPERS}
    assert {p.title[:8] for p in PAPERS} >= {"Roofline", "Flash-De"}
    for paper in PAPERS:
        arxiv = re.fullmatch(r"(\d\d)(0[1-9]|1[0-2])\.\d{5}", paper.where)  # year, month
        assert not arxiv or 2000 + int(arxiv[1]) == paper.year
        assert paper.place == ("arXiv " if arxiv else "") + paper.where
        assert paper.authors and paper.brought.endswith(".") and len(paper.brought.split()) <= 25


def test_the_lines_go_through_the_phases_in_order():
    phases = [phase for phase, _, _ in reference.LINES if phase]
    assert tuple(dict.fromkeys(phases)) == PHASES


def test_the_handouts_bytes_are_those_of_its_formulas():
    p = reference.EXAMPLE
    matrix = p.n * p.d * 2  # fp16; m, l and lse take 4 bytes
    square = 4 * p.n**2 * 2
    asked = {
        "standard": matrix + p.Tc * matrix + 2 * p.Tr * matrix + square,
        "fa1": 2 * matrix + p.Tc * (3 * matrix + 4 * p.n * 4),
        "fa2": 2 * matrix + 2 * p.Tr * matrix + p.n * 4,
    }
    once = 4 * matrix
    least = {"standard": once + square, "fa1": once + 8 * p.n, "fa2": once + 4 * p.n}
    orders, rows = (b["rows"] for b in HANDOUT[1][:2])
    assert [row[0] for row in rows] == [row[0] for row in orders] == ["standard", "FA-1", "FA-2"]
    assert [row[2] for row in orders] == ["P, N × N", "m and ℓ", "lse"]
    for start, column, wanted in (("Elements asked", 1, asked), ("Least elements", 3, least)):
        forms = {label.split(", ")[-1]: m for label, m in FORMULAS if label.startswith(start)}
        for order, row in zip(reference.ORDER_FACTS, rows, strict=True):
            share = wanted[order] / wanted["standard"]
            size = amount(wanted[order]).replace(" ", "\xa0")
            assert row[column + 1] == f"{size}, {share:.2f}\xa0×"
            assert re.sub("[ ·]", "", row[column]).replace("²", "^2") == said(forms[row[0]])


def test_the_five_numbers_come_from_other_ways_too():
    def fa2(n, tile, d=64):
        return (2 * n * d + 2 * (n // tile) * n * d) * 2 + n * 4

    n, d, T = 4096, 64, 4096 // 64
    standard = 2 * (n * d + 3 * T * n * d + 4 * n * n)
    dram = {
        r["order"]: sum(k["dram_read"] + k["dram_write"] for k in r["measured_bytes"].values())
        for r in records.load("traffic_nvidia_h200")["rows"]
        if (r["n"], r["d"], r["side"]) == (n, d, 64)
    }
    expected = [f"{n * n * 2 // (n * 4):,} ×"]
    expected += [f"{standard / fa2(n, 64):.1f} × and {dram['standard'] / dram['fa2']:.0f} ×"]
    expected += [f"{fa2(16384, 128) / fa2(8192, 128):.2f} ×", f"{17 / 32:.3f}", "227 KiB"]
    assert [number.replace("\xa0", " ") for number, _ in reference.numbers()] == expected
    assert expected[2] == "3.97 ×"  # computed once by hand
    side = tile_budget.largest_square(reference.EXAMPLE, cards.CARDS["h200"])
    assert f"{side}\xa0×\xa0{side}" in reference.numbers()[4][1]
