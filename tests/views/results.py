"""Results of runs as the worker makes them, of made-up rows: the page computes from rows only."""

import json
from pathlib import Path
from xml.etree import ElementTree

from explainer.engine.requests import RunRequest
from explainer.engine.results import unknown_machine
from explainer.problem import Problem

# Of what kind figures are: every provenance begins with one of these.
WORDS = ("computed", "compiled", "counted", "measured", "recorded", "simulated", "data sheet")


def tables_of(html: str) -> list[list[list[str]]]:
    """The tables of a tab, each its rows from the head on, each of those its cells."""
    found = ElementTree.fromstring(f"<div>{html}</div>").iter("table")
    return [[["".join(cell.itertext()) for cell in row] for row in one.iter("tr")] for one in found]


def words_of(html: str) -> str:
    """All that a tab says."""
    return " ".join(ElementTree.fromstring(f"<div>{html}</div>").itertext())


def live(**more) -> dict:
    """A run's result as the worker makes it, of made-up rows: the page computes from rows only."""
    asked = RunRequest(Problem(dtype="bf16", inputs="random"), ("naive", "fa2", "hopper"))
    query = asked.to_query()
    machine = unknown_machine("NVIDIA H200") | {"versions": {"torch": "2.11"}}
    figures = json.loads((Path(__file__).parent / "results.json").read_text("utf-8"))
    return figures | {"query": query, "asked": query, "machine": machine} | more


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
