"""The ZeroGPU adapter against a stand-in for its rules: fork, pickle, declared durations."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from explainer.engine import zerogpu
from explainer.engine.child import ROOT
from explainer.engine.engine import GONE, REFUSED
from explainer.engine.requests import METHODS, RunRequest, Sweep

HERE = Path(__file__).parent


@pytest.fixture(scope="module")
def found() -> dict:
    env = os.environ | {"PYTHONPATH": str(ROOT)}
    command = [sys.executable, str(HERE / "zero_session.py")]
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout.splitlines()[-1])


def test_a_job_through_fork_and_pickle_is_right(found):
    assert found["0"]["state"] == "done" and all(found["0"]["right"])
    assert "interpreter" in found["device"], "what the machine is, is known after a call"


@pytest.mark.parametrize("seed", ["1", "2", "3"], ids=["dies", "unpicklable", "fault"])
def test_what_breaks_is_a_sentence_and_the_next_job_runs(found, seed):
    assert (found[seed]["state"], found[seed]["why"]) == ("failed", GONE)
    assert found[seed]["error"].endswith(".") and "Traceback" not in found[seed]["error"]


def test_a_refusal_from_inside_stays_a_refusal(found):
    assert (found["refused"]["state"], found["refused"]["why"]) == ("failed", REFUSED)
    assert "interpreter" in found["refused"]["error"]


def test_durations_are_small_and_grow_with_the_methods():
    def seconds(*methods):
        return zerogpu.declared_seconds(
            {"run": RunRequest.from_query({"methods": methods}).to_query()}
        )

    assert seconds("fa2") == 7 and seconds("naive", "fa2") == 9
    assert seconds(*METHODS) <= zerogpu.MOST_S
    assert zerogpu.declared_seconds({"point": Sweep().points()[0].to_query()}) == zerogpu.POINT_S


def test_the_package_alone_is_not_zero_gpu(monkeypatch):
    monkeypatch.delenv("SPACES_ZERO_GPU", raising=False)
    assert not zerogpu.on_zero_gpu()
