"""A run of both passes: its gradients judged by a truth of its own, faults rejected, bits counted,
bytes added up."""

import json
from dataclasses import replace

import numpy as np
import pytest
import torch

import kernels
from explainer.algorithms.schedule import schedule
from explainer.base.amounts import scientific
from explainer.engine import recorded
from explainer.engine.gradient_judging import NAMES, Gradients, differing
from explainer.engine.jobs import device, run
from explainer.engine.requests import RunRequest
from explainer.engine.results import Result
from explainer.problem import Problem
from explainer.trace import trace_backward
from explainer.views import downloads, run_result
from kernels.checks import DTYPES
from tests.by_autograd import autograd
from tests.schema import misfit
from tests.tables import table
from tests.views.results import tables_of

SMALL = Problem(n=10, d=4, block_q=5, block_k=4, inputs="random", mask="causal")
CASES = {name: RunRequest.from_query(query) for name, query in table(__file__).items()}


@pytest.fixture(scope="module")
def results() -> dict[str, Result]:
    return {name: run(asked, lambda *_, **_named: None) for name, asked in CASES.items()}


def of(result: Result, method: str) -> dict:
    return next(row for row in result["rows"] if row["method"] == method)


@pytest.mark.parametrize("name", CASES)
def test_the_kernel_is_right_and_its_tiles_are_the_pictures(results, name):
    result, asked = json.loads(json.dumps(results[name], allow_nan=False)), CASES[name]
    assert not misfit(result, Result) and result["query"]["pass"] == "backward"
    row = of(result, "fa2")
    assert row["right"] and row["same"]["agrees"] and 0 <= row["same"]["largest"] < 1
    visits = trace_backward(asked.problem).visits
    assert row["same"]["tiles"] == sum(v.part_dQ is not None for v in visits)
    worst = max(row["gradients"].values(), key=lambda g: g["error"] / g["allowed"])
    assert (row["error"], row["allowed"]) == (worst["error"], worst["allowed"])
    assert all(g["error"] <= g["allowed"] for g in row["gradients"].values())
    heads = asked.batch * asked.heads
    values = (heads + 2 * asked.batch * asked.problem.kv_heads) * asked.problem.n * asked.problem.d
    assert row["repeat"]["values"] == values
    assert row["repeat"]["deterministic"] == dict.fromkeys(NAMES, 0)
    if kernels.INTERPRETED:  # one program after the other
        assert row["repeat"]["differ"] == dict.fromkeys(NAMES, 0)
    for refused in ("standard", "fa1"):
        if refused in asked.methods:
            assert of(result, refused)["refused"].endswith("its gradients are those of FA-2.")
    naive = of(result, "naive")
    if name == "bf16, rows that see no key":
        assert "not numbers" in naive["refused"]
        assert row["gradients"]["dQ"]["naive_error"] is None
    else:
        assert naive["right"] and naive["error"] == naive["naive_error"]


@pytest.mark.parametrize("name", ["fp32", "fp16, a group"])
def test_bytes_and_flops_are_those_of_both_loops(results, name):
    """The traces' transfers; of a group K, V, dK and dV of the backward pass once."""
    asked, row = CASES[name], of(results[name], "fa2")
    p, heads = replace(asked.problem, order="fa2"), asked.batch * asked.heads
    forward, backward = (
        sum(t.nbytes for s in schedule(p, pass_) for t in s.transfers)
        for pass_ in ("forward", "backward")
    )
    own = sum(
        t.nbytes
        for s in schedule(p, "backward")
        for t in s.transfers
        if t.tensor in ("K", "V", "dK", "dV")
    )
    shared = asked.batch * (p.q_heads - p.kv_heads)
    assert row["bytes"] == heads * (forward + backward) - shared * own
    assert row["least_bytes"] <= row["bytes"]
    scores = p.n**2 * (0.5 if p.is_causal else 1)
    assert row["flops"] == (2 + 5) * 2 * heads * scores * p.d


def truth(problem: Problem) -> list[np.ndarray]:
    """dQ, dK, dV of one head in float64, of the trace's own operands."""
    true = autograd(trace_backward(problem))
    return [getattr(true, name) for name in NAMES]


def judge_of(problem: Problem) -> Gradients:
    t = trace_backward(problem)
    q, k, v = (
        torch.tensor(np.array(x), device=device()).to(DTYPES[problem.dtype])[None, None]
        for x in (t.Q, t.K, t.V)
    )
    return Gradients(q, k, v, RunRequest(problem, pass_="backward"), [(0, 0)], with_naive=True)


@pytest.mark.parametrize("dtype", DTYPES)
def test_the_error_is_the_distance_from_the_textbook(dtype):
    problem = replace(SMALL, dtype=dtype)
    judge, exact = judge_of(problem), truth(problem)
    rounded = [torch.tensor(x, device=device()).to(DTYPES[dtype]) for x in exact]
    row = judge.judge("fa2", tuple(x[None, None] for x in rounded))
    assert row["right"]
    for name, mine, true in zip(NAMES, rounded, exact, strict=True):
        error = np.abs(mine.double().cpu().numpy() - true).max()
        assert row["gradients"][name]["error"] == pytest.approx(error, rel=1e-6, abs=1e-14)


# What is done to dQ, dK and dV, and which of them is wrong then.
FAULTS = {
    "dQ without its scale": ("dQ", lambda q, k, v: (q * 2, k, v)),
    "dK a tenth too small": ("dK", lambda q, k, v: (q, k * 0.9, v)),
    "dV unwritten": ("dV", lambda q, k, v: (q, k, torch.zeros_like(v))),
    "dK and dV the wrong way round": ("dK", lambda q, k, v: (q, v, k)),
}


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_rejected(dtype, fault):
    problem = Problem(n=96, d=16, block_q=32, block_k=32, inputs="random", dtype=dtype)
    exact = [torch.tensor(x, device=device()).to(DTYPES[dtype])[None, None] for x in truth(problem)]
    judge, (wrong, spoil) = judge_of(problem), FAULTS[fault]
    assert judge.judge("fa2", tuple(exact))["right"]
    row = judge.judge("fa2", spoil(*exact))
    gradient = row["gradients"][wrong]
    assert not row["right"] and gradient["error"] > gradient["allowed"]


def test_a_gradient_that_is_no_number_is_not_right():
    judge, nothing = judge_of(SMALL), torch.full((1, 1, SMALL.n, SMALL.d), float("nan"))
    assert not judge.judge("fa2", (nothing.to(device()),) * 3)["right"]


@pytest.mark.parametrize("dtype", DTYPES.values(), ids=DTYPES)
def test_every_bit_that_differs_is_counted(dtype):
    first = tuple(torch.randn(2, 3, 5, 4).to(dtype) for _ in NAMES)
    again = tuple(x.clone() for x in first)
    assert differing(first, again) == dict.fromkeys(NAMES, 0)
    again[0][1, 2, 3] = torch.nextafter(again[0][1, 2, 3].float(), torch.tensor(9.0)).to(dtype)
    bits = again[2].view(torch.int16 if dtype.itemsize == 2 else torch.int32)
    bits[0, 0, 0, 0] ^= 1
    changed = int((again[0] != first[0]).sum())
    assert differing(first, again) == {"dQ": changed, "dK": 0, "dV": 1}


def test_the_page_shows_errors_differing_bits_and_times(results):
    result = json.loads(json.dumps(results["fp32"]))
    row = of(result, "fa2")
    row["repeat"]["differ"]["dQ"] = 17
    times = {"median_ms": 2.0, "p20_ms": 1.9, "p80_ms": 2.1, "runs": 9, "tflops": 7.0}
    for each in result["rows"]:
        each |= {} if "refused" in each else times
    row["deterministic_ms"] = 3.0
    result["machine"] |= {"interpreted": False, "device": "NVIDIA H200"}
    result["after_timing"] = ["1980 MHz"]
    state = run_result.done(result, recorded.closest(CASES["fp32"]))
    tabs = state["tabs"]
    (rules,) = tables_of(tabs["errors"])
    for name, gradient in row["gradients"].items():
        (of_rule,) = (cells for cells in rules if cells[0] == f"FA-2, {name}")
        assert scientific(gradient["error"]) in of_rule
    assert state["query"]["pass"] == "backward"
    assert "1.50 × as long" in tabs["time"]
    assert any("17" in cells for cells in tables_of(tabs["tiles"])[-1])
    (line,) = (x for x in downloads.run_rows(result) if x["method"] == "fa2")
    assert line["dQ_max_abs_error"] == row["gradients"]["dQ"]["error"]
    assert (line["deterministic_ms"], line["dQ_differing_values"]) == (3.0, 17)
