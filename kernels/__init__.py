"""Attention kernels in Triton, with their references; the lowest layer of the project.

Importing works on each machine and loads neither torch nor Triton: a name is loaded at its first
use. `available()` says whether the kernels run here and why not. Set TRITON_INTERPRET=1
before importing to run them on a CPU.

Hugging Face has a package of the same name, which Transformers imports where it is installed. If it
is, its submodules and names are found here too, after these: both work in one process.
"""
# ruff: noqa: F401 — type checkers read the names of the package from the imports

import importlib.util
import pkgutil
import sys
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from .progress import progress

if TYPE_CHECKING:
    from .activation import activate, deactivate, fallback_reasons
    from .availability import HAS_TORCH, HAS_TRITON, INTERPRETED, available
    from .decode import decode_attention
    from .dispatch import attention, which
    from .flash import flash_attention
    from .fp8 import attention_fp8, quantize_fp8
    from .gradient_reference import gradient_roundings, reference_gradients
    from .gradients import gradient_states
    from .hugging_face import register, transformers_attention
    from .measure.counting import count_traffic
    from .measure.inspection import compile_report
    from .orders import tile_states
    from .reference import naive_attention, reference_attention, reference_states
    from .ring import PeerError, ring_attention
    from .rotary import rope
    from .varlen import attention_varlen

# name → its module. Not even `availability` is loaded at import: it reads TRITON_INTERPRET, which a
# program may set after it has imported `kernels.spec`.
_ALWAYS = dict.fromkeys(("HAS_TORCH", "HAS_TRITON", "INTERPRETED", "available"), "availability")
_TORCH = {
    **dict.fromkeys(("naive_attention", "reference_attention", "reference_states"), "reference"),
    **dict.fromkeys(("reference_gradients", "gradient_roundings"), "gradient_reference"),
    "rope": "rotary",
}
_TRITON = {
    "flash_attention": "flash",
    "tile_states": "orders",
    "gradient_states": "gradients",
    **dict.fromkeys(("attention", "which"), "dispatch"),
    "attention_varlen": "varlen",
    **dict.fromkeys(("register", "transformers_attention"), "hugging_face"),
    "decode_attention": "decode",
    **dict.fromkeys(("activate", "deactivate", "fallback_reasons"), "activation"),
    **dict.fromkeys(("ring_attention", "PeerError"), "ring"),
    **dict.fromkeys(("attention_fp8", "quantize_fp8"), "fp8"),
    "count_traffic": "measure.counting",
    "compile_report": "measure.inspection",
}
__path__ = pkgutil.extend_path(__path__, __name__)


def __getattr__(name: str):
    modules = _ALWAYS | _TORCH | _TRITON
    if name not in modules:
        return _from_namesake(name)
    from . import availability as has

    if (name in _TORCH and not has.HAS_TORCH) or (name in _TRITON and not has.HAS_TRITON):
        raise RuntimeError(has.available()[1])
    module = import_module(f".{modules[name]}", __name__)
    globals()[name] = getattr(module, name)
    return globals()[name]


def _from_namesake(name: str):
    """Return the attribute of the other installed package `kernels`. Raises AttributeError."""
    for folder in [] if name.startswith("__") else __path__[1:]:
        start, alias = Path(folder) / "__init__.py", f"{__name__}._namesake"
        module = sys.modules.get(alias)
        if module is None:
            spec = importlib.util.spec_from_file_location(alias, start)
            if spec is None or spec.loader is None:
                continue
            module = sys.modules[alias] = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(module)
        if hasattr(module, name):
            return getattr(module, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
