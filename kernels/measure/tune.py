"""Find configurations on the GPU at hand: `python -m kernels.measure.tune --kernel hopper`.

Other kernels are `fa2` and `decode`.
Nothing is written: the winners go into `hopper.plans.TABLE` or configs.json by hand, with a line in
LOG.md. A candidate is first compared with float64, then timed against others.
"""

from __future__ import annotations

import argparse
import itertools
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import TypeVar

from .. import decode, fa2, hopper
from ..configs import Config
from ..forward import ForwardInputs
from ..hopper import plans
from ..reference import naive_attention, reference_attention
from ..spec import masks
from ..spec.cases import BenchmarkCase
from . import decoding
from .contenders import random_tensors, sdpa_call
from .recording import add_cases, filled_case, require_gpu
from .timing import interleave

# keys, warps, stages of a tile of the decoding kernel
DECODE_TILES = (
    *((32, 1, 4), (32, 2, 4), (32, 4, 3), (64, 1, 3), (64, 2, 3), (64, 4, 2), (64, 4, 3)),
    *((64, 4, 4), (64, 8, 3), (128, 4, 2), (128, 4, 3), (128, 8, 2), (128, 8, 3)),
)
T = TypeVar("T")


def hopper_candidates(d: int, mask: masks.Mask) -> dict[str, plans.Plan]:
    """Return name → plan: every order, with and without peel and ping-pong, at every height that
    fits, and the depths of the rings that fit, for the table's own plan."""
    best = plans.TABLE[d, mask.hides]
    heights = (plans.TWO, plans.THREE) if d == 64 else (plans.TWO,)
    found = {"table": best}
    for height, order, peel, ping_pong in itertools.product(
        heights, ("rows", "pairs", "queue"), (True, False), (True, False)
    ):
        plan = replace(
            height, causal=best.causal, stages=best.stages, order=order, peel=peel,
            ping_pong=ping_pong,
        )  # fmt: skip
        if plan not in found.values():
            flags = " peel" * peel + " ping-pong" * ping_pong
            found[f"{plan.block_m} {order}{flags}"] = plan
    for stages in (2, 3, 4) if d == 64 else ():
        if stages != best.stages:
            found[f"table {stages} stages"] = replace(best, stages=stages)
    return found


def fa2_candidates(d: int) -> dict[str, Config]:
    """Return name → configuration of the readable kernel, those whose tiles can fit."""
    sizes = itertools.product((64, 128), (32, 64, 128), (4, 8), (2, 3))
    return {
        f"{m}x{n} {warps} warps {stages} stages": Config(m, n, warps, stages)
        for m, n, warps, stages in sizes
        if m * n * d <= 128 * 128 * 128 and (warps == 8) == (m == 128)
    }


def forward(candidate: plans.Plan | Config, mask: masks.Mask, q, k, v) -> Callable:
    """Return a function of no arguments that runs one candidate and returns O."""
    if isinstance(candidate, plans.Plan):
        return lambda: hopper.flash_attention(q, k, v, mask=mask.text, plan=candidate)
    call = fa2.prepare(ForwardInputs(q, k, v, mask, q.shape[-1] ** -0.5, candidate))
    return lambda: call(q, k, v)[0]


def decoder(config: Config, parts: int, q, k, v) -> Callable:
    """Return a function of no arguments that decodes with this tile and returns O."""
    mask, scale = masks.of(False), q.shape[-1] ** -0.5
    call = decode.run(q, k, v, mask, scale, config, parts, False)
    return lambda: call(q, k, v)[0]


def usable(candidates: dict[str, T], is_right: Callable[[T], bool]) -> dict[str, T]:
    """Return the candidates that compile and are right, and print what is wrong with the others."""
    found = {}
    for name, candidate in candidates.items():
        try:
            verdict = "" if is_right(candidate) else "WRONG"
        except Exception as error:  # any failure of the compiler belongs in the list
            verdict = f"{type(error).__name__}: {str(error)[:80]}"
        if verdict:
            print(f"  {name}: {verdict}")
        else:
            found[name] = candidate
    return found


def rank(title: str, functions: dict[str, Callable], value: Callable[[float], str]) -> None:
    """Time the functions, and print the value of each one's milliseconds, fastest first."""
    ms = {name: times.median_ms for name, times in interleave(functions).items()}
    print(
        f"{title}:\n  " + " · ".join(f"{x} {value(ms[x])}" for x in sorted(ms, key=ms.__getitem__))
    )


def tune_forward(kernel: str, d: int, mask: masks.Mask, dtype: str, lengths: list[int]) -> None:
    """Print TFLOP/s of every candidate at every length."""

    def is_right(candidate) -> bool:
        """Error within twice naive attention's, on an aligned and on a ragged length."""
        for n in (1024, 777):
            q, k, v = random_tensors(BenchmarkCase(n, d, mask.text, dtype, 2, 9))
            o_ref, _ = reference_attention(q, k, v, mask=mask.text)
            naive = (naive_attention(q, k, v, mask=mask.text) - o_ref).abs().max()
            error = (forward(candidate, mask, q, k, v)() - o_ref).abs().max()
            if not error <= 2 * naive:  # NaN fails
                return False
        return True

    candidates: dict = hopper_candidates(d, mask) if kernel == "hopper" else fa2_candidates(d)
    good = usable(candidates, is_right)
    for n in lengths:
        case = filled_case(n, d, mask.text, dtype)
        q, k, v = random_tensors(case)
        functions = {name: forward(one, mask, q, k, v) for name, one in good.items()}
        title = f"{kernel} d {d} {mask.text} N {n}, TFLOP/s"
        rank(title, functions, lambda ms, flops=case.flops: f"{flops / ms / 1e9:.0f}")


def tune_decode(d: int) -> None:
    """Print µs of a dozen tiles at one, two and four programs a multiprocessor, and of SDPA."""

    def is_right(config: Config) -> bool:
        """Error of O below two last places of 1 in bf16, on an aligned and a ragged length."""
        for n_k, parts in ((1024, 3), (777, 5)):
            q, k, v = decoding.tensors(n_k, 3, d)
            truth, _ = reference_attention(q, k, v)
            error = (decoder(config, parts, q, k, v)().double() - truth).abs().max().item()
            if not error <= 2 * 2**-9:  # NaN fails
                return False
        return True

    good = usable({str(tile): Config(16, *tile) for tile in DECODE_TILES}, is_right)
    for n_k, heads in itertools.product(decoding.LENGTHS, decoding.HEADS):
        q, k, v = decoding.tensors(n_k, heads, d)
        sms = decode.multiprocessors(q.device)
        splits = {max(1, min(x * sms // heads, n_k // 128, 256)) for x in (1, 2, 4)}
        functions = {
            f"{name} in {parts}": decoder(config, parts, q, k, v)
            for (name, config), parts in itertools.product(good.items(), sorted(splits))
        }
        for name in decoding.SDPA:
            with suppress(RuntimeError):  # a backend that is not here
                sdpa_call(name, q, k, v)()
                functions[name] = sdpa_call(name, q, k, v)
        rank(f"d {d} Nk {n_k} heads {heads}, µs", functions, lambda ms: f"{ms * 1e3:.1f}")


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kernel", choices=("hopper", "fa2", "decode"), default="hopper")
    add_cases(parser)
    args = parser.parse_args()
    require_gpu("tune")
    for d in args.d:
        if args.kernel == "decode":
            tune_decode(d)
            continue
        for mask, dtype in itertools.product(args.mask, args.dtype):
            tune_forward(args.kernel, d, masks.parse(mask), dtype, args.n)


if __name__ == "__main__":
    main()
