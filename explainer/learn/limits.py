"""7.1: where it helps less: recorded speeds, and bytes by one convention."""

from __future__ import annotations

import math
import textwrap
from functools import lru_cache

from explainer.base.amounts import amount, power
from explainer.base.records import about, load, rows_where
from explainer.learn.blocks import Block, t, text
from explainer.learn.scene import CHARACTER, Shape, box, draw_text, lines, panel, read_aloud, scene
from explainer.memory import tile_choices
from explainer.memory.workload import Workload

CASES = t.named("limits.cases")
HIDDEN = 4096  # of the layer that attention is a part of
NS = (256, 512, 1024, 2048, 4096, 8192, 16384)
NQ, D, ELEMENT, TILE = 4096, 64, 2, 64
NEEDED = 0.05  # of the scores, in the question
# A card's generation: first architecture number; who takes fp16 there.
CARDS = (("V100", 70), ("T4", 75), ("A100", 80), ("RTX 4090", 89), ("H100", 90), ("B200", 100))
KERNELS = (
    ("memory-efficient", lambda sm: sm >= 50),
    ("FA-2", lambda sm: sm >= 80),
    ("FA-3", lambda sm: sm == 90),
    ("FA-4", lambda sm: sm in (90, 100)),
)


@lru_cache(maxsize=2)
def times(method: str) -> dict[int, dict]:
    """{N: the recorded row of a method}: fp16, d = 64, no mask, forward, 32 heads and as many
    sequences as fill the card."""
    found = rows_where(method=method, d=D, mask="full", dtype="fp16")
    return {r["n"]: r for r in found if "median_ms" in r and r["n"] in NS}


def plain() -> dict[int, float]:
    """{N: milliseconds of plain PyTorch attention}."""
    return {n: row["median_ms"] for n, row in times("naive").items()}


def faster() -> dict[int, float]:
    """{N: time of plain PyTorch attention ÷ time of FA-2}."""
    return {n: ms / times("fa2")[n]["median_ms"] for n, ms in plain().items()}


def time_share(method: str, n: int) -> float:
    """Attention's part of the time of a layer's products: its recorded time, beside 24·h² FLOPs per
    token at the rate measured for products. Heads of d numbers make up h."""
    row = times(method)[n]
    tokens = row["batch"] * row["heads"] * n * D / HIDDEN
    weights = tokens * 24 * HIDDEN**2 / load()["ceilings"]["fp16"]["flops"]
    return row["median_ms"] / (row["median_ms"] + 1e3 * weights)


def layer_share(n: int) -> float:
    """Attention's part of a layer's FLOPs: 4·N²·h of it, beside 24·N·h² of the projections (8) and
    a feed-forward of width 4h (16)."""
    return n / (n + 6 * HIDDEN)


def speeds() -> dict[int, float]:
    """{side of the square tile: TFLOP/s of FA-2}, recorded on an H200: fp16, no mask."""
    timed = [c for c in tile_choices.cells(Workload(d=D)) if "tflops" in c]
    return {c["block_m"]: c["tflops"] for c in timed if c["block_m"] == c["block_n"]}


def least(nq: int, nk: int) -> tuple[int, int]:
    """Bytes of one head in fp16, no mask, each matrix once per kernel: (three kernels, fused).
    S and P are written and read."""
    operands = (2 * nq * D + 2 * nk * D) * ELEMENT
    return operands + 4 * nq * nk * ELEMENT, operands + nq * 4


def touched(share: float) -> float:
    """The part of the tiles that hold a needed score, if each score is needed with this chance."""
    return 1 - (1 - share) ** (TILE * TILE)


def _bars(
    items: list[tuple[str, float, str]], hue: str, y: float, wide: float, left: float
) -> list[Shape]:
    most = max(value for _, value, _ in items) or 1.0
    made = []
    for k, (name, value, beside) in enumerate(items):
        top, length = y + k * 34, value / most * wide
        made += [
            draw_text(left - 10, top + 19, name, "is-end"),
            box(left, top, length, 26, hue=hue, look="is-full", key=f"{hue} {k}"),
            draw_text(left + length + 8, top + 19, beside, "is-bold", key=f"{hue} t{k}"),
        ]
    return made


def _panels(head: str, items: list[tuple[str, float, str]], hue: str, tail: str = "") -> list[dict]:
    """Bars under a heading, and a line below: as wide as a desk has it, and for a phone."""
    made = []
    for only, width in (("wide", 790.0), ("narrow", 360.0)):
        wrapped = textwrap.wrap(head, int(width / CHARACTER))
        left = 12 + CHARACTER * max(len(name) for name, _, _ in items)
        room = 10 + CHARACTER * max(len(beside) for _, _, beside in items)
        top = 8.0 + 20 * len(wrapped)
        end = top + 34 * len(items)
        shapes = [
            *lines(16, "\n".join(wrapped), "is-bold"),
            *_bars(items, hue, top, min(420.0, width - left - room), left),
            *([draw_text(0, end + 26, tail, "is-big")] if tail else []),
        ]
        made.append(panel(width, end + (40 if tail else 2), shapes, only=only))
    return made


def _short() -> tuple[list[dict], str]:
    gains = [(f"N = {n:,}", gain, f"{gain:.1f} ×") for n, gain in faster().items()]
    shares = [(f"N = {n:,}", layer_share(n), f"{layer_share(n):.0%}") for n in NS]
    panels = [
        panel(390, 268, draw_text(0, 16, title, "is-bold"), _bars(items, hue, 28, 210, 110))
        for title, items, hue in (
            (t("limits.short"), gains, "q"),
            (t("limits.short.layer"), shares, "s"),
        )
    ]
    ms, (before, last) = plain(), NS[-2:]
    return panels, t(
        "limits.short.why", last=last, before=before, times=ms[last] / ms[before], n=HIDDEN
    )


def _tiles() -> tuple[list[dict], str]:
    items = [(f"{side} × {side}", x, f"{x:,.0f} TFLOP/s") for side, x in speeds().items()]
    found = {(c["block_m"], c["block_n"]): c for c in tile_choices.cells(Workload(d=D))}
    resident = {f"held_{side}": found[side, side]["blocks_per_sm"] for side in (64, 128)}
    best = tile_choices.best(Workload(d=D))
    assert best
    why = t(
        "limits.tiles.why",
        **resident,
        registers=found[128, 128]["registers"],
        best=f"{best['block_m']} × {best['block_n']}",
        rate=best["tflops"],
    )
    return _panels(t("limits.tiles", d=D), items, "q"), why


def _cross(nk: int) -> tuple[list[dict], str]:
    apart, fused = least(NQ, nk)
    called = t.named("limits.cross.kernels")
    items = [(called[key], float(n), amount(n)) for key, n in (("apart", apart), ("fused", fused))]
    head, tail = (
        t("limits.cross", nq=NQ, nk=nk, d=D),
        t("limits.cross.times", ratio=apart / fused),
    )
    return _panels(head, items, "s", tail), t("limits.cross.why")


def _sparse(share: float) -> tuple[list[dict], str]:
    called, wanted = t.named("limits.sparse.bars"), share / 100
    shares = {"scores": wanted, "scattered": touched(wanted), "blocks": wanted}
    items = [(called[key], part, f"{part:.1%}") for key, part in shares.items()]
    return (
        _panels(t("limits.sparse", side=TILE), [*items, (called["all"], 1.0, "100%")], "q"),
        t("limits.sparse.why"),
    )


def _old() -> tuple[list[dict], str]:
    """Which kernel runs on which card: kernels down the side, on a phone cards."""
    no = t("limits.old.no")

    def mark(x: float, y: float, wide: float, runs: bool) -> Shape:
        if runs:
            return box(x, y, wide, 32, "✓", hue="v")
        return box(x, y, wide, 32, no, look="is-line")

    wide = [draw_text(0, 16, t("limits.old"), "is-bold")]
    narrow = [*wide]
    for i, (name, _) in enumerate(KERNELS):
        wide.append(draw_text(160, 104 + i * 40, name, "is-end"))
        first, *others = name.replace("-", "-\n", 1).split("\n") if len(name) > 4 else [name]
        for row, line in enumerate((first, *others)):
            y = 66 - 18 * (len(others) - row)
            narrow.append(draw_text(138 + i * 66, y, line, "is-middle is-small"))
    for j, (card, sm) in enumerate(CARDS):
        x, y = 170 + j * 100, 78 + j * 40
        wide += [
            draw_text(x + 44, 48, card, "is-middle is-bold"),
            draw_text(x + 44, 68, f"sm_{sm}", "is-middle is-quiet is-small"),
        ]
        narrow.append(draw_text(0, y + 21, card, "is-bold"))
        for i, (_, runs) in enumerate(KERNELS):
            wide.append(mark(x, 82 + i * 40, 90, runs(sm)))
            narrow.append(mark(108 + i * 66, y, 60, runs(sm)))
    return (
        [panel(790, 250, wide, only="wide"), panel(372, 320, narrow, only="narrow")],
        t("limits.old.why"),
    )


NOTES = {
    "short": t(
        "limits.short.note",
        record=about(),
        heads=times("fa2")[NS[0]]["heads"],
        tokens=times("fa2")[NS[0]]["batch"] * NS[0],
    ),
    "tiles": t("limits.tiles.note", record=about("tiles_nvidia_h200")),
    "cross": t("limits.cross.note"),
    "sparse": t("limits.sparse.note"),
    "old": t("limits.old.note"),
}


def _when_not(case: str, nk: int, share: float) -> list[Block]:
    panels, why = {
        "short": _short,
        "tiles": _tiles,
        "cross": lambda: _cross(nk),
        "sparse": lambda: _sparse(share),
        "old": _old,
    }[case]()
    wording = read_aloud(p for p in panels if p.get("only") != "narrow")
    label = CASES[case][0].upper() + CASES[case][1:]
    return [scene(label, wording, *panels), text(why), text(NOTES[case], "fine")]


WIDGETS = {
    "when_not": _when_not,
}


def _figures() -> dict[str, object]:
    apart, fused = least(NQ, 77)
    whole, once = least(NQ, NQ)
    gains, first = faster(), NS[0]
    return {
        "cross": apart / fused,
        "self": whole / once,
        "low": gains[first],
        "high": max(gains.values()),
        "peak": max(gains, key=gains.__getitem__),
        "end": gains[NS[-1]],
        "last": NS[-1],
        "scores": NQ * 77,
        "empty": power(10, round(TILE**2 * math.log10(1 - NEEDED))),
        "share": layer_share(first),
        "time": time_share("naive", first),
        "less": time_share("fa2", first),
    }


FIGURES = {"when_not": _figures}
