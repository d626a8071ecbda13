"""7.1: where it helps less: recorded speeds, and bytes by one convention."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import lru_cache

from explainer.base.amounts import amount, power
from explainer.base.records import about, load
from explainer.base.texts import Texts
from explainer.learn.blocks import Block, Widget, text
from explainer.learn.content import rung
from explainer.learn.controls import pick
from explainer.learn.scene import Shape, box, lines, panel, say, scene
from explainer.memory import tile_choices
from explainer.memory.workload import Workload

tell = Texts("learn")
Values = Mapping[str, float | str]
CASES = tell.named("limits.cases")
HIDDEN = 4096  # of the layer that attention is a part of
NS = (256, 512, 1024, 2048, 4096, 8192)
NQ, D, ELEMENT, TILE = 4096, 64, 2, 64
NEEDED = 0.05  # of the scores, in the question
SHARES = (0.1, 0.5, 1, 2, 5, 10)  # percent of the scores that are needed
# A card's generation: first architecture number; who takes fp16 there.
CARDS = (("V100", 70), ("T4", 75), ("A100", 80), ("RTX 4090", 89), ("H100", 90), ("B200", 100))
KERNELS = (
    ("memory-efficient", lambda sm: sm >= 50),
    ("FA-2", lambda sm: sm >= 80),
    ("FA-3", lambda sm: sm == 90),
    ("FA-4", lambda sm: sm in (90, 100)),
)


@lru_cache(maxsize=1)
def faster() -> dict[int, float]:
    """{N: time of plain PyTorch attention ÷ time of FA-2}, recorded: fp16, d = 64, no mask."""
    ms = {(r["method"], r["n"]): r["median_ms"] for r in load()["rows"] if "median_ms" in r
          and (r["d"], r["mask"], r["dtype"], r.get("pass", "forward")) == (64, "full", "fp16",
                                                                          "forward")}  # fmt: skip
    return {n: ms["naive", n] / ms["fa2", n] for n in NS}


def layer_share(n: int) -> float:
    """Attention's part of a layer's FLOPs: 4·N²·h of it, beside 24·N·h² of the projections (8) and
    a feed-forward of width 4h (16)."""
    return n / (n + 6 * HIDDEN)


def speeds(d: int) -> dict[int, float]:
    """{side of the square tile: TFLOP/s of FA-2}, recorded on an H200: fp16, no mask."""
    timed = [c for c in tile_choices.cells(Workload(d=d)) if "tflops" in c]
    return {c["block_m"]: c["tflops"] for c in timed if c["block_m"] == c["block_n"]}


def least(nq: int, nk: int) -> tuple[int, int]:
    """Bytes of one head in fp16, no mask, each matrix once per kernel: (three kernels, fused).
    S and P are written and read."""
    operands = (2 * nq * D + 2 * nk * D) * ELEMENT
    return operands + 4 * nq * nk * ELEMENT, operands + nq * 4


def touched(share: float, side: int = TILE) -> float:
    """The part of the tiles that hold a needed score, if each score is needed with this chance."""
    return 1 - (1 - share) ** (side * side)


def _bars(items: list[tuple[str, float, str]], hue: str, y: float, wide: float = 420,
          left: float = 150) -> list[Shape]:  # fmt: skip
    most = max(value for _, value, _ in items) or 1.0
    made = []
    for k, (name, value, beside) in enumerate(items):
        top = y + k * 34
        made += [
            say(left - 10, top + 19, name, "is-end"),
            box(left, top, value / most * wide, 26, hue=hue, look="is-full", key=f"{hue} {k}"),
            say(left + value / most * wide + 8, top + 19, beside, "is-bold", key=f"{hue} t{k}"),
        ]
    return made


def _short() -> list[Shape]:
    items = [(f"N = {n:,}", gain, f"{gain:.1f} ×") for n, gain in faster().items()]
    layer = [(f"N = {n:,}", layer_share(n), f"{layer_share(n):.0%}") for n in NS]
    return [
        say(0, 16, tell("limits.short"), "is-bold"),
        *_bars(items, "q", 28, 260, 110),
        say(440, 16, tell("limits.short.layer"), "is-bold"),
        *_bars(layer, "s", 28, 140, 560),
        say(0, 270, tell("limits.short.why")),
        say(0, 294, tell("limits.short.hidden", n=HIDDEN), "is-quiet"),
    ]


def _tiles() -> list[Shape]:
    items = [(f"{side} × {side}", x, f"{x:,.0f} TFLOP/s") for side, x in speeds(D).items()]
    return [
        say(0, 16, tell("limits.tiles", d=D), "is-bold"),
        *_bars(items, "q", 28),
        *lines(0, 240, 22, tell("limits.tiles.why")),
    ]


def _cross(nk: int) -> list[Shape]:
    apart, fused = least(NQ, nk)
    called = tell.named("limits.cross.kernels")
    items = [(called[key], float(n), amount(n)) for key, n in (("apart", apart), ("fused", fused))]
    return [
        say(0, 16, tell("limits.cross", nq=NQ, nk=nk, d=D), "is-bold"),
        *_bars(items, "s", 28),
        say(0, 128, tell("limits.cross.times", ratio=apart / fused), "is-big"),
        *lines(0, 160, 22, tell("limits.cross.why")),
    ]


def _sparse(share: float) -> list[Shape]:
    called, wanted = tell.named("limits.sparse.bars"), share / 100
    shares = {"scores": wanted, "scattered": touched(wanted), "blocks": wanted}
    items = [(called[key], part, f"{part:.1%}") for key, part in shares.items()]
    return [
        say(0, 16, tell("limits.sparse", side=TILE), "is-bold"),
        *_bars([*items, (called["all"], 1.0, "100%")], "q", 28),
        *lines(0, 196, 22, tell("limits.sparse.why")),
    ]


def _old() -> list[Shape]:
    shapes = [say(0, 16, tell("limits.old"), "is-bold")]
    no = tell("limits.old.no")
    for j, (card, sm) in enumerate(CARDS):
        x = 170 + j * 100
        shapes += [say(x + 44, 48, card, "is-middle is-bold"),
                   say(x + 44, 68, f"sm_{sm}", "is-middle is-quiet is-small")]  # fmt: skip
        for i, (_, runs) in enumerate(KERNELS):
            look = {"text": "✓", "hue": "v"} if runs(sm) else {"text": no, "look": "is-line"}
            shapes.append(box(x, 82 + i * 40, 90, 32, **look))
    shapes += [say(160, 104 + i * 40, name, "is-end") for i, (name, _) in enumerate(KERNELS)]
    return [*shapes, *lines(0, 272, 22, tell("limits.old.why"))]


SAID = {
    "short": tell("limits.short.note", record=about()),
    "tiles": tell("limits.tiles.note", record=about("tiles_nvidia_h200")),
    "cross": tell("limits.cross.note"),
    "sparse": tell("limits.sparse.note"),
    "old": tell("limits.old.note"),
}


def _when_not(v: Values) -> list[Block]:
    case = str(v["case"])
    shapes = {
        "short": _short,
        "tiles": _tiles,
        "cross": lambda: _cross(int(v["nk"])),
        "sparse": lambda: _sparse(float(v["share"])),
        "old": _old,
    }[case]()
    told = " ".join(str(s["text"]) for s in shapes if s["kind"] == "text")
    label = CASES[case][0].upper() + CASES[case][1:]
    return [
        scene(label, told, panel(790, 310, shapes)),
        text(SAID[case], "fine"),
    ]


WIDGETS = (
    Widget("when_not", tell("limits.title"), (
        pick("case", tell("limits.case"), "short", CASES.items(), closed=("cross", "sparse")),
        pick("nk", tell("limits.nk"), 77, (16, 77, 256, 4096)),
        pick("share", tell("limits.share"), 5, SHARES),
    ), _when_not),
)  # fmt: skip


def _figures() -> dict[str, object]:
    apart, fused = least(NQ, 77)
    whole, once = least(NQ, NQ)
    gains = faster()
    return {"cross": apart / fused, "self": whole / once, "low": gains[NS[0]],
            "high": gains[NS[-1]], "scores": NQ * 77,
            "empty": power(10, round(TILE**2 * math.log10(1 - NEEDED))),
            "share": layer_share(NS[0])}  # fmt: skip


RUNGS = (rung("when_not", _figures()),)
