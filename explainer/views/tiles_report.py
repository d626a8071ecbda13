"""Render the block-size chooser: what compiling makes of every tile."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import urlencode

from explainer.base.amounts import listed, rounded
from explainer.base.kinds import Kind, compiled, recorded
from explainer.base.texts import Texts
from explainer.memory import tile_choices
from explainer.memory.workload import Workload
from explainer.views.templates import render
from explainer.views.view import View

t = Texts("memory")
# key → (its field in a cell, how that is formatted, whether more is better)
FIELDS = {
    "tflops": ("tflops", "{:.0f}".format, True),
    "shared": ("shared_bytes", lambda n: rounded(n / 1024), False),
    "registers": ("registers", str, False),
    "spills": ("spill_bytes", "{:,}".format, False),
    "blocks": ("blocks_per_sm", str, True),
}
COLUMNS = (
    *("block_m", "block_n", "shared_bytes", "textbook_bytes", "registers", "spill_bytes"),
    *("blocks_per_sm", "limited_by", "num_warps", "num_stages", "tflops", "refused"),
)


def render_tiles(w: Workload, metric: str) -> View:
    """Render the map over (BLOCK_M, BLOCK_N), colored by ``metric``; beside it the chosen tile,
    textbook and compiled."""
    cells = tile_choices.cells(w)
    others = listed(sorted(tile_choices.TABLED, key=lambda arch: int(arch[3:])))
    if w.itemsize != 2 or not cells:
        text = t("tiles.not_16_bit")
        if w.itemsize == 2:
            text = t(
                "tiles.not_compiled", name=w.hardware.name, arch=w.hardware.arch, others=others
            )
        return View(render("memory/no_tiles", text=text, kind=compiled(others)))
    made, speeds = compiled(w.hardware.arch), _speed_kind(cells)
    chosen = _chosen_cell(w, cells)
    return View(
        render(
            "memory/tiles",
            w=w,
            text=_finding(w, cells),
            kind=made + speeds if speeds else made,
            map=_map_values(w, cells, metric if metric in FIELDS else "tflops", chosen),
            chosen=chosen and _tile_values(w, chosen),
            kinds=[made + speeds if speeds and "tflops" in c else made for c in cells],
            rows=[{key: c.get(key) for key in COLUMNS} for c in cells],
        )
    )


def _chosen_cell(w: Workload, cells: list[dict]) -> dict | None:
    """Return the map's cell for the workload's tile, padded as the kernel pads it."""
    m, n = (max(16, 1 << (side - 1).bit_length()) for side in (w.block_q, w.block_k))
    return next((c for c in cells if (c["block_m"], c["block_n"]) == (m, n)), None)


def _speed_kind(cells: list[dict]) -> Kind | None:
    """Return the kind of the tiles' speeds; None where none was timed."""
    timed = any("tflops" in c for c in cells)
    return recorded("tiles_nvidia_h200", "TFLOP/s") if timed else None


def _finding(w: Workload, cells: list[dict]) -> str:
    """Say how many tiles fit the card and which is the fastest."""
    fits = [c for c in cells if c.get("fits")]
    values = {"d": w.d, "fit": len(fits), "all": len(cells), "card": w.hardware.name}
    values["whole"] = sum(not c["spill_bytes"] for c in fits)
    padded = tile_choices.padded(w.d)
    text = t("tiles.fit", **values)
    if padded != w.d:
        text = t("tiles.fit_padded", **values, padded=padded)
    if not w.mask.plain:
        text += t("tiles.stands_for", mask=w.stands_for)
    if best := tile_choices.best(w):
        br, bc = best["block_m"], best["block_n"]
        text += t("tiles.fastest", br=br, bc=bc, speed=best["tflops"], at=_launch(best))
        larger = sum(c["block_m"] * c["block_n"] > br * bc for c in fits)
        if larger == 1:
            text += t("tiles.larger_one")
        elif larger:
            text += t("tiles.larger", n=larger)
    return text


def _launch(cell: Mapping) -> str:
    """Name the launch that a tile's speed was recorded in."""
    return t("tiles.timed", n=cell["n"], b=cell["batch"], h=cell["heads"])


def _map_values(w: Workload, cells: list[dict], metric: str, chosen: dict | None) -> dict:
    """Return the values of the map's card. One tile is the stop of the Tab key; arrows lead from it
    to the others."""
    field, format_value, more_is_better = FIELDS[metric]
    values = [c[field] for c in cells if c.get("fits") and c.get(field) is not None]
    largest = max(values, default=0) or 1
    free = [c for c in cells if c["block_m"] <= w.n and c["block_n"] <= w.n]
    stop = chosen if chosen in free else next(iter(free), None)
    by_tile = {(c["block_m"], c["block_n"]): c for c in cells}
    kind, source = compiled(w.hardware.arch), ""
    if metric == "tflops" and (speeds := _speed_kind(cells)):
        timed = next(c for c in cells if "tflops" in c)
        kind, source = speeds, t("tiles.for", at=_launch(timed), mask=w.stands_for)
    elif metric == "tflops":
        source = t("tiles.only_h200")
    remark = t("tiles.more" if more_is_better else "tiles.less")

    def button(cell: Mapping) -> dict:
        m, n, fits = cell["block_m"], cell["block_n"], cell.get("fits", False)
        value = format_value(cell[field]) if field in cell else "–"
        spills = fits and cell["spill_bytes"]
        is_free = m <= w.n and n <= w.n
        return {
            "value": "✗" if "refused" in cell else value,
            "sign": "≈" if spills else "✗" if not fits and "refused" not in cell else "",
            "share": (cell.get(field) or 0) / largest if fits else 0,
            "fits": fits,
            "title": _title(cell) if is_free else t("tiles.short", n=w.n),
            "is_chosen": cell is chosen,
            "is_stop": cell is stop,
            "pick": urlencode({"br": m, "bc": n}) if is_free else None,
        }

    sides = tile_choices.SIDES
    return {
        "title": t.named("metrics")[metric] + t.named("metrics.units")[metric],
        "kind": kind,
        "remark": "; ".join(part for part in (source, remark) if part),
        "sides": sides,
        "rows": [(m, [button(by_tile[m, n]) for n in sides]) for m in sides],
    }


def _title(cell: Mapping) -> str:
    """Say what hovering over a tile says."""
    tile = t("tiles.tile", br=cell["block_m"], bc=cell["block_n"])
    if "refused" in cell:
        return t("tiles.refused", tile=tile, why=cell["refused"])
    text = t(
        "tiles.hover",
        tile=tile,
        shared=cell["shared_bytes"],
        registers=cell["registers"],
        spills=cell["spill_bytes"],
        blocks=cell["blocks_per_sm"],
    )
    return text + (t("tiles.hover_speed", speed=cell["tflops"]) if "tflops" in cell else "")


def _tile_values(w: Workload, cell: Mapping) -> dict:
    """Return the values of the chosen tile's card: the textbook budget beside what the compiler
    made, and its code."""
    m, n = cell["block_m"], cell["block_n"]
    title = t("tiles.tile", br=m, bc=n)
    if (m, n) != (w.block_q, w.block_k):
        title = t("tiles.padded", tile=title, br=w.block_q, bc=w.block_k)
    kind = compiled(w.hardware.arch)
    if "tflops" in cell:
        kind += recorded("tiles_nvidia_h200", "TFLOP/s")
    code = {
        "arch": w.hardware.arch,
        "d": tile_choices.padded(w.d),
        "br": m,
        "bc": n,
        "mask": w.stands_for,
    }
    return {
        "title": title,
        "kind": kind,
        "cell": cell,
        "limit": w.hardware.shared_bytes,
        "unit": ", ".join(sorted({_shape(x) for x in cell.get("matrix_instructions", ())})),
        "codes": {kind: urlencode(code | {"kind": kind}) for kind in ("ptx", "sass")},
    }


def _shape(instruction: str) -> str:
    """Return the name and the shape of a matrix instruction: wgmma m64n128k16."""
    parts = instruction.split(".")
    return f"{parts[0]} {next((p for p in parts if p.startswith('m') and p[1:2].isdigit()), '')}"
