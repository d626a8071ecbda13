"""Real faults of a real worker, on a GPU where there is one: the next request succeeds."""

from __future__ import annotations

import sys
from functools import partial

import pytest

from explainer.engine.engine import DEADLINE_S, Engine
from explainer.engine.job import BUSY, GONE, REFUSED
from explainer.engine.requests import RunRequest
from explainer.problem import Problem
from tests.engine import faulty_worker as faulty
from tests.engine.conftest import finish
from tests.workers import Clock, Gate, Patient

MAX_WAITING = 8
WORKER = "from tests.engine import faulty_worker; faulty_worker.main()"


@pytest.fixture(scope="module")
def clock() -> Clock:
    return Clock()


@pytest.fixture(scope="module")
def gate(tmp_path_factory) -> Gate:
    return Gate(tmp_path_factory.mktemp("faults") / "gate")


@pytest.fixture(scope="module")
def engine(clock, gate):
    spawn = partial(Patient, clock, (sys.executable, "-c", WORKER, str(gate.path)))
    running = Engine(spawn, clock=clock, max_waiting=MAX_WAITING)
    assert finish(running.submit(asked(0))).state == "done"
    yield running
    running.close()


def asked(seed: int, n: int = 32) -> RunRequest:
    problem = Problem(n=n, d=16, block_q=16, block_k=16, seed=seed, inputs="random")
    return RunRequest(problem, ("fa2",))


def recovers(engine, n: int) -> None:
    """The next request, of somebody else, is right."""
    job = finish(engine.submit(asked(0, n)))
    assert job.state == "done" and all(row["right"] for row in job.result["rows"])


def test_killed_in_the_middle_of_a_job_is_replaced_and_the_job_done(engine, gate):
    lives = engine.state()["replaced"]
    gate.shut()
    job = engine.submit(asked(faulty.HELD))
    with gate.held():
        engine._child.process.kill()
    assert finish(job).state == "done" and engine.state()["replaced"] == lives + 1
    recovers(engine, 33)


def test_illegal_memory_access(engine):
    if engine.machine()["interpreted"]:
        pytest.skip("CUDA's own faults need a GPU")
    job = finish(engine.submit(asked(faulty.ILLEGAL)))
    assert (job.state, job.why) == ("failed", GONE)
    recovers(engine, 34)


def test_out_of_memory_is_recovered_in_place(engine):
    lives = engine.state()["replaced"]
    job = finish(engine.submit(asked(faulty.FULL)))
    assert (job.state, job.why) == ("failed", REFUSED) and "memory" in job.error
    recovers(engine, 35)
    assert engine.state()["replaced"] == lives, "the worker lives on"


def test_result_that_cannot_be_sent(engine):
    job = finish(engine.submit(asked(faulty.UNSENDABLE)))
    assert (job.state, job.why) == ("failed", REFUSED) and "sent" in job.error
    recovers(engine, 36)


def test_client_gone_and_two_hundred_at_once(engine, gate):
    gate.shut()
    running = engine.submit(asked(faulty.HELD, 40), "gone")
    with gate.held():
        engine.leave(running, "gone")
        jobs = [engine.submit(asked(1000 + k), f"s{k}") for k in range(200)]
    ended = [finish(job) for job in jobs]
    assert [job.state for job in ended] == ["done"] * MAX_WAITING + ["failed"] * (200 - MAX_WAITING)
    assert {job.why for job in ended[MAX_WAITING:]} == {BUSY}
    assert finish(running).state == "dropped"
    recovers(engine, 41)


def test_hang(engine, clock):
    clock.waited.clear()
    job = finish(engine.submit(asked(faulty.HANG)))
    assert (job.state, job.why) == ("failed", GONE) and "longer than" in job.error
    assert len(clock.waited) == 2 and max(clock.waited) < DEADLINE_S, "tried again, in a new life"
    recovers(engine, 37)
