"""Compile a kernel for a named card in a child process: `compile_child` is its side of it.

Loads neither torch nor Triton.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TIMEOUT_S = 120


def compile_in_child(request: dict) -> dict:
    """Return what `compile_child.compile_kernel` makes of the request, without a GPU.

    Raises subprocess.TimeoutExpired, or CalledProcessError with the compiler's words in stderr.
    """
    environment = {k: v for k, v in os.environ.items() if k != "TRITON_INTERPRET"}
    done = subprocess.run(
        [sys.executable, "-m", "kernels.measure.compile_child"],
        input=json.dumps(request),
        cwd=ROOT,
        env=environment | {"CUDA_VISIBLE_DEVICES": ""},
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
    )
    done.check_returncode()
    return json.loads(done.stdout)


def last_line(error: subprocess.CalledProcessError, silent: str) -> str:
    """Return the last line that the compiler wrote, or `silent` if it wrote none."""
    return (error.stderr.strip().splitlines() or [silent])[-1][:160]
