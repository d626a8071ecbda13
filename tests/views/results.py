"""Results of runs as the worker makes them, of made-up rows: the page computes from rows only."""

from __future__ import annotations

from explainer.engine.requests import RunRequest
from explainer.engine.results import unknown_machine
from explainer.problem import Problem

# Of what kind figures are: every provenance begins with one of these.
WORDS = ("computed", "compiled", "counted", "measured", "recorded", "simulated", "data sheet")


def live(**more) -> dict:
    """A run's result as the worker makes it, of made-up rows: the page computes from rows only."""
    counts = [0] * 44
    counts[12], counts[13] = 30, 10
    row = {
        "right": True,
        "error": 2e-7,
        "relative": 1e-7,
        "bias": -3e-9,
        "allowed": 1e-6,
        "terms": {"naive": 4.8e-7, "rounding": 3e-7, "scores": 2.2e-7},
        "signed": None,
        "histogram": {"exact": 0, "counts": counts},
        "peak_bytes": 2**20,
        "flops": 2e9,
        "bytes": 10**8,
        "least_bytes": 10**7,
        "median_ms": 0.02,
        "p20_ms": 0.019,
        "p80_ms": 0.022,
        "runs": 30,
        "tflops": 100.0,
        "first_ms": 812.0,
    }
    cells = "=...==..===.===="
    known = [0.0 if x == "=" else None for x in cells]
    tiles = {
        "rows": 4,
        "columns": 4,
        "down": 1,
        "across": 1,
        "cells": cells,
        "m": known,
        "l": known,
    }
    same = {
        "against": "trace",
        "map": tiles | {"m": known, "l": known, "first": None},
        "seen": [
            {
                "i": i,
                "j": j,
                "row": 4 * i,
                "m": -0.5,
                "l": 1.25,
                "m_expected": -0.5,
                "l_expected": 1.0,
            }
            for i in range(4)
            for j in range(i + 1)
        ],
        "tiles": 10,
        "values": 80,
        "m_error": 0.0,
        "l_error": 1e-7,
        "tolerance": 1e-6,
        "agrees": True,
    }
    rows = [
        row | {"method": "naive", "median_ms": 0.08, "p80_ms": 0.09, "tflops": 25.0},
        row | {"method": "fa2", "same": same, "lse_error": 1e-7},
        {"method": "hopper", "refused": "The Hopper kernel needs <an H100>."},
    ]
    asked = RunRequest(Problem(dtype="bf16", inputs="random"), ("naive", "fa2", "hopper"))
    return {
        "query": asked.to_query(),
        "asked": asked.to_query(),
        "when": "2026-11-21 05:00:00 UTC",
        "machine": unknown_machine("NVIDIA H200") | {"versions": {"torch": "2.11"}},
        "heads_judged": 1,
        "naive_error": 2.4e-7,
        "naive_refused": None,
        "io_bytes": 4096,
        "tiles": {"fa2": 10},
        "rows": rows,
        "after_timing": ["1815 MHz, 3201 MHz, 667.69 W, 50"],
        "ceilings": {"hbm_bytes_per_s": 4.2e12, "l2_bytes_per_s": 9e12, "flops": 7.8e14},
        "chooser": {"picked": "sdpa_cudnn", "reasons": {"sdpa_flash": "", "sdpa_math": "<no>"}},
    } | more


def interpreted(*methods: str, refused: tuple[str, ...] = (), same: bool | None = True) -> dict:
    """A run on a machine without a GPU; ``same`` None: the tiles were too many to be compared."""
    fa2 = live()["rows"][1]
    kept = {k: v for k, v in fa2.items() if "_ms" not in k and k not in ("tflops", "runs")}
    rows = []
    for name in methods:
        row = {k: v for k, v in kept.items() if k not in ("same", "lse_error")}
        if name in ("fa1", "fa2", "standard"):
            row |= {"same": None if same is None else fa2["same"], "interpreter_s": 0.25}
        rows.append(row | {"method": name})
    rows += [{"method": name, "refused": "It needs an NVIDIA GPU."} for name in refused]
    counts = {"standard": 512, "fa1": 272, "fa2": 272}
    machine = unknown_machine("CPU, Triton interpreter") | {"interpreted": True}
    more = {"tiles": {m: counts[m] for m in methods if m in counts}, "machine": machine}
    return live(rows=rows, ceilings=None, chooser=None, **more)


GPU = ("hopper", "sdpa_flash", "sdpa_cudnn", "sdpa_efficient", "sdpa_math")


def changed(method: int, **figures) -> dict:
    """A live run whose row of this number has these figures instead."""
    result = live()
    result["rows"][method] = result["rows"][method] | figures
    return result


def differing() -> dict:
    """A comparison in which tile (2, 1) is another one."""
    same = live()["rows"][1]["same"]
    cells = same["map"]["cells"]
    found = same["map"] | {"cells": f"{cells[:9]}x{cells[10:]}", "first": (2, 1)}
    return same | {"agrees": False, "map": found}


LONG = "Its N × N matrices would need 32.0 GiB, this card has 24.0 GiB free."
NO_NAIVE = live(naive_error=None, naive_refused=LONG)
NO_NAIVE["rows"][0] = {"method": "naive", "refused": LONG}
OTHER_TILES = changed(1, same=differing())
TWO_HEADS = live(query=live()["query"] | {"h": "2"}, heads_judged=2)
SENTENCE = live(query=live()["query"] | {"data": "sentence", "text": "<b>a</b> dog", "gain": "2.0"})
