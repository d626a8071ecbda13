"""Decoding on the GPU at hand: the rows of a record, and `python -m kernels.measure.decoding`.

The command prints the time of a dozen tiles at one, two and four programs a multiprocessor, each
compared with float64 first. Nothing is written: winners go into `decode.TABLE` and `parts_for` by
hand.
"""

from __future__ import annotations

import argparse
import itertools
import math
from contextlib import suppress
from functools import partial

import torch
import torch.nn.functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel

from .. import decode
from ..configs import Config
from ..decode import decode_attention, parts_for
from ..reference import reference_attention
from ..spec import masks
from .calls import Call, call_times
from .timing import interleave

LENGTHS, HEADS, D = (4096, 16384, 65536), (1, 16), 64
SPLITS = (1, 2, 4, 8, 16, 32, 64)
SDPA = {"sdpa_flash": SDPBackend.FLASH_ATTENTION, "sdpa_cudnn": SDPBackend.CUDNN_ATTENTION}
TILES = (  # keys, warps, stages
    *((32, 1, 4), (32, 2, 4), (32, 4, 3), (64, 1, 3), (64, 2, 3), (64, 4, 2), (64, 4, 3)),
    *((64, 4, 4), (64, 8, 3), (128, 4, 2), (128, 4, 3), (128, 8, 2), (128, 8, 3)),
)


def decoded() -> list[dict]:
    """One query a head against Nk keys, bf16, d = 64: a row for each number of parts, one of them
    with `rule`, and one for each backend of SDPA, or why it is refused.

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
            functions[name] = sdpa(name, q, k, v)
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
        told = (f"{name}: {r.get('median_ms', math.nan) * 1e3:.1f}" for name, r in mine.items())
        print(n_k, heads, "us,", *told, flush=True)
        calls = (f"{x}: {r['loop_ms'] * 1e3:.1f}" for x, r in mine.items() if "loop_ms" in r)
        print("  a call in a loop, us,", *calls, flush=True)
    return rows


def tensors(n_k: int, heads: int, d: int) -> tuple[torch.Tensor, ...]:
    """q (1, H, 1, d), k and v (1, H, Nk, d), bf16, from a standard normal."""
    return tuple(
        torch.randn(1, heads, n, d, device="cuda", dtype=torch.bfloat16) for n in (1, n_k, n_k)
    )


def sdpa(name: str, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> Call:
    """A function of no arguments: this backend's O, or its error. Choosing it is not timed."""
    return Call(partial(F.scaled_dot_product_attention, q, k, v), partial(sdpa_kernel, SDPA[name]))


def is_right(config: Config, d: int) -> bool:
    """Largest error of O below two last places of 1 in bf16, on an aligned and a ragged length."""
    for n_k, parts in ((1024, 3), (777, 5)):
        q, k, v = tensors(n_k, 3, d)
        truth, _ = reference_attention(q, k, v)
        o, _ = decode.run(q, k, v, masks.of(False), d**-0.5, config, parts, False)(q, k, v)
        if not (o.double() - truth).abs().max().item() <= 2 * 2**-9:  # NaN fails
            return False
    return True


def tune(d: int) -> None:
    """Prints every tile's time on every problem, best first, and those that fail."""
    usable = {}
    for tile in TILES:
        config = Config(16, *tile)
        try:
            verdict = "" if is_right(config, d) else "WRONG"
        except Exception as error:  # any failure of the compiler belongs in the list
            verdict = f"{type(error).__name__}: {str(error)[:80]}"
        if verdict:
            print(f"  {tile}: {verdict}")
        else:
            usable[tile] = config
    for n_k, heads in itertools.product(LENGTHS, HEADS):
        q, k, v = tensors(n_k, heads, d)
        sms = decode.multiprocessors(q.device)
        splits = {max(1, min(x * sms // heads, n_k // 128, 256)) for x in (1, 2, 4)}
        functions = {
            f"{tile} in {parts}": partial(
                decode.run(q, k, v, masks.of(False), d**-0.5, config, parts, False), q, k, v
            )
            for (tile, config), parts in itertools.product(usable.items(), sorted(splits))
        }
        for name in SDPA:
            with suppress(RuntimeError):  # a backend that is not here
                sdpa(name, q, k, v)()
                functions[name] = sdpa(name, q, k, v)
        times = interleave(functions)
        ranked = sorted(times, key=lambda name: times[name].median_ms)
        print(f"d {d} Nk {n_k} heads {heads}, us:")
        print("  " + " · ".join(f"{x} {times[x].median_ms * 1e3:.1f}" for x in ranked), flush=True)


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--d", type=int, nargs="*", default=[D])
    args = parser.parse_args()
    if not torch.cuda.is_available():
        raise SystemExit("kernels.measure.decoding needs a CUDA GPU.")
    for d in args.d:
        tune(d)


if __name__ == "__main__":
    main()
