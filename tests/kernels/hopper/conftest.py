"""A child process that compiles for sm_90 without a card, and answers one request after another."""

import json
import os
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path

import pytest

from explainer.base.paths import ROOT
from tests.tables import table

# Requests to run a problem, and what is planted in PTX that without it passes.
PROBLEMS = table(Path(__file__).with_name("problems"))


def only_full(cases: dict | list, quick) -> list:
    """Each case, by its name or by itself; without --full the quick ones alone."""
    named = cases if isinstance(cases, dict) else {case: case for case in cases}
    return [
        pytest.param(case, id=str(name), marks=[] if name in quick else pytest.mark.full)
        for name, case in named.items()
    ]


@pytest.fixture(scope="session")
def ask():
    """ask(request): the answer of `hopper_child`, one process for all; its error is a failure."""
    env = {key: value for key, value in os.environ.items() if key != "TRITON_INTERPRET"}
    child = subprocess.Popen(
        [sys.executable, "-m", f"{__package__}.hopper_child"],
        cwd=ROOT,
        env={**env, "CUDA_VISIBLE_DEVICES": ""},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )

    def answer(request: dict) -> dict:
        child.stdin.write(json.dumps(request) + "\n")
        child.stdin.flush()
        found = json.loads(child.stdout.readline())
        assert "error" not in found, found["error"]
        return found

    yield answer
    child.communicate()


@pytest.fixture(scope="session")
def compiled(ask):
    """compiled(plan, d, dtype): what the compiler makes of a plan of either pass."""
    return lambda plan, d, dtype: ask({"plan": asdict(plan), "d": d, "dtype": dtype})
