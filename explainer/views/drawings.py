"""Lay out the drawings of the Memory page to scale: levels as areas, round trips as arrows."""

from __future__ import annotations

import math

from explainer.algorithms.registry import LABELS
from explainer.algorithms.traffic import Moved
from explainer.base.texts import Texts

t = Texts("memory")
HBM_SIDE = 156.0  # px of the square that is all of HBM
SMALLEST = 1.5  # px: what is smaller could not be seen
KERNEL_BOTTOM, HBM_TOP = 45, 181  # px: arrows run between the two boxes
ARROW_STEP, MARGIN = 66, 7
WIDEST = 30.0  # px of the widest arrow
NAMES = t.named("trips.launches") | LABELS


def square_side(n_bytes: float, hbm_bytes: float) -> float:
    """Return the px of the square for so many bytes, where ``HBM_SIDE`` is all of HBM."""
    return max(SMALLEST, HBM_SIDE * math.sqrt(n_bytes / hbm_bytes))


def launch_drawing(name: str, moved: Moved, heads: int, widest: int) -> dict:
    """Lay out one launch: a box for the kernel above one for HBM, and each tensor an arrow with its
    bytes for all heads, as wide as its share of ``widest`` bytes. Returns px, ``width`` of all."""
    tensors = [
        (tensor, n * heads, is_read)
        for tensor, both in moved.items()
        for n, is_read in zip(both, (True, False), strict=True)
        if n
    ]
    arrows = [
        {"tensor": tensor, "bytes": n_bytes, "is_read": is_read}
        | _arrow(MARGIN + ARROW_STEP * (k + 0.5), n_bytes, is_read, widest)
        for k, (tensor, n_bytes, is_read) in enumerate(tensors)
    ]
    inner = ARROW_STEP * len(arrows)
    return {"name": NAMES[name], "width": inner + 2 * MARGIN, "inner": inner, "arrows": arrows}


def _arrow(x: float, n_bytes: int, is_read: bool, widest: int) -> dict[str, float]:
    """Lay out one arrow at ``x``, which points up to the kernel if it is a read."""
    width = max(SMALLEST, WIDEST * n_bytes / widest)
    head = max(4.0, width / 2 + 3)
    tip, root = (KERNEL_BOTTOM, HBM_TOP) if is_read else (HBM_TOP, KERNEL_BOTTOM)
    neck = tip + min(14.0, head) * (1 if is_read else -1)
    return {"x": x, "width": width, "head": head, "tip": tip, "root": root, "neck": neck}
