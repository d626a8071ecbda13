"""How the kernels can run here: on a GPU, in the interpreter, or not at all."""

from __future__ import annotations

import importlib.util
import os
import shutil

HAS_TORCH = importlib.util.find_spec("torch") is not None
HAS_TRITON = importlib.util.find_spec("triton") is not None

# Triton reads the variable when a kernel is decorated: its value at import counts.
INTERPRETED: bool = HAS_TORCH and HAS_TRITON and os.environ.get("TRITON_INTERPRET") == "1"


def available() -> tuple[bool, str]:
    """Say whether the kernels run on this machine, and how or why not, in one sentence.

    Returns (True, "on the GPU …" or "in Triton's interpreter …") or (False, the reason).
    """
    if not HAS_TORCH:
        return False, "PyTorch is not installed, so the kernels cannot run here."
    if not HAS_TRITON:
        return False, "Triton is not installed (it exists for Linux), so the kernels cannot run."
    if INTERPRETED:
        return _interpreter()
    import torch

    if not torch.cuda.is_available():
        return False, (
            "There is no CUDA GPU here; set TRITON_INTERPRET=1 before importing kernels "
            "to run them in Triton's interpreter."
        )
    if not (os.environ.get("CC") or any(shutil.which(c) for c in ("gcc", "clang", "cc"))):
        return False, "Triton needs a C compiler (gcc or clang) to launch kernels; none was found."
    return True, f"on the GPU ({torch.cuda.get_device_name()})."


def _interpreter() -> tuple[bool, str]:
    import numpy
    import triton

    def version(module) -> tuple[int, ...]:
        return tuple(int(part) for part in module.__version__.split(".")[:2])

    if version(triton) < (3, 7) and version(numpy) >= (2, 4):
        return False, (
            f"Triton {triton.__version__}'s interpreter fails with NumPy {numpy.__version__}; "
            "it needs NumPy below 2.4."
        )
    return True, "in Triton's interpreter, on the CPU (its time says nothing about speed)."
