"""5.1: what is kept between the passes, and what computing P again costs in products."""

from __future__ import annotations

from explainer.algorithms.registry import ALGORITHMS, BASELINE
from explainer.algorithms.schedule import schedule
from explainer.algorithms.traffic import traffic
from explainer.base.amounts import amount
from explainer.learn.backward import place
from explainer.learn.blocks import Block, t
from explainer.learn.linear_algebra import make_problem
from explainer.learn.scene import Shape, box, captions, draw_text, panel, path, scene
from explainer.memory import capacity
from explainer.memory.workload import Workload
from kernels.spec.fields import PASSES
from kernels.spec.formats import ITEMSIZE

PRODUCTS = {  # a phase of the loops: the product that it is
    "scores": "S = Q Kᵀ",
    "output": "O = P V",
    "dV": "dV = Pᵀ dO",
    "dP": "dP = dO Vᵀ",
    "dQ": "dQ = dS K",
    "dK": "dK = dSᵀ Q",
}
LONGEST = 16_384  # the N that fills the picture


def products(way: str) -> dict[str, list[str]]:
    """{pass: the phases that multiply}, as the loops of "standard" or "fa2" visit a tile."""
    found: dict[str, list[str]] = {}
    for pass_ in PASSES:
        steps = schedule(make_problem(8, 4, 4, order=way), pass_)
        found[pass_] = [x for x in PRODUCTS if any(x in step.phases for step in steps)]
    return found


def all_products(way: str) -> int:
    """How many products both passes of a training step do."""
    return sum(map(len, products(way).values()))


def square_passes() -> int:
    """How often the standard backward pass reads or writes N × N numbers: P, dP and dS."""
    p = make_problem(8, 4, 4, order=BASELINE)
    moved = traffic(p, "backward")
    return sum(sum(moved[x]) for x in ("P", "dP", "dS")) // (p.n * p.n * ITEMSIZE[p.dtype])


def saved(n: int, way: str) -> str:
    """The bytes that one head keeps between the passes, as text."""
    return amount(capacity.saved_bytes(Workload(n=n, heads=1, dtype="fp16"), way))


def _saved(n: int, way: str) -> list[Shape]:
    """P as a square, lse as a line, at one scale that the longest N fills."""
    side = 300 * min(1, n / LONGEST)
    square = ALGORITHMS[way].stores_scores
    shapes = [
        *captions("recompute.saved", what="P" if square else "lse", mine=saved(n, way)),
        box(0, 60, 300, 300, look="is-line"),
        box(
            0,
            60,
            side if square else 2,
            side,
            hue="s" if square else "l",
            look="is-full",
            key="kept",
        ),
    ]
    if square:
        return shapes + captions("recompute.square", n=n)
    return shapes + captions("recompute.lse", n=n, size=saved(n, BASELINE))


def _work(way: str) -> list[Shape]:
    """A block per product."""
    shapes, y = captions("recompute.work"), 36.0
    for pass_, found in products(way).items():
        key = "recompute.forward" if pass_ == "forward" else "recompute.backward"
        shapes.append(draw_text(0, y + 22, t(key, count=len(found)), "is-quiet"))
        y += 34
        for name in found:
            label, hue, look = PRODUCTS[name], "q", ""
            if pass_ == "backward" and name == "scores":
                label, hue, look = t("recompute.again", product=label), "l", "is-full"
            shapes.append(box(0, y, 210, 30, label, hue=hue, look=look, key=f"{pass_} {name}"))
            y += 35
        y += 8
    return shapes


def _recompute(way: str, n: int) -> list[Block]:
    counts = {pass_: len(found) for pass_, found in products(way).items()}
    key = "recompute.stored" if ALGORITHMS[way].stores_scores else "recompute.computed"
    words = t(key, n=n, size=saved(n, way), **counts)
    return [
        scene(
            t("recompute.title"),
            words,
            panel(400, 395, _saved(n, way)),
            panel(330, 395, _work(way), path([(0, 26), (210, 26)], look="is-thin")),
        )
    ]


WIDGETS = {
    "recompute": _recompute,
}


def _question(flop: int) -> dict:
    """GFLOP of a step with P computed again, from those of a step with P kept."""
    one, again = flop / all_products("standard"), all_products("fa2")
    return {"answer": one * again, "wrong": (flop, one * (again + 1), 2 * flop)}


FIGURES = {"recompute": lambda: {"place": place("exp"), "passes": square_passes()}}
QUESTIONS = {"recompute": _question}
