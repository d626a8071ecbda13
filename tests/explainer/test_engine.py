"""The engine with workers that obey, die, hang, fault and lie; then once with the real one."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time

import pytest

from explainer.engine import ROOT, Engine
from explainer.problem import Problem

WAIT_S = 60

# A worker that notes every request in a file (its argument) and behaves as the Problem's seed says.
FAKE = """
import json, os, sys, time
send = lambda **m: print(json.dumps(m), flush=True)
send(machine={"available": True, "interpreted": False, "free_bytes": 2**40, "reason": ""})
for line in sys.stdin:
    query = json.loads(line)["run"]
    with open(sys.argv[1], "a") as log:
        log.write(f"{query['n']} {query['seed']} {os.getpid()}\\n")
    seen = open(sys.argv[1]).read().split("\\n")
    tries = sum(x.startswith(f"{query['n']} {query['seed']} ") for x in seen)
    send(progress=["kernel", 1, 4])
    seed = query["seed"]
    if seed == "1": os._exit(1)                       # dies every time
    if seed == "2" and tries == 1: os._exit(1)        # dies once
    if seed == "3": time.sleep(3600)                  # hangs
    if seed == "4": send(fault="CUDA error: illegal address"); os._exit(3)
    if seed == "5": send(refused="Too big for this card."); continue
    if seed == "6": time.sleep(0.4)                   # slow
    if seed == "7": print("not json", flush=True); time.sleep(3600)
    send(result={"query": query, "tries": tries})
"""


@pytest.fixture
def fake(tmp_path):
    """start(**options) → an engine with the fake worker; ``fake.requests()`` lists what it saw."""
    script, log = tmp_path / "worker.py", tmp_path / "log"
    script.write_text(FAKE)
    log.touch()
    engines = []

    def start(**options) -> Engine:
        engines.append(Engine((sys.executable, str(script), str(log)), **options))
        return engines[-1]

    start.requests = lambda: [line.split() for line in log.read_text().splitlines()]
    yield start
    for engine in engines:
        engine.close()


def finish(job):
    assert job.finished.wait(WAIT_S), f"still {job.state}"
    return job


def problem(seed: int = 0, n: int = 16) -> Problem:
    return Problem(n=n, seed=seed)


def test_a_result_and_its_progress(fake):
    job = finish(fake().submit(problem()))
    assert (job.state, job.error) == ("done", None)
    assert job.result["query"] == problem().to_query()
    assert (job.stage, job.done, job.total) == ("kernel", 1, 4)


def test_same_problem_runs_once(fake):
    engine = fake()
    slow = [engine.submit(problem(6), f"s{k}") for k in range(10)]
    assert len({id(job) for job in slow}) == 1, "one flight for all that ask meanwhile"
    finish(slow[0])
    later = engine.submit(problem(6))
    assert later.finished.is_set() and later.result is slow[0].result, "and kept for who asks later"
    assert len(fake.requests()) == 1


def test_worker_that_dies_once_is_replaced_and_tried_again(fake):
    engine = fake()
    assert finish(engine.submit(problem(2))).result["tries"] == 2
    pids = [pid for _, _, pid in fake.requests()]
    assert len(set(pids)) == 2


@pytest.mark.parametrize("seed", [1, 4], ids=["dies", "faults"])
def test_worker_that_always_breaks_fails_with_a_sentence(fake, seed):
    engine = fake()
    job = finish(engine.submit(problem(seed)))
    assert job.state == "failed" and job.error.endswith(".") and "Traceback" not in job.error
    assert len(fake.requests()) == 2, "one retry"
    assert finish(engine.submit(problem())).state == "done", "and the next visitor is served"


def test_three_faults_in_a_row_give_it_a_rest(fake):
    engine = fake(rest_s=0.3)
    finish(engine.submit(problem(1)))
    finish(engine.submit(problem(1, n=17)))
    assert len(fake.requests()) == 3, "the third fault is not retried"
    refused = engine.submit(problem(n=18))
    assert refused.state == "failed" and "rests" in refused.error
    time.sleep(0.35)
    assert finish(engine.submit(problem(n=18))).state == "done"


def test_hanging_worker_is_killed_at_the_deadline(fake):
    engine = fake(deadline_s=0.5)
    job = finish(engine.submit(problem(3)))
    assert job.state == "failed" and "longer than" in job.error
    assert len(fake.requests()) == 1, "what hung is not tried again"
    assert finish(engine.submit(problem())).state == "done"


def test_worker_that_talks_nonsense_does_not_stop_the_engine(fake):
    engine = fake(deadline_s=2)
    assert finish(engine.submit(problem(7))).state == "failed"
    assert finish(engine.submit(problem())).state == "done"


def test_refusals_are_sentences_and_not_retried(fake):
    engine = fake()
    assert finish(engine.submit(problem(5))).error == "Too big for this card."
    assert len(fake.requests()) == 1
    tiles = finish(engine.submit(Problem(n=4096, block_q=1, block_k=1)))
    assert tiles.state == "failed" and "65,536" in tiles.error
    assert len(fake.requests()) == 1, "refused before the worker heard of it"


def test_newest_request_of_a_session_replaces_its_older_one(fake):
    engine = fake()
    running = engine.submit(problem(6), "me")
    while running.state == "queued":
        time.sleep(0.01)
    old = engine.submit(problem(0, n=20), "me")
    shared = engine.submit(problem(0, n=21), "me")
    assert engine.submit(problem(0, n=21), "you") is shared
    new = engine.submit(problem(0, n=22), "me")
    assert finish(old).state == "dropped" and old.error
    for job in (running, shared, new):
        assert finish(job).state == "done", "what runs, or others wait for, goes on"
    assert {n for n, _, _ in fake.requests()} == {"16", "21", "22"}


def test_full_queue_refuses_with_a_sentence(fake):
    engine = fake(max_waiting=2)
    engine.submit(problem(6))
    while engine.state()["waiting"]:
        time.sleep(0.01)
    waiting = [engine.submit(problem(0, n=20 + k)) for k in range(2)]
    assert [engine.position(job) for job in waiting] == [1, 2]
    refused = engine.submit(problem(0, n=30))
    assert refused.state == "failed" and "waiting" in refused.error
    assert all(finish(job).state == "done" for job in waiting)


def test_close_fails_what_waits_and_ends_the_worker(fake):
    engine = fake()
    finish(engine.submit(problem()))
    job = engine.submit(problem(3))
    while not job.stage:
        time.sleep(0.01)
    pid = int(fake.requests()[-1][2])
    engine.close()
    assert finish(job).state == "failed"
    assert finish(engine.submit(problem(0, n=20))).state == "failed"
    for _ in range(200):
        if not os.path.exists(f"/proc/{pid}"):
            break
        time.sleep(0.02)
    with pytest.raises(ProcessLookupError):
        os.kill(pid, signal.SIG_DFL)


@pytest.fixture(scope="module")
def engine():
    """The real thing: its worker imports torch and runs the kernels."""
    running = Engine()
    running.start()
    yield running
    running.close()


REAL = [
    Problem(),
    Problem(order="fa1", dtype="bf16", n=37, d=12, block_q=5, block_k=16, inputs="random"),
    Problem(order="standard", dtype="fp16", n=29, block_q=16, block_k=6, causal=False),
    Problem(n=6, block_q=2, block_k=2, d=16, inputs="sentence"),
    Problem(n=1, d=1, block_q=1, block_k=1),
    Problem(n=130, d=64, block_q=32, block_k=64, inputs="spike", dtype="bf16"),
]


@pytest.mark.parametrize("asked", REAL, ids=lambda p: f"{p.order}-{p.dtype}-n{p.n}")
def test_real_kernel_is_right_and_is_the_picture(engine, asked):
    job = finish(engine.submit(asked))
    assert job.error is None
    result = job.result
    json.dumps(result, allow_nan=False)
    assert result["query"] == asked.to_query()
    right, same, small = result["right"], result["same"], result["small"]
    assert right["right"] and right["error"] <= right["allowed"]
    assert right["naive_error"] is not None and right["lse_error"] < 1e-2
    assert same["agrees"]
    if asked.order != "standard":
        assert same["against"] == "trace" and same["tiles"] == result["tiles"]
        rows = sum(
            min(asked.n, (i + 1) * asked.block_q) - i * asked.block_q
            for i in range(asked.Tr)
            for j in range(asked.Tc)
            if not asked.causal or j * asked.block_k < min(asked.n, (i + 1) * asked.block_q)
        )
        assert same["values"] == 2 * rows, "m and l of every row of every tile that is visited"
    itemsize = 4 if asked.dtype == "fp32" else 2
    assert small["naive_bytes"] >= 2 * asked.n**2 * itemsize
    assert small["io_bytes"] == 4 * asked.n * asked.d * itemsize
    if result["machine"]["interpreted"]:
        assert set(result["fast"]) == {"interpreter_s"}
    else:
        assert result["fast"]["kernel"]["median_ms"] > 0


def test_bounds_under_the_interpreter(engine):
    finish(engine.submit(Problem()))
    if not engine.machine()["interpreted"]:
        pytest.skip("a GPU is here: the interpreter's bounds do not apply")
    many = finish(engine.submit(Problem(n=512, block_q=8, block_k=8)))
    assert many.state == "failed" and "2,000" in many.error and "4,096" not in many.error
    long = finish(engine.submit(Problem(n=8192, block_q=512, block_k=512)))
    assert long.state == "failed" and "4,096" in long.error


def test_worker_dies_with_its_parent(tmp_path):
    code = (
        "import sys, time; from explainer.engine import Engine; engine = Engine(); engine.start()\n"
        "while not engine.machine(): time.sleep(0.05)\n"
        "print(engine._child.process.pid, flush=True); time.sleep(600)"
    )
    command = [sys.executable, "-c", code]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as parent:
        worker = int(parent.stdout.readline())
        assert os.path.exists(f"/proc/{worker}")
        parent.kill()
    for _ in range(200):
        if not os.path.exists(f"/proc/{worker}"):
            return
        time.sleep(0.05)
    pytest.fail("the worker outlived its parent by 10 s")


def test_without_triton_the_reason_is_a_sentence():
    hide = (
        "import importlib.util as u, runpy; real = u.find_spec\n"
        "u.find_spec = lambda name, *more: None if name == 'triton' else real(name, *more)\n"
        "runpy.run_module('explainer.worker', run_name='__main__')"
    )
    bare = Engine((sys.executable, "-c", hide))
    try:
        job = finish(bare.submit(Problem()))
        assert job.state == "failed" and "Triton is not installed" in job.error
        assert bare.machine()["available"] is False
    finally:
        bare.close()
