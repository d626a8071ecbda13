"""Masks and scores of the Hopper kernel beside FlexAttention: `python -m kernels.measure.masks`.

Writes JSON. bf16, N = 8,192, d = 128, B = 2, H = 16 unless the command line says otherwise: causal,
a window, a prefix, packed documents, a soft cap and ALiBi, each by the Hopper kernel and by
FlexAttention compiled for it, then a window of 1,024 at growing N. One row is one contender on one
case, as `bench` has it.
"""

from __future__ import annotations

import argparse

from ..spec.cases import BenchmarkCase
from . import bench
from .recording import RecordFile, add_options, describe

WINDOW, PREFIX, DOCUMENT = 1024, 1024, 1024
LENGTHS = (8192, 16384, 32768, 65536)
MAX_JUDGED = 8192  # rows of a sequence whose N × N scores are computed densely
CAP = 30.0


def rules(n: int) -> dict[str, tuple[str, str]]:
    """Return mask and score of each case, by name."""
    starts = ",".join(map(str, range(0, n, DOCUMENT)))
    return {
        "causal": ("causal", "none"),
        "window": (f"causal&window:{WINDOW},0", "none"),
        "prefix": (f"causal|prefix:{PREFIX}", "none"),
        "documents": (f"causal&document:{starts}", "none"),
        "softcap": ("causal", f"softcap:{CAP:g}"),
        "alibi": ("causal", "alibi"),
    }


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=describe(__doc__))
    parser.add_argument("--n", type=int, default=8192)
    parser.add_argument("--d", type=int, default=128)
    parser.add_argument("--batch", type=int, default=2)
    parser.add_argument("--heads", type=int, default=16)
    parser.add_argument("--dtype", choices=("bf16", "fp16"), default="bf16")
    parser.add_argument("--lengths", type=int, nargs="*", default=list(LENGTHS))
    parser.add_argument("--alone", action="store_true", help="without FlexAttention")
    add_options(parser, rules(8192), 15)
    args = parser.parse_args()
    file = RecordFile(
        "masks", args, "masks_",
        "loop_ms: a call's share of a loop that begins on an idle queue; TFLOP/s of the scores "
        "that the mask keeps, causal by the papers' convention",
    )  # fmt: skip
    file.record["lengths"] = []

    def case(name: str, n: int) -> BenchmarkCase:
        mask, score = rules(n)[name]
        return BenchmarkCase(n, args.d, mask, args.dtype, args.batch, args.heads, score)

    def measure(case: BenchmarkCase, names: tuple[str, ...] = ("hopper",)) -> list[dict]:
        rows = bench.measure(case, names, args.runs, {}, is_judged=case.n <= MAX_JUDGED)
        (name,) = (x for x, rule in rules(case.n).items() if rule == (case.mask, case.score))
        return [row | {"case": name} for row in rows]

    names = ("hopper",) if args.alone else ("hopper", "flex")
    chosen = [case(name, args.n) for name in args.only or rules(args.n)]
    file.measure(chosen, lambda case: measure(case, names))
    windows = [case("window", n) for n in args.lengths]
    file.measure(windows, measure, "lengths")
    file.close()


if __name__ == "__main__":
    main()
