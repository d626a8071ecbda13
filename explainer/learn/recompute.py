"""5.1: what is kept between the passes, and what computing P again costs in products."""

from __future__ import annotations

from explainer.algorithms.schedule import schedule
from explainer.algorithms.traffic import traffic
from explainer.base.amounts import amount
from explainer.learn.backward import place
from explainer.learn.blocks import Block, t
from explainer.learn.content import lesson
from explainer.learn.scene import Shape, box, captions, draw_text, panel, path, scene
from explainer.memory import capacity
from explainer.memory.workload import Workload
from explainer.problem import Problem
from kernels.spec.formats import ITEMSIZE

WAYS = t.named("recompute.ways")
PRODUCTS = {  # a phase of the loops: the product that it is
    "scores": "S = Q Kᵀ",
    "output": "O = P V",
    "dV": "dV = Pᵀ dO",
    "dP": "dP = dO Vᵀ",
    "dQ": "dQ = dS K",
    "dK": "dK = dSᵀ Q",
}
CASES = (60, 24, 96)  # GFLOP of a step that keeps P, in the question and its variants


def products(way: str) -> dict[str, list[str]]:
    """{pass: the phases that multiply}, as the loops of "standard" or "fa2" visit a tile."""
    p = Problem(n=8, d=4, block_q=4, block_k=4, mask="full", inputs="random", order=way)
    found: dict[str, list[str]] = {}
    for pass_ in ("forward", "backward"):
        steps = schedule(p, pass_)
        found[pass_] = [x for x in PRODUCTS if any(x in step.phases for step in steps)]
    return found


def all_products(way: str) -> int:
    """How many products both passes of a training step do."""
    return sum(map(len, products(way).values()))


def square_passes() -> int:
    """How often the standard backward pass reads or writes N × N numbers: P, dP and dS."""
    p = Problem(n=8, d=4, block_q=4, block_k=4, mask="full", inputs="random", order="standard")
    moved = traffic(p, "backward")
    return sum(sum(moved[x]) for x in ("P", "dP", "dS")) // (p.n * p.n * ITEMSIZE[p.dtype])


def _saved(n: int, way: str) -> list[Shape]:
    """P as a square, lse as a line, at one scale that the longest N fills."""
    side = 300 * n / LENGTHS[-1] if n < LENGTHS[-1] else 300.0
    bytes_ = capacity.saved_bytes(Workload(n=n, heads=1, dtype="fp16"), way)
    square = way == "standard"
    shapes = [
        draw_text(0, 18, t("recompute.saved"), "is-bold"),
        draw_text(0, 42, f"{'P' if square else 'lse'}: {amount(bytes_)}", "is-big", hue="l"),
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
        return [*shapes, draw_text(0, 382, t("recompute.square", n=n), "is-quiet")]
    gone = amount(capacity.saved_bytes(Workload(n=n, heads=1, dtype="fp16"), "standard"))
    return [
        *shapes,
        *captions("recompute.saved", n=n, size=gone),
    ]


def _work(way: str) -> list[Shape]:
    """A block per product."""
    shapes, y = [draw_text(0, 18, t("recompute.products"), "is-bold")], 36.0
    for pass_, found in products(way).items():
        key = "recompute.forward" if pass_ == "forward" else "recompute.backward"
        shapes.append(draw_text(0, y + 22, t(key, count=len(found)), "is-quiet"))
        y += 34
        for name in found:
            again = pass_ == "backward" and name == "scores"
            label = PRODUCTS[name]
            if again:
                label = t("recompute.again", product=label)
            shapes.append(
                box(
                    0,
                    y,
                    210,
                    30,
                    label,
                    hue="l" if again else "q",
                    look="is-full" if again else "",
                    key=f"{pass_} {name}",
                )
            )
            y += 35
        y += 8
    return shapes


LENGTHS = (1024, 2048, 4096, 8192, 16384)


def _recompute(way: str, n: int) -> list[Block]:
    bytes_ = capacity.saved_bytes(Workload(n=n, heads=1, dtype="fp16"), way)
    counts = {pass_: len(found) for pass_, found in products(way).items()}
    key = "recompute.stored" if way == "standard" else "recompute.computed"
    words = t(key, n=n, size=amount(bytes_), **counts)
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


def _question() -> tuple[dict, ...]:
    """The question's numbers: a step with P kept, and with P computed again."""
    saved, again = all_products("standard"), all_products("fa2")
    return tuple(
        {
            "answer": flop / saved * again,
            "words": t("recompute.question", flop=flop),
            "wrong": (flop, flop / saved * (again + 1), 2 * flop),
        }
        for flop in CASES
    )


LESSONS = (
    lesson(
        "recompute",
        {"place": place("full", 1, "exp"), "passes": square_passes()},
        questions=_question(),
    ),
)
