"""What FlashAttention saves, over N: memory, bytes by one convention on both sides, time."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

from explainer.algorithms.algorithm import COMPULSORY, REQUESTED, WHERE
from explainer.algorithms.traffic import compulsory_bytes, requested_bytes
from explainer.base.amounts import amount
from explainer.base.records import about, rows_where
from explainer.learn.blocks import Block, t, text
from explainer.learn.scene import Shape, box, chart, draw_text, panel, path, scene
from kernels.spec.formats import ITEMSIZE

NS = tuple(2**k for k in range(8, 17))
D, DTYPE, BR, BC, HEADS = 128, "bf16", 128, 64, 16
LSE_BYTES = 4
TOKENS = 16_384  # batch × N of the recorded times, where N is no larger
BEFORE = TOKENS // 2  # the last N of two sequences
TITLES = t.named("saves.titles")
WAYS = {"asked": REQUESTED, "least": COMPULSORY}  # value in the address → convention
WIDTH, HEIGHT, LEFT, TOP, HIGH = 262.0, 300.0, 62.0, 84.0, 170.0


def saved_bytes(n: int, heads: int = 1) -> int:
    """Bytes of lse, all that FlashAttention keeps beside Q, K, V and O."""
    return n * heads * LSE_BYTES


def squares(n: int, heads: int = 1) -> int:
    """Bytes of S and P in 16 bits."""
    return 2 * n * n * heads * ITEMSIZE[DTYPE]


def moved(order: str, n: int, way: str) -> int:
    """Bytes of one head by the convention ``way``."""
    if way == COMPULSORY:
        return compulsory_bytes(n, D, DTYPE, order)
    return requested_bytes(n, D, "full", DTYPE, order, BR, BC)


@cache
def recorded() -> dict[int, tuple[Any, Any]]:
    """{N: (ms of standard attention in PyTorch, None where its matrices did not fit; ms of our
    FA-2)}, no mask; batch × N is TOKENS as far as N goes, then batch is 1."""
    naive, fa2 = (
        {
            r["n"]: r.get("median_ms")
            for r in rows_where(method=method, d=D, mask="full", dtype=DTYPE)
        }
        for method in ("naive", "fa2")
    )
    return {n: (naive[n], fa2[n]) for n in sorted(naive)}


def _axis(n: int) -> list[Shape]:
    """Where N is, and the ends of the axis."""
    x = LEFT + NS.index(n) * (WIDTH - LEFT - 10) / (len(NS) - 1)
    return [
        path([(x, TOP), (x, TOP + HIGH)], look="is-thin is-ink", key="now"),
        draw_text(LEFT, TOP + HIGH + 20, f"N = {NS[0]}", "is-small is-quiet"),
        draw_text(WIDTH - 8, TOP + HIGH + 20, f"{NS[-1]:,}", "is-small is-quiet is-end"),
    ]


def _bytes_panel(
    title: str,
    n: int,
    pairs: Sequence[tuple[str, Sequence[float], str, str]],
    low: float,
    high: float,
    ticks: Sequence[float],
    last: str,
) -> dict[str, object]:
    at = NS.index(n)
    lines = [
        draw_text(0, 42 + 20 * k, f"{name}: {amount(values[at])}", hue=hue)
        for k, (name, values, hue, _) in enumerate(pairs)
    ]
    curves = chart(
        LEFT,
        TOP,
        WIDTH - LEFT - 10,
        HIGH,
        pairs,
        low=low,
        high=high,
        log=True,
        ticks=[(t, amount(t)) for t in ticks],
    )
    return panel(
        WIDTH,
        HEIGHT,
        draw_text(0, 18, title, "is-bold"),
        lines,
        curves,
        _axis(n),
        draw_text(0, HEIGHT - 4, last, "is-small is-bold"),
    )


def _time_panel(n: int) -> tuple[dict[str, object], str]:
    found = recorded()
    step = (WIDTH - LEFT - 10) / (len(NS) - 1)
    gains = {k: a / b for k, (a, b) in found.items() if a is not None}
    most = max(gains.values())
    shapes = []
    for k, length in enumerate(NS):
        if length not in found:
            continue
        gain, x = gains.get(length), LEFT + k * step - 8
        if gain is None:
            shapes += [
                box(x, TOP, 16, HIGH, look="is-empty"),
                draw_text(WIDTH, TOP - 8, t("saves.dashed"), "is-small is-quiet is-end"),
            ]
            continue
        tall = HIGH * gain / most
        shapes.append(
            box(x, TOP + HIGH - tall, 16, tall, hue="o", look="is-full" if length == n else "")
        )
    one = TOP + HIGH - HIGH / most
    shapes += [
        path([(LEFT - 10, one), (WIDTH, one)], look="is-quiet is-dashed"),
        draw_text(LEFT - 14, one + 5, t("saves.as_fast"), "is-small is-quiet is-end"),
    ]
    if n not in found:
        first, last = t("saves.unknown"), ""
    elif n not in gains:
        first, last = t("saves.too_large"), t("saves.fa2", ms=found[n][1])
    else:
        first = t("saves.times", standard=found[n][0], fa2=found[n][1])
        last = t("saves.gain", times=gains[n])
    spoken = t("saves.time", first=first, last=last)
    return panel(
        WIDTH,
        HEIGHT,
        draw_text(0, 18, t("saves.time_title"), "is-bold"),
        draw_text(0, 42, first, hue="o"),
        shapes,
        _axis(n)[1:],
        draw_text(0, HEIGHT - 4, last, "is-small is-bold"),
    ), spoken


def _saves(n: int, way: str) -> list[Block]:
    memory = [
        (t("saves.squares"), [squares(x) for x in NS], "s", ""),
        ("lse", [saved_bytes(x) for x in NS], "l", "is-dashed"),
    ]
    both = {order: [moved(order, x, WAYS[way]) for x in NS] for order in ("standard", "fa2")}
    traffic = [
        (t("saves.standard"), both["standard"], "s", ""),
        ("FA-2", both["fa2"], "o", "is-dashed"),
    ]
    at = NS.index(n)
    fewer = both["standard"][at] / both["fa2"][at]
    smaller = squares(n) / saved_bytes(n)
    time, spoken = _time_panel(n)
    spoken = t(
        "saves.spoken",
        n=n,
        squares=squares(n),
        saved_bytes=saved_bytes(n),
        where=WHERE[WAYS[way]],
        standard=both["standard"][at],
        fa2=both["fa2"][at],
        fewer=fewer,
        time=spoken,
    )
    low, high = (min(min(x) for x in both.values()), max(max(x) for x in both.values()))
    return [
        scene(
            t("saves.title", n=n, d=D, dtype=DTYPE),
            spoken,
            _bytes_panel(
                t("saves.memory"),
                n,
                memory,
                512,
                squares(NS[-1]),
                (2**10, 2**20, 2**30),
                t("saves.less", times=smaller),
            ),
            _bytes_panel(
                TITLES[way],
                n,
                traffic,
                low,
                high,
                (2**20, 2**25, 2**30),
                t("saves.fewer", times=fewer),
            ),
            time,
        ),
        text(t("saves.fine", br=BR, bc=BC, heads=HEADS, tokens=TOKENS, about=about()), "fine"),
    ]


WIDGETS = {
    "saves": _saves,
}


def _question(n: int, heads: int) -> dict:
    """MiB: the answer, and: 2 bytes a number, one head, S and P, two numbers a row."""
    found = saved_bytes(n, heads)
    wrong = (found / 2, found / heads, squares(n, heads), 2 * found)
    return {"answer": found / 2**20, "wrong": tuple(x / 2**20 for x in wrong)}


def _pace(n: int, ms: float) -> float:
    """TB/s at which the recorded batch passes over S and P in this time: each written and read."""
    return 2 * squares(n, HEADS * max(1, TOKENS // n)) / ms / 1e9


def _figures() -> dict[str, str]:
    doubled = moved("fa2", 16_384, REQUESTED) / moved("fa2", 8_192, REQUESTED)
    fits = max(n for n, (naive, _) in recorded().items() if naive is not None)
    (slow, fast), (slower, faster) = (recorded()[n] for n in (BEFORE, TOKENS))
    return {
        "doubled": f"{doubled:.2f}",
        "fits": f"{fits:,}",
        "before": f"{BEFORE:,}",
        "after": f"{TOKENS:,}",
        "gain": f"{slow / fast:.1f}",
        "dropped": f"{slower / faster:.1f}",
        "slower": f"{slower / slow:.1f}",
        "pace": f"{_pace(BEFORE, slow):.1f}",
        "later": f"{_pace(TOKENS, slower):.1f}",
    }


FIGURES = {"saves": _figures}
QUESTIONS = {"saves": _question}
