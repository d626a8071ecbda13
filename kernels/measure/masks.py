"""Masks and scores of the Hopper kernel beside FlexAttention: `python -m kernels.measure.masks`.

Writes JSON. bf16, N = 8,192, d = 128, B = 2, H = 16: causal, a window, a prefix, packed documents,
a soft cap and ALiBi, each by the Hopper kernel and by FlexAttention compiled for it, then a window
of 1,024 at growing N. One row is one contender on one case, as `bench` has it.
"""

from __future__ import annotations

import argparse

from ..spec.cases import BenchmarkCase
from . import bench
from .recording import RecordFile, add_options, describe

WINDOW, PREFIX, DOCUMENT = 1024, 1024, 1024
N, D, BATCH, HEADS = 8192, 128, 2, 16
LENGTHS = (8192, 16384, 32768, 65536)
MAX_JUDGED = N  # rows of a sequence whose N × N scores are computed densely
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
    add_options(parser, rules(N), 15)
    args = parser.parse_args()
    file = RecordFile(
        "masks", args, "masks_",
        "loop_ms: a call's share of a loop that begins on an idle queue; TFLOP/s of the scores "
        "that the mask keeps, causal by the papers' convention",
    )  # fmt: skip
    file.record["lengths"] = []

    def case(name: str, n: int) -> BenchmarkCase:
        mask, score = rules(n)[name]
        return BenchmarkCase(n, D, mask, "bf16", BATCH, HEADS, score)

    def measure(case: BenchmarkCase, names: tuple[str, ...] = ("hopper", "flex")) -> list[dict]:
        rows = bench.measure(case, names, args.runs, {}, is_judged=case.n <= MAX_JUDGED)
        (name,) = (x for x, rule in rules(case.n).items() if rule == (case.mask, case.score))
        return [row | {"case": name} for row in rows]

    file.measure([case(name, N) for name in args.only or rules(N)], measure)
    windows = [case("window", n) for n in LENGTHS]
    file.measure(windows, lambda case: measure(case, ("hopper",)), "lengths")
    file.close()


if __name__ == "__main__":
    main()
