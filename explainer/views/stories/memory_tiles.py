"""The chapter "tiles" of the Memory page: a map of every tile's speed, or of what it takes."""

from collections.abc import Mapping
from dataclasses import replace
from urllib.parse import urlencode

from explainer.base.cards import KIB
from explainer.base.kinds import compiled, recorded
from explainer.base.texts import Texts
from explainer.memory import tile_choices
from explainer.memory.compiled_tiles import COMPILED_D, REGISTER_BYTES, padded
from explainer.memory.workload import Workload
from explainer.views.stories.chapter import Chapter, Choice, Json, links, switch, table, words
from kernels.spec.occupancy import REGISTERS, allocated_registers

t = Texts("memory")
CODE_KINDS = ("ptx", "sass")
SHOWN = ("tflops", "blocks_per_sm", "registers", "shared_bytes")
NEAREST = {"sm_75": "a100", "sm_100": "h200"}  # what stands for a card that was not compiled for
COLUMNS = t.row("tiles.columns")  # of a compiled tile


def chapter(w: Workload, choice: Choice) -> Chapter:
    """Draw the tiles of SIDES × SIDES; a beat for each, in rows from left to right.

    A card that was not compiled for is drawn as the one of NEAREST, fp32 as fp16; the provenance
    says so. ``picture``: ``sides``; ``maps``, of each compiled d its cells and its best one;
    ``values``, a text for each cell; ``tall`` and ``spills``: whether a border is drawn.
    """
    card = NEAREST.get(w.hardware.arch, w.card)
    drawn = replace(w, card=card, dtype="fp16" if w.itemsize != 2 else w.dtype)
    cells = tile_choices.cells(drawn)
    has_speeds = any("tflops" in cell for cell in cells)
    labels = {key: t.named("tiles.shown")[key] for key in SHOWN if has_speeds or key != "tflops"}
    show = switch("show", t("tiles.switch"), labels, choice)
    at = _start(drawn, cells, "br" in choice or "bc" in choice)
    maps = [_map(replace(drawn, d=d), show["value"]) for d in COMPILED_D]
    best = cells[_best(cells)]
    largest = max(cell["block_m"] * cell["block_n"] for cell in cells if cell.get("fits"))
    beats = [_beat(drawn, cell, best, largest) for cell in cells]
    return {
        **words(
            "tiles",
            w=w,
            drawn=drawn,
            d=padded(w.d),
            speeds=recorded("tiles_nvidia_h200").text if has_speeds else "",
            compiled=compiled(drawn.hardware.arch).text,
            shown=labels[show["value"]],
        ),
        "headline": beats[at]["headline"],
        "sentence": beats[at]["sentence"],
        "switches": [show],
        "beats": beats,
        "start": at,
        "table": [
            table(t, "tiles.table", [[_figure(cell.get(key)) for key in COLUMNS] for cell in cells])
        ],
        "links": links(w, "fa2", "tiled", "cores"),
        "picture": {
            "sides": list(tile_choices.SIDES),
            "d": padded(w.d),
            "maps": maps,
            "has_wgmma": _uses_wgmma(best),
            "texts": t.named("tiles.picture"),
        },
    }


def _uses_wgmma(cell: Mapping) -> bool:
    return any(name.startswith("wgmma") for name in cell.get("matrix_instructions", ()))


def _best(cells: list[dict]) -> int:
    """Return the index of the fastest tile; where none was timed, of the one that keeps the most
    scores on an SM without spilling."""

    def rank(cell: Mapping) -> tuple:
        size = cell["block_m"] * cell["block_n"] * cell.get("blocks_per_sm", 0)
        return cell.get("tflops", 0), not cell.get("spill_bytes", 1), size

    return max(range(len(cells)), key=lambda k: rank(cells[k]))


def _start(w: Workload, cells: list[dict], is_chosen: bool) -> int:
    """Return the index of the tile shown first: the chosen one, else the best."""
    m, n = (max(16, 1 << (side - 1).bit_length()) for side in (w.block_q, w.block_k))
    sizes = [(cell["block_m"], cell["block_n"]) for cell in cells]
    return sizes.index((m, n)) if is_chosen else _best(cells)


def _map(w: Workload, show: str) -> dict:
    """Return the map at one d: of each cell its share of the largest value, a text, its signs."""
    cells = tile_choices.cells(w)
    best = _best(cells)
    largest = max((c[show] for c in cells if c.get("fits") and show in c), default=1) or 1
    return {
        "d": w.d,
        "best": best,
        "name": t("tiles.name", br=cells[best]["block_m"], bc=cells[best]["block_n"]),
        "cells": [
            {
                "share": c.get(show, 0) / largest if c.get("fits") else 0,
                "text": _value(c, show),
                "fits": c.get("fits", False),
                "spills": bool(c.get("fits") and c["spill_bytes"]),
            }
            for c in cells
        ],
    }


def _value(cell: Mapping, show: str) -> str:
    if show not in cell or not cell.get("fits"):
        return "–"
    value = cell[show] / KIB if show == "shared_bytes" else cell[show]
    return f"{value:.0f}"


def _beat(w: Workload, cell: Mapping, best: Mapping, largest: int) -> dict:
    """Return what is said of a tile beside the ``best`` and the ``largest`` one, and what its
    programs take of an SM in KiB."""
    name = t("tiles.name", br=cell["block_m"], bc=cell["block_n"])
    beat: Json = {
        **words(
            "tiles_tile",
            tile=name,
            cell=cell,
            best=best,
            largest=largest,
            has_wgmma=_uses_wgmma(cell),
            card=w.hardware,
        ),
        "label": name,
        "note": t("tiles.arrows"),
        "codes": _codes(w, cell),
    }
    if not cell.get("fits"):
        return beat
    programs = cell["blocks_per_sm"]
    one = REGISTER_BYTES * allocated_registers(cell["num_warps"], cell["registers"])
    return beat | {
        "programs": programs,
        "taken": [
            {
                "name": name,
                "one": taken / KIB,
                "all": room / KIB,
                "text": t("tiles.of", n=programs, one=taken / KIB, all=room / KIB),
            }
            for name, taken, room in (
                (t("tiles.registers"), one, REGISTERS * 4),
                (t("tiles.shared"), cell["shared_bytes"], w.hardware.shared_per_sm_bytes),
            )
        ],
    }


def _figure(value: str | float | None) -> str | int | float | None:
    return round(value, 1) if isinstance(value, float) else value


def _codes(w: Workload, cell: Mapping) -> list[tuple[str, str]]:
    """Return the names of a tile's listings, and the queries that compile them."""
    tile = {"br": cell["block_m"], "bc": cell["block_n"], "mask": w.stands_for}
    code = {"arch": w.hardware.arch, "d": padded(w.d)} | tile
    return [(kind.upper(), urlencode(code | {"kind": kind})) for kind in CODE_KINDS]
