"""Which tile: what compiling gives of each, and the speeds."""

from functools import cache

from explainer.base.records import load, rows_where
from explainer.memory.compiled_tiles import padded
from explainer.memory.workload import Workload

SIDES = (16, 32, 64, 128, 256)
TABLED = {"sm_80", "sm_89", "sm_90", "sm_120"}


@cache
def _speeds() -> dict[tuple, float]:
    rows = load("tiles_nvidia_h200")["rows"]
    return {
        (r["d"], r["causal"], r["block_m"], r["block_n"]): r["tflops"]
        for r in rows
        if "tflops" in r
    }


def cells(w: Workload) -> list[dict]:
    """Every tile of SIDES × SIDES as compiled for the card (fp16 and bf16), at d padded.

    Each: block_m, block_n, and either ``refused`` or registers, spill_bytes, shared_bytes,
    blocks_per_sm, limited_by, fits, num_warps, num_stages; and ``tflops`` where it was timed (on
    the H200 only). Empty for a card that was not compiled for.
    """
    kernel = {"d": padded(w.d), "causal": w.is_causal}
    found = rows_where("compiled", arch=w.hardware.arch, order="fa2", **kernel)
    speeds = _speeds() if w.card == "h200" else {}
    keys = ((*kernel.values(), row["block_m"], row["block_n"]) for row in found)
    return [
        row | ({"tflops": speeds[key]} if key in speeds else {})
        for row, key in zip(found, keys, strict=True)
    ]
