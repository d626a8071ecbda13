"""Real faults of a real worker, on a GPU where there is one: the next request succeeds.

The time from the fault to the next result is printed (`pytest -s`), not asserted.
"""

from __future__ import annotations

import subprocess
import sys
import time
from functools import partial

import pytest

from explainer.engine.child import ProcessChild
from explainer.engine.engine import BUSY, GONE, REFUSED, Engine
from explainer.engine.requests import RunRequest
from explainer.problem import Problem
from tests.engine import faulty_worker as faulty

WAIT_S = 180
WORKER = "from tests.engine import faulty_worker; faulty_worker.main()"


def has_gpu() -> bool:
    code = "import torch, sys; sys.exit(not torch.cuda.is_available())"
    return subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.fixture(scope="module")
def gpu() -> bool:
    return has_gpu()


@pytest.fixture(scope="module")
def engine():
    spawn = partial(ProcessChild, (sys.executable, "-c", WORKER))
    running = Engine(spawn, deadline_s=20, rest_s=1)
    assert finish(running.submit(asked(0))).state == "done"
    yield running
    running.close()


def asked(seed: int, n: int = 32) -> RunRequest:
    problem = Problem(n=n, d=16, block_q=16, block_k=16, seed=seed, inputs="random")
    return RunRequest(problem, ("fa2",))


def finish(job):
    assert job.finished.wait(WAIT_S), f"still {job.state}"
    return job


def recovers(engine, what: str, n: int) -> None:
    """The next request, of somebody else, is right; prints how long it took."""
    began = time.perf_counter()
    while True:  # a rest after three faults in a row is a second here
        job = finish(engine.submit(asked(0, n)))
        if job.state == "done":
            break
        assert job.why == GONE
        time.sleep(0.1)
    assert all(row["right"] for row in job.result["rows"])
    print(f"\n{what}: next result after {time.perf_counter() - began:.1f} s")


def test_killed_in_the_middle_of_a_job_is_replaced_and_the_job_done(engine):
    job = engine.submit(asked(faulty.SLOW))
    while not job.stage:
        time.sleep(0.01)
    engine._child.process.kill()
    assert finish(job).state == "done"
    recovers(engine, "SIGKILL", 33)


def test_illegal_memory_access(engine, gpu):
    if not gpu:
        pytest.skip("CUDA's own faults need a GPU")
    job = finish(engine.submit(asked(faulty.ILLEGAL)))
    assert (job.state, job.why) == ("failed", GONE)
    recovers(engine, "illegal memory access, twice", 34)


def test_out_of_memory_is_recovered_in_place(engine):
    lives = engine.state()["replaced"]
    job = finish(engine.submit(asked(faulty.FULL)))
    assert (job.state, job.why) == ("failed", REFUSED) and "memory" in job.error
    recovers(engine, "out of memory", 35)
    assert engine.state()["replaced"] == lives, "the worker lives on"


def test_result_that_cannot_be_sent(engine):
    job = finish(engine.submit(asked(faulty.UNSENDABLE)))
    assert (job.state, job.why) == ("failed", REFUSED) and "sent" in job.error
    recovers(engine, "result that cannot be sent", 36)


def test_client_gone_and_two_hundred_at_once(engine):
    running = engine.submit(asked(faulty.SLOW, 40), "gone")
    while not running.stage:
        time.sleep(0.01)
    engine.leave(running, "gone")
    jobs = [engine.submit(asked(1000 + k), f"s{k}") for k in range(200)]
    ended = [finish(job) for job in jobs]
    assert {job.why for job in ended if job.state != "done"} == {BUSY}
    assert sum(job.state == "done" for job in ended) >= 32
    assert finish(running).state == "done"
    recovers(engine, "200 at once", 41)


def test_hang(engine):
    engine._deadline_s = 3
    job = finish(engine.submit(asked(faulty.HANG)))
    engine._deadline_s = 60
    assert (job.state, job.why) == ("failed", GONE) and "longer than" in job.error
    recovers(engine, "hang, twice", 37)
