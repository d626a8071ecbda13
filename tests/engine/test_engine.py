"""The engine with workers that obey, die, hang, fault and lie."""

import os
import signal
import time

import pytest

from explainer.engine import admission
from explainer.engine.child import WorkerLost
from explainer.engine.engine import (
    DEADLINE_S,
    REST_S,
    SPARE,
    SPARE_S,
    Engine,
)
from explainer.engine.job import BUSY, GONE
from tests.engine.conftest import child_that, finish, problem
from tests.workers import WAIT_S


def test_a_result_and_its_progress(fake):
    job = finish(fake().submit(problem()))
    assert (job.state, job.error) == ("done", None)
    assert job.result["query"] == problem().to_query()
    assert (job.stage, job.done, job.total) == ("kernel", 1, 4)


def test_same_problem_runs_once(fake):
    engine = fake()
    slow = [engine.submit(problem(6), f"s{k}") for k in range(5)]
    with fake.gate.held():
        slow += [engine.submit(problem(6), f"t{k}") for k in range(5)]
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


@pytest.mark.parametrize("seed", [1, 4, 7], ids=["dies", "faults", "talks nonsense"])
def test_worker_that_always_breaks_fails_with_a_sentence(fake, seed):
    engine = fake()
    job = finish(engine.submit(problem(seed)))
    assert job.state == "failed" and job.error.endswith(".") and "Traceback" not in job.error
    assert job.why == GONE
    assert len(fake.requests()) == 2, "one retry"
    assert finish(engine.submit(problem())).state == "done", "and the next visitor is served"


def test_three_faults_in_a_row_give_it_a_rest(fake):
    engine = fake()
    finish(engine.submit(problem(1)))
    finish(engine.submit(problem(1, n=17)))
    assert len(fake.requests()) == 3, "the third fault is not retried"
    refused = engine.submit(problem(n=18))
    assert refused.state == "failed" and "rests" in refused.error and refused.why == GONE
    fake.clock.now += REST_S - 1
    assert engine.submit(problem(n=19)).state == "failed" and engine.state()["resting_s"] == 1
    fake.clock.now += 1
    assert finish(engine.submit(problem(n=18))).state == "done"


def test_a_worker_that_never_starts_is_no_health():
    def spawn():
        raise WorkerLost("at import")

    engine = Engine(spawn)
    finish(engine.submit(problem()))
    state = engine.state()
    engine.close()
    assert not state["healthy"] and "being replaced" in state["why"]


def test_hanging_worker_is_killed_at_the_deadline(fake):
    engine = fake()
    job = finish(engine.submit(problem(3)))
    allowed = SPARE_S + SPARE * admission.expected_s(problem(3), engine.machine())
    assert fake.clock.waited == [allowed, allowed] and allowed < DEADLINE_S
    assert job.state == "failed" and "longer than" in job.error and job.why == GONE
    assert len(fake.requests()) == 2, "one retry, in a new life"
    assert finish(engine.submit(problem())).state == "done"


def test_nobody_waits_any_more(fake):
    engine = fake()
    running = engine.submit(problem(6), "a")
    with fake.gate.held():
        waiting = engine.submit(problem(0, n=20), "gone")
        shared = engine.submit(problem(0, n=21), "gone")
        engine.submit(problem(0, n=21), "stays")
        engine.leave(waiting, "gone")
        engine.leave(shared, "gone")
        engine.leave(running, "a")
        assert finish(running).state == "dropped" and running.error, "at once"
        assert engine.state()["running"] == 1, "the worker has not ended it yet"
    assert finish(waiting).state == "dropped"
    assert finish(shared).state == "done"
    assert {n for n, _, _ in fake.requests()} == {"16", "21"}
    assert fake.cancelled() == [fake.requests()[0][2]], "the worker that ran it was told"
    again = finish(engine.submit(problem(6), "a"))
    assert again.state == "done" and len(fake.requests()) == 3, "nothing of it was kept"


def test_newest_request_of_a_session_replaces_its_older_one(fake):
    engine = fake()
    running = engine.submit(problem(6), "me")
    with fake.gate.held():
        old = engine.submit(problem(0, n=20), "me")
        shared = engine.submit(problem(0, n=21), "me")
        assert engine.submit(problem(0, n=21), "you") is shared
        new = engine.submit(problem(0, n=22), "me")
    for job in (running, old):
        assert finish(job).state == "dropped" and job.error
    for job in (shared, new):
        assert finish(job).state == "done", "what others wait for goes on"
    assert {n for n, _, _ in fake.requests()} == {"16", "21", "22"}


def test_full_queue_refuses_with_a_sentence(fake):
    engine = fake(max_waiting=2)
    engine.submit(problem(6), "first")
    with fake.gate.held():
        waiting = [engine.submit(problem(0, n=20 + k), f"s{k}") for k in range(2)]
        assert [engine.position(job) for job in waiting] == [1, 2]
        refused = engine.submit(problem(0, n=30), "late")
    assert refused.state == "failed" and "waiting" in refused.error and refused.why == BUSY
    assert all(finish(job).state == "done" for job in waiting)


def test_close_fails_what_waits_and_ends_the_worker(fake):
    engine = fake()
    finish(engine.submit(problem()))
    job, waiting = engine.submit(problem(6)), engine.submit(problem(0, n=19))
    with fake.gate.held():
        pid = int(fake.requests()[-1][2])
        engine.close()
    assert finish(job).state == finish(waiting).state == "failed"
    assert finish(engine.submit(problem(0, n=20))).state == "failed"
    with pytest.raises(ProcessLookupError):
        os.kill(pid, signal.SIG_DFL)


def test_a_child_killed_while_a_line_of_it_is_passed_on_is_lost():
    """Else nobody says its end, and who waits for it waits for the deadline."""
    child = child_that("print('{}', flush=True); input()")
    put = child._lines.put

    def closing(line) -> None:
        put(line)
        if line is not None:
            child.kill()

    child._lines.put = closing
    child.ask(problem())
    assert child.next(time.monotonic() + WAIT_S) == {}
    with pytest.raises(WorkerLost):
        child.next(time.monotonic() + WAIT_S)


def test_the_state_that_healthz_shows(fake):
    engine = fake()
    finish(engine.submit(problem(2)))
    state = engine.state()
    assert state["worker"] and state["replaced"] == 1 and state["resting_s"] == 0.0
    assert (state["running"], state["waiting"]) == (0, 0)
