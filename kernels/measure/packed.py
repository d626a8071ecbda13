"""Packed sequences, paged caches and head dimensions on the GPU at hand, beside PyTorch's.

`python -m kernels.measure.packed FILE` writes three lists of rows, GPU time of each method in
milliseconds, L2 emptied before. "varlen": sequences of these lengths, forward and backward. Where
the lengths are equal, "varlen" is a dense batch: "varlen by spans" is what it would be if they were
not, and "dense" `kernels.attention` on a batch that lies in memory as such. "paged": one query a
head and many keys, contiguous or in pages. "sizes": head dimensions of q and k and of v. `--parts`
names the lists that are measured, and `--no-flex` leaves out FlexAttention.
"""

from __future__ import annotations

import argparse
import itertools
import shlex
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from importlib import import_module
from inspect import signature
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
from torch.nn.attention import flex_attention

import kernels

from ..dispatch import attend
from ..varlen import spans_of_offsets
from .bench import make_functions
from .chooser import SDPA
from .contenders import NotAvailable, fa4_function, sdpa_call, tried
from .recording import require_gpu, write_rows
from .timing import interleave

DTYPE = torch.bfloat16
EQUAL = ((2048,) * 8, (512,) * 32)
RAGGED = ((5000, 4000, 3000, 2000, 1000, 700, 400, 284), tuple(range(40, 1000, 31))[:31])
CACHE, PAGES = 8192, (16, 64, 256)
SIZES = ((32, 32), (64, 64), (96, 96), (128, 128), (192, 128), (192, 192), (256, 256))
N, RUNS = 8192, 11
PARTS = ("varlen", "paged", "sizes")
Functions = dict[str, Callable[[], Any]]


def tensors(*shapes: tuple[int, ...]) -> list[torch.Tensor]:
    """Draw tensors of these shapes from a standard normal, of which gradients can be requested."""
    random = torch.Generator("cuda").manual_seed(0)
    how = {"device": "cuda", "dtype": DTYPE, "generator": random}
    return [torch.randn(shape, **how).requires_grad_() for shape in shapes]


def times(functions: Functions, flops: float, **fields) -> list[dict]:
    """Return a row for each function that runs, with its time, or why it does not run."""
    usable, rows = make_functions(fields, functions, lambda name: tried(functions[name]))
    for name, found in interleave(usable, RUNS).items():
        rows[name] |= vars(found) | {"tflops": round(flops / found.median_ms / 1e9, 1)}
    shown = (f"{x} {r.get('tflops', '–')} ({r.get('median_ms', 0):.3f})" for x, r in rows.items())
    print(*fields.values(), "·", *shown, flush=True)
    return list(rows.values())


def both_passes(
    functions: Functions, leaves: list[torch.Tensor], flops: float, **fields
) -> list[dict]:
    """Return the rows of these functions forward, and backward by those of the leaves that each
    depends on."""
    with torch.no_grad():
        rows = times(functions, flops, **fields, direction="forward")
    gradients: Functions = {}
    for name, function in functions.items():
        with suppress(NotAvailable):
            o = tried(function)()
            gradients[name] = partial(
                torch.autograd.grad, o, leaves, torch.ones_like(o), retain_graph=True,
                allow_unused=True,
            )  # fmt: skip
    return rows + times(gradients, 2.5 * flops, **fields, direction="backward")


def varlen(
    lengths: tuple[int, ...], heads: int, d: int, causal: bool, with_flex: bool
) -> list[dict]:
    """Return the rows of these sequences, packed; FlexAttention's mask is built in no timed call
    but that of "flex mask"."""
    cuts, total = [0, *accumulate(lengths)], sum(lengths)
    cu = torch.tensor(cuts, dtype=torch.int32, device="cuda")
    q, k, v = tensors(*[(total, heads, d)] * 3)
    functions: Functions = {
        "varlen": lambda: kernels.attention_varlen(q, k, v, cu, cu, causal=causal),
        "torch varlen": _torch_varlen(q, k, v, cu, max(lengths), causal),
        "fa4 varlen": _fa4_varlen(q, k, v, cu, max(lengths), causal),
    }
    builders: Functions = {}
    if with_flex and causal and d == 128:  # its compiler takes half a minute for each
        functions["flex"], builders["flex mask"] = _flex(q, k, v, lengths)
    leaves = [q, k, v]
    if len({*lengths}) == 1:
        functions["varlen by spans"] = _by_spans(q, k, v, cu, causal)
        batch = tensors(*[(len(lengths), heads, lengths[0], d)] * 3)
        functions["dense"] = lambda: kernels.attention(*batch, causal=causal)
        leaves += batch
    flops = 4.0 * heads * d * sum(n * n for n in lengths) / (2 if causal else 1)
    base = {"lengths": f"{len(lengths)} × {lengths[0]}" if len({*lengths}) == 1 else list(lengths)}
    base |= {"d": d, "heads": heads, "causal": causal}
    with torch.no_grad():
        for name in functions.keys() - {"flex", "dense"}:
            with suppress(NotAvailable):
                _check(tried(functions[name])(), q, k, v, cuts, causal)
        rows = times(builders, flops, **base, direction="forward")
    return rows + both_passes(functions, leaves, flops, **base)


def _by_spans(q, k, v, cu, causal: bool) -> Callable[[], torch.Tensor]:
    """Return attention of packed sequences by spans, whatever their lengths."""
    found = spans_of_offsets(cu, cu, len(q), len(q), q.device, causal)

    def call() -> torch.Tensor:
        of_q, of_k, of_v = (x.transpose(0, 1)[None] for x in (q, k, v))
        o, _ = attend(of_q, of_k, of_v, None, found, {})
        return o.squeeze(0).transpose(0, 1)

    return call


def _flex(q, k, v, lengths) -> tuple[Callable[[], Any], Callable[[], Any]]:
    """Return FlexAttention under the causal mask of these documents, and what builds its blocks,
    both compiled."""
    total = len(q)
    of = torch.repeat_interleave(torch.arange(len(lengths)), torch.tensor(lengths)).to("cuda")

    def keep(b, h, row, key):
        return (of[row] == of[key]) & (row >= key)

    build = partial(flex_attention.create_block_mask, keep, None, None, total, total, "cuda")
    compiled = torch.compile(flex_attention.flex_attention, dynamic=False)
    views, blocks = [x.transpose(0, 1)[None] for x in (q, k, v)], build()
    return lambda: compiled(*views, block_mask=blocks), torch.compile(build)


def _torch_varlen(q, k, v, cu, longest: int, causal: bool) -> Callable[[], torch.Tensor]:
    """Return PyTorch's own, by FlashAttention-2."""

    def call() -> torch.Tensor:
        attend = import_module("torch.nn.attention.varlen").varlen_attn
        if "window_size" in signature(attend).parameters:
            how = {"window_size": (-1, 0) if causal else (-1, -1)}
        else:
            how = {"is_causal": causal}
        return attend(q, k, v, cu, cu, longest, longest, **how)

    return call


def _fa4_varlen(q, k, v, cu, longest: int, causal: bool) -> Callable[[], torch.Tensor]:
    """Return FlashAttention-4's, which raises NotAvailable without its package."""

    def call() -> torch.Tensor:
        attend = fa4_function("flash_attn_varlen_func", q.device)
        how = {"cu_seqlens_q": cu, "cu_seqlens_k": cu, "causal": causal}
        return attend(q, k, v, max_seqlen_q=longest, max_seqlen_k=longest, **how)[0]

    return call


def _check(found: torch.Tensor, q, k, v, cuts: list[int], causal: bool) -> None:
    """Raise AssertionError where O is not near each sequence's own: tests judge it closely."""
    for a, b in pairwise(cuts):
        one = [x[a:b].transpose(0, 1)[None] for x in (q, k, v)]
        want = F.scaled_dot_product_attention(*one, is_causal=causal)[0].transpose(0, 1)
        torch.testing.assert_close(found[a:b], want, atol=3e-2, rtol=3e-2)


def paged(batch: int, heads: int, k_heads: int, d: int) -> list[dict]:
    """Return the rows of one query a head to CACHE keys: contiguous, with lengths, in pages."""
    q, k, v = (x.detach() for x in tensors((batch, heads, 1, d), *[(batch, k_heads, CACHE, d)] * 2))
    lengths = torch.full((batch,), CACHE, dtype=torch.int32, device="cuda")
    functions: Functions = {
        "contiguous": lambda: kernels.decode_attention(q, k, v),
        "lengths": lambda: kernels.decode_attention(q, k, v, lengths=lengths),
    }
    for page in PAGES:
        count = batch * CACHE // page
        order = torch.randperm(count, device="cuda").view(batch, -1)
        table = order.to(torch.int32)
        pools = []
        for x in (k, v):
            pool = torch.empty(count, page, k_heads, d, device="cuda", dtype=DTYPE)
            pool[table.flatten().long()] = x.transpose(1, 2).reshape(count, page, k_heads, d)
            pools.append(pool)
        how = {"block_table": table, "lengths": lengths}
        functions[f"pages of {page}"] = partial(kernels.decode_attention, q, *pools, **how)
    want = functions["contiguous"]()
    for function in functions.values():
        torch.testing.assert_close(function(), want, atol=3e-3, rtol=3e-2)
    base = {"batch": batch, "heads": heads, "k_heads": k_heads, "d": d, "n_k": CACHE}
    rows = times(functions, 4.0 * batch * heads * CACHE * d, **base)
    moved = 2 * batch * k_heads * CACHE * d * DTYPE.itemsize
    return [r | {"gb_per_s": round(moved / r["median_ms"] / 1e6)} for r in rows if "median_ms" in r]


def sizes(d: int, d_v: int, causal: bool) -> list[dict]:
    """Return the rows of these head dimensions, 16 k tokens in a batch, forward and backward."""
    n, batch, heads = N, 16384 // N, 16
    leaves = tensors(*[(batch, heads, n, d)] * 2, (batch, heads, n, d_v))
    q, k, v = leaves

    functions: Functions = {"kernels.attention": lambda: kernels.attention(q, k, v, causal=causal)}
    functions |= {
        name.replace("_", " "): sdpa_call(name, q, k, v, is_causal=causal)
        for name in SDPA
        if name != "sdpa_math"
    }
    flops = 2.0 * batch * heads * n * n * (d + d_v) / (2 if causal else 1)
    base = {"d": d, "d_v": d_v, "n": n, "causal": causal}
    base["kernel"] = kernels.which(q, k, v, causal=causal).kernel
    return both_passes(functions, leaves, flops, **base)


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path)
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=PARTS)
    parser.add_argument("--no-flex", action="store_true")
    args = parser.parse_args()
    require_gpu("packed")
    command = shlex.join(["python", "-m", "kernels.measure.packed", *sys.argv[1:]])
    rows: dict[str, list[dict]] = {part: [] for part in PARTS}

    def add(name: str, found: list[dict]) -> None:
        rows[name] += found
        others = {key: rows[key] for key in ("paged", "sizes")}
        write_rows(args.file, command, rows["varlen"], **others, dtype="bf16")

    if "paged" in args.parts:
        for batch, heads, k_heads in ((1, 32, 8), (16, 32, 8), (64, 32, 8), (4, 16, 16)):
            add("paged", paged(batch, heads, k_heads, 128))
    if "varlen" in args.parts:
        for lengths, d, causal in itertools.product(EQUAL + RAGGED, (64, 128), (False, True)):
            add("varlen", varlen(lengths, 2048 // d, d, causal, not args.no_flex))
    if "sizes" in args.parts:
        for (d, d_v), causal in itertools.product(SIZES, (False, True)):
            add("sizes", sizes(d, d_v, causal))


if __name__ == "__main__":
    main()
