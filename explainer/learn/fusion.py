"""Kernel fusion: what a chain of launches moves through HBM, and what one launch moves."""

from __future__ import annotations

from collections.abc import Sequence

from explainer.algorithms.algorithm import COMPULSORY
from explainer.algorithms.traffic import launches
from explainer.base.amounts import amount, rounded
from explainer.base.cards import CARDS
from explainer.learn.blocks import Block, t, text
from explainer.learn.linear_algebra import make_problem
from explainer.learn.scene import Shape, box, captions, draw_text, panel, path, scene
from kernels.spec.formats import ITEMSIZE

Launch = tuple[str, int, int]  # what it is called, bytes read, bytes written
CARD, D, DTYPE = CARDS["h200"], 64, "fp16"
NAMES = t.named("fusion.launches")
WIDTH, HEIGHT, WIDEST = 400.0, 326.0, 30.0  # of a panel; of the widest arrow


def gain(reads: Sequence[int]) -> float:
    """Matrices moved by launches one after the other, each of which writes one, ÷ by one launch,
    which reads S, and what else each of them takes in, once and writes once."""
    return (sum(reads) + len(reads)) / (sum(reads) - len(reads) + 2)


def chain(what: str, n: int) -> tuple[tuple[Launch, ...], ...]:
    """Launches (apart, fused) of one head, their compulsory bytes: "softmax", scale, mask and
    softmax of S (n, n); or "attention", three kernels against FA-2. The mask is made from
    indices."""
    if what == "softmax":
        square = n * n * ITEMSIZE[DTYPE]
        apart = tuple((name, square, square) for name in ("scale", "mask", "softmax"))
        return apart, (("all", square, square),)
    return tuple(
        tuple(
            (name, sum(r for r, _ in moved.values()), sum(w for _, w in moved.values()))
            for name, moved in launches(make_problem(n, D, n, order=order, dtype=DTYPE), COMPULSORY)
        )
        for order in ("standard", "fa2")
    )


def _drawn(title: str, group: tuple[Launch, ...], most: int, at: float) -> list[Shape]:
    """Launches side by side under the bar of HBM, arrows as wide as their bytes."""
    shapes = [
        box(0, 28, WIDTH, 34, "HBM", look="is-pale"),
        *captions("fusion.drawn", title=title),
    ]
    step = WIDTH / len(group)
    for k, (name, read, written) in enumerate(group):
        x, w = k * step, min(step - 10, 180)
        x += (step - w) / 2
        for part, nbytes, hue, down in ((0.27, read, "q", True), (0.73, written, "o", False)):
            thick = max(1.5, WIDEST * nbytes / most)
            mid = x + w * part
            top, low = 106.0, 212.0
            shapes.append(
                box(
                    mid - thick / 2,
                    top + 8,
                    thick,
                    low - top - 16,
                    hue=hue,
                    look="is-full",
                    key=f"{name}{part}",
                )
            )
            shapes.append(path([(mid, top), (mid, low)][:: 1 if down else -1], hue, tip=9))
            shapes.append(draw_text(mid, 82 if down else 100, amount(nbytes), "is-middle is-bold"))
        shapes.append(box(x, 214, w, 46, NAMES[name], hue="m", look="is-pale is-edge"))
    total = sum(r + w for _, r, w in group)
    seconds = total / CARD.hbm_bytes_per_s
    shapes += [
        box(0, 280, max(2.0, WIDTH * at), 16, hue="s", look="is-full", key="total"),
        draw_text(WIDTH, 318, f"{amount(total)}: {rounded(seconds * 1e6)} µs", "is-bold is-end"),
    ]
    return shapes


def _fusion(what: str, n: int) -> list[Block]:
    apart, fused = chain(what, n)
    totals = [sum(r + w for _, r, w in group) for group in (apart, fused)]
    most = max(max(r, w) for group in (apart, fused) for _, r, w in group)
    titles = (t("fusion.apart", n=len(apart)), t("fusion.fused"))
    panels = [
        panel(WIDTH, HEIGHT, _drawn(title, group, most, total / totals[0]))
        for title, group, total in zip(titles, (apart, fused), totals, strict=True)
    ]
    moves = [
        ", ".join(t("fusion.moves", name=NAMES[name], read=r, written=w) for name, r, w in group)
        for group in (apart, fused)
    ]
    wording = "; ".join(f"{title}: {moved}" for title, moved in zip(titles, moves, strict=True))
    rows = fused[0][2] - n * D * ITEMSIZE[DTYPE]  # what is written beside O
    lse = t("fusion.lse", lse=rows) if what == "attention" else ""
    note = t("fusion.note", rate=CARD.hbm_bytes_per_s / 1e12, card=CARD.name, lse=lse)
    return [
        scene(
            t("fusion.label", n=n, d=D, dtype=DTYPE),
            t("fusion.words", launches=wording, times=totals[0] / totals[1]),
            *panels,
        ),
        text(note, "fine"),
    ]


WIDGETS = {
    "fusion": _fusion,
}


def _question(reads: Sequence[int]) -> dict:
    """Launches by the matrices as large as S that each reads: a bias is one, a mask or a dropout
    pattern is made from indices. The answer, and: launches counted; the bias not read again; a
    matrix read for each step."""
    count = len(reads)
    all_read = gain([1, *[2] * (count - 2), 1])
    return {"answer": gain(reads), "wrong": (count, (sum(reads) + count) / 2, all_read)}


QUESTIONS = {"fusion": _question}
