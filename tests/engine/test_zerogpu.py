"""The ZeroGPU adapter with the real package ``spaces``, against a stand-in for its device API."""

import json
import os
import subprocess
import sys

import pytest

from explainer.engine import zerogpu
from explainer.engine.child import ROOT
from explainer.engine.job import GONE, REFUSED
from explainer.engine.requests import METHODS, RunRequest, Sweep
from explainer.problem import Problem
from tests.workers import WAIT_S

CALL = ["schedule", "allow", "release"]


@pytest.fixture(scope="module")
def found(tmp_path_factory) -> dict:
    places = [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
    env = os.environ | {"PYTHONPATH": os.pathsep.join(places)}
    home = str(tmp_path_factory.mktemp("home"))
    command = [sys.executable, "-m", "tests.engine.zero_session", home]
    done = subprocess.run(
        command, env=env, cwd=ROOT, capture_output=True, text=True, timeout=2 * WAIT_S
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout.splitlines()[-1])


def test_zerogpu_hears_at_the_launch_of_a_function_that_is_decorated(found):
    assert found["started"] == ["startup-report"] and not found["torch before"]


def test_a_job_is_scheduled_with_its_visitors_token_and_released(found):
    job = found["jobs"]["good"]
    assert job["state"] == "done" and all(job["right"])
    assert (job["asked"], job["failed"]) == (CALL, ["false"])
    assert job["token"] == ["a.e30.b"] and float(job["seconds"][0]) <= zerogpu.MOST_S
    assert "interpreter" in job["device"], "what the machine is, is known after a call"


@pytest.mark.parametrize(
    "name, said",
    [
        ("quota", "ZeroGPU quota exceeded: You have exceeded your free ZeroGPU quota"),
        ("expired", "Expired ZeroGPU proxy token."),
        ("queue", "ZeroGPU queue timeout: "),
    ],
)
def test_a_refusal_is_said_as_it_is_asked_once_and_no_fault(found, name, said):
    job = found["jobs"][name]
    assert (job["state"], job["why"]) == ("failed", REFUSED)
    assert said in job["error"] and job["error"].endswith(".")
    assert (job["asked"], job["faults"]) == (["schedule"], 0)


def test_after_refusals_the_next_visitor_is_served(found):
    assert found["jobs"]["after"]["state"] == "done"


@pytest.mark.parametrize("name", ["fault", "unpicklable"])
def test_what_breaks_is_a_sentence_tried_twice_and_given_back_as_failed(found, name):
    job = found["jobs"][name]
    assert (job["state"], job["why"]) == ("failed", GONE)
    assert job["error"].endswith(".") and "Traceback" not in job["error"]
    assert job["asked"].count("schedule") == 2 and job["failed"][0] == "true"


def test_a_refusal_from_inside_stays_a_refusal(found):
    job = found["jobs"]["refused"]
    assert (job["state"], job["why"]) == ("failed", REFUSED) and "interpreter" in job["error"]


def test_a_call_that_never_ends_leaves_no_process(found):
    assert found["jobs"]["hangs"]["why"] == GONE and found["left"] == 0


def test_durations_are_small_and_grow_with_the_methods():
    def seconds(*methods):
        return zerogpu.declared_seconds(RunRequest(Problem(), methods))

    assert seconds("fa2") < seconds("naive", "fa2") < 10
    assert seconds("fa2", "flex") > seconds("fa2", "naive"), "it compiles"
    assert seconds(*METHODS) == zerogpu.MOST_S
    point = zerogpu.declared_seconds(Sweep().points()[0])
    assert zerogpu.FORK_S < point < seconds("naive", "fa2") + zerogpu.FORK_S


def test_the_package_alone_is_not_zero_gpu(monkeypatch):
    monkeypatch.delenv("SPACES_ZERO_GPU", raising=False)
    assert not zerogpu.on_zero_gpu()


def test_an_error_of_ours_is_no_refusal():
    assert zerogpu.refusal(RuntimeError("CUDA error")) is None
    assert zerogpu.refusal(type("Error", (Exception,), {"title": zerogpu.BROKEN})()) is None
