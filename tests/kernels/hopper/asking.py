"""A child process that compiles for sm_90 without a card, and answers one request after another."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from explainer.engine.child import ROOT


@contextmanager
def asking(name: str) -> Iterator[Callable[[dict], dict]]:
    """ask(request): what the module of this name in this folder answers; its error is a failure."""
    env = {key: value for key, value in os.environ.items() if key != "TRITON_INTERPRET"}
    child = subprocess.Popen(
        [sys.executable, "-m", f"{__package__}.{name}"],
        cwd=ROOT,
        env={**env, "CUDA_VISIBLE_DEVICES": ""},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )

    def ask(request: dict) -> dict:
        child.stdin.write(json.dumps(request) + "\n")
        child.stdin.flush()
        answer = json.loads(child.stdout.readline())
        assert "error" not in answer, answer["error"]
        return answer

    yield ask
    child.communicate()
