"""Decoding on the GPU at hand: the rows of a record. `tune` compares tiles."""

from __future__ import annotations

import itertools
import math
from functools import partial

import torch

from .. import decode
from ..decode import decode_attention
from ..reference import reference_attention
from ..spec.launches import parts_for
from .calls import call_times
from .contenders import sdpa_call
from .timing import interleave

LENGTHS, HEADS, D = (4096, 16384, 65536), (1, 16), 64
SPLITS = (1, 2, 4, 8, 16, 32, 64)
SDPA = ("sdpa_flash", "sdpa_cudnn")


def measure() -> list[dict]:
    """Return rows of one query a head against Nk keys, bf16, d = 64: one for each number of parts,
    one of them with `rule`, and one for each backend of SDPA, or the reason why there is none.

    GPU time (median_ms …, L2 emptied before) of all; of the rule's and SDPA's also the times of a
    call, as `call_times` has them.
    """
    rows = []
    for n_k, heads in itertools.product(LENGTHS, HEADS):
        q, k, v = tensors(n_k, heads, D)
        truth, _ = reference_attention(q, k, v)
        rule = parts_for(heads, n_k, decode.multiprocessors(q.device))
        base = {"n_k": n_k, "heads": heads, "d": D}
        mine, functions = {}, {}
        for splits in sorted({*SPLITS, rule}):
            name = f"decode {splits}"
            mine[name] = base | {"method": "decode", "splits": splits, "rule": splits == rule}
            functions[name] = partial(decode_attention, q, k, v, parts=splits)
        functions[f"decode {rule}"] = partial(decode_attention, q, k, v)
        for name in SDPA:
            mine[name] = base | {"method": name}
            functions[name] = sdpa_call(name, q, k, v)
        for name in list(functions):
            try:
                mine[name]["error"] = (functions[name]().double() - truth).abs().max().item()
            except RuntimeError as why:
                if name not in SDPA or "CUDA error" in str(why):
                    raise
                mine[name]["refused"] = " ".join(str(why).split())[:200]
                del functions[name]
        times = interleave(functions)
        for name in functions:
            mine[name] |= vars(times[name])
        called = {x: functions[x] for x in (f"decode {rule}", *SDPA) if x in functions}
        for name, keys in call_times(called, {x: times[x].median_ms for x in called}).items():
            mine[name] |= keys
        rows += mine.values()
        times_us = (f"{x}: {r.get('median_ms', math.nan) * 1e3:.1f}" for x, r in mine.items())
        print(n_k, heads, "us,", *times_us, flush=True)
        calls = (f"{x}: {r['loop_ms'] * 1e3:.1f}" for x, r in mine.items() if "loop_ms" in r)
        print("  a call in a loop, us,", *calls, flush=True)
    return rows


def tensors(n_k: int, heads: int, d: int) -> tuple[torch.Tensor, ...]:
    """Draw q (1, H, 1, d), k and v (1, H, Nk, d), bf16, from a standard normal."""
    return tuple(
        torch.randn(1, heads, n, d, device="cuda", dtype=torch.bfloat16) for n in (1, n_k, n_k)
    )
