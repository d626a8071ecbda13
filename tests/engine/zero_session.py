"""What test_zero.py runs in a process of its own: forking is for processes without threads."""

from __future__ import annotations

import json
import os
import sys
import time

os.environ["TRITON_INTERPRET"] = "1"  # on ZeroGPU a GPU is there; here the interpreter stands in

import torch

from explainer.engine import zerogpu
from explainer.engine.engine import REST_S, Engine
from explainer.engine.requests import RunRequest
from explainer.problem import Problem
from tests.engine.zero_stand_in import GPU
from tests.workers import WAIT_S

torch.set_num_threads(1)


def breaks(function):
    """The same function, but a Problem's seed can make its process die, hang or answer a lock."""

    def broken(message):
        seed = message["run"]["seed"]
        if seed == "1":
            os._exit(1)
        if seed == "2":
            return {"result": lambda: 0}  # no pickle takes this
        if seed == "3":
            raise RuntimeError("CUDA error: an illegal memory access was encountered")
        return function(message)

    return broken


def wrap(duration):
    """spaces.GPU around a function that may break."""
    return lambda function: GPU(duration=duration)(breaks(function))


def main() -> None:
    """Prints one JSON line: what each job ended as."""
    late = 0.0
    clock = {"clock": lambda: time.monotonic() + late, "deadline_s": WAIT_S}
    engine = Engine(lambda: zerogpu.ZeroChild(wrap), **clock)
    found = {}
    for seed in (0, 1, 0, 2, 3):
        job = engine.submit(RunRequest(Problem(n=8 + seed, seed=seed)))
        assert job.finished.wait(WAIT_S)
        right = job.result and [row["right"] for row in job.result["rows"]]
        found[str(seed)] = {"state": job.state, "why": job.why, "right": right, "error": job.error}
    late = REST_S  # three calls in a row broke: the engine rests
    refused = engine.submit(RunRequest(Problem(n=4096, block_q=16, block_k=16)))
    assert refused.finished.wait(WAIT_S)
    found["refused"] = {"state": refused.state, "why": refused.why, "error": refused.error}
    found["device"] = engine.machine()["device"]
    print(json.dumps(found))
    sys.stdout.flush()
    os._exit(0)


if __name__ == "__main__":
    main()
