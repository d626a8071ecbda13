"""The block-size chooser: what compiling makes of every tile, as HTML. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import urlencode

from markupsafe import Markup

from explainer.base.amounts import amount, listed, rounded
from explainer.base.kinds import Kind, compiled, recorded
from explainer.base.texts import Texts
from explainer.memory import tile_choices
from explainer.memory.workload import Workload
from explainer.views.html import card, div, figures_of, memory_page, said, table, tag, words

say = Texts("memory")
# key → (its field in a cell, how that is written, whether more is better)
METRICS = {
    "tflops": ("tflops", "{:.0f}".format, True),
    "shared": ("shared_bytes", lambda n: rounded(n / 1024), False),
    "registers": ("registers", str, False),
    "spills": ("spill_bytes", "{:,}".format, False),
    "blocks": ("blocks_per_sm", str, True),
}


def _cell_of(w: Workload, found: list[dict]) -> dict | None:
    """The map's cell for the workload's tile: blocks padded as the kernel pads them."""
    m, n = (max(16, 1 << (side - 1).bit_length()) for side in (w.block_q, w.block_k))
    return next((c for c in found if (c["block_m"], c["block_n"]) == (m, n)), None)


def tiles(w: Workload, metric: str) -> str:
    """The map over (BLOCK_M, BLOCK_N), and beside it the chosen tile: textbook and compiled."""
    found = tile_choices.cells(w)
    others = listed(sorted(tile_choices.TABLED, key=lambda arch: int(arch[3:])))
    if w.itemsize != 2:
        return memory_page(said(say("tiles.not_16_bit"), compiled(others)), view="tiles")
    if not found:
        name, arch = w.hardware.name, w.hardware.arch
        text = say("tiles.not_compiled", name=name, arch=arch, others=others)
        return memory_page(said(text, compiled(others)), view="tiles")
    chosen = _cell_of(w, found)
    side = _chosen(w, chosen) if chosen else ""
    rows = [
        {
            key: c.get(key)
            for key in (
                "block_m",
                "block_n",
                "shared_bytes",
                "textbook_bytes",
                "registers",
                "spill_bytes",
                "blocks_per_sm",
                "limited_by",
                "num_warps",
                "num_stages",
                "tflops",
                "refused",
            )
        }
        for c in found
    ]
    made, sped = compiled(w.hardware.arch), _speeds(found)
    kinds = [made + sped if "tflops" in c else made for c in found]
    return memory_page(
        said(_finding(w, found), made + sped if sped else made),
        div("fa-run-cards fa-tile-cards", _map(w, found, metric, chosen), side),
        figures_of("tiles", kinds, say.row("tiles.head"), rows, say("tiles.caption")),
        view="tiles",
    )


def _speeds(found: list[dict]) -> Kind | None:
    """Of the tiles' speeds; None where none was timed."""
    timed = any("tflops" in c for c in found)
    return recorded("tiles_nvidia_h200", "TFLOP/s") if timed else None


def _finding(w: Workload, found: list[dict]) -> str:
    fits = [c for c in found if c.get("fits")]
    whole = [c for c in fits if not c["spill_bytes"]]
    told = {"d": w.d, "fit": len(fits), "all": len(found)}
    told |= {"card": w.hardware.name, "whole": len(whole)}
    padded = tile_choices.padded(w.d)
    text = say("tiles.fit", **told)
    if padded != w.d:
        text = say("tiles.fit_padded", **told, padded=padded)
    if not w.mask.plain:
        text += say("tiles.stands_for", mask=w.stands_for)
    best = tile_choices.best(w)
    if best:
        br, bc = best["block_m"], best["block_n"]
        text += say("tiles.fastest", br=br, bc=bc, speed=best["tflops"], at=_timed_at(best))
        larger = sum(c["block_m"] * c["block_n"] > br * bc for c in fits)
        if larger == 1:
            text += say("tiles.larger_one")
        elif larger:
            text += say("tiles.larger", n=larger)
    return text


def _timed_at(cell: Mapping) -> str:
    """The launch that a tile's speed was recorded in."""
    return say("tiles.timed", n=cell["n"], b=cell["batch"], h=cell["heads"])


def _map(w: Workload, found: list[dict], metric: str, chosen: dict | None) -> str:
    field, written, more = METRICS[metric]
    title = say.named("metrics")[metric] + say.named("metrics.units")[metric]
    values = [c[field] for c in found if c.get("fits") and c.get(field) is not None]
    most = max(values, default=0) or 1
    corner = tag("th", say("tiles.corner"), scope="col")
    top = tag("tr", corner, *(tag("th", str(n), scope="col") for n in tile_choices.SIDES))
    free = [c for c in found if c["block_m"] <= w.n and c["block_n"] <= w.n]
    stop = chosen if chosen in free else next(iter(free), None)
    body = Markup()
    for m in tile_choices.SIDES:
        cells = Markup()
        for n in tile_choices.SIDES:
            cell = next(c for c in found if (c["block_m"], c["block_n"]) == (m, n))
            cells += tag("td", _button(w, cell, written, field, most, cell is chosen, cell is stop))
        body += tag("tr", tag("th", str(m), scope="row") + cells)
    caption, top = tag("caption", say("tiles.map_caption", title=title)), tag("thead", top)
    remark = say("tiles.more" if more else "tiles.less")
    kind, source = compiled(w.hardware.arch), ""
    if metric == "tflops" and (timed := next((c for c in found if "tflops" in c), None)):
        kind, source = _speeds(found), say("tiles.for", at=_timed_at(timed), mask=w.stands_for)
    elif metric == "tflops":
        source = say("tiles.only_h200")
    return card(
        "tile-map",
        title,
        kind,
        "; ".join(text for text in (source, remark) if text),
        tag("table", caption, top, tag("tbody", body), class_="fa-tile-table"),
        tag("p", say("tiles.signs"), class_="fa-fine"),
    )


def _button(
    w: Workload, cell: Mapping, written, field: str, most: float, chosen: bool, stop: bool
) -> str:
    """One tile of the map, which is a single ``stop`` of the Tab key: arrows lead to the others."""
    m, n = cell["block_m"], cell["block_n"]
    fits = cell.get("fits", False)
    sign = "≈" if fits and cell["spill_bytes"] else ("" if fits else "✗")
    text = "✗" if "refused" in cell else written(cell[field]) if field in cell else "–"
    share = (cell.get(field) or 0) / most if fits else 0
    given = {
        "type": "button",
        "class_": "fa-cell" + ("" if fits else " is-out") + (" is-chosen" if chosen else ""),
        "style": f"--share:{share:.3f}",
        "title": _title(cell),
        "aria_pressed": str(chosen).lower(),
        "tabindex": 0 if stop else -1,
    }
    if m <= w.n and n <= w.n:
        given["data_pick"] = urlencode({"br": m, "bc": n})
    else:
        given |= {"disabled": "", "title": say("tiles.short", n=w.n)}
    return tag("button", text, tag("i", sign) if sign and text != "✗" else "", **given)


def _title(cell: Mapping) -> str:
    tile = say("tiles.tile", br=cell["block_m"], bc=cell["block_n"])
    if "refused" in cell:
        return say("tiles.refused", tile=tile, why=cell["refused"])
    shared, registers, spills = (cell[key] for key in ("shared_bytes", "registers", "spill_bytes"))
    text = say(
        "tiles.hover",
        tile=tile,
        shared=shared,
        registers=registers,
        spills=spills,
        blocks=cell["blocks_per_sm"],
    )
    return text + (say("tiles.hover_speed", speed=cell["tflops"]) if "tflops" in cell else "")


def _chosen(w: Workload, cell: Mapping) -> str:
    """One tile: the textbook budget beside what the compiler made, and its code."""
    m, n = cell["block_m"], cell["block_n"]
    title = say("tiles.tile", br=m, bc=n)
    if (m, n) != (w.block_q, w.block_k):
        title = say("tiles.padded", tile=title, br=w.block_q, bc=w.block_k)
    kind = compiled(w.hardware.arch)
    if "refused" in cell:
        return card("tile", title, kind, w.hardware.name, words(cell["refused"]))
    limit = w.hardware.shared_bytes
    pairs = (
        (amount(cell["textbook_bytes"]), amount(cell["shared_bytes"])),
        (amount(limit), amount(limit)),
        (_yes(cell["textbook_bytes"] <= limit), _yes(cell["fits"])),
        ("–", say("tiles.registers", n=cell["registers"])),
        ("–", say("tiles.spilled", n=cell["spill_bytes"])),
        ("–", f"{cell['num_warps']}, {cell['num_stages']}"),
        ("–", say("tiles.blocks", n=cell["blocks_per_sm"], limit=cell["limited_by"])),
    )
    rows = [(name, *pair) for name, pair in zip(say.row("tiles.rows"), pairs, strict=True)]
    if "tflops" in cell:
        rows.append((say("tiles.speed"), "–", say("tiles.tflops", speed=rounded(cell["tflops"]))))
        kind += _speeds([cell])
    stages = cell["num_stages"]
    note = say("tiles.once") if stages == 1 else say("tiles.stages", stages=stages)
    unit = ", ".join(sorted({_shape(x) for x in cell["matrix_instructions"]}))
    asked = {
        "arch": w.hardware.arch,
        "d": tile_choices.padded(w.d),
        "br": m,
        "bc": n,
        "mask": w.stands_for,
    }
    buttons = (
        tag(
            "button",
            say("tiles.read", code=kind.upper()),
            type="button",
            data_compiled=urlencode(asked | {"kind": kind}),
        )
        for kind in ("ptx", "sass")
    )
    return card(
        "tile",
        title,
        kind,
        w.hardware.name,
        table(say.row("tiles.chosen_head"), rows, say("tiles.chosen_caption", title=title)),
        tag("p", note, class_="fa-fine"),
        tag("p", say("tiles.instruction", unit=unit or say("tiles.none")), class_="fa-fine"),
        div("fa-run-tools", *buttons),
    )


def _shape(instruction: str) -> str:
    parts = instruction.split(".")
    return f"{parts[0]} {next((p for p in parts if p.startswith('m') and p[1:2].isdigit()), '')}"


def _yes(good: bool) -> str:
    return say("tiles.yes" if good else "tiles.no")
