"""Attention kernels in Triton, with their references; floor 0 (imports nothing of `explainer`).

Importing works on every machine; `available()` says whether the kernels run here and why not.
Set TRITON_INTERPRET=1 before importing to run them on a CPU.
"""

from .availability import HAS_TORCH, HAS_TRITON, INTERPRETED, available

__all__ = [
    "INTERPRETED",
    "available",
    "compile_report",
    "count_traffic",
    "flash_attention",
    "naive_attention",
    "progress",
    "reference_attention",
    "reference_states",
    "tile_states",
]

if HAS_TORCH:
    from .reference import naive_attention, reference_attention, reference_states
if HAS_TORCH and HAS_TRITON:
    from .attention import flash_attention, tile_states
    from .measure.counting import count_traffic
    from .measure.inspection import compile_report
from .progress import progress


def __getattr__(name: str):
    if name in __all__:  # not imported above
        raise RuntimeError(available()[1])
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
