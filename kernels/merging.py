"""Merge two softmaxes over different keys by their lse, in fp32: one launch."""

from __future__ import annotations

from functools import lru_cache, reduce
from operator import or_

import torch
import triton

from .availability import INTERPRETED
from .configs import pad
from .formats import as_operand, as_stored
from .launching import Launch, on_device
from .tiles import addresses
from .triton_internals import tl

ROWS = 32  # of one program

# kernel: begin


@triton.jit(do_not_specialize=["H", "N"])
def merge_kernel(
    O, LSE, PART, PART_LSE, o_strides, part_strides, lse_strides, part_lse_strides, H, N,
    D: tl.constexpr, ROWS: tl.constexpr, PAD_D: tl.constexpr, BF16_BITS: tl.constexpr,
):  # fmt: skip
    """Merge the O and lse of a part into those so far, in place, of ROWS rows of one (batch, head):
    O = (exp(lse_O − m) O + exp(lse_P − m) P) / l."""
    blocks = tl.cdiv(N, ROWS)
    bh = (tl.program_id(0) // blocks).to(tl.int64)
    b, h = bh // H, bh % H
    rows, dims = tl.program_id(0) % blocks * ROWS + tl.arange(0, ROWS), tl.arange(0, PAD_D)
    row_ok = rows < N
    ok = row_ok[:, None] & (dims < D)[None, :]
    O_BITS: tl.constexpr = BF16_BITS and O.dtype.element_ty == tl.bfloat16
    PART_BITS: tl.constexpr = BF16_BITS and PART.dtype.element_ty == tl.bfloat16
    # phase: load — both O and both lse: HBM → SRAM
    o_ptrs = addresses(O, o_strides, b, h, rows[:, None], dims[None, :])
    part_ptrs = addresses(PART, part_strides, b, h, rows[:, None], dims[None, :])
    lse_ptrs = LSE + b * lse_strides[0] + h * lse_strides[1] + rows * lse_strides[2]
    part_lse = PART_LSE + b * part_lse_strides[0] + h * part_lse_strides[1]
    o = as_operand(tl.load(o_ptrs, mask=ok, other=0.0), O_BITS).to(tl.float32)
    part = as_operand(tl.load(part_ptrs, mask=ok, other=0.0), PART_BITS).to(tl.float32)
    first = tl.load(lse_ptrs, mask=row_ok, other=float("-inf"))
    second = tl.load(part_lse + rows * part_lse_strides[2], mask=row_ok, other=float("-inf"))
    # phase: max — m = max of both lse; a row that has seen no key: no −∞ − (−∞)
    m = tl.maximum(first, second)
    m_ref = tl.where(m == float("-inf"), 0.0, m)
    # phase: sum — l = exp(lse_O − m) + exp(lse_P − m)
    a, b = tl.exp(first - m_ref), tl.exp(second - m_ref)
    l = tl.where(m == float("-inf"), 1.0, a + b)
    # phase: store — O and lse = m + log l: SRAM → HBM
    o = (a[:, None] * o + b[:, None] * part) / l[:, None]
    tl.store(o_ptrs, as_stored(o, O.dtype.element_ty, O_BITS), mask=ok)
    tl.store(lse_ptrs, m + tl.log(l), mask=row_ok)


# kernel: end


def merge(o: torch.Tensor, lse: torch.Tensor, part: torch.Tensor, part_lse: torch.Tensor) -> None:
    """Merge a part into O (B, H, N, d) and lse (B, H, N), fp32, in place; the arithmetic is fp32,
    whatever O and the part are stored in. Any strides."""
    tensors = o, lse, part, part_lse
    strides = o.stride(), part.stride(), lse.stride(), part_lse.stride()
    alignment = reduce(or_, (x.data_ptr() & 15 for x in tensors))  # by which Triton compiles
    if o.numel():
        found = _launch(o.shape, strides, (o.dtype, part.dtype), o.device, alignment)
        on_device(found, *tensors)


@lru_cache(maxsize=256)
def _launch(shape, strides, dtypes, device, alignment) -> Launch:
    """Return the launch for tensors like these; the other arguments only tell such apart."""
    batch, heads, n, d = shape
    return Launch(
        merge_kernel, batch * heads * triton.cdiv(n, ROWS), (*strides, heads, n),
        {"D": d, "ROWS": ROWS, "PAD_D": pad(d), "BF16_BITS": INTERPRETED},
    )  # fmt: skip
