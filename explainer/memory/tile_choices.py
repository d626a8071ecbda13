"""Which tile: the textbook budget beside what compiling really gives, and the speeds."""

from functools import cache

from explainer.base.records import load
from explainer.memory import tile_budget
from explainer.memory.compiled_tiles import padded
from explainer.memory.workload import Workload

SIDES = (16, 32, 64, 128, 256)
TABLED = {"sm_80", "sm_89", "sm_90", "sm_120"}


@cache
def _speeds() -> dict[tuple, dict]:
    rows = load("tiles_nvidia_h200")["rows"]
    return {(r["d"], r["causal"], r["block_m"], r["block_n"]): r for r in rows}


def cells(w: Workload) -> list[dict]:
    """Every tile of SIDES × SIDES as compiled for the card (fp16 and bf16), at d padded.

    Each: block_m, block_n, and either ``refused`` or registers, spill_bytes, shared_bytes,
    blocks_per_sm, limited_by, fits, num_warps, num_stages; ``textbook_bytes``: its Q, K and V;
    and ``tflops`` where it was timed (on the H200 only). Empty for a card that was not compiled
    for.
    """
    arch, d = w.hardware.arch, padded(w.d)
    speeds = _speeds() if w.card == "h200" else {}
    found = []
    for row in load("compiled")["rows"]:
        if (row["arch"], row["d"], row["causal"], row["order"]) != (arch, d, w.is_causal, "fa2"):
            continue
        m, n = row["block_m"], row["block_n"]
        timed = speeds.get((d, w.is_causal, m, n), {})
        keep = ("tflops", "median_ms", "p20_ms", "p80_ms", "runs", "n", "batch", "heads")
        more = {key: timed[key] for key in keep if key in timed}
        found.append(
            row
            | more
            | {
                "textbook_bytes": tile_budget.bytes_in(
                    tile_budget.tile_parts(m, n, d, 2), tile_budget.SHARED
                )
            }
        )
    return found
