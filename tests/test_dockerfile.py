"""The Dockerfile, read, since there is no Docker where these tests run; its check is run."""

import json
import os
import re
import subprocess
import sys
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread

import pytest

from explainer.base.paths import ROOT

LINES = re.sub(r"\\\n", " ", (ROOT / "Dockerfile").read_text(encoding="utf-8")).splitlines()
STEPS = [tuple(line.split(maxsplit=1)) for line in map(str.strip, LINES) if line and line[0] != "#"]


def given(name: str) -> list[str]:
    """What follows each of these words."""
    return [rest for word, rest in STEPS if word == name]


def test_every_file_that_it_copies_is_here_and_the_app_is_whole():
    ignored = (ROOT / ".dockerignore").read_text(encoding="utf-8").split()
    copied = [source for line in given("COPY") for source in line.split()[:-1]]
    for source in copied:
        assert (ROOT / source).exists() and source not in ignored, source
    tracked = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.split()
    needed = {name.partition("/")[0] for name in tracked if name.endswith((".py", ".js", ".json"))}
    development = {"tests", "package.json", "tsconfig.json"}
    assert needed - development <= {*copied}
    names = " ".join(given("RUN"))
    assert all(f"-r {name}" in names for name in ("requirements.txt", "pre-requirements.txt"))


def test_the_port_is_the_one_of_the_readme_and_nobody_is_root():
    variables = dict(pair.split("=", 1) for line in given("ENV") for pair in line.split())
    port = variables["GRADIO_SERVER_PORT"]
    assert given("EXPOSE") == [port]
    assert f"docker run -p {port}:{port}" in (ROOT / "README.md").read_text(encoding="utf-8")
    assert variables["GRADIO_SERVER_NAME"] == "0.0.0.0"
    words = [word for word, _ in STEPS]
    user = words.index("USER")
    assert STEPS[user][1] != "root" and user < words.index("CMD")
    assert f"useradd --create-home {STEPS[user][1]}" in given("RUN")
    version = re.search(r"^python_version: \"([\d.]+)\"", (ROOT / "README.md").read_text(), re.M)
    assert given("FROM") == [f"python:{version[1]}-slim"]


def test_its_command_has_no_shell():
    """Which would keep SIGTERM to itself."""
    command = json.loads(given("CMD")[0])
    assert command == ["python", "app.py"] and (ROOT / command[1]).exists()


@pytest.mark.parametrize(
    ("status", "healthy"), [(200, True), (503, True), (500, False), (0, False)]
)
def test_its_check_tells_an_app_that_answers_from_one_that_does_not(status, healthy):
    """503 is a lesson without kernels, 0 stands for no server."""

    class Answer(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(status if self.path == "/healthz" else 404)
            self.end_headers()

        def log_message(self, *said: object) -> None:
            pass

    how = given("HEALTHCHECK")[0]
    check = json.loads(how[how.index("CMD") + 3 :])
    with HTTPServer(("127.0.0.1", 0), Answer) as server:
        env = os.environ | {"GRADIO_SERVER_PORT": str(server.server_port)}
        if status:
            Thread(target=server.handle_request, daemon=True).start()
        else:
            server.server_close()
        told = subprocess.run([sys.executable, *check[1:]], env=env, stderr=subprocess.DEVNULL)
    assert (told.returncode == 0) == (status in (200, 503))
