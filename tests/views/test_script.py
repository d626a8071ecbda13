"""The script that repeats a run has its numbers, and runs without the app."""

import ast
import os
import subprocess
import sys

import numpy as np
import pytest
import torch

import kernels
from explainer.algorithms.inputs import make_inputs
from explainer.engine import recorded
from explainer.engine.child import ROOT
from explainer.engine.requests import RunRequest
from explainer.problem import Problem
from explainer.views import script
from kernels.spec.formats import round_to

HEADS = {"q_heads": 6, "kv_heads": 2, "head": 4, "rope": 1e4, "dropout": 0.25}


@pytest.mark.parametrize("more", [{}, HEADS], ids=["one head", "heads"])
def test_the_script_has_the_runs_very_numbers(more):
    problem = Problem(n=5, d=4, dtype="bf16", inputs="random", seed=7, gain=2.0, **more)
    asked = RunRequest(problem, ("fa2",))
    text = script.write_script(asked.to_query(), ['measured on a "card" \\'])
    q, k, v = make_inputs(asked.problem)
    made = text[text.index("def drawn") : text.index("for x, one, head in")]
    names = {"np": np, "torch": torch, "kernels": kernels, "problem": problem}
    exec(made, names)
    for mine, given in zip(names["first"], (q, k, v), strict=True):
        np.testing.assert_array_equal(round_to(mine.numpy(), "bf16"), given)
    assert "root of the project's repository" in text and "measured on a 'card' /" in text
    ast.parse(text)


def made(data: str, **more) -> str:
    problem = Problem(n=20, d=8, block_q=8, block_k=6, dtype="fp16", inputs=data, **more)
    return script.write_script(RunRequest(problem, ("naive", "fa2", "hopper")).to_query())


BOTH = script.write_script(
    RunRequest(Problem(n=12, d=4, inputs="random"), ("naive", "fa2"), pass_="backward").to_query()
)
SCRIPTS = {"random": made("random", **HEADS), "rising": made("rising"), "both": BOTH}
RUN = """import runpy, sys
for name in sys.argv[1:]: print("<script>", name); runpy.run_path(name + ".py", None, "__main__")"""


@pytest.fixture(scope="module")
def printed(tmp_path_factory) -> dict[str, str]:
    """What each script prints, run in a folder of its own; torch is imported once for both."""
    folder = tmp_path_factory.mktemp("scripts")
    for data, text in SCRIPTS.items():
        (folder / f"{data}_data.py").write_text(text)
    env = os.environ | {"PYTHONPATH": str(ROOT)}
    options = {"cwd": folder, "env": env, "capture_output": True, "text": True}
    command = [sys.executable, "-c", RUN, *(f"{data}_data" for data in SCRIPTS)]
    done = subprocess.run(command, timeout=240, **options)
    assert done.returncode == 0, done.stderr
    return dict(part.split("_data\n", 1) for part in done.stdout.split("<script> ")[1:])


@pytest.mark.parametrize("data", SCRIPTS)
def test_the_script_runs_without_the_app(printed, data):
    text = SCRIPTS[data]
    imports = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Import)]
    assert {name.name for node in imports for name in node.names} == {
        *("os", "torch", "kernels"),
        *(["numpy"] * (data != "rising")),
    }
    assert "naive           error " in printed[data] and "fa2             error " in printed[data]
    assert ("standard normal here" in text) == (data == "rising")


def test_a_script_of_both_passes_judges_the_gradients(printed):
    """The errors are those of a run, of rounding alone (RP 16)."""
    assert "reference_gradients" in BOTH and "forward and backward" in BOTH
    errors = [float(line.split("error ")[1].split(",")[0]) for line in printed["both"].splitlines()]
    assert len(errors) == 2 and all(0 < error < 1e-5 for error in errors)


def test_a_script_refuses_on_a_cpu_what_the_interpreter_does_not_take():
    long = RunRequest(Problem(n=4096, block_q=16, block_k=16), ("fa2",))
    text = script.write_script(long.to_query())
    start = text.index("if device ==")
    names = {"device": "cpu"}
    with pytest.raises(SystemExit, match="32,896 tiles in all"):
        exec(text[start : text.index("q, k, v = random")], names)


def test_a_recorded_script_has_no_blocks_of_its_own():
    text = script.write_script(recorded.closest(RunRequest(Problem()))["query"])
    assert "block_m=None, block_n=None" in text and ast.parse(text)
