"""The engine's line is fair, what it says of the wait holds, and nothing ends it without a word."""

import math
import time

import pytest

from explainer.engine import admission
from explainer.engine.child import WorkerLost
from explainer.engine.engine import Engine
from explainer.engine.fair_queue import MOST_EACH, Client
from explainer.engine.job import BUSY, GONE
from explainer.engine.results import unknown_machine
from tests.engine.conftest import child_that, finish, problem
from tests.workers import WAIT_S, Clock


def test_a_flood_of_a_program_is_refused_beyond_its_share_and_a_page_comes_next(fake):
    engine = fake()
    flood, page = Client("far"), Client("near", "page")
    engine.submit(problem(6), "p0", flood)
    with fake.gate.held():
        jobs = [engine.submit(problem(0, n=17 + k), f"p{k + 1}", flood) for k in range(60)]
        mine = engine.submit(problem(0, n=90), "page", page)
        assert engine.position(mine) == 2, "one that runs and one of the flood are before it"
        assert "yours" in engine.crowded(flood) and engine.crowded(page) is None
        waits = [engine.wait_s(job) for job in (jobs[0], mine, jobs[1])]
    assert waits[0] < waits[1] < waits[2]
    states = [finish(job).state for job in jobs]
    assert states == ["done"] * MOST_EACH + ["failed"] * (60 - MOST_EACH)
    assert {job.why for job in jobs[MOST_EACH:]} == {BUSY} and "yours" in jobs[-1].error
    assert finish(mine).state == "done" and engine.wait_s(mine) is None


def test_programs_have_half_of_the_line(fake):
    engine = fake(max_waiting=4)
    engine.submit(problem(6), "p", Client("x"))
    with fake.gate.held():
        programs = [engine.submit(problem(0, n=20 + k), f"p{k}", Client(f"a{k}")) for k in range(3)]
        pages = [engine.submit(problem(0, n=30 + k), f"s{k}", Client("h", f"s{k}")) for k in (0, 1)]
    assert [finish(job).why for job in programs] == [None, None, BUSY]
    assert [finish(job).state for job in pages] == ["done", "done"]


def test_the_wait_that_is_said_follows_the_pace_that_runs_have(fake):
    engine = fake()
    expected = admission.expected_s(problem(), {"interpreted": False, "available": True})
    for k in range(12):
        finish(engine.submit(problem(0, n=20 + k)))  # by this clock each takes no time at all
    engine.submit(problem(6))
    with fake.gate.held():
        waiting = [engine.submit(problem(0, n=60 + k), f"s{k}") for k in range(3)]
        waits = [engine.wait_s(job) for job in waiting]
    assert waits[2] < 3 * expected / 5


def test_an_error_of_ours_ends_a_job_and_not_the_engine(fake, monkeypatch):
    """Even one that is no Exception."""

    def end(*_: object) -> None:
        raise SystemExit

    engine = fake()
    finish(engine.submit(problem()))
    with monkeypatch.context() as broken:
        broken.setattr(Engine, "_run", end)
        job = finish(engine.submit(problem(0, n=40)))
        assert (job.state, job.why) == ("failed", GONE) and job.error.endswith(".")
    assert finish(engine.submit(problem(0, n=41))).state == "done"
    assert engine.state()["healthy"]


def test_a_stopped_worker_is_noticed_by_its_silence():
    child = child_that("input()", silent_s=0.2)
    child.ask(problem())
    with pytest.raises(WorkerLost, match="silent"):
        child.next(math.inf)
    child.kill()


def test_a_worker_that_beats_is_not_silent():
    beats = "for _ in range(9): print('{\"beat\": true}', flush=True)\n"
    child = child_that(beats + "print('{\"result\": 1}', flush=True); input()")
    child.ask(problem())
    assert child.next(time.monotonic() + WAIT_S) == {"result": 1}
    child.kill()


class Slow:
    """A child that says every 20 s by the clock that it gets on, so many times."""

    admits = False

    def __init__(self, clock: Clock, times: int) -> None:
        self.clock, self.times = clock, times
        self.machine = unknown_machine("a busy card")

    def ask(self, message: dict, context: object = None) -> None:
        self.left = self.times

    def next(self, deadline: float) -> dict:
        self.clock.now = min(deadline, self.clock.now + 20)
        if self.clock.now == deadline:
            raise TimeoutError
        self.left -= 1
        return {"progress": ["kernel", self.left, 9]} if self.left else {"result": {"rows": []}}

    def alive(self) -> bool:
        return True

    def kill(self) -> None:
        pass

    cancel = kill


@pytest.mark.parametrize("times, state", [(4, "done"), (9, "failed")])
def test_a_run_that_gets_on_slowly_has_the_whole_deadline(times, state):
    clock = Clock()
    engine = Engine(lambda: Slow(clock, times), clock=clock)
    job = finish(engine.submit(problem()))
    engine.close()
    assert job.state == state
    assert job.error is None or job.error.startswith("This run took longer than 90 s")
