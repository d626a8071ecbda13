"""A learner's file in the app: only who starts the app names it, and the page follows it."""

import json
from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from explainer.check.page import picture
from explainer.check.verdict import check
from explainer.pages import api
from explainer.web import routes
from explainer.web.kernel_file import EXAMPLE, KernelFile
from tests.check.planted import NUMPY, plant
from tests.workers import wait_until


@pytest.fixture
def path(tmp_path) -> Path:
    """A learner's file, whose ℓ goes wrong."""
    return write(tmp_path / "mine.py", plant("l_not_rescaled", NUMPY))


def write(path: Path, source: str) -> Path:
    path.write_text(source, encoding="utf-8")
    return path


def state_after(file: KernelFile, checks: int) -> dict:
    """Return what the page shows once the file was checked so many times."""
    wait_until(lambda: file.state()["checks"] == checks)
    return file.state()


def test_the_recorded_example_is_what_the_checker_finds(tmp_path):
    path = write(tmp_path / "my_attention.py", plant("o_not_rescaled", NUMPY))
    assert json.loads(EXAMPLE.read_text(encoding="utf-8")) == picture(check(path))
    assert KernelFile(None).state()["headline"] == "Your O goes wrong in tile (1, 1)"


def test_a_file_is_checked_again_when_it_is_saved(path):
    file = KernelFile(path)
    file.watch()
    first = state_after(file, 1)
    assert first["live"] and first["headline"] == "Your ℓ goes wrong in tile (1, 1)"
    write(path, "def attention(:")
    broken = state_after(file, 2)
    assert broken["status"] == 2 and "mine.py, line 1" in broken["sentence"]
    write(path, plant(None, NUMPY))
    assert state_after(file, 3)["status"] == 0


ATTACKS = ["?file=/etc/passwd", "?kernel=/tmp/x.py", "?code=import+os", "?path=..%2F..%2Fapp.py"]


@pytest.mark.parametrize("query", ATTACKS)
def test_no_request_names_a_file_or_brings_code(query):
    client = TestClient(Starlette(routes=[r for r in routes.routes(None) if r.path == "/fa/yours"]))
    assert client.get("/fa/yours" + query).json() == client.get("/fa/yours").json()
    for method in ("post", "put", "patch", "delete"):
        assert getattr(client, method)("/fa/yours").status_code == 405
    assert client.post("/fa/yours", files={"file": b"import os"}).status_code == 405


def test_tiles_are_those_of_the_problem_that_is_asked_for(path):
    client = TestClient(Starlette(routes=routes.routes(None, {}, KernelFile(path))))

    def tiles(query: str) -> dict:
        return client.get(f"/fa/yours/tiles?{query}").json()

    assert tiles("mask=causal")["map"]["first"] == [1, 1]
    assert len(tiles("mask=full&n=24")["map"]["cells"]) == 36
    assert "not window:3,0" in tiles("mask=window:3,0")["refused"]
    assert "line 1" not in tiles("file=/etc/passwd&path=/etc/passwd").get("refused", "")
    write(path, "def attention(:")
    assert "mine.py, line 1" in tiles("mask=causal")["refused"]
    bare = TestClient(Starlette(routes=routes.routes(None)))
    assert bare.get("/fa/yours/tiles?kernel=/etc/passwd").json() == {}


def test_no_endpoint_or_tool_takes_code_or_a_path():
    words = {"code", "source", "path", "file", "kernel", "function", "module", "script"}
    assert api.ENDPOINTS
    for arguments in api.ENDPOINTS.values():
        assert not words & {argument.rstrip("_") for argument in arguments}


def test_markup_in_a_file_is_shown_as_text(path):
    found = picture(check(write(path, "raise ValueError('<img src=x onerror=alert(1)>')")))
    assert "<img" in found["sentence"] and "<img" not in found["html"]
