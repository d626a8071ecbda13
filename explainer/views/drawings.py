"""SVG of the Memory page, to scale: the levels as areas, the round trips as arrows. Pure; every
text is escaped, colours come from the stylesheet."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from markupsafe import Markup

from explainer.algorithms.registry import LABELS
from explainer.algorithms.traffic import Moved
from explainer.base.amounts import amount
from explainer.base.texts import Texts
from explainer.views.html import div, tag

HBM_SIDE = 156.0  # px of the square that is all of HBM
LEAST = 1.5  # px: what is smaller could not be seen
KERNEL_Y, HBM_Y, HEIGHT = 4, 184, 230
ARROW_STEP, MARGIN = 66, 7
WIDEST = 30.0  # px of the widest arrow
say = Texts("memory")
NAMES = say.named("trips.launches") | LABELS


def _svg(
    width: float, height: float, label: str, content: Markup, kind: str, **more: object
) -> Markup:
    size = {"width": f"{width:.0f}", "height": f"{height:.0f}"}
    return tag(
        "svg",
        tag("title", label),
        content,
        class_=kind,
        role="img",
        **more,
        viewBox=f"0 0 {size['width']} {size['height']}",
        **size,
    )


def side(n_bytes: float, hbm_bytes: float) -> float:
    """px of the square for so many bytes, where ``HBM_SIDE`` is all of HBM."""
    return HBM_SIDE * math.sqrt(n_bytes / hbm_bytes)


def area(
    n_bytes: int, hbm_bytes: int, label: str, inside: Sequence[tuple[str, int]] = ()
) -> Markup:
    """A square of that many bytes; ``inside``: (class, bytes) of areas in it, the larger first, all
    at the scale of ``HBM_SIDE``; what is larger than the square overflows and is clipped."""
    edge = max(LEAST, side(n_bytes, hbm_bytes))
    parts = tag("rect", class_="fa-area", width=f"{edge:.2f}", height=f"{edge:.2f}", rx=1)
    for kind, held in inside:
        own = min(edge, max(LEAST, side(held, hbm_bytes)))
        own, y = f"{own:.2f}", f"{edge - own:.2f}"
        parts += tag("rect", class_=kind, y=y, width=own, height=own)
    size = max(8.0, edge) + 2
    return _svg(size, size, label, parts, "fa-area-svg")


def trips(plans: Mapping[str, Sequence[tuple[str, Moved]]], heads: int, widest: int) -> Markup:
    """Under each title the launches of a plan side by side: a box above HBM, each tensor an arrow
    with its bytes for all heads, as wide as its share of ``widest`` bytes. One unit of every
    drawing is the same number of pixels, as the stylesheet chooses it for all of them at once from
    the sum of their widths (``--all``) and, where they stand below each other, the widest
    (``--widest``)."""
    panels, sizes = [], []
    for title, launches in plans.items():
        drawn = Markup()
        for name, moved in launches:
            svg, wide = _launch(name, moved, heads, widest)
            drawn, sizes = drawn + svg, [*sizes, wide]
        panels.append(div("fa-trip-panel", tag("h3", title), div("fa-trip-launches", drawn)))
    scale = f"--all:{sum(sizes)};--widest:{max(sizes)}"
    return div("fa-trip-row", *panels, style=scale)


def _launch(name: str, moved: Moved, heads: int, widest: int) -> tuple[Markup, int]:
    """One launch, and its width in units."""
    arrows = [
        (tensor, n * heads, up)
        for tensor, both in moved.items()
        for n, up in zip(both, (True, False), strict=True)
        if n
    ]
    inner = ARROW_STEP * len(arrows)
    wide = inner + 2 * MARGIN
    parts = _box(MARGIN, inner, KERNEL_Y, 38, NAMES[name], "fa-trip-kernel")
    for k, (tensor, n_bytes, up) in enumerate(arrows):
        parts += _arrow(MARGIN + ARROW_STEP * (k + 0.5), tensor, n_bytes, up, widest)
    parts += _box(MARGIN, inner, HBM_Y, 42, "HBM", "fa-trip-hbm")
    label = say("trips.label", launch=NAMES[name])
    return _svg(wide, HEIGHT, label, parts, "fa-trips", style=f"--wide:{wide}"), wide


def _box(x: float, width: float, y: float, height: float, text: str, kind: str) -> Markup:
    middle, below = f"{x + width / 2:.0f}", f"{y + height / 2 + 5:.0f}"
    box = tag("rect", class_=kind, x=f"{x:.0f}", y=y, width=f"{width:.0f}", height=height, rx=8)
    return box + tag("text", text, class_=f"{kind}-text", x=middle, y=below)


def _arrow(x: float, tensor: str, n_bytes: int, up: bool, widest: int) -> Markup:
    wide = max(LEAST, WIDEST * n_bytes / widest)
    top, bottom = KERNEL_Y + 38 + 3, HBM_Y - 3
    head = max(4.0, wide / 2 + 3)
    deep = min(14.0, head)
    tip, root = (top, bottom) if up else (bottom, top)
    neck = tip + deep if up else tip - deep
    key = "trips.read" if up else "trips.written"
    words = say(key, tensor=tensor, amount=amount(n_bytes), bytes=n_bytes)
    middle = (top + bottom) / 2
    spans = (f"{tensor} {'↑' if up else '↓'}", *amount(n_bytes).split())
    at = f"{x:.1f}"
    lines = (tag("tspan", t, x=at, dy="1.15em" if k else "0") for k, t in enumerate(spans))
    return tag(
        "g",
        tag("title", words),
        tag("line", x1=at, x2=at, y1=root, y2=f"{neck:.1f}", stroke_width=f"{wide:.2f}"),
        tag("path", d=f"M{x - head:.1f} {neck:.1f}L{at} {tip}L{x + head:.1f} {neck:.1f}z"),
        tag("text", *lines, y=f"{middle - 12:.0f}"),
        class_=f"fa-trip is-{tensor}",
    )
