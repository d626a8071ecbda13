"""The shown code is the code that runs: cut out by markers, and a lost marker is an error."""

from __future__ import annotations

import inspect

import pytest

from explainer.algorithms.registry import ALGORITHMS
from explainer.algorithms.schedule import schedule
from explainer.problem import Problem
from explainer.web import listings as module
from explainer.web.listings import ROOT, ListingError, listings, numpy_lines, triton_lines


def source(order: str) -> str:
    return (ROOT / "explainer" / "algorithms" / f"{order}.py").read_text()


@pytest.mark.parametrize("order", ALGORITHMS)
@pytest.mark.parametrize("lines_of", [numpy_lines, triton_lines])
def test_every_phase_of_every_visit_lights_a_line(order, lines_of):
    lit = {(line.stage, line.phase) for line in lines_of(order)}
    for step in schedule(Problem(order=order, n=20, block_q=8, block_k=6)):
        for phase in step.phases:
            assert (step.stage, phase) in lit


@pytest.mark.parametrize("order", ALGORITHMS)
def test_lines_are_the_sources_own(order):
    body = inspect.getsource(ALGORITHMS[order].compute).splitlines()
    assert [line.text for line in numpy_lines(order)] == [
        text for text in body if text in {line.text for line in numpy_lines(order)}
    ]
    kernel = (ROOT / "kernels" / f"{order}.py").read_text()
    shown = "\n".join(line.text for line in triton_lines(order))
    assert shown in kernel
    assert len(triton_lines(order)) <= 150


@pytest.mark.parametrize("order", ALGORITHMS)
def test_a_lost_marker_is_an_error(order):
    name = ROOT / "kernels" / f"{order}.py"
    for text, lines_of in ((source(order), numpy_lines), (name.read_text(), triton_lines)):
        for phase in ("load", "exp", "output", "store"):
            with pytest.raises(ListingError):
                lines_of(order, text.replace(f"# phase: {phase}", f"# {phase}"))
    with pytest.raises(ListingError, match="is gone"):
        triton_lines(order, name.read_text().replace("# kernel: end", ""))


def test_bookkeeping_of_the_picture_is_left_out():
    assert not any("yield visit_of(step, m_old" in line.text for line in numpy_lines("fa2"))
    assert not any(line.text.strip().startswith(module.END) for line in numpy_lines("fa1"))


def test_plain_values_for_the_browser():
    found = listings()
    assert set(found) == set(ALGORITHMS) and set(found["fa2"]) == {"numpy", "triton"}
    assert set(found["fa2"]["numpy"][0]) == {"text", "phase", "stage", "first"}
