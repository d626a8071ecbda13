"""Compiling for all tests of a run: one process, and each request compiled once."""

import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from explainer.base.paths import ROOT

CHILD = [sys.executable, "-m", "kernels.measure.compile_child"]
SERVER = [sys.executable, "-m", "tests.kernels.compile_server"]


class Compiler:
    """Answers in place of ``subprocess.run(CHILD, …)``; every other command runs as ever."""

    def __init__(self) -> None:
        self.real, self.process = subprocess.run, None
        self.kept: dict[str, dict] = {}
        self.turn = threading.Lock()

    def run(self, command, **options) -> subprocess.CompletedProcess:
        if command != CHILD:
            return self.real(command, **options)
        assert options["cwd"] == ROOT
        assert options["env"]["CUDA_VISIBLE_DEVICES"] == "", "it needs no GPU"
        assert "TRITON_INTERPRET" not in options["env"], "it compiles"
        with self.turn:
            found = self._ask(options["input"], options["env"])
        return subprocess.CompletedProcess(command, found["code"], found["out"], found["error"])

    def _ask(self, request: str, env: dict) -> dict:
        key = json.dumps(json.loads(request), sort_keys=True)
        if key not in self.kept:
            if self.process is None:
                pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
                self.process = subprocess.Popen(SERVER, cwd=ROOT, env=env, **pipes)
            self.process.stdin.write(key + "\n")
            self.process.stdin.flush()
            self.kept[key] = json.loads(self.process.stdout.readline())
        return self.kept[key]

    @contextmanager
    def serving(self) -> Iterator[None]:
        """Inside, what would start a compiler's process of its own is answered by this one."""
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(subprocess, "run", self.run)
            yield

    def close(self) -> None:
        if self.process:
            self.process.communicate()
