"""What this GPU can do at most, measured: bytes from memory and from L2, products of matrices."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import torch
import triton

from ..checks import DTYPES
from ..triton_internals import tl
from .timing import interleave

STREAM_BYTES = 1 << 30
CACHED_BYTES = 16 << 20  # far less than the L2 of the cards that this is for
CHUNK = 4096  # floats that a program reads at a time
MATRIX = 8192


@lru_cache(maxsize=8)
def ceilings(dtype: str) -> dict[str, float]:
    """{"hbm_bytes_per_s", "l2_bytes_per_s", "flops"} of the current GPU, by three small programs.

    HBM: copying 1 GiB, read and write counted. L2: a Triton program on every multiprocessor reads
    16 MiB again and again, each in an order of its own. FLOP/s: a product of two 8192 × 8192
    matrices of random numbers in `dtype`, fp32 without TF32, as is PyTorch's default.
    """
    return {
        "hbm_bytes_per_s": _hbm_rate(),
        "l2_bytes_per_s": _l2_rate(),
        "flops": _matmul_rate(dtype),
    }


def _hbm_rate() -> float:
    source = torch.ones(STREAM_BYTES // 4, device="cuda")
    target = torch.empty_like(source)
    ms = interleave({"copy": lambda: target.copy_(source)}, runs=9)["copy"].median_ms
    return 2 * STREAM_BYTES / (ms * 1e-3)


@triton.jit
def _read_kernel(X, Out, ROUNDS: tl.constexpr, CHUNKS: tl.constexpr, CHUNK: tl.constexpr):
    program = tl.program_id(0)
    at = tl.arange(0, CHUNK)
    total = tl.zeros([CHUNK], tl.float32)
    for k in range(ROUNDS):
        total += tl.load(X + ((program + k) % CHUNKS) * CHUNK + at)
    tl.store(Out + program * CHUNK + at, total)


def _l2_rate() -> float:
    chunks = CACHED_BYTES // (4 * CHUNK)
    programs = 2 * torch.cuda.get_device_properties(0).multi_processor_count
    x = torch.ones(chunks * CHUNK, device="cuda")
    out = torch.empty(programs * CHUNK, device="cuda")
    rounds = 4 * chunks

    launch: Any = _read_kernel[(programs,)]

    def read():
        launch(x, out, rounds, chunks, CHUNK, num_warps=8)

    ms = interleave({"read": read}, runs=9)["read"].median_ms
    return 4 * CHUNK * programs * rounds / (ms * 1e-3)


def _matmul_rate(dtype: str) -> float:
    a, b = (torch.randn(MATRIX, MATRIX, device="cuda", dtype=DTYPES[dtype]) for _ in range(2))
    ms = interleave({"matmul": lambda: a @ b}, runs=9)["matmul"].median_ms
    return 2.0 * MATRIX**3 / (ms * 1e-3)
