"""The chapter "where" of Memory: the levels of a card's memory and what lies in each."""

import json
import math

import numpy as np

from explainer.base.amounts import amount, rounded
from explainer.base.kinds import compiled as compiled_kind
from explainer.base.paths import ASSETS
from explainer.base.texts import Texts
from explainer.memory.compiled_tiles import allocation, slots
from explainer.memory.levels import NO_RATE, Level, hbm_tensors, levels_of
from explainer.memory.workload import Workload
from explainer.views.stories.chapter import (
    Chapter,
    Choice,
    Json,
    Table,
    links,
    switch,
    table,
    words,
)

t = Texts("memory")
MOST_TILES = 64  # key tiles with a beat of their own; of more, evenly spaced ones
# What crosses the pipes at a step: "in" from HBM or "out" to it, "shared" between shared memory and
# registers, "units" on to the arithmetic; "chip": the parts of a tile that are on chip; "hbm": the
# N × N matrices that are in HBM.
DRAWN = json.loads((ASSETS / "stories.json").read_text(encoding="utf-8"))["where"]
STEPS, HUES = DRAWN["steps"], DRAWN["hues"]


def chapter(w: Workload, choice: Choice) -> Chapter:
    """Return the chapter; ``choice["kernel"]``: "fused", or "standard" attention."""
    wanted = {"kernel": "fused"} | dict(choice)
    kernel = switch("kernel", t("where.kernel"), t.named("where.kernels"), wanted)
    is_fused = kernel["value"] == "fused"
    levels = levels_of(w)
    order = "fa2" if is_fused else "standard"
    tensors = hbm_tensors(w, order)
    scores = sum(n for name, n in hbm_tensors(w, "standard") if name in "SP")
    return {
        **words(
            "where",
            **{level.key: level for level in levels},
            is_fused=is_fused,
            needed=sum(n for _, n in tensors),
            scores=scores,
            io=sum(n for name, n in tensors if name in "QKVO"),
            rates=_rates(levels),
            kind=compiled_kind(w.hardware.arch).text if is_fused and allocation(w) else "",
        ),
        "switches": [kernel],
        "beats": _fused_beats(w) if is_fused else _standard_beats(),
        "start": 1,
        "table": [_table(levels)],
        "links": links(w, order, "memory", "gpu"),
        "picture": _picture(w, levels, scores, is_fused),
    }


# ---- beats


def _fused_beats(w: Workload) -> list[Json]:
    """List the steps of the last row block: load Q, its key tiles, write O."""
    first = (w.n - 1) // w.block_q * w.block_q
    visible = w.mask.keep(w.n, w.n, slice(first, w.n)).any(axis=0)
    tiles = int(np.logical_or.reduceat(visible, range(0, w.n, w.block_k)).sum())
    shown = np.unique(np.linspace(1, max(tiles, 1), min(max(tiles, 1), MOST_TILES), dtype=int))
    notes = t.named("where.notes")
    tile = STEPS["tile"] | {"label": t("where.tile")}
    return [
        STEPS["load"] | {"label": t("where.load"), "note": notes["load"]},
        *(
            tile | {"note": t("where.tile.note", k=int(k), of=tiles)}
            for k in (shown if tiles else ())
        ),
        STEPS["store"] | {"label": t("where.store"), "note": notes["store"]},
    ]


def _standard_beats() -> list[Json]:
    """List what standard attention's three kernels read and write."""
    labels, kernels = t.row("where.steps"), t.row("where.kernel_names")
    return [
        step | {"label": label, "note": kernels[k // 2]}
        for k, (step, label) in enumerate(zip(STEPS["standard"], labels, strict=True))
    ]


# ---- picture


def _rate(level: Level) -> str:
    """Format the rate in TB/s, with three digits."""
    rate = (level.bytes_per_s or 0) / 1e12
    return rounded(rate) if not 10 <= rate < 100 else f"{rate:.1f}"


def _pipe(level: Level, widest: float) -> Json:
    """Describe the pipe toward the arithmetic: ``share`` of the widest pipe, None without rate."""
    if level.bytes_per_s is None:
        tip = t("where.pipe.none", level=level.name, why=NO_RATE)
        return {"rate": "–", "share": None, "tip": tip}
    tip = t("where.pipe", level=level.name, rate=_rate(level), kind=str(level.rate_kind))
    return {"rate": _rate(level), "share": level.bytes_per_s / widest, "tip": tip}


def _chip(w: Workload, level: Level, is_fused: bool) -> Json:
    """Describe shared memory or the registers of one SM: its ``bytes``, the bytes that each of its
    ``programs`` takes, and the parts of a program's tile; further buffers are named "spare"."""
    compiled = allocation(w) if is_fused else None
    programs = slots(w, "fa2").programs if compiled else 1
    is_shared = level.key == "shared"
    taken, copies = level.used_bytes, 0
    if compiled:
        taken = compiled.shared_bytes if is_shared else compiled.register_bytes
        copies = compiled.buffers - 1 if is_shared else 0
    names = t.named("where.signs")
    parts = [
        {
            "key": key,
            "name": (name := names.get(key, key)),
            "hue": HUES[key],
            "bytes": n,
            "tip": t("where.part", name=name, n=n),
        }
        for key, n in level.tensors
    ]
    spare = [part | {"key": "spare"} for part in parts[1:]]
    return {
        "name": level.name,
        "size": amount(level.room_bytes),
        "bytes": level.room_bytes,
        "programs": programs,
        "taken": taken,
        "parts": parts + copies * spare,
        **words("where_chip", level=level, compiled=compiled, programs=programs, taken=taken),
    }


def _picture(w: Workload, levels: tuple[Level, ...], scores: int, is_fused: bool) -> Json:
    """Describe what is drawn: of each area the side of its square in sides of HBM's, of each pipe
    its share of the widest."""
    registers, shared, l2, hbm = levels
    widest = max(level.bytes_per_s or 0 for level in levels)
    of_sms = registers.size_bytes + shared.size_bytes
    matrix = dict(hbm.tensors)["Q"]

    def area(n: int, tip: str, **more: object) -> Json:
        side = min(1.0, math.sqrt(n / hbm.size_bytes))
        return {"size": amount(n), "side": side, "tip": tip, **more}

    def level_area(level: Level, name: str) -> Json:
        n, kind = level.size_bytes, str(level.size_kind)
        return area(n, t("where.area", level=level.name, n=n, kind=kind), name=name)

    return {
        "hbm": level_area(hbm, hbm.name),
        "l2": level_area(l2, "L2"),
        "sms": area(of_sms, t("where.sms.tip", n=of_sms), name=t("where.sms", n=w.hardware.sms)),
        "registers": area(registers.room_bytes, ""),
        "scores": area(scores, t("where.scores.tip", n=scores)),
        "matrices": area(matrix, t("where.each.tip", n=matrix)),
        "pipes": {level.key: _pipe(level, widest) for level in levels},
        "chips": [_chip(w, level, is_fused) for level in (shared, registers)],
        "texts": t.named("where.picture")
        | {
            "note": t.named("where.scores")["fused" if is_fused else "standard"],
            "scale": t("where.scale", memory=hbm.name),
        },
    }


# ---- words


def _rates(levels: tuple[Level, ...]) -> str:
    """Say of what kind the rates are, from HBM inward."""
    kinds: dict[str, list[str]] = {}
    for level in reversed(levels):
        if level.rate_kind is not None:
            kinds.setdefault(level.rate_kind.text, []).append(_rate(level))
    return "; ".join(t("where.rates", rates=" · ".join(x), kind=k) for k, x in kinds.items())


def _table(levels: tuple[Level, ...]) -> Table:
    """List every level: size, rate, what FA-2 keeps there, and where the figures come from."""
    rows = [
        [
            level.name,
            level.size_bytes,
            level.per_sm_bytes,
            None if level.bytes_per_s is None else round(level.bytes_per_s),
            level.used_bytes or None,
            str(level.size_kind),
            str(level.rate_kind or NO_RATE),
        ]
        for level in levels
    ]
    return table(t, "where.table", rows)
