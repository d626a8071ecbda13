"""The levels of a card's memory as HTML: sizes and rates to scale; every text is escaped."""

from __future__ import annotations

from explainer.base.amounts import amount, rounded
from explainer.base.kinds import computed
from explainer.base.texts import Texts
from explainer.memory.levels import NO_RATE, Level, tensors
from explainer.memory.levels import levels as levels_of
from explainer.memory.workload import Workload
from explainer.views import drawings
from explainer.views.html import badge, card, div, figures_of, memory_page, said, tag

SIGNS = {"l": "ℓ"}
say = Texts("memory")
OVER = say.named("levels.over")  # what it means that a level is too small


def rate(bytes_per_s: float) -> str:
    """TB/s, three digits."""
    return f"{rounded(bytes_per_s / 1e12)} TB/s"


def levels(w: Workload) -> str:
    """Each level as an area, its rate as a bar, both to scale, and what the kernel keeps there."""
    found = levels_of(w)
    hbm = found[-1].size_bytes
    fastest = max(level.bytes_per_s or 0 for level in found)
    standard = tensors(w, "standard")
    size, keeps = found[-1].size_kind, computed(say("levels.keeps"))
    *columns, last = say.row("levels.columns")
    bars = columns[-1], last
    columns = [*(tag("span", text) for text in columns), tag("span", last, badge(keeps))]
    head = div("fa-level is-head", *columns)
    rows = (_level(level, hbm, fastest, standard, bars) for level in found)
    fused, naive = found[-1].held_bytes, sum(n for _, n in standard)
    sums = say(
        "levels.sums" if fused <= hbm else "levels.sums_neither",
        b=w.batch,
        h=w.heads,
        n=w.n,
        d=w.d,
        dtype=w.dtype,
        fused=amount(fused),
        standard=amount(naive),
        ratio=rounded(naive / fused),
    )
    listed = [
        {
            "level": level.name,
            "bytes": level.size_bytes,
            "bytes_per_sm": level.per_sm_bytes,
            "bytes_per_s": None if level.bytes_per_s is None else round(level.bytes_per_s),
            "kept": level.held_bytes,
            "size_kind": str(level.size_kind),
            "rate_kind": str(level.rate_kind or NO_RATE),
        }
        for level in found
    ]
    names = say.row("levels.head")
    kinds = [level.size_kind + (level.rate_kind or level.size_kind) + keeps for level in found]
    return memory_page(
        said(sums, keeps),
        card("levels", say("levels"), size, w.hardware.name, head, *rows),
        figures_of("levels", kinds, names, listed, say("levels.caption")),
        view="levels",
    )


def _level(level: Level, hbm: int, fastest: float, standard, bars: tuple[str, str]) -> str:
    """``bars``: what its two bars are, said beside them where the columns have no head."""
    of_rate, of_held = (tag("span", text, class_="fa-level-what") for text in bars)
    inside, legend = [("fa-held", level.held_bytes)], ""
    if level.per_sm_bytes:
        inside = []
    if level.key == "hbm":
        naive = sum(n for _, n in standard)
        inside = [("fa-ghost", naive), ("fa-held", level.held_bytes)]
        legend = tag("span", tag("i", "", class_="fa-key-held"), "FA-2", class_="fa-key-line")
        text = say("levels.standard", size=amount(naive))
        legend += tag("span", tag("i", "", class_="fa-key-ghost"), text, class_="fa-key-line")
    else:
        text = say("levels.smaller", times=rounded(hbm / level.size_bytes))
        legend = tag("span", text, class_="fa-fine")
    size = amount(level.size_bytes)
    name = tag("b", level.name) + tag("span", size, title=str(level.size_kind))
    if level.per_sm_bytes:
        each = say("levels.each", size=amount(level.per_sm_bytes))
        name += tag("span", each, title=str(level.size_kind))
    label = say("levels.area", level=level.name, size=size)
    square = drawings.area(level.size_bytes, hbm, label, inside)
    share = (level.bytes_per_s or 0) / fastest
    bar = tag("i", "", class_="fa-rate", style=f"width:{max(0.4, 100 * share):.2f}%")
    speed = tag("span", bar, class_="fa-rate-track")
    if level.rate_kind is None:
        speed = tag("b", say("levels.no_rate"), title=NO_RATE)
    else:
        speed += tag("b", rate(level.bytes_per_s)) + badge(level.rate_kind)
    held = level.held_bytes / level.room_bytes
    where = "levels.of_sm" if level.per_sm_bytes else "levels.of_card"
    kept = ", ".join(f"{SIGNS.get(tensor, tensor)} {amount(n)}" for tensor, n in level.holds)
    over = " is-over" if held > 1 else ""
    fill = tag("i", "", class_="fa-hold" + over, style=f"width:{min(100, 100 * held):.2f}%")
    keeps = tag("span", fill, class_="fa-rate-track") + tag(
        "b", say(where, share=_percent(held)), title=say("levels.bytes", n=level.held_bytes)
    )
    keeps += tag("span", kept, class_="fa-fine")
    if held > 1:
        keeps += tag("span", OVER[level.key], class_="fa-warn")
    return div(
        f"fa-level is-{level.key}",
        div("fa-level-name", name),
        div("fa-level-area", square, div("fa-level-key", legend)),
        div("fa-level-rate", of_rate, speed),
        div("fa-level-held", of_held, keeps),
    )


def _percent(share: float) -> str:
    return say("levels.least") if share < 1e-5 else f"{rounded(100 * share)} %"
