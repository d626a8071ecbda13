"""What this GPU can do at most, measured: bytes from memory and from L2, products of matrices."""

from __future__ import annotations

from contextlib import contextmanager
from functools import lru_cache

import torch

from .contenders import DTYPES
from .timing import interleave

STREAM_BYTES = 1 << 30
MATRIX = 8192


@lru_cache(maxsize=8)
def ceilings(dtype: str) -> dict[str, float]:
    """{"hbm_bytes_per_s", "l2_bytes_per_s", "flops"} of the current GPU, by three small programs.

    HBM: copying 1 GiB, read and write counted. L2: copying half of what L2 holds, again and again
    (Triton's programs reach no more of it than PyTorch's copy does). FLOP/s: a product of two
    8192 × 8192 matrices of random numbers in `dtype`, fp32 without TF32, through PyTorch.
    """
    hbm = _copy_rate(STREAM_BYTES, repeats=1)
    l2 = torch.cuda.get_device_properties(0).L2_cache_size
    cached = _copy_rate(l2 // 4, repeats=32)
    return {"hbm_bytes_per_s": hbm, "l2_bytes_per_s": cached, "flops": _matmul_rate(dtype)}


def _copy_rate(n_bytes: int, repeats: int) -> float:
    source = torch.ones(n_bytes // 4, device="cuda")
    target = torch.empty_like(source)

    def copy():
        for _ in range(repeats):
            target.copy_(source)

    ms = interleave({"copy": copy}, runs=9)["copy"].median_ms
    return 2 * n_bytes * repeats / (ms * 1e-3)


def _matmul_rate(dtype: str) -> float:
    a, b = (torch.randn(MATRIX, MATRIX, device="cuda", dtype=DTYPES[dtype]) for _ in range(2))
    with _no_tf32():
        ms = interleave({"matmul": lambda: a @ b}, runs=9)["matmul"].median_ms
    return 2.0 * MATRIX**3 / (ms * 1e-3)


@contextmanager
def _no_tf32():
    before = torch.backends.cuda.matmul.allow_tf32
    torch.backends.cuda.matmul.allow_tf32 = False
    try:
        yield
    finally:
        torch.backends.cuda.matmul.allow_tf32 = before
