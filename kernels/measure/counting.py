"""Bytes that the real kernels move, counted while Triton's interpreter runs them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import torch

from .. import fa1, fa2, gradients, standard
from ..availability import INTERPRETED
from ..checks import DTYPES, MAX_D, check_options, check_score, check_sink, check_whole
from ..configs import choose
from ..spec import masks

TENSORS = ("Q", "K", "V", "O", "m", "l", "lse", "S", "P")
BACKWARD_TENSORS = ("Q", "K", "V", "O", "dO", "lse", "D", "dQ", "dK", "dV")
MAX_TILES = 65_536
MAX_N = 16_384

# kernel parameter → tensor, where they differ
_NAMES = {"M": "m", "L": "l", "LSE": "lse", "DELTA": "D", "SUM": "dQ"}
_NAMES |= {"D" + x: "d" + x for x in "OQKV"}
_KERNELS = (
    (fa2, "fa2_kernel"),
    (fa1, "fa1_kernel"),
    (standard, "scores_kernel"),
    (standard, "softmax_kernel"),
    (standard, "output_kernel"),
    (gradients, "delta_kernel"),
    (gradients, "keys_kernel"),
    (gradients, "rows_kernel"),
    (gradients, "scale_kernel"),
)


def count_traffic(
    n: int,
    d: int,
    *,
    block_m: int,
    block_n: int,
    causal: bool = False,
    order: str,
    dtype: str,
    mask: str | None = None,
    score: str | None = None,
    sink: float | None = None,
) -> dict[str, tuple[int, int]]:
    """Run one head of the real kernel under the interpreter and count its loads and stores.

    n rows of Q, K, V of dimension d, "fp32", "fp16" or "bf16"; order "standard", "fa1" or "fa2".
    Returns {tensor: (bytes read, bytes written)} for Q K V O m l lse S P. A lane that is masked
    moves nothing; a mask's and a score's tables and the sink are not counted. These are requests to
    global memory: caches are not modelled.

    Raises RuntimeError outside the interpreter, ValueError for arguments out of range.
    """
    _interpreted("count_traffic")
    asked = masks.from_keywords(causal, mask)
    check_options(None, order, ("standard", "fa1", "fa2"), block_m, block_n, "ieee")
    q, k, v = _ones(3, n, d, dtype, block_m, block_n)
    config = choose("interpreter", d, q.element_size(), block_m, block_n)
    prepare = {"standard": standard.prepare, "fa1": fa1.prepare, "fa2": fa2.prepare}[order]
    how = asked, d**-0.5, config, "ieee", check_score(score), sink is not None
    sinks = () if sink is None else (check_sink(sink, q),)
    with _counted() as bytes_moved:
        prepare(q, k, v, *how, keep_lse=order == "fa2")(q, k, v, *sinks)
    return {name: tuple(bytes_moved[name][:2]) for name in TENSORS}


def count_backward_traffic(
    n: int,
    d: int,
    *,
    block_m: int,
    block_n: int,
    causal: bool = False,
    dtype: str,
    mask: str | None = None,
    score: str | None = None,
    deterministic: bool = False,
) -> dict[str, tuple[int, int, int]]:
    """The same of the backward pass: {tensor: (bytes read, bytes written, bytes added to)} for Q K
    V O dO lse D dQ dK dV, where dQ is also the fp32 sum that becomes it. An addition is no read and
    no write besides. Arguments and errors as ``count_traffic``."""
    _interpreted("count_backward_traffic")
    check_options(None, "fa2", ("fa2",), block_m, block_n, "ieee")
    q, k, v, o, grad_o = _ones(5, n, d, dtype, block_m, block_n)
    lse = torch.zeros(1, 1, n)
    how = {"causal": causal, "mask": mask, "score": score, "deterministic": deterministic}
    blocks = {"block_m": block_m, "block_n": block_n}
    with _counted() as bytes_moved, _unkept():
        gradients.backward(grad_o, None, q, k, v, o, lse, **how, **blocks)
    return {name: tuple(bytes_moved[name]) for name in BACKWARD_TENSORS}


def _interpreted(name: str) -> None:
    if not INTERPRETED:
        raise RuntimeError(
            f"{name} needs Triton's interpreter: set TRITON_INTERPRET=1 before importing kernels."
        )


def _ones(count: int, n: int, d: int, dtype: str, block_m: int, block_n: int) -> torch.Tensor:
    """So many tensors (1, 1, n, d), each with memory of its own. Raises ValueError."""
    check_whole("n", n, MAX_N)
    check_whole("d", d, MAX_D)
    if dtype not in DTYPES:
        raise ValueError(f"dtype = {str(dtype)[:40]!r} is not allowed: {', '.join(DTYPES)}.")
    tiles = -(-n // block_m) * -(-n // block_n)
    if tiles > MAX_TILES:
        raise ValueError(f"n = {n:,} makes {tiles:,} tiles; at most {MAX_TILES:,} are counted.")
    return torch.ones(count, 1, 1, n, d, dtype=DTYPES[dtype])


@contextmanager
def _unkept() -> Iterator[None]:
    """Within the block no prepared backward call is found, and after it none of its own is left:
    they hold the kernels that they were prepared with."""
    kept, gradients._calls = gradients._calls, {}
    try:
        yield
    finally:
        gradients._calls = kept


class _Recorded:
    """A kernel that notes, at each launch, which addresses belong to which of its parameters."""

    def __init__(self, kernel, ranges: list[tuple[int, int, str]]) -> None:
        self.kernel, self.ranges = kernel, ranges

    def __getitem__(self, grid):
        def launch(*args, **options):
            self.ranges.clear()
            for name, arg in zip(self.kernel.arg_names, args, strict=False):
                for one in arg if isinstance(arg, tuple) else (arg,):
                    if isinstance(one, torch.Tensor):
                        start = one.data_ptr()
                        size = one.numel() * one.element_size()
                        self.ranges.append((start, start + size, _NAMES.get(name, name)))
            self.kernel[grid](*args, **options)

        return launch


@contextmanager
def _counted() -> Iterator[dict[str, list[int]]]:
    """Within the block, launches add what they read, write and add to, to the dict that is
    yielded."""
    from triton.runtime.interpreter import interpreter_builder as builder

    moved = {name: [0, 0, 0] for name in (*TENSORS, *BACKWARD_TENSORS)}
    ranges: list[tuple[int, int, str]] = []
    load, store = builder.create_masked_load, builder.create_masked_store
    atomic = builder.create_atomic_rmw

    def add(pointers, mask, column: int) -> None:
        addresses = pointers.data[np.broadcast_to(mask.data, pointers.data.shape)]
        if not addresses.size:
            return
        low, high = int(addresses.min()), int(addresses.max())
        itemsize = pointers.get_element_ty().primitive_bitwidth // 8
        for start, end, name in ranges:
            if start <= low and high + itemsize <= end:
                if name in moved:
                    moved[name][column] += addresses.size * itemsize
                return
        raise RuntimeError(f"A kernel touched {low:#x} to {high:#x}, outside of its tensors.")

    def counting_load(pointers, mask, *rest):
        add(pointers, mask, 0)
        return load(pointers, mask, *rest)

    def counting_store(pointers, value, mask, *rest):
        add(pointers, mask, 1)
        return store(pointers, value, mask, *rest)

    def counting_atomic(operation, pointers, value, mask, *rest):
        add(pointers, mask, 2)
        return atomic(operation, pointers, value, mask, *rest)

    originals = [(module, name, getattr(module, name)) for module, name in _KERNELS]
    for module, name, kernel in originals:
        setattr(module, name, _Recorded(kernel, ranges))
    builder.create_masked_load, builder.create_masked_store = counting_load, counting_store
    builder.create_atomic_rmw = counting_atomic
    try:
        yield moved
    finally:
        del builder.create_masked_load, builder.create_masked_store, builder.create_atomic_rmw
        for module, name, kernel in originals:
            setattr(module, name, kernel)
