"""Find configurations on the GPU at hand: `python -m kernels.measure.tune --kernel hopper|fa2`.

Nothing is written: the winners go into `hopper_plans.TABLE` and `configs.TABLE` by hand, with a
line in LOG.md. A candidate is first compared with float64, then timed against the others.
"""

from __future__ import annotations

import argparse
import itertools
import math
from dataclasses import replace

import torch

from .. import fa2, hopper
from ..checks import DTYPES
from ..configs import Config
from ..hopper import plans
from ..reference import naive_attention, reference_attention
from ..spec import masks
from .timing import interleave

TOKENS, HIDDEN = 16384, 2048


def hopper_candidates(d: int, mask: masks.Mask) -> dict[str, plans.Plan]:
    """Name → plan: every order, with and without peel and ping-pong, at every height that fits.

    Plus the depths of the rings that fit, for the table's own plan.
    """
    best = plans.TABLE[d, mask.hides]
    heights = (plans.TWO, plans.THREE) if d == 64 else (plans.TWO,)
    found = {"table": best}
    for height, order, peel, ping_pong in itertools.product(
        heights, ("rows", "pairs", "queue"), (True, False), (True, False)
    ):
        plan = replace(best, order=order, peel=peel, ping_pong=ping_pong, **height)
        plan = replace(plan, stages=best.stages)
        if plan not in found.values():
            found[_name(plan)] = plan
    for stages in (2, 3, 4) if d == 64 else ():
        if stages != best.stages:
            found[f"table {stages} stages"] = replace(best, stages=stages)
    return found


def _name(plan: plans.Plan) -> str:
    flags = " peel" * plan.peel + " ping-pong" * plan.ping_pong
    return f"{plan.block_m} {plan.order}{flags}"


def fa2_candidates(d: int) -> dict[str, Config]:
    """Name → configuration of the readable kernel, those whose tiles can fit."""
    sizes = itertools.product((64, 128), (32, 64, 128), (4, 8), (2, 3))
    return {
        f"{m}x{n} {warps} warps {stages} stages": Config(m, n, warps, stages)
        for m, n, warps, stages in sizes
        if m * n * d <= 128 * 128 * 128 and (warps == 8) == (m == 128)
    }


def runner(kernel: str, candidate, q, k, v, mask: masks.Mask):
    """A function of no arguments that runs one candidate and returns O."""
    if kernel == "hopper":
        return lambda: hopper.flash_attention(q, k, v, mask=mask.text, plan=candidate)
    scale = 1.0 / math.sqrt(q.shape[-1])
    call = fa2.prepare(q, k, v, mask, scale, candidate, "ieee")
    return lambda: call(q, k, v)[0]


def is_right(kernel: str, candidate, d: int, mask: masks.Mask, dtype: torch.dtype) -> bool:
    """Error within twice naive attention's, on an aligned and on a ragged length."""
    for n in (1024, 777):
        q, k, v = (torch.randn(2, 9, n, d, device="cuda", dtype=dtype) for _ in range(3))
        o_ref, _ = reference_attention(q, k, v, mask=mask.text)
        naive = (naive_attention(q, k, v, mask=mask.text) - o_ref).abs().max()
        error = (runner(kernel, candidate, q, k, v, mask)() - o_ref).abs().max()
        if not error <= 2 * naive:  # NaN fails
            return False
    return True


def tune(kernel: str, d: int, mask: masks.Mask, dtype: torch.dtype, lengths: list[int]) -> None:
    """Print TFLOP/s of every candidate at every length, and which are wrong or do not compile."""
    found = hopper_candidates(d, mask) if kernel == "hopper" else fa2_candidates(d)
    usable = {}
    for name, candidate in found.items():
        try:
            verdict = "" if is_right(kernel, candidate, d, mask, dtype) else "WRONG"
        except Exception as error:  # any failure of the compiler belongs in the list
            verdict = f"{type(error).__name__}: {str(error)[:80]}"
        if verdict:
            print(f"  {name}: {verdict}")
        else:
            usable[name] = candidate
    for n in lengths:
        batch, heads = max(1, TOKENS // n), HIDDEN // d
        q, k, v = (torch.randn(batch, heads, n, d, device="cuda", dtype=dtype) for _ in range(3))
        functions = {name: runner(kernel, c, q, k, v, mask) for name, c in usable.items()}
        flops = masks.flops(mask, batch * heads, n, n, d)
        times = interleave(functions)
        ranked = sorted(times, key=lambda name: times[name].median_ms)
        print(f"{kernel} d {d} {mask.text} N {n}, TFLOP/s:")
        print("  " + " · ".join(f"{x} {flops / times[x].median_ms / 1e9:.0f}" for x in ranked))


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kernel", choices=("hopper", "fa2"), default="hopper")
    parser.add_argument("--d", type=int, nargs="*", default=[64, 128])
    parser.add_argument("--n", type=int, nargs="*", default=[1024, 4096, 16384])
    parser.add_argument("--mask", choices=("full", "causal"), nargs="*", default=["full", "causal"])
    parser.add_argument("--dtype", choices=("bf16", "fp16"), default="bf16")
    args = parser.parse_args()
    if not torch.cuda.is_available():
        raise SystemExit("kernels.measure.tune needs a CUDA GPU.")
    for d, mask in itertools.product(args.d, args.mask):
        tune(args.kernel, d, masks.parse(mask), DTYPES[args.dtype], args.n)


if __name__ == "__main__":
    main()
