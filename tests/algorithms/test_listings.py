"""The shown code is the code that runs: cut out by markers, and a lost marker is an error."""

from __future__ import annotations

import inspect
import re
from importlib import import_module

import pytest

from explainer.algorithms import listings as module
from explainer.algorithms.listings import ROOT, ListingError, listings, numpy_lines, triton_lines
from explainer.algorithms.registry import ALGORITHMS, OF_PASS
from explainer.algorithms.schedule import schedule
from explainer.algorithms.transfers import PASSES
from explainer.problem import Problem

SHOWN = [
    (lines_of, order, pass_)
    for lines_of in (numpy_lines, triton_lines)
    for pass_ in PASSES
    for order in ALGORITHMS
    if lines_of is numpy_lines or pass_ == "forward" or order == "fa2"
]


def source(order: str) -> str:
    return (ROOT / "explainer" / "algorithms" / f"{order}.py").read_text()


@pytest.mark.parametrize(("lines_of", "order", "pass_"), SHOWN)
def test_every_phase_of_every_visit_lights_a_line(lines_of, order, pass_):
    lit = {(line.stage, line.phase) for line in lines_of(order, pass_=pass_) if line.phase}
    happens = {
        (step.stage, phase)
        for step in schedule(Problem(order=order, n=20, block_q=8, block_k=6), pass_)
        for phase in step.phases
    }
    assert lit == happens


@pytest.mark.parametrize("pass_", PASSES)
@pytest.mark.parametrize("order", ALGORITHMS)
def test_lines_are_the_sources_own(order, pass_):
    key = OF_PASS[pass_][order].key + ("_backward" if pass_ == "backward" else "")
    loops = [*re.findall(r"^# loop: (\w+)\.compute$", source(key), re.M), key]
    modules = [import_module(f"explainer.algorithms.{loop}") for loop in loops]
    body = [line for m in modules for line in inspect.getsource(m.compute).splitlines() if line]
    shown = [line.text for line in numpy_lines(order, pass_=pass_) if line.text]
    assert shown == [text for text in body if text in set(shown)]
    if pass_ == "backward":
        return
    kernel = (ROOT / "kernels" / f"{order}.py").read_text()
    for name in re.findall(r"^# kernel: (\w+)\.\w+$", kernel, re.M):  # a function of another file
        kernel += (ROOT / "kernels" / f"{name}.py").read_text()
    shown = "\n".join(line.text for line in triton_lines(order))
    assert all(part in kernel for part in shown.split("\n\n"))
    assert len(triton_lines(order)) <= 170


@pytest.mark.parametrize("order", ALGORITHMS)
def test_a_lost_marker_is_an_error(order):
    name = ROOT / "kernels" / f"{order}.py"
    for text, lines_of in ((source(order), numpy_lines), (name.read_text(), triton_lines)):
        phases = ("load", "exp", "output", "store")
        marked = ("store",) if "# kernel: fa2.visit_tiles" in text else phases
        for phase in marked:
            with pytest.raises(ListingError):
                lines_of(order, text.replace(f"# phase: {phase}", f"# {phase}"))
    with pytest.raises(ListingError, match="is gone"):
        triton_lines(order, name.read_text().replace("# kernel: end", ""))


def test_bookkeeping_of_the_picture_is_left_out():
    assert not any("yield visit_of(step, m_old" in line.text for line in numpy_lines("fa2"))
    assert not any(line.text.strip().startswith(module.END) for line in numpy_lines("fa1"))


def test_plain_values_for_the_browser():
    found = dict(listings())
    backward = found.pop("backward")
    assert set(found) == set(backward) == set(ALGORITHMS)
    assert set(found["fa2"]) == set(backward["fa2"]) == {"numpy", "triton"}
    assert set(backward["fa1"]) == set(backward["standard"]) == {"numpy"}
    assert found["fa2"]["numpy"][0].keys() == {"text"}
    assert {"text": "        # phase: load", "phase": "load"} in found["fa2"]["numpy"]
