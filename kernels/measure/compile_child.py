"""Child process of inspection.py: compile a kernel for a named card, without one.

Reads one JSON request on stdin, writes one JSON answer on stdout. A kernel's own launch
wrapper runs up to the launch.
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

from ..checks import DTYPES
from ..configs import Config
from ..forward import ForwardInputs
from ..launching import Launch
from ..orders import ORDERS
from ..spec import masks
from ..triton_internals import compile_for, cuobjdump

LENGTH = 1024  # of the tensors that stand for Q, K, V: their strides are what the compiler sees


def compile_kernel(request: dict) -> dict:
    """Return the texts and the resources of one configuration; request as compile_report makes it.

    Compiles for the requested card from then on, in this process.
    """
    compile_for(request["capability"])
    launches = []
    Launch.__call__ = lambda self, *tensors: launches.append(self.compile(*tensors))
    x = torch.empty(1, 1, LENGTH, request["d"], dtype=DTYPES[request["dtype"]])
    mask, config = masks.parse(request["mask"]), Config(**request["config"])
    ORDERS[request["order"]](ForwardInputs(x, x, x, mask, 1.0, config))(x, x, x)
    (compiled,) = launches
    asm = compiled.asm
    with tempfile.TemporaryDirectory() as folder:
        cubin = Path(folder) / "kernel.cubin"
        cubin.write_bytes(asm["cubin"])
        usage = _cuobjdump("--dump-resource-usage", cubin)
        sass = _cuobjdump("--dump-sass", cubin)
    resources = dict(re.findall(r"(REG|STACK|LOCAL):(\d+)", usage))
    return {
        "shared_bytes": compiled.metadata.shared,
        "registers": int(resources["REG"]),
        "spill_bytes": int(resources["STACK"]) + int(resources["LOCAL"]),
        "ttir": asm["ttir"],
        "ttgir": asm["ttgir"],
        "ptx": asm["ptx"],
        "sass": sass,
        "triton": triton.__version__,
    }


def _cuobjdump(option: str, cubin: Path) -> str:
    command = [cuobjdump(), option, cubin]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


if __name__ == "__main__":
    json.dump(compile_kernel(json.load(sys.stdin)), sys.stdout)
