"""Attention kernels in Triton, with their references; floor 0 (imports nothing of `explainer`).

Importing works on every machine and loads neither torch nor Triton: a name is fetched when it is
first used. `available()` says whether the kernels run here and why not. Set TRITON_INTERPRET=1
before importing to run them on a CPU.
"""

from importlib import import_module

from .availability import HAS_TORCH, HAS_TRITON, INTERPRETED, available
from .progress import progress

# name → the module that has it
_TORCH = dict.fromkeys(("naive_attention", "reference_attention", "reference_states"), "reference")
_TRITON = {
    **dict.fromkeys(("flash_attention", "tile_states"), "orders"),
    **dict.fromkeys(("attention", "which", "transformers_attention"), "door"),
    "count_traffic": "measure.counting",
    "compile_report": "measure.inspection",
}
__all__ = ["INTERPRETED", "available", "progress", *_TORCH, *_TRITON]


def __getattr__(name: str):
    if name not in _TORCH and name not in _TRITON:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    if not HAS_TORCH or (name in _TRITON and not HAS_TRITON):
        raise RuntimeError(available()[1])
    module = import_module(f".{(_TORCH | _TRITON)[name]}", __name__)
    globals()[name] = getattr(module, name)
    return globals()[name]
