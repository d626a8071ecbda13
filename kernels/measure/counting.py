"""Bytes that the real kernels move, counted while Triton's interpreter runs them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy as np
import torch

from ..availability import INTERPRETED
from ..checks import DTYPES, MAX_D, check_options, check_score, check_sink, check_whole
from ..configs import choose
from ..forward import ForwardInputs
from ..launching import observe_launches
from ..orders import ORDERS
from ..spec import masks
from ..triton_internals import wrap_interpreter

TENSORS = ("Q", "K", "V", "O", "m", "l", "lse", "S", "P", "O′", "lse′")
MAX_TILES = 65_536
MAX_N = 16_384

# kernel parameter → tensor, where they differ
_NAMES = {"M": "m", "L": "l", "LSE": "lse", "DELTA": "D", "SUM": "dQ"}
_NAMES |= {"O_PARTS": "O′", "LSE_PARTS": "lse′"}
_NAMES |= {"D" + x: "d" + x for x in "OQKV"}


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

    n rows of Q, K, V of dimension d, "fp32", "fp16" or "bf16"; order a key of
    ``spec.algorithms``.
    Returns {tensor: (bytes read, bytes written)} for Q K V O m l lse S P. A lane that is masked
    moves nothing; a mask's and a score's tables and the sink are not counted. These are requests to
    global memory: caches are not modelled.

    Raises RuntimeError outside the interpreter, ValueError for arguments out of range.
    """
    if not INTERPRETED:
        raise RuntimeError(
            "count_traffic needs Triton's interpreter: set TRITON_INTERPRET=1 before importing "
            "kernels."
        )
    mask_of = masks.from_keywords(causal, mask)
    check_options(order, tuple(ORDERS), block_m, block_n, "ieee")
    check_whole("n", n, MAX_N)
    check_whole("d", d, MAX_D)
    if dtype not in DTYPES:
        raise ValueError(f"dtype = {str(dtype)[:40]!r} is not allowed: {', '.join(DTYPES)}.")
    tiles = -(-n // block_m) * -(-n // block_n)
    if tiles > MAX_TILES:
        raise ValueError(f"n = {n:,} makes {tiles:,} tiles; at most {MAX_TILES:,} are counted.")
    q, k, v = torch.ones(3, 1, 1, n, d, dtype=DTYPES[dtype])
    config = choose("interpreter", d, q.element_size(), block_m, block_n)
    sinks = () if sink is None else (check_sink(sink, q),)
    options = {"score": check_score(score), "has_sink": bool(sinks), "keep_lse": order == "fa2"}
    inputs = ForwardInputs(q, k, v, mask_of, d**-0.5, config, **options)
    with count_bytes() as moved:
        ORDERS[order](inputs)(q, k, v, *sinks)
    return {name: (moved[name][0], moved[name][1]) for name in TENSORS}


@contextmanager
def count_bytes() -> Iterator[dict[str, list[int]]]:
    """Within the block, launches add the bytes that they read, write and add to, to the dict that
    is yielded, by tensor."""
    moved: dict[str, list[int]] = defaultdict(lambda: [0, 0, 0])
    ranges: list[tuple[int, int, str]] = []

    def note_addresses(kernel, arguments: tuple) -> None:
        """Note which addresses belong to which parameter of the kernel that is launched."""
        ranges.clear()
        for name, argument in zip(kernel.arg_names, arguments, strict=False):
            for x in argument if isinstance(argument, tuple) else (argument,):
                if isinstance(x, torch.Tensor):
                    start = x.data_ptr()
                    end = start + x.numel() * x.element_size()
                    ranges.append((start, end, _NAMES.get(name) or name))

    def add(pointers, mask, column: int) -> None:
        addresses = pointers.data[np.broadcast_to(mask.data, pointers.data.shape)]
        if not addresses.size:
            return
        low, high = int(addresses.min()), int(addresses.max())
        itemsize = pointers.get_element_ty().primitive_bitwidth // 8
        for start, end, name in ranges:
            if start <= low and high + itemsize <= end:
                moved[name][column] += addresses.size * itemsize
                return
        raise RuntimeError(f"A kernel touched {low:#x} to {high:#x}, outside of its tensors.")

    def counted(column: int, pointers_at: int, mask_at: int) -> Callable[[Callable], Callable]:
        """Return what wraps a method of the interpreter whose pointers and mask stand there."""

        def wrap(method: Callable) -> Callable:
            def call(*arguments):
                add(arguments[pointers_at], arguments[mask_at], column)
                return method(*arguments)

            return call

        return wrap

    with (
        observe_launches(note_addresses),
        wrap_interpreter(
            create_masked_load=counted(0, 0, 1),
            create_masked_store=counted(1, 0, 2),
            create_atomic_rmw=counted(2, 1, 3),
        ),
    ):
        yield moved
