"""Real faults of a real worker, on a GPU where there is one: the next request succeeds."""

import pytest

from explainer.engine.job import GONE, REFUSED
from explainer.engine.requests import RunRequest
from explainer.problem import Problem
from tests.engine import faulty_worker as faulty
from tests.engine.conftest import finish, real_engine

WORKER = "from tests.engine import faulty_worker; faulty_worker.main()"


@pytest.fixture(scope="module")
def engine():
    with real_engine(WORKER) as running:
        assert finish(running.submit(asked(0))).state == "done"
        yield running


def asked(seed: int, n: int = 32) -> RunRequest:
    problem = Problem(n=n, d=16, block_q=16, block_k=16, seed=seed, inputs="random")
    return RunRequest(problem, ("fa2",))


def recovers(engine, n: int) -> None:
    """The next request, of somebody else, is right."""
    job = finish(engine.submit(asked(0, n)))
    assert job.state == "done" and all(row["right"] for row in job.result["rows"])


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
