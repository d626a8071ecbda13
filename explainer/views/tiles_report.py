"""The block-size chooser: what compiling makes of every tile, as HTML. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import urlencode

from markupsafe import Markup

from explainer.base.amounts import amount, listed, rounded
from explainer.base.kinds import Kind, compiled, recorded
from explainer.memory import tile_choices
from explainer.memory.workload import Workload
from explainer.views.html import card, div, figures_of, memory_page, said, table, tag, words

UNITS = {"shared": ", KiB", "spills": ", bytes"}  # of a cell's number, in the map's heading
# key → (what the page calls it, its field in a cell, how that is written, whether more is better)
METRICS = {
    "tflops": ("TFLOP/s", "tflops", "{:.0f}".format, True),
    "shared": ("Shared memory", "shared_bytes", lambda n: rounded(n / 1024), False),
    "registers": ("Registers", "registers", str, False),
    "spills": ("Spills", "spill_bytes", "{:,}".format, False),
    "blocks": ("Blocks per SM", "blocks_per_sm", str, True),
}
NOT_COMPILED = (
    "{name} ({arch}) is not among the cards that the kernels were compiled for, which are of "
    "{others}."
)
NOT_16_BIT = (
    "The map holds fp16 and bf16, which compile alike; in fp32 the kernel has tiles of 32 × 32 and "
    "less, since true fp32 products need many registers. Choose fp16 or bf16."
)


def _cell_of(w: Workload, found: list[dict]) -> dict | None:
    """The map's cell for the workload's tile: blocks padded as the kernel pads them."""
    m, n = (max(16, 1 << (side - 1).bit_length()) for side in (w.block_q, w.block_k))
    return next((c for c in found if (c["block_m"], c["block_n"]) == (m, n)), None)


def tiles(w: Workload, metric: str) -> str:
    """The map over (BLOCK_M, BLOCK_N), and beside it the chosen tile: textbook and compiled."""
    found = tile_choices.cells(w)
    others = listed(sorted(tile_choices.TABLED, key=lambda arch: int(arch[3:])))
    if w.itemsize != 2:
        return memory_page(said(NOT_16_BIT, compiled(others)), view="tiles")
    if not found:
        text = NOT_COMPILED.format(name=w.hardware.name, arch=w.hardware.arch, others=others)
        return memory_page(said(text, compiled(others)), view="tiles")
    chosen = _cell_of(w, found)
    side = _chosen(w, chosen) if chosen else ""
    rows = [
        {key: c.get(key) for key in ("block_m", "block_n", "shared_bytes", "textbook_bytes",
         "registers", "spill_bytes", "blocks_per_sm", "limited_by", "num_warps", "num_stages",
         "tflops", "refused")} for c in found
    ]  # fmt: skip
    made, sped = compiled(w.hardware.arch), _speeds(found)
    kinds = [made + sped if "tflops" in c else made for c in found]
    head = ("Br", "Bc", "shared", "textbook", "registers", "spills", "blocks per SM",
            "limited by", "warps", "stages", "TFLOP/s", "refused")  # fmt: skip
    return memory_page(
        said(_finding(w, found), made + sped if sped else made),
        div("fa-run-cards fa-tile-cards", _map(w, found, metric, chosen), side),
        figures_of("tiles", kinds, head, rows, "Every tile as a table"),
        view="tiles",
    )


def _speeds(found: list[dict]) -> Kind | None:
    """Of the tiles' speeds; None where none was timed."""
    timed = any("tflops" in c for c in found)
    return recorded("tiles_nvidia_h200", "TFLOP/s") if timed else None


def _finding(w: Workload, found: list[dict]) -> str:
    fits = [c for c in found if c.get("fits")]
    whole = [c for c in fits if not c["spill_bytes"]]
    text = (
        f"At d = {w.d}{_as(w)}, {len(fits)} of {len(found)} tiles fit {w.hardware.name} and "
        f"{len(whole)} of them spill no register."
    )
    if not w.mask.plain:
        text += f" Compiled for {w.stands_for}: no other mask was."
    best = tile_choices.best(w)
    if best:
        text += (
            f" The fastest on the H200 is {best['block_m']} × {best['block_n']} with "
            f"{best['tflops']:.0f} TFLOP/s ({_timed_at(best)})"
        )
        area = best["block_m"] * best["block_n"]
        larger = sum(c["block_m"] * c["block_n"] > area for c in fits)
        text += f"; {larger} larger tiles fit and are slower." if larger else "."
    return text


def _timed_at(cell: Mapping) -> str:
    """The launch that a tile's speed was recorded in."""
    return f"N = {cell['n']:,}, B × H = {cell['batch']} × {cell['heads']}, fp16"


def _as(w: Workload) -> str:
    padded = tile_choices.padded(w.d)
    return "" if padded == w.d else f" (padded to {padded})"


def _map(w: Workload, found: list[dict], metric: str, chosen: dict | None) -> str:
    name, field, say, more = METRICS[metric]
    title = name + UNITS.get(metric, "")
    values = [c[field] for c in found if c.get("fits") and c.get(field) is not None]
    most = max(values, default=0) or 1
    corner = tag("th", "Br \\ Bc", scope="col")
    top = tag("tr", corner, *(tag("th", str(n), scope="col") for n in tile_choices.SIDES))
    free = [c for c in found if c["block_m"] <= w.n and c["block_n"] <= w.n]
    stop = chosen if chosen in free else next(iter(free), None)
    body = Markup()
    for m in tile_choices.SIDES:
        cells = Markup()
        for n in tile_choices.SIDES:
            cell = next(c for c in found if (c["block_m"], c["block_n"]) == (m, n))
            cells += tag("td", _button(w, cell, say, field, most, cell is chosen, cell is stop))
        body += tag("tr", tag("th", str(m), scope="row") + cells)
    caption, top = tag("caption", f"{title} of every tile"), tag("thead", top)
    remark = "more is better" if more else "less leaves room for more blocks"
    kind, source = compiled(w.hardware.arch), ""
    if metric == "tflops" and (timed := next((c for c in found if "tflops" in c), None)):
        kind, source = _speeds(found), f"{_timed_at(timed)}, {w.stands_for}"
    elif metric == "tflops":
        source = "speed was recorded on the H200 only: choose that card, or another figure"
    signs = "✗ does not fit · ≈ spills registers · arrow keys move, a click or Enter chooses"
    return card(
        "tile-map", title, kind, "; ".join(text for text in (source, remark) if text),
        tag("table", caption, top, tag("tbody", body), class_="fa-tile-table"),
        tag("p", signs, class_="fa-fine"),
    )  # fmt: skip


def _button(
    w: Workload, cell: Mapping, say, field: str, most: float, chosen: bool, stop: bool
) -> str:
    """One tile of the map, which is a single ``stop`` of the Tab key: arrows lead to the others."""
    m, n = cell["block_m"], cell["block_n"]
    fits = cell.get("fits", False)
    sign = "≈" if fits and cell["spill_bytes"] else ("" if fits else "✗")
    text = "✗" if "refused" in cell else say(cell[field]) if field in cell else "–"
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
        given |= {"disabled": "", "title": f"N = {w.n} is shorter than this tile"}
    return tag("button", text, tag("i", sign) if sign and text != "✗" else "", **given)


def _title(cell: Mapping) -> str:
    tile = f"Br = {cell['block_m']}, Bc = {cell['block_n']}"
    if "refused" in cell:
        return f"{tile}: {cell['refused']}"
    text = (
        f"{tile}, compiled: {cell['shared_bytes']:,} bytes shared, {cell['registers']} registers, "
        f"{cell['spill_bytes']} bytes spilled, {cell['blocks_per_sm']} per SM"
    )
    return text + (f"; recorded: {cell['tflops']:.0f} TFLOP/s" if "tflops" in cell else "")


def _chosen(w: Workload, cell: Mapping) -> str:
    """One tile: the textbook budget beside what the compiler made, and its code."""
    m, n = cell["block_m"], cell["block_n"]
    title = f"Br = {m}, Bc = {n}"
    if (m, n) != (w.block_q, w.block_k):
        title += f": {w.block_q} × {w.block_k} runs padded to it"
    kind = compiled(w.hardware.arch)
    if "refused" in cell:
        return card("tile", title, kind, w.hardware.name, words(cell["refused"]))
    limit = w.hardware.shared_bytes
    rows = [
        ("Shared memory", amount(cell["textbook_bytes"]), amount(cell["shared_bytes"])),
        ("Room for a block", amount(limit), amount(limit)),
        ("Fits", _yes(cell["textbook_bytes"] <= limit), _yes(cell["fits"])),
        ("Registers a thread", "–", f"{cell['registers']} of 255"),
        ("Spilled to memory", "–", f"{cell['spill_bytes']} bytes"),
        ("Warps, stages", "–", f"{cell['num_warps']}, {cell['num_stages']}"),
        ("Blocks per SM", "–", f"{cell['blocks_per_sm']} ({cell['limited_by']})"),
    ]
    if "tflops" in cell:
        rows.append(("Speed", "–", f"{rounded(cell['tflops'])} TFLOP/s"))
        kind += _speeds([cell])
    note = (
        "The textbook counts Q, K and V of the tile once each. The compiler buffers K and V "
        f"{'once' if cell['num_stages'] == 1 else str(cell['num_stages']) + ' times'}."
    )
    unit = ", ".join(sorted({_shape(x) for x in cell["matrix_instructions"]}))
    asked = {"arch": w.hardware.arch, "d": tile_choices.padded(w.d), "br": m, "bc": n,
             "mask": w.stands_for}  # fmt: skip
    buttons = (
        tag("button", f"Read its {kind.upper()}", type="button",
            data_compiled=urlencode(asked | {"kind": kind}))
        for kind in ("ptx", "sass")
    )  # fmt: skip
    return card(
        "tile", title, kind, w.hardware.name,
        table(("", "textbook", "compiled"), rows, f"{title}: textbook and compiled"),
        tag("p", note, class_="fa-fine"),
        tag("p", f"Matrix instruction: {unit or 'none'}", class_="fa-fine"),
        div("fa-run-tools", *buttons),
    )  # fmt: skip


def _shape(instruction: str) -> str:
    parts = instruction.split(".")
    return f"{parts[0]} {next((p for p in parts if p.startswith('m') and p[1:2].isdigit()), '')}"


def _yes(good: bool) -> str:
    return "✓ yes" if good else "✗ no"
