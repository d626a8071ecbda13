"""The levels of a card's memory as HTML: sizes and rates to scale; every text is escaped."""

from __future__ import annotations

from explainer.base.amounts import amount, rounded
from explainer.base.kinds import computed
from explainer.memory.levels import NO_RATE, Level, tensors
from explainer.memory.levels import levels as levels_of
from explainer.memory.workload import Workload
from explainer.views import drawings
from explainer.views.html import badge, card, div, figures_of, memory_page, said, tag

SIGNS = {"l": "ℓ"}
OVER = {  # what it means that a level is too small
    "registers": "does not fit: it spills to memory",
    "shared": "does not fit: this tile cannot be launched",
    "l2": "does not fit: read again from memory",
    "hbm": "does not fit: out of memory",
}


def rate(bytes_per_s: float) -> str:
    """TB/s, three digits."""
    return f"{rounded(bytes_per_s / 1e12)} TB/s"


def levels(w: Workload) -> str:
    """Each level as an area, its rate as a bar, both to scale, and what the kernel keeps there."""
    found = levels_of(w)
    hbm = found[-1].size_bytes
    fastest = max(level.bytes_per_s or 0 for level in found)
    standard = tensors(w, "standard")
    size, keeps = found[-1].size_kind, computed("the tensors of the kernel's tile and its heads")
    head = div("fa-level is-head", tag("span", ""), tag("span", "size, areas to scale"),
               tag("span", "rate, to scale"),
               tag("span", "what FA-2 keeps there ", badge(keeps)))  # fmt: skip
    rows = (_level(level, hbm, fastest, standard) for level in found)
    fused, naive = found[-1].held_bytes, sum(n for _, n in standard)
    sums = (
        f"{w.batch} × {w.heads} heads of N = {w.n:,}, d = {w.d} in {w.dtype}: the fused kernel "
        f"needs {amount(fused)} in memory, standard attention {amount(naive)}, "
        f"{rounded(naive / fused)} times as much{'' if fused <= hbm else ', and neither fits'}."
    )
    listed = [
        {
            "level": level.name, "bytes": level.size_bytes, "bytes_per_sm": level.per_sm_bytes,
            "bytes_per_s": None if level.bytes_per_s is None else round(level.bytes_per_s),
            "kept": level.held_bytes, "size_kind": str(level.size_kind),
            "rate_kind": str(level.rate_kind or NO_RATE),
        }
        for level in found
    ]  # fmt: skip
    names = ("Level", "bytes", "of one SM", "bytes per second", "FA-2 keeps", "size", "rate")
    kinds = [level.size_kind + (level.rate_kind or level.size_kind) + keeps for level in found]
    return memory_page(
        said(sums, keeps),
        card("levels", "Where the bytes live", size, w.hardware.name, head, *rows),
        figures_of("levels", kinds, names, listed, "The levels as a table"),
        view="levels",
    )


def _level(level: Level, hbm: int, fastest: float, standard) -> str:
    inside, legend = [("fa-held", level.held_bytes)], ""
    if level.per_sm_bytes:
        inside = []
    if level.key == "hbm":
        naive = sum(n for _, n in standard)
        inside = [("fa-ghost", naive), ("fa-held", level.held_bytes)]
        legend = tag("span", tag("i", "", class_="fa-key-held"), "FA-2", class_="fa-key-line")
        legend += tag("span", tag("i", "", class_="fa-key-ghost"), f"standard: {amount(naive)}",
                      class_="fa-key-line")  # fmt: skip
    else:
        text = f"{rounded(hbm / level.size_bytes)} times smaller than the card's memory"
        legend = tag("span", text, class_="fa-fine")
    size = amount(level.size_bytes)
    name = tag("b", level.name) + tag("span", size, title=str(level.size_kind))
    if level.per_sm_bytes:
        each = f"{amount(level.per_sm_bytes)} per SM"
        name += tag("span", each, title=str(level.size_kind))
    square = drawings.area(level.size_bytes, hbm, f"{level.name}: {size}", inside)
    share = (level.bytes_per_s or 0) / fastest
    bar = tag("i", "", class_="fa-rate", style=f"width:{max(0.4, 100 * share):.2f}%")
    speed = tag("span", bar, class_="fa-rate-track")
    if level.rate_kind is None:
        speed = tag("b", "no figure", title=NO_RATE)
    else:
        speed += tag("b", rate(level.bytes_per_s)) + badge(level.rate_kind)
    held = level.held_bytes / level.room_bytes
    where = "of an SM" if level.per_sm_bytes else "of the card"
    kept = ", ".join(f"{SIGNS.get(tensor, tensor)} {amount(n)}" for tensor, n in level.holds)
    over = " is-over" if held > 1 else ""
    fill = tag("i", "", class_="fa-hold" + over, style=f"width:{min(100, 100 * held):.2f}%")
    keeps = tag("span", fill, class_="fa-rate-track") + tag(
        "b", f"{_percent(held)} {where}", title=f"{level.held_bytes:,} bytes"
    )
    keeps += tag("span", kept, class_="fa-fine")
    if held > 1:
        keeps += tag("span", OVER[level.key], class_="fa-warn")
    return div(
        f"fa-level is-{level.key}",
        div("fa-level-name", name),
        div("fa-level-area", square, div("fa-level-key", legend)),
        div("fa-level-rate", speed),
        div("fa-level-held", keeps),
    )


def _percent(share: float) -> str:
    return "< 0.001 %" if share < 1e-5 else f"{rounded(100 * share)} %"
