"""Find plans of the Hopper kernel on the GPU at hand: `python -m kernels.measure.tune`.

Nothing is written: the winners go into `hopper.plans.TABLE` by hand, with a line in LOG.md. A
candidate is first compared with float64, then timed against others.
"""

from __future__ import annotations

import argparse
import itertools
from collections.abc import Callable
from dataclasses import replace
from functools import partial

from .. import hopper
from ..hopper import plans
from ..reference import naive_attention, reference_attention
from ..spec import masks
from ..spec.cases import BenchmarkCase
from .contenders import random_tensors
from .recording import add_cases, filled_case, require_gpu
from .timing import interleave


def candidates(d: int, mask: masks.Mask) -> dict[str, plans.Plan]:
    """Return name → plan: every order, with and without peel and ping-pong, at every height that
    fits, and the depths of the rings that fit, for the table's own plan."""
    best = plans.TABLE[d, mask.hides]
    heights = (plans.TWO, plans.THREE) if d == 64 else (best,)
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


def is_right(attend: Callable, mask: str, d: int, dtype: str) -> bool:
    """Return whether the error is within twice naive attention's, on an aligned and on a ragged
    length."""
    for n in (1024, 777):
        q, k, v = random_tensors(BenchmarkCase(n, d, mask, dtype, 2, 9))
        o_ref, _ = reference_attention(q, k, v, mask=mask)
        naive = (naive_attention(q, k, v, mask=mask) - o_ref).abs().max()
        error = (attend(q, k, v) - o_ref).abs().max()
        if not error <= 2 * naive:  # NaN fails
            return False
    return True


def usable(d: int, mask: str, dtype: str) -> dict[str, Callable]:
    """Return the candidates that compile and are right, as functions of (q, k, v) to O, and print
    what is wrong with the others."""
    found = {}
    for name, plan in candidates(d, masks.parse(mask)).items():
        attend = partial(hopper.flash_attention, mask=mask, plan=plan)
        try:
            verdict = "" if is_right(attend, mask, d, dtype) else "WRONG"
        except Exception as error:  # any failure of the compiler belongs in the list
            verdict = f"{type(error).__name__}: {str(error)[:80]}"
        if verdict:
            print(f"  {name}: {verdict}")
        else:
            found[name] = attend
    return found


def tune(d: int, mask: str, dtype: str, lengths: list[int]) -> None:
    """Print TFLOP/s of every candidate at every length, fastest first."""
    good = usable(d, mask, dtype)
    for n in lengths:
        case = filled_case(n, d, mask, dtype)
        tensors = random_tensors(case)
        times = interleave({name: partial(attend, *tensors) for name, attend in good.items()})
        speeds = {name: case.flops / x.median_ms / 1e9 for name, x in times.items()}
        fastest_first = sorted(speeds, key=speeds.__getitem__, reverse=True)
        print(f"d {d} {mask} N {n}, TFLOP/s:")
        print("  " + " · ".join(f"{name} {speeds[name]:.0f}" for name in fastest_first))


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    add_cases(parser)
    args = parser.parse_args()
    require_gpu("tune")
    for d, mask, dtype in itertools.product(args.d, args.mask, args.dtype):
        tune(d, mask, dtype, args.n)


if __name__ == "__main__":
    main()
