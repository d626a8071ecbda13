"""The methods that runs and benchmarks compare with the algorithms' kernels, one row each."""

from __future__ import annotations

from dataclasses import dataclass

from .algorithms import ORDERS


@dataclass(frozen=True)
class Method:
    """``label``: what pages call it. ``is_compiled``: made by a compiler, in seconds, for every
    problem anew. ``stores_scores``: made of PyTorch's operators,
    with S and P in memory as a whole, in the inputs' dtype."""

    label: str
    is_compiled: bool = False
    stores_scores: bool = False


OTHERS = {
    "naive": Method("Naive PyTorch", stores_scores=True),
    "hopper": Method("FA-2 Hopper"),
    "sdpa_flash": Method("SDPA flash"),
    "sdpa_cudnn": Method("SDPA cuDNN"),
    "sdpa_efficient": Method("SDPA efficient"),
    "sdpa_math": Method("SDPA math", stores_scores=True),
    "sdpa_dense": Method("SDPA dense"),
    "naive_compiled": Method("Naive compiled", is_compiled=True, stores_scores=True),
    "flex": Method("FlexAttention", is_compiled=True),
    "fa4": Method("FA-4", is_compiled=True),
}
_first, *_rest = OTHERS
NAMES = (_first, *ORDERS, *_rest)  # of all methods, as menus and tables list them
COMPILED = tuple(name for name, method in OTHERS.items() if method.is_compiled)
WHOLE = tuple(name for name, method in OTHERS.items() if method.stores_scores)
