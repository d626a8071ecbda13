"""Every formula parses and says what the code does; papers and handout are whole."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET

import pytest

from explainer.algorithms.transfers import PHASES
from explainer.base import cards, records
from explainer.base.amounts import amount
from explainer.learn import reference
from explainer.learn.reference import HANDOUT, PAPERS
from explainer.memory import tile_budget

FORMULAS = [(block["label"], block["mathml"]) for block in reference.FORMULA_BLOCKS]
MATH = "http://www.w3.org/1998/Math/MathML"
APPLIED = "\u2061"  # invisible: a function is applied to what follows
# The letters of each. That the code computes so is judged where it stands: test_trace.py,
# test_traffic.py, test_split_keys.py.
SAYS = {
    "Attention": "O=softmax([QK^⊤]/[√[d]])V",
    "Softmax of a row": "P_j=[exp(S_j)]/[∑_kexp(S_k)]",
    "Safe softmax of a row": "m=maxS,P_j=[exp(S_j−m)]/[∑_kexp(S_k−m)]",
    "Running maximum": "m^′=max(m,rowmaxS)",
    "Rescaling factor": "α=exp(m−m^′)",
    "Weights of a tile": "P=exp(S−m^′)",
    "Running sum": "ℓ^′=αℓ+rowsumP",
    "Running output, FA-2": "O^′=αO+PV",
    "Division at the end, FA-2": "O=[O^′]/[ℓ^′]",
    "Running output, FA-1": "O^′=[ℓαO+PV]/[ℓ^′]",
    "Log-sum-exp": "lse=m+logℓ",
    "Weights again, from lse": "P=exp(S−lse)",
    "Parts of the keys combined: lse": "lse=log∑_pexp(lse_p)",
    "Parts of the keys combined: O": "O=∑_pexp(lse_p−lse)O_p",
    "Elements asked, standard": "Nd+TcNd+2TrNd+4N^2",
    "Elements asked, FA-1": "2Nd+Tc(3Nd+4N)",
    "Elements asked, FA-2": "2Nd+2TrNd+N",
    "Least elements, standard": "4Nd+4N^2",
    "Least elements, FA-1": "4Nd+2N",
    "Least elements, FA-2": "4Nd+N",
    "Tiles computed when causal, of T × T": "[T+1]/[2T]",
    "Bound on the elements asked": "Θ([N^2d^2]/[M])",
    "Block rule of the FA-1 paper": "Bc=⌈[M]/[4d]⌉,Br=min(Bc,d)",
    "Operations, forward": "4BHN^2d",
}


SHAPES = {
    "msub": "{}_{}",
    "msup": "{}^{}",
    "mfrac": "[{}]/[{}]",
    "munder": "{}_{}",
    "msqrt": "√[{}]",
}


def said(mathml: str) -> str:
    """The formula on one line; every part of it in its place."""

    def line(element: ET.Element) -> str:
        tag, inner = element.tag.removeprefix(f"{{{MATH}}}"), [line(e) for e in element]
        return SHAPES.get(tag, (element.text or "") + "{}" * len(inner)).format(*inner)

    return line(ET.fromstring(f'<math xmlns="{MATH}">{mathml}</math>')).replace(APPLIED, "")


@pytest.mark.parametrize(("label", "mathml"), FORMULAS, ids=[label for label, _ in FORMULAS])
def test_a_formula_parses_and_has_its_letters(label, mathml):
    assert said(mathml) == SAYS[label]


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
        for order, row in zip(wanted, rows, strict=True):
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
