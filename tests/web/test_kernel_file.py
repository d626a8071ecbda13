"""A learner's file in the app: only who starts the app names it, and the page follows it."""

import json
import time

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from explainer.check.page import picture
from explainer.check.verdict import check
from explainer.pages import api
from explainer.web import routes
from explainer.web.kernel_file import EXAMPLE, KernelFile
from tests.check.planted import NUMPY, plant


def wait_for(file: KernelFile, wanted, seconds: float = 60.0) -> dict:
    until = time.monotonic() + seconds
    while not wanted(state := file.state()):
        assert time.monotonic() < until, state
        time.sleep(0.05)
    return state


def test_the_recorded_example_is_what_the_checker_finds(tmp_path):
    path = tmp_path / "my_attention.py"
    path.write_text(plant("o_not_rescaled", NUMPY), encoding="utf-8")
    assert json.loads(EXAMPLE.read_text(encoding="utf-8")) == picture(check(path))
    assert KernelFile(None).state()["headline"] == "Your O goes wrong in tile (1, 1)"


def test_a_file_is_checked_again_when_it_is_saved(tmp_path):
    path = tmp_path / "mine.py"
    path.write_text(plant("l_not_rescaled", NUMPY), encoding="utf-8")
    file = KernelFile(path)
    file.watch()
    first = wait_for(file, lambda state: state["checks"] == 1)
    assert first["live"] and first["headline"] == "Your ℓ goes wrong in tile (1, 1)"
    path.write_text("def attention(:", encoding="utf-8")
    broken = wait_for(file, lambda state: state["checks"] == 2)
    assert broken["status"] == 2 and "mine.py, line 1" in broken["sentence"]
    path.write_text(plant(None, NUMPY), encoding="utf-8")
    assert wait_for(file, lambda state: state["checks"] == 3)["status"] == 0


ATTACKS = ["?file=/etc/passwd", "?kernel=/tmp/x.py", "?code=import+os", "?path=..%2F..%2Fapp.py"]


@pytest.mark.parametrize("query", ATTACKS)
def test_no_request_names_a_file_or_brings_code(query, tmp_path):
    client = TestClient(Starlette(routes=[r for r in routes.routes(None) if r.path == "/fa/yours"]))
    assert client.get("/fa/yours" + query).json() == client.get("/fa/yours").json()
    for method in ("post", "put", "patch", "delete"):
        assert getattr(client, method)("/fa/yours").status_code == 405
    assert client.post("/fa/yours", files={"file": b"import os"}).status_code == 405


def test_tiles_are_those_of_the_problem_that_is_asked_for(tmp_path):
    path = tmp_path / "mine.py"
    path.write_text(plant("l_not_rescaled", NUMPY), encoding="utf-8")
    file = KernelFile(path)
    client = TestClient(Starlette(routes=routes.routes(None, {}, file)))

    def tiles(query: str) -> dict:
        return client.get(f"/fa/yours/tiles?{query}").json()

    assert tiles("mask=causal")["map"]["first"] == [1, 1]
    assert len(tiles("mask=full&n=24")["map"]["cells"]) == 36
    assert "not window:3,0" in tiles("mask=window:3,0")["refused"]
    assert "line 1" not in tiles("file=/etc/passwd&path=/etc/passwd").get("refused", "")
    path.write_text("def attention(:", encoding="utf-8")
    assert "mine.py, line 1" in tiles("mask=causal")["refused"]
    bare = TestClient(Starlette(routes=routes.routes(None)))
    assert bare.get("/fa/yours/tiles?kernel=/etc/passwd").json() == {}


def test_no_endpoint_or_tool_takes_code_or_a_path():
    words = {"code", "source", "path", "file", "kernel", "function", "module", "script"}
    assert api.ENDPOINTS
    for arguments in api.ENDPOINTS.values():
        assert not words & {argument.rstrip("_") for argument in arguments}


def test_markup_in_a_file_is_shown_as_text(tmp_path):
    path = tmp_path / "mine.py"
    path.write_text("raise ValueError('<img src=x onerror=alert(1)>')", encoding="utf-8")
    found = picture(check(path))
    assert "<img" in found["sentence"] and "<img" not in found["html"]
