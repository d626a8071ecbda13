"""The chapter "tiles" of the Memory page: a map of every tile's speed, or of what it takes."""

from collections.abc import Mapping
from dataclasses import replace
from urllib.parse import urlencode

from explainer.base.cards import KIB
from explainer.base.kinds import compiled, recorded
from explainer.base.texts import Texts
from explainer.memory import tile_choices
from explainer.memory.compiled_tiles import COMPILED_D, padded
from explainer.memory.workload import Workload
from explainer.views.stories.chapter import Chapter, Choice, links, switch, table
from kernels.spec.occupancy import REGISTERS

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
    beats = [_beat(drawn, cell, best) for cell in cells]
    return {
        "headline": beats[at]["headline"],
        "sentence": beats[at]["sentence"],
        "provenance": _provenance(w, drawn, has_speeds),
        "label": t("tiles.label", shown=labels[show["value"]], card=drawn.hardware.name),
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


def _beat(w: Workload, cell: Mapping, best: Mapping) -> dict:
    """Return what is said of a tile, and what its programs take of an SM in KiB."""
    name = t("tiles.name", br=cell["block_m"], bc=cell["block_n"])
    beat = {"label": name, "note": t("tiles.arrows"), "codes": _codes(w, cell)}
    if not cell.get("fits"):
        needed, most = cell.get("shared_bytes", 0) / KIB, w.hardware.shared_bytes / KIB
        refusal = t("tiles.unfit", tile=name, needed=needed, most=most) if needed else ""
        refusal = refusal or t("tiles.unfit_refused", tile=name)
        return beat | {"headline": refusal, "sentence": cell.get("refused", ""), "tip": refusal}
    programs, warps = cell["blocks_per_sm"], cell["num_warps"]
    one = 32 * warps * 4 * (-(-cell["registers"] // 8) * 8)
    values = {"tile": name, "n": programs, "card": w.hardware.name}
    headline = t("tiles.programs", **values)
    if "tflops" in cell:
        ratio = 100 * cell["tflops"] / best["tflops"]
        values = {"tile": name, "speed": cell["tflops"]}
        largest = max(c["block_m"] * c["block_n"] for c in tile_choices.cells(w) if c.get("fits"))
        key = "tiles.best" if best["block_m"] * best["block_n"] < largest else "tiles.best_largest"
        headline = t(key, **values) if cell is best else t("tiles.slower", **values, share=ratio)
    return beat | {
        "headline": headline,
        "sentence": " ".join(_reasons(cell)),
        "tip": headline,
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


def _reasons(cell: Mapping) -> list[str]:
    """Say, from the compiled kernel, what slows a tile, then how many of it an SM runs at once."""
    m, spills = cell["block_m"], cell["spill_bytes"]
    found = []
    if spills:
        found.append(t("tiles.why_spills", n=spills))
    # A warpgroup's product is 64 rows high. With more warpgroups than strips of 64 rows each of
    # them computes all scores of the tile: PTX of 64 × 128 has twice the products of one share.
    if _uses_wgmma(cell) and cell["num_warps"] // 4 > m // 64:
        found.append(t("tiles.why_twice", rows=m, warps=cell["num_warps"]))
    if m < 64 and cell.get("arch") == "sm_90":
        found.append(t("tiles.why_short", rows=m))
    if not found and cell["block_n"] < 64:
        found.append(t("tiles.why_narrow", keys=cell["block_n"]))
    if not found and cell["blocks_per_sm"] > 1 and m >= 128:
        found.append(t("tiles.why_fast", n=cell["blocks_per_sm"]))
    if len(found) < 2 and cell["blocks_per_sm"] == 1:
        found.append(t("tiles.why_alone", limit=cell["limited_by"]))
    return found or [t("tiles.why_room", n=cell["blocks_per_sm"])]


def _provenance(w: Workload, drawn: Workload, has_speeds: bool) -> str:
    """Say where the numbers come from, and what stands for what was not recorded."""
    parts = [str(compiled(drawn.hardware.arch).text)]
    if has_speeds:
        parts.insert(0, t("tiles.source", kind=recorded("tiles_nvidia_h200").text))
    if drawn.card != w.card:
        parts.append(t("tiles.instead", this=drawn.hardware.name, that=w.hardware.name))
    if drawn.dtype != w.dtype:
        parts.append(t("tiles.instead", this=drawn.dtype, that=w.dtype))
    if padded(w.d) != w.d:
        parts.append(t("tiles.instead_d", this=padded(w.d), that=w.d))
    if not w.mask.plain:
        parts.append(t("tiles.instead", this=w.stands_for, that=w.mask.text))
    return "; ".join(parts) + "."
