"""Child process of inspection.py: compile a kernel for a named card, without one.

Reads one JSON request on stdin, writes one JSON answer on stdout. Triton is told, by a driver that
only names a target, to compile for that target; a kernel's own launcher then runs up to the launch.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import torch
import triton
from triton.backends.compiler import GPUTarget

from .. import fa1, fa2
from ..checks import DTYPES
from ..configs import Config
from ..spec import masks

LENGTH = 1024  # of the tensors that stand for Q, K, V: their strides are what the compiler sees


class NamedTarget:
    """Triton's driver, reduced to the questions that compiling asks."""

    def __init__(self, capability: int) -> None:
        self.target = GPUTarget("cuda", capability, 32)

    def get_current_target(self) -> GPUTarget:
        return self.target

    def get_current_device(self) -> int:
        return 0

    def get_current_stream(self, device: int) -> int:
        return 0


class CompileOnly:
    """Stands in for a kernel: a launch compiles it and keeps the result."""

    def __init__(self, kernel) -> None:
        self.kernel, self.compiled = kernel, None

    def __getitem__(self, grid):
        def launch(*args, **options):
            self.compiled = self.kernel.warmup(*args, grid=grid, **options)

        return launch


def compile_kernel(request: dict) -> dict:
    """The texts and the resources of one configuration; request as compile_report makes it."""
    triton.runtime.driver.set_active(NamedTarget(request["capability"]))
    order = request["order"]
    module = {"fa1": fa1, "fa2": fa2}[order]
    stand_in = CompileOnly(getattr(module, f"{order}_kernel"))
    setattr(module, f"{order}_kernel", stand_in)
    x = torch.empty(1, 1, LENGTH, request["d"], dtype=DTYPES[request["dtype"]])
    mask = masks.parse(request["mask"])
    module.prepare(x, x, x, mask, 1.0, Config(**request["config"]), "ieee")(x, x, x)
    asm = stand_in.compiled.asm
    with tempfile.TemporaryDirectory() as folder:
        cubin = Path(folder) / "kernel.cubin"
        cubin.write_bytes(asm["cubin"])
        usage = _cuobjdump("--dump-resource-usage", cubin)
        sass = _cuobjdump("--dump-sass", cubin)
    registers, stack, local = (int(re.search(rf"{key}:(\d+)", usage)[1]) for key in _USAGE)
    return {
        "shared_bytes": stand_in.compiled.metadata.shared,
        "registers": registers,
        "spill_bytes": stack + local,
        "ttir": asm["ttir"],
        "ttgir": asm["ttgir"],
        "ptx": asm["ptx"],
        "sass": sass,
        "triton": triton.__version__,
    }


_USAGE = ("REG", "STACK", "LOCAL")


def _cuobjdump(option: str, cubin: Path) -> str:
    tool = Path(triton.__file__).parent / "backends" / "nvidia" / "bin" / "cuobjdump"
    done = subprocess.run([tool, option, cubin], capture_output=True, text=True, check=True)
    return done.stdout


if __name__ == "__main__":
    json.dump(compile_kernel(json.load(sys.stdin)), sys.stdout)
