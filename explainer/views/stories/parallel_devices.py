"""The chapter "devices" of Parallel: K and V travel round a ring of GPUs that keep their rows."""

from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from typing import cast
from urllib.parse import urlencode

import numpy as np

from explainer.base.amounts import amount, format_significant
from explainer.base.kinds import recorded
from explainer.base.records import about, load, rows_where
from explainer.base.texts import Texts
from explainer.memory.workload import Workload
from explainer.parallel import devices
from explainer.problem import Problem
from explainer.views.stories.chapter import Chapter, Choice, Json, Table, switch, table, words
from kernels.spec import layouts

t, scripts = Texts("parallel"), Texts("parallel_scripts")
SMALL = Problem(n=32, d=8, block_q=4, block_k=4, mask="causal", inputs="random")
ROW = 25  # the row whose merge is shown
COMPARED = "compared"  # in place of a layout: both, beside what was recorded
HOP = 1.0  # tile times of a hop in the table of methods
ALIKE = (
    65_536  # tokens; at more, one GPU's call reaches the power limit, and the others' do less so
)
LAYOUTS, PEER = ("ring contiguous", "ring head-tail"), "context_parallel cudnn"
MASK = "causal"
Runs = Mapping[str, devices.DeviceTrace]  # by layout


@lru_cache(maxsize=8)
def _run(count: int, layout: str, side: int) -> devices.DeviceTrace:
    return devices.trace(replace(SMALL, block_q=side, block_k=side), count, layout)


def chapter(w: Workload, choice: Choice) -> Chapter:
    """Return the chapter of one small head. ``choice``: ``layout`` how the rows are laid out, or
    ``COMPARED``, ``gpus`` 4 or 2, ``side`` of a tile, ``row`` whose merge is shown."""
    order = switch("layout", t("devices.order"), t.named("devices.order.choices"), choice, "next")
    gpus = switch("gpus", t("devices.gpus"), t.named("devices.gpus.choices"), choice, "word")
    side = switch("side", t("devices.side"), t.named("devices.side.choices"), choice, "word")
    count, layout = int(gpus["value"]), order["value"]
    runs = {one: _run(count, one, int(side["value"])) for one in layouts.LAYOUTS}
    run = runs.get(layout)
    shown = [run] if run else [*runs.values()]
    line = {"n": SMALL.n, "d": SMALL.d, "dtype": SMALL.dtype}
    moves = _moves(runs, run, choice) if run else _compared(runs, dict(order["choices"]), line)
    made: Json = {
        "switches": [gpus, side, order],
        "words": t("devices.line", **line),
        "table": [
            *map(_steps_table, shown),
            *([_tiles_table(run)] if run else []),
            _race_table(count),
            _recorded_table(),
        ],
        "links": [
            (t("devices.link.step"), f"?{urlencode(SMALL.to_query())}"),
            (t("devices.link.lesson"), "?page=learn&lesson=devices"),
        ],
        **moves,
    }
    return cast(Chapter, made | {"label": made["headline"]})


def _moves(runs: Runs, run: devices.DeviceTrace, choice: Choice) -> Json:
    """Return the run of one layout, tick by tick."""
    row = choice.get("row", "")
    row = int(row) if row.isdecimal() and int(row) < SMALL.n else ROW
    shown = max(run.hops - 1, 0)  # the last step with a hop: the chapter opens in its middle
    return {
        **words("devices", run=run),
        "beats": [_beat(run, tick) for tick in range(run.makespan + 1)],
        "start": int(run.starts[shown] + run.starts[shown + 1]) // 2,
        "picture": {
            **_timeline(runs, run.layout),
            "rows": run.of_rows.tolist(),
            "keys": run.of_keys.tolist(),
            "hop": run.hop_bytes,
            "merge": _merge(run, row),
            "row": row,
            "side": run.problem.block_q,
        },
    }


def _beat(run: devices.DeviceTrace, tick: int) -> Json:
    # Under way after so many ticks; the last one at the end
    step = int(np.searchsorted(run.starts[1:-1], tick, side="right"))
    return {
        "label": t("devices.beat", tick=tick, count=run.makespan),
        "note": t("devices.hops", done=step, count=run.hops),
        "step": step,
    }


def _timeline(runs: Runs, layout: str) -> Json:
    """Return what the timeline of a layout is drawn from; beside head–tail the contiguous end."""
    run = runs[layout]
    return {
        "gpus": run.devices,
        "tiles": [[v.visit.i, v.visit.j, v.device, v.tick, v.step] for v in run.visits],
        "starts": run.starts.tolist(),
        "other": None if layout == "contiguous" else runs["contiguous"].makespan,
    }


def _merge(run: devices.DeviceTrace, row: int) -> list[Json]:
    """Return the bars of this row, one for each step that has keys for it: whose keys, and after
    each tile the tick, m, ℓ, and of the ℓ before the step what remains and its factor."""
    block, place = divmod(row, run.problem.block_q)
    bars: dict[int, Json] = {}
    m_old, l_old = m, l = -np.inf, 0.0  # before the step, and after the tile
    for v in run.visits:
        if v.visit.i != block:
            continue
        if v.step not in bars:
            bars[v.step] = {"of": v.owner, "states": []}
            m_old, l_old = m, l
        m, l = (float(x[place]) for x in (v.visit.m_new, v.visit.l_new))
        factor = float(np.exp(m_old - m)) if np.isfinite(m_old) else 0.0
        state = {"tick": v.tick + 1, "m": m, "l": l, "factor": factor, "old": factor * l_old}
        bars[v.step]["states"].append(state)
    return [*bars.values()]


def _steps_table(run: devices.DeviceTrace) -> Table:
    steps = range(run.tiles.shape[1])
    head = [t("devices.gpu"), *(scripts("devices.step", step=s + 1) for s in steps)]
    rows = [
        [scripts("devices.name", device=r), *map(int, each)] for r, each in enumerate(run.tiles)
    ]
    return {"title": t("devices.table.steps"), "head": head, "rows": rows}


def _tiles_table(run: devices.DeviceTrace) -> Table:
    rows = [[v.tick + 1, v.step + 1, v.device, v.owner, v.visit.i, v.visit.j] for v in run.visits]
    return table(t, "devices.table.tiles", rows)


def _race_table(count: int) -> Table:
    """Return all methods on the same clock, where a hop lasts as long as one tile."""
    names = t.named("devices.methods")
    rows = [
        [names[x.method], x.makespan, round(x.exposed, 1), round(x.waiting, 1), amount(x.received)]
        for x in devices.race(SMALL, count, HOP)
    ]
    return table(t, "devices.table.race", rows, hop=HOP)


# ---- what GPUs were recorded to do


def _compared(runs: Runs, names: Mapping[str, str], line: Json) -> Json:
    """Return both layouts as computed for a problem that is the ``line`` of words, by their
    ``names``, beside what was recorded at each length up to ``ALIKE``, which are its positions."""
    rows = devices.recorded_rows()
    lengths = sorted({one.n for one in rows if one.n <= ALIKE})
    beats = [_length(n, [one for one in rows if (one.n, one.mask) == (n, MASK)]) for n in lengths]
    gpus, device = (load(devices.RECORD)[key] for key in ("gpus", "device"))
    one = runs["contiguous"]
    return {
        "headline": beats[-1]["headline"],
        "sentence": t("devices.sentence.compared", limit=100 * gpus / (2 * gpus - 1)),
        "provenance": t("devices.both.provenance", record=recorded(devices.RECORD).text),
        "beats": beats,
        "start": len(beats) - 1,
        "picture": {
            "both": [{"name": names[layout], **_timeline(runs, layout)} for layout in runs],
            "titles": [
                t("devices.both.computed", gpus=one.devices),
                t("devices.both.recorded", gpus=gpus, device=device),
            ],
            "problem": t("devices.both.small", br=one.problem.block_q, **line),
        },
    }


def _length(n: int, rows: list[devices.Recorded]) -> Json:
    """Return one position: one GPU's call, those of both layouts, and the fastest of
    `context_parallel` with cuDNN."""
    (one,) = rows_where(devices.RECORD, n=n, mask=MASK, method="one GPU ours")
    ring = [next(x for x in rows if x.method == name) for name in LAYOUTS]
    peer = min(x.ms["forward"] for x in rows if x.method.startswith(PEER))
    ms = [one["forward"]["median_ms"], *(x.ms["forward"] for x in ring), peer]
    shares = [100 * ms[0] / load(devices.RECORD)["gpus"] / x for x in ms]
    return {
        "label": t("devices.both.beat", n=n),
        "note": t("devices.both.note"),
        "headline": t("devices.headline.compared", even=shares[2], contiguous=shares[1]),
        "problem": t("devices.both.problem", n=n),
        "ms": ms,
        "shares": ["", *(t("devices.both.share", share=x) for x in shares[1:])],
    }


def _recorded_table() -> Table:
    """Return every recorded method that uses all GPUs."""
    rows = []
    for one in devices.recorded_rows():
        error = None if one.error is None else format_significant(one.error, 2)
        each = [
            (one.ms.get(key), 100 * one.speedup[key] if key in one.ms else None)
            for key in ("forward", "backward")
        ]
        rows.append([one.n, one.mask, one.method, *each[0], one.exposed, *each[1], error])
    return table(t, "devices.table.recorded", rows, record=about(devices.RECORD))
