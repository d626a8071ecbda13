"""An engine with a worker that obeys, dies, hangs, faults and lies."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

import pytest

from explainer.engine.child import ProcessChild
from explainer.engine.engine import Engine
from explainer.engine.requests import RunRequest
from explainer.problem import Problem
from tests.workers import WAIT_S, Clock, Gate, Patient

# A worker that notes every request in a file (its argument) and behaves as the Problem's seed says:
# 1 dies every time, 2 once; 3 hangs; 4 faults; 6 stops at the gate; 7 talks nonsense.
FAKE = """
import json, os, signal, sys
from explainer.base.lines import from_line
from explainer.engine.child import CANCEL
from tests.workers import stop_at
send = lambda **m: print(json.dumps(m), flush=True)
send(machine={"available": True, "interpreted": False, "free_bytes": 2**40, "reason": ""})
for line in sys.stdin:
    if line.strip() == CANCEL:
        with open(sys.argv[1] + ".cancel", "a") as log: log.write(f"{os.getpid()}\\n")
        continue
    query = from_line(line).to_query()
    with open(sys.argv[1], "a") as log:
        log.write(f"{query['n']} {query['seed']} {os.getpid()}\\n")
    seen = open(sys.argv[1]).read().split("\\n")
    tries = sum(x.startswith(f"{query['n']} {query['seed']} ") for x in seen)
    send(progress=["kernel", 1, 4])
    seed = query["seed"]
    if seed == "1" or (seed == "2" and tries == 1): os._exit(1)
    if seed == "3": send(progress=["hangs", 0, 1]); signal.pause()
    if seed == "4": send(fault="CUDA error: illegal address"); os._exit(3)
    if seed == "6": stop_at(sys.argv[1] + ".gate")
    if seed == "7": print("not json", flush=True); signal.pause()
    send(result={"query": query, "tries": tries})
"""


@pytest.fixture
def fake(tmp_path):
    """start(**options) → an engine with the fake worker; ``fake.requests()`` lists what it saw."""
    log, clock = tmp_path / "log", Clock()
    log.touch()
    engines = []

    def start(**options) -> Engine:
        spawn = partial(Patient, clock, (sys.executable, "-c", FAKE, str(log)))
        engines.append(Engine(spawn, clock=clock, **options))
        return engines[-1]

    start.clock, start.gate = clock, Gate(tmp_path / "log.gate")
    start.gate.shut()
    start.cancelled = lambda: (tmp_path / "log.cancel").read_text().split()
    start.requests = lambda: [line.split() for line in log.read_text().splitlines()]
    yield start
    for engine in engines:
        engine.close()


@contextmanager
def real_engine(code: str) -> Iterator[Engine]:
    """An engine whose worker is a process that runs this Python, on a clock of the tests."""
    clock = Clock()
    engine = Engine(partial(Patient, clock, (sys.executable, "-c", code)), clock=clock)
    yield engine
    engine.close()


def child_that(says: str, **options) -> ProcessChild:
    """A worker's process that runs this Python once it is asked."""
    ready = "print('{\"machine\": {}}', flush=True); input()\n"
    return ProcessChild((sys.executable, "-c", ready + says), **options)


def finish(job):
    assert job.finished.wait(WAIT_S), f"still {job.state}"
    return job


def problem(seed: int = 0, n: int = 16) -> RunRequest:
    return RunRequest(Problem(n=n, seed=seed))
