"""The real worker: every method judged on small requests, the interpreter's bounds, its end."""

import json
import os
import select
import subprocess
import sys
import threading
from dataclasses import replace
from functools import partial
from types import SimpleNamespace

import pytest

from explainer.algorithms.traffic import compulsory_bytes
from explainer.engine import worker
from explainer.engine.child import ROOT, ProcessChild
from explainer.engine.engine import Engine
from explainer.engine.jobs import REFUSALS, Refused
from explainer.engine.requests import METHODS, ORDERS, RunRequest, Sweep
from explainer.engine.results import Machine, Result
from explainer.problem import Problem
from tests import by_hand
from tests.engine.conftest import finish, real_engine
from tests.schema import misfit
from tests.tables import table
from tests.workers import WAIT_S

# Not behind everybody else, as a visitor's runs are: what runs beside the tests may be endless.
WORKER = "import os; os.nice = lambda by: 0; from explainer.engine import worker; worker.main()"


@pytest.fixture(scope="module")
def engine():
    """The real thing: its worker imports torch and runs the kernels."""
    with real_engine(WORKER) as running:
        running.start()
        yield running


REAL = list(map(RunRequest.from_query, table(__file__)))


@pytest.mark.parametrize(
    "asked", REAL, ids=lambda r: f"{'-'.join(r.methods)}-n{r.problem.n}-{r.problem.mask}"
)
def test_every_method_is_right_and_the_kernels_are_the_picture(engine, asked):
    job = finish(engine.submit(asked))
    assert job.error is None
    result = job.result
    json.dumps(result, allow_nan=False)
    assert not misfit(result, Result)
    assert result["asked"] == asked.to_query()
    ran = RunRequest.from_query(result["query"])
    assert not (ran.auto_q or ran.auto_k), "auto has become the table's numbers"
    assert replace(ran, problem=asked.problem) == replace(asked, auto_q=False, auto_k=False)
    assert [row["method"] for row in result["rows"]] == list(asked.methods)
    p, heads = ran.problem, asked.batch * asked.heads
    itemsize = 4 if p.dtype == "fp32" else 2
    own = asked.batch * p.kv_heads  # heads with K and V of their own
    assert result["io_bytes"] == 2 * (heads + own) * p.n * p.d * itemsize
    for row in result["rows"]:
        assert row["right"] and row["error"] <= row["allowed"]
        counts = row["histogram"]
        assert sum(counts["counts"]) + counts["exact"] == result["heads_judged"] * p.n * p.d
        assert row["least_bytes"] > 0 and row["flops"] > 0
        if row["method"] in ORDERS:
            assert row["bytes"] >= row["least_bytes"]
            every = heads * compulsory_bytes(p.n, p.d, p.dtype, row["method"], p.mask)
            seen = by_hand.seen(p).any(0).sum()
            assert row["least_bytes"] == every - 2 * (heads - own) * seen * p.d * itemsize
            assert row["lse_error"] < 1e-2 and row["same"]["agrees"]
            check_tiles(row, replace(p, order=row["method"]), result)
        elif row["method"] == "naive":
            assert row["least_bytes"] >= result["io_bytes"] and "bytes" not in row
        if row["method"] in ("naive", "standard"):
            assert row["peak_bytes"] >= 2 * heads * p.n**2 * itemsize
        assert ("median_ms" in row) != result["machine"]["interpreted"]


def check_tiles(row, p, result):
    if p.order == "standard":
        assert row["same"]["against"] == "O"
        return
    assert row["same"]["against"] == "trace"
    assert row["same"]["tiles"] == result["tiles"][p.order]
    rows = sum(min(p.block_q, p.n - i * p.block_q) for i, _ in by_hand.computed_tiles(p))
    assert row["same"]["values"] == 2 * rows, "m and l of every row of every tile visited"


def interpreted(engine) -> bool:
    finish(engine.submit(RunRequest(Problem())))
    return engine.machine()["interpreted"]


def test_bounds_under_the_interpreter(engine):
    if not interpreted(engine):
        pytest.skip("a GPU is here: the interpreter's bounds do not apply")
    many = finish(engine.submit(RunRequest(Problem(n=520, block_q=8, block_k=8))))
    assert many.state == "failed" and "2,080" in many.error and "4,096" not in many.error
    long = finish(engine.submit(RunRequest(Problem(n=8192, block_q=512, block_k=512))))
    assert long.state == "failed" and "4,096" in long.error
    heads = finish(engine.submit(RunRequest(Problem(), ("fa2",), 64, 32)))
    assert heads.state == "failed" and "2,048 heads" in heads.error
    swept = finish(engine.submit(Sweep(methods=("fa2",)).points()[1]))
    assert swept.state == "failed" and "GPU" in swept.error


def test_what_needs_a_gpu_says_so_beside_what_ran(engine):
    if not interpreted(engine):
        pytest.skip("a GPU is here: everything runs")
    job = finish(engine.submit(RunRequest(Problem(), tuple(METHODS))))
    assert not misfit(job.result, Result) and not misfit(engine.machine(), Machine)
    refused = {row["method"]: row["refused"] for row in job.result["rows"] if "refused" in row}
    on_a_cpu = {"naive", "sdpa_math", "sdpa_dense", "flex", *ORDERS}  # these run anywhere (RP 13)
    assert set(refused) == set(METHODS) - on_a_cpu
    assert len(set(refused.values())) == len(refused), "a sentence for each"
    assert all(row["right"] for row in job.result["rows"] if "refused" not in row)
    assert all(text.endswith(".") for text in refused.values())
    alone = finish(engine.submit(RunRequest(Problem(), ("hopper",))))
    assert alone.state == "failed" and "GPU" in alone.error


def test_a_cancelled_request_ends_where_it_next_reports():
    cancelled, sent = threading.Event(), []

    def answer(message, report):
        report("first", 0, 1)
        cancelled.set()
        report("second", 0, 1)
        return message

    answers = SimpleNamespace(
        report=lambda *progress: sent.append(progress), send=lambda **said: sent.append(said)
    )
    worker._answer(
        {}, cancelled, answers, SimpleNamespace(answer=answer, Refused=Refused, REFUSALS=REFUSALS)
    )
    assert sent == [("first", 0, 1), {"refused": "The run was canceled."}]


def test_worker_dies_with_its_parent():
    """The engine as the app starts it."""
    code = (
        "import signal; from explainer.engine.engine import Engine\n"
        "from explainer.problem import Problem\n"
        "from explainer.engine.requests import RunRequest\n"
        "engine = Engine(); job = engine.submit(RunRequest(Problem(), ('naive',)))\n"
        "job.finished.wait(); print(job.state, engine._child.process.pid, flush=True)\n"
        "signal.pause()"
    )
    command = [sys.executable, "-c", code]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as parent:
        state, worker = parent.stdout.readline().split()
        assert state == "done"
        ended = select.poll()
        ended.register(pid := os.pidfd_open(int(worker)), select.POLLIN)
        assert not ended.poll(0), "it lives"
        parent.kill()
        assert ended.poll(WAIT_S * 1000), "it outlives its parent"
        os.close(pid)


def test_without_a_gpu_the_worker_alone_chooses_the_interpreter(monkeypatch):
    """The tests' own TRITON_INTERPRET hides that `kernels` was imported before it was set."""
    monkeypatch.delenv("TRITON_INTERPRET", raising=False)
    child = ProcessChild()
    try:
        assert child.machine["available"], child.machine["reason"]
    finally:
        child.kill()


def test_without_triton_the_reason_is_a_sentence():
    hide = (
        "import importlib.util as u, runpy; real = u.find_spec\n"
        "u.find_spec = lambda name, *more: None if name == 'triton' else real(name, *more)\n"
        "runpy.run_module('explainer.engine.worker', run_name='__main__')"
    )
    bare = Engine(partial(ProcessChild, (sys.executable, "-c", hide)))
    try:
        job = finish(bare.submit(RunRequest(Problem())))
        assert job.state == "failed" and "Triton is not installed" in job.error
        assert bare.machine()["available"] is False and not misfit(bare.machine(), Machine)
    finally:
        bare.close()
