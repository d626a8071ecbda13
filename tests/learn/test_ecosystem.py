"""Every snippet runs in a process of its own, or, where it cannot run here, is checked in parts."""

import ast
import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from explainer.engine import recorded
from explainer.learn import ecosystem
from explainer.learn.content import Snippet

ROOT = Path(__file__).resolve().parents[2]
BY_KEY = {s.key: s for s in ecosystem.SNIPPETS}


def here(snippet: Snippet) -> bool:
    """Whether this machine has what the snippet needs."""
    if snippet.needs in ("", "gpu"):
        return not snippet.needs or torch.cuda.is_available()
    # vllm would also fetch a model
    return snippet.needs != "vllm" and importlib.util.find_spec(snippet.needs) is not None


RUN = [s.key for s in ecosystem.SNIPPETS if here(s)]

# torch is imported once (seconds); then every snippet has a process of its own, as if pasted alone.
RUNNER = """
import contextlib, io, json, multiprocessing, sys, traceback
import torch, torch._dynamo  # flex_attention looks for it

def run(name, code, pipe):
    out, error = io.StringIO(), ""
    with contextlib.redirect_stdout(out):
        try:
            exec(compile(code, name, "exec"), {"__name__": "__main__"})
        except BaseException:
            error = traceback.format_exc()
    pipe.send((out.getvalue(), error))

found = {}
for name, code in json.load(sys.stdin).items():
    ours, theirs = multiprocessing.Pipe(False)
    child = multiprocessing.get_context("fork").Process(target=run, args=(name, code, theirs))
    child.start()
    theirs.close()
    try:
        found[name] = ours.recv()
    except EOFError:
        child.join()
        found[name] = "", f"it died with {child.exitcode}"
    child.join()
json.dump(found, sys.stdout)
"""


@pytest.fixture(scope="module")
def results() -> dict[str, tuple[str, str]]:
    """{key: (what was printed, the error or "")} of every snippet that can run here."""
    environment = dict(os.environ)
    if not torch.cuda.is_available():
        environment["TRITON_INTERPRET"] = "1"
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", RUNNER],
        cwd=ROOT,
        env=environment,
        timeout=120,
        input=json.dumps({key: BY_KEY[key].code for key in RUN}),
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("key", RUN)
def test_it_runs(key, results):
    printed, error = results[key]
    assert not error
    assert printed.strip()


SAID = {
    "sdpa": ["torch.Size([2, 8, 256, 64])"],
    "sdpa-kernel": ["flash ran", "math ran", "cuDNN refused: No viable backend"],
    "version": ["FA3", "FA4", "active: None"],
    "causal": ["lower right = by hand: True", "top left differs:      True", "[1, 1, 1, 1, 0]"],
    "gqa": ["the same: True"],
    "flex": ["the same: True", "██      \n████    \n██████  \n████████"],
    "profiler": ["scaled_dot_product", "aten::bmm", "aten::_softmax"],
    "error": ["allowed"],
}


@pytest.mark.parametrize("key", SAID)
def test_it_says_what_the_page_promises(key, results):
    for part in SAID[key]:
        assert part in results[key][0]


def test_on_a_cpu_no_fused_gpu_backend_can_run(results):
    answers = [line.split()[-1] for line in results["why-not"][0].splitlines()]
    assert answers == (["False", "True", "False"] if torch.cuda.is_available() else ["False"] * 2)


def test_our_kernel_agrees_with_sdpa(results):
    assert float(results["ours"][0].split()[-1]) < (1e-2 if torch.cuda.is_available() else 1e-5)


@pytest.mark.parametrize("key", BY_KEY)
def test_every_torch_name_exists(key):
    """Also of what cannot run here: its imports of torch, and the dotted names that begin there."""
    nodes = [*ast.walk(ast.parse(BY_KEY[key].code))]
    names: dict[str, object] = {}
    for node in nodes:
        if isinstance(node, ast.Import | ast.ImportFrom) and " torch" in ast.unparse(node):
            exec(ast.unparse(node), names)
    for dotted in (ast.unparse(node) for node in nodes if isinstance(node, ast.Attribute)):
        if dotted.partition(".")[0] in names and dotted.replace(".", "").isidentifier():
            eval(dotted, names)


def test_the_ratio_of_speed_is_the_records():
    # Another way to the same two numbers: times in place of rates.
    ms = {}
    for row in recorded.load()["rows"]:
        if row["method"] in ("sdpa_flash", "sdpa_cudnn") and "median_ms" in row:
            problem = tuple(row[k] for k in ("n", "d", "mask", "dtype", "batch", "heads"))
            ms.setdefault(problem, {})[row["method"]] = row["median_ms"]
    ratios = [t["sdpa_flash"] / t["sdpa_cudnn"] for t in ms.values() if len(t) == 2]
    assert len(ratios) > 50
    low, high = ecosystem.speed_ratio()
    assert (low, high) == pytest.approx((min(ratios), max(ratios)), rel=0.02)
    assert 1.3 < low < high < 2.5
    assert ecosystem.BACKENDS["rows"][-1][2] == f"{low:.1f} to {high:.1f} × flash"


def test_only_math_keeps_the_square_in_the_record():
    for row in recorded.load()["rows"]:
        if row["method"].startswith("sdpa_") and row["n"] >= 4096 and "peak_bytes" in row:
            square = row["batch"] * row["heads"] * row["n"] ** 2 * 2
            assert (row["peak_bytes"] >= square) == (row["method"] == "sdpa_math")
