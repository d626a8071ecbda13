"""6.4: decoding: pages of a KV cache, the keys in parts, and lse to put them together."""

from __future__ import annotations

from functools import lru_cache
from itertools import pairwise

from explainer.base.amounts import format_fixed
from explainer.base.records import about
from explainer.learn.blocks import Block, t, text
from explainer.learn.linear_algebra import make_problem, weighed
from explainer.learn.scene import Shape, box, captions, draw_text, panel, path, scene
from explainer.memory.workload import Workload
from explainer.parallel import split_keys
from explainer.problem import Problem

PAGE, POOL = 4, 24  # tokens on a page, pages in the pool that is drawn
OTHERS = (("B", 10, "v"), ("C", 7, "o"))  # two more sequences: name, tokens, hue
MOST = 32  # tokens of sequence A
RECORDED = Workload(n=16_384, d=64, batch=1, heads=16)
LABELED, APART = 8, 38  # parts that have numbers, at most, and how far apart; else the heaviest


@lru_cache(maxsize=MOST)
def pages(tokens: int) -> dict[str, list[int]]:
    """{sequence: its pages in the pool}: B and C came first, and A grew between them, a page at a
    time, each from the next place that is free, round and round in steps of 7."""
    free = [(7 * k) % POOL for k in range(POOL)]
    needs = {"A": tokens, **{name: n for name, n, _ in OTHERS}}
    table: dict[str, list[int]] = {name: [] for name in needs}
    while any(len(table[name]) * PAGE < n for name, n in needs.items()):
        for name, n in needs.items():
            if len(table[name]) * PAGE < n:
                table[name].append(free.pop(0))
    return table


def _pool(tokens: int) -> list[Shape]:
    table, hues = pages(tokens), {"A": "k"} | {name: hue for name, _, hue in OTHERS}
    sizes = {"A": tokens} | {name: n for name, n, _ in OTHERS}
    w, h, across = 60, 34, 6
    shapes = [
        box((k % across) * w, 28 + (k // across) * h, w - 4, h - 4, look="is-line")
        for k in range(POOL)
    ]
    for name, found in table.items():
        for at, k in enumerate(found):
            full = min(PAGE, sizes[name] - at * PAGE)
            x, y = (k % across) * w, 28 + (k // across) * h
            shapes.append(
                box(
                    x,
                    y,
                    (w - 4) * full / PAGE,
                    h - 4,
                    f"{name}{at}" if full > 1 else "",
                    hue=hues[name],
                    look="is-full" if name == "A" else "",
                    key=f"{name} {at}",
                )
            )
    count = len(table["A"])
    places = count * PAGE - tokens
    listed = " ".join(map(str, table["A"]))
    return shapes + captions(
        "decoding.pool", size=PAGE, tokens=tokens, pages=listed, count=count, places=places
    )


def problem(tokens: int) -> Problem:
    """The query of the last of ``tokens`` and all keys up to it."""
    return make_problem(tokens, 8, 1, block_k=PAGE, seed=3)


def _merge(tokens: int, count: int) -> list[Shape]:
    found, _, lse = split_keys.parts(problem(tokens), count)
    gap, heaviest = 400 / tokens, max(found, key=lambda part: part.weight)
    middles = [(part.first + part.last) * gap / 2 for part in found]
    labeled = len(found) <= LABELED and all(b - a >= APART for a, b in pairwise(middles))
    shapes = [
        box(180, 28, 40, 24, "q", hue="q", look="is-full"),
    ]
    for k, part in enumerate(found):
        x, w = part.first * gap, (part.last - part.first) * gap - 4
        middle, keys = x + w / 2, part.last - part.first
        wording = t("decoding.merge.keys", n=keys) if w > 60 else str(keys)
        shapes += [
            path([(200, 52), (middle, 80)], look="is-quiet", key=f"in {k}"),
            box(x, 80, w, 34, wording, hue="k", look="is-full", key=f"part {k}"),
            box(
                middle - 14,
                152 + 70 * (1 - part.weight),
                28,
                70 * part.weight,
                hue="l",
                look="is-full",
                key=f"w {k}",
            ),
            path([(middle, 248), (200, 274)], look="is-quiet", key=f"out {k}"),
        ]
        if labeled or part is heaviest:
            crowded = labeled and len(found) > LABELED // 2
            digits = 1 if crowded else 2
            wording = f"{round(part.lse, digits) + 0.0:.{digits}f}".replace("-", "−")
            if not labeled or (not crowded and w > 70):
                wording = t("decoding.merge.lse_of", lse=wording)
            for name, y, label, hue in (
                ("lse", 138, wording, "l"),
                ("weight", 240, f"{part.weight:.2f}", ""),
            ):
                room = 4 * len(label)  # to the left and right of its middle
                at = min(max(middle, room), 404 - room)
                shapes.append(
                    draw_text(at, y, label, "is-middle is-small", hue=hue, key=f"{name} {k}")
                )
    shapes += [
        box(150, 274, 100, 26, "O", hue="o", look="is-full"),
        *captions("decoding.merge", lse=lse, tokens=tokens, n=len(found)),
    ]
    return shapes


def times() -> tuple[dict[int, float], int, int, int]:
    """({parts: milliseconds}, the parts that the kernel chooses, keys, heads) of the recorded
    decoding kernel."""
    rows = split_keys.recorded_rows(RECORDED)
    rule = next(r for r in rows if r["rule"])
    return ({r["splits"]: r["median_ms"] for r in rows}, rule["splits"], rule["n_k"], rule["heads"])


def _timed(count: int) -> str:
    """The recorded kernel in one part, in ``count`` and in its own choice, each told once."""
    ms, rule, keys, heads = times()
    wording = {
        "keys": keys,
        "heads": heads,
        "d": RECORDED.d,
        "one": ms[1] * 1e3,
        "rule": rule,
        "best": ms[rule] * 1e3,
        "record": about("decode_nvidia_h200"),
    }
    if count in (1, rule):
        return t("decoding.timed", **wording)
    return t("decoding.timed_beside", **wording, n=count, time=ms[count] * 1e3)


def _decode(tokens: int, parts: int) -> list[Block]:
    found, _, lse = split_keys.parts(problem(tokens), parts)
    words = t(
        "decoding.words",
        tokens=tokens,
        pages=len(pages(tokens)["A"]),
        n=len(found),
        each=", ".join(format_fixed(p.lse, 2) for p in found),
        lse=lse,
        weights=", ".join(f"{p.weight:.2f}" for p in found),
    )
    panels = panel(365, 360, _pool(tokens)), panel(405, 360, _merge(tokens, parts))
    return [scene(t("decoding.label"), words, *panels), text(_timed(parts), "fine")]


WIDGETS = {
    "decode": _decode,
}


def _question(a: int, x: int, b: int, y: int) -> dict:
    """Two parts of the keys, by exp(lse) and O."""
    return {
        "answer": weighed(((a, x), (b, y))),
        "wrong": ((x + y) / 2, weighed(((b, x), (a, y))), a * x + b * y),
    }


QUESTIONS = {"decode": _question}
