"""The shown code is the code that runs: cut out by markers, and a lost marker is an error."""

import inspect
import re
from importlib import import_module

import pytest

from explainer.algorithms.listings import ROOT, ListingError, code_lines, listings
from explainer.algorithms.registry import ALGORITHMS, OF_PASS
from explainer.algorithms.schedule import schedule
from explainer.algorithms.transfers import PASSES
from explainer.problem import Problem

SHOWN = [
    (kind, order, pass_)
    for kind in ("numpy", "triton")
    for pass_ in PASSES
    for order in ALGORITHMS
    if kind == "numpy" or pass_ == "forward" or order == "fa2"
]


def source(order: str) -> str:
    return (ROOT / "explainer" / "algorithms" / f"{order}.py").read_text()


@pytest.mark.parametrize(("kind", "order", "pass_"), SHOWN)
def test_every_phase_of_every_visit_lights_a_line(kind, order, pass_):
    lit = {
        (line.get("stage"), line["phase"])
        for line in code_lines(kind, order, pass_)
        if "phase" in line
    }
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
    shown = [line["text"] for line in code_lines("numpy", order, pass_) if line["text"]]
    assert shown == [text for text in body if text in set(shown)]
    if pass_ == "backward":
        return
    kernel = (ROOT / "kernels" / f"{order}.py").read_text()
    for name in re.findall(r"^# kernel: (\w+)\.\w+$", kernel, re.M):  # a function of another file
        kernel += (ROOT / "kernels" / f"{name}.py").read_text()
    shown = "\n".join(line["text"] for line in code_lines("triton", order))
    assert all(part in kernel for part in shown.split("\n\n"))


@pytest.mark.parametrize("order", ALGORITHMS)
def test_a_lost_marker_is_an_error(order):
    name = ROOT / "kernels" / f"{order}.py"
    for kind, text in (("numpy", source(order)), ("triton", name.read_text())):
        phases = ("load", "exp", "output", "store")
        marked = ("store",) if "# kernel: fa2.visit_tiles" in text else phases
        for phase in marked:
            with pytest.raises(ListingError):
                code_lines(kind, order, source=text.replace(f"# phase: {phase}", f"# {phase}"))
    with pytest.raises(ListingError, match="is gone"):
        code_lines("triton", order, source=name.read_text().replace("# kernel: end", ""))


def test_plain_values_for_the_browser():
    found = dict(listings())
    backward = found.pop("backward")
    assert set(found) == set(backward) == set(ALGORITHMS)
    assert set(found["fa2"]) == set(backward["fa2"]) == {"numpy", "triton"}
    assert set(backward["fa1"]) == set(backward["standard"]) == {"numpy"}
    assert found["fa2"]["numpy"][0].keys() == {"text"}
    assert {"text": "        # phase: load", "phase": "load"} in found["fa2"]["numpy"]
