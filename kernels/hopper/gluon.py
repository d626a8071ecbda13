"""Gluon, Triton's experimental language for Hopper, under one name each for Triton 3.6 to 3.9.

Importing it takes 0.1 to 0.3 s: only modules with Gluon kernels do. Beside triton_internals.py this
is the one place for private parts of Triton.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeAlias

import torch
from triton.experimental import gluon as _gluon
from triton.experimental.gluon import language
from triton.experimental.gluon.language import _core
from triton.experimental.gluon.language.nvidia import hopper
from triton.experimental.gluon.nvidia.hopper import TensorDescriptor

# A kernel is Python for Gluon's compiler alone: a value is a tensor, a number, a layout or a
# constexpr, whatever its annotation says, so that type checkers see Gluon as untyped.
if TYPE_CHECKING:

    class gl(Any):
        constexpr: TypeAlias = Any

else:
    gl = language

gluon: Any = _gluon
constant: Any = language.constexpr  # makes a constexpr of a number
mbarrier: Any = hopper.mbarrier
tma: Any = hopper.tma
fence_async_shared: Any = hopper.fence_async_shared
warpgroup_mma: Any = hopper.warpgroup_mma
warpgroup_mma_wait: Any = hopper.warpgroup_mma_wait
_ELEMENTS = {
    torch.float16: language.float16,
    torch.bfloat16: language.bfloat16,
    torch.float32: language.float32,
    torch.float8_e4m3fn: language.float8e4nv,
}


@_core.builtin
def _async_add(tensor_desc, coord, src, _semantic=None):
    """Start the addition of a box in shared memory to the tensor."""
    from triton._C.libtriton import ir

    semantic: Any = _semantic
    coord = semantic._convert_to_ir_values(coord, require_i64=False)
    semantic.builder.create_async_tma_reduce(
        ir.DESCRIPTOR_REDUCE_KIND.ADD, tensor_desc.handle, coord, src.handle
    )


@_core.builtin
def as_tile(smem, dtype, shape, layout, _semantic=None):
    """Return shared memory with another type, shape and layout; Gluon's own name for it changes."""
    semantic: Any = _semantic
    dtype, layout = _core._unwrap_if_constexpr(dtype), _core._unwrap_if_constexpr(layout)
    shape = [_core._unwrap_if_constexpr(size) for size in shape]
    return semantic.memdesc_reinterpret(smem, dtype, shape, layout)


# Renamed in Triton 3.8; 3.9 keeps the old names only to refuse them.
async_load: Any = getattr(tma, "async_load", None) or tma.async_copy_global_to_shared
async_store: Any = getattr(tma, "async_store", None) or tma.async_copy_shared_to_global
async_add: Any = getattr(tma, "async_atomic_add", None) or _async_add  # named from 3.8 on


@lru_cache(maxsize=64)
def _shared_layout(box: tuple[int, ...], dtype: torch.dtype):
    make_layout: Any = language.NVMMASharedLayout.get_default_for
    return make_layout(list(box), _ELEMENTS[dtype])


def describe(
    x: torch.Tensor, box: tuple[int, ...], shape: list[int] | None = None,
    strides: list[int] | None = None,
) -> TensorDescriptor:  # fmt: skip
    """Return the TMA descriptor of x, of fp32, fp16, bf16 or e4m3, in boxes of this shape.

    `shape` and `strides`, in elements, are x's own where they are not given. Of a box that reaches
    beyond the shape, 0 is read and nothing is written there.
    """
    return TensorDescriptor(
        x, shape or list(x.shape), strides or list(x.stride()), list(box),
        _shared_layout(box, x.dtype),
    )  # fmt: skip
