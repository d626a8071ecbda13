"""Every formula parses and says what the code does; papers and handout are whole."""

import re
import xml.etree.ElementTree as ET

import pytest

from explainer.algorithms.transfers import PHASES
from explainer.base import cards
from explainer.base.amounts import amount
from explainer.learn import reference
from explainer.learn.reference import HANDOUT, PAPERS
from explainer.memory import tile_budget
from tests.tables import table

FORMULAS = [(block["label"], block["mathml"]) for block in reference.FORMULA_BLOCKS]
MATH = "http://www.w3.org/1998/Math/MathML"
APPLIED = "\u2061"  # invisible: a function is applied to what follows
TABLE = table(__file__)


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
    assert said(mathml) == TABLE["formulas"][label]


def test_papers_have_an_arxiv_number_or_a_place():
    for paper in PAPERS:
        arxiv = re.fullmatch(r"(\d\d)(0[1-9]|1[0-2])\.\d{5}", paper.where)  # year, month
        assert not arxiv or 2000 + int(arxiv[1]) == paper.year
        assert paper.place == ("arXiv " if arxiv else "") + paper.where
        assert paper.authors and paper.brought.endswith(".") and len(paper.brought.split()) <= 25


def test_the_lines_go_through_the_phases_in_order():
    phases = [phase for phase, _, _ in reference.LINES if phase]
    assert tuple(dict.fromkeys(phases)) == PHASES


def test_the_handouts_bytes_are_those_of_its_formulas():
    forms = dict(FORMULAS)
    orders, rows = (block["rows"] for block in HANDOUT[1][:2])
    for order, row, (name, sizes) in zip(orders, rows, TABLE["handout"].items(), strict=True):
        assert (order[0], order[2], row[0]) == (name, sizes[2], name)
        for k, start in enumerate(("Requested elements", "Compulsory elements")):
            form, size = row[1 + 2 * k : 3 + 2 * k]
            share = sizes[k] / TABLE["handout"]["standard"][k]
            assert size.replace("\xa0", " ") == f"{amount(sizes[k])}, {share:.2f} ×"
            assert re.sub("[ ·]", "", form).replace("²", "^2") == said(forms[f"{start}, {name}"])


def test_the_five_numbers_are_those_worked_out_by_hand():
    """What was measured at DRAM is judged in tests/memory/test_traffic_series.py."""
    rows = HANDOUT[1][2]["rows"]
    shown = [number.replace("\xa0", " ") for number, _ in rows]
    assert shown.pop(1).startswith("3.5 × and ")
    assert shown == ["2,048 ×", "3.97 ×", f"{17 / 32:.3f}", "227 KiB"]
    side = tile_budget.largest_square(reference.EXAMPLE, cards.CARDS["h200"])
    assert f"{side}\xa0×\xa0{side}" in rows[4][1]
