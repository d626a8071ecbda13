"""The app in which every seed 666 is a fault that quotes what was typed, in each way that a fault
can reach a log, and a run of seed 667 has no end: `python tests/web/faulty_app.py`."""

import asyncio
import logging
import sys
import threading
import warnings
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from explainer import app
from explainer.engine.child import ProcessChild
from explainer.engine.engine import Engine
from explainer.engine.requests import RunRequest
from explainer.problem import Problem
from explainer.web import logs

SEED, ENDLESS = "666", "667"
WORKER = """
import json, signal, sys
from explainer.base.lines import from_line
from explainer.engine.results import unknown_machine
print(json.dumps({"machine": unknown_machine("stand-in")}), flush=True)
for line in sys.stdin:
    query = from_line(line).to_query()
    if query["seed"] == "667":
        signal.pause()
    print(query, file=sys.stderr, flush=True)
    print(query, flush=True)
"""


def fail(values: object) -> None:
    text = f"typed: {values}"
    print(text)
    print(text, file=sys.stderr)
    warnings.warn(text, stacklevel=2)
    logging.getLogger("a.library").error(text)
    thread = threading.Thread(target=partial(raise_it, text))
    thread.start()
    thread.join()
    try:
        future = asyncio.get_running_loop().create_future()
        future.set_exception(ValueError(text))
        del future
    except RuntimeError:  # a thread of a pool has no loop
        pass
    try:
        raise_it(text)
    except ValueError as error:
        raise RuntimeError(text) from error


def raise_it(text: str) -> None:
    raise ValueError(text)


def faulty(real):
    def made(query):
        if str(query.get("seed")) == SEED:
            fail(query)
        return real(query)

    return made


if __name__ == "__main__":
    logs.configure()
    for kind in (Problem, RunRequest):
        kind.from_query = faulty(kind.from_query)
    app.serve(Engine(partial(ProcessChild, (sys.executable, "-c", WORKER)), rest_s=0))
