"""FA-3's overlap, by a small event-driven model: who works when, and how busy the matrix units are.

The model, of one SM of an H100: two consumer warpgroups of 64 rows each share key tiles of 128 keys
that the TMA brings. Three units, each does one thing at a time. A result that crosses from one unit
to another arrives ``hand`` later: a barrier and a wait. Left out: maxima, sums, rescaling, the
lower clock under load. So it is a bound, not a prediction.
"""

from __future__ import annotations

import heapq
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from explainer.base.cards import CARDS
from explainer.learn.blocks import Block, Widget, bars, table, text, timeline
from explainer.learn.controls import pick, slider
from explainer.memory.levels import levels
from explainer.memory.workload import Workload

MATRIX, EXP, TMA = "matrix unit", "exp unit", "TMA"
CONSUMERS, ROWS, KEYS, STAGES = 2, 64, 128, 2  # warpgroups, their rows, keys of a tile, buffers
SHOWN, LONG = 6, 128  # key tiles on screen; key tiles of N = 16,384
EXP_TFLOPS = (
    3.9  # exponentials a second on an H100 SXM, in 10¹²; FlashAttention-3 paper, section 3.1
)
PUBLISHED = (("FA-2", 370), ("Triton", 395), ("cuDNN", 595), ("FA-3", 648))
ABOUT_PUBLISHED = "published, H100 SXM, fp16, forward, N = 16 k, d = 128, no mask"
VARIANTS = {
    "serial": "Everything in a row",
    "producer": "+ producer warps",
    "pingpong": "+ ping-pong of two consumers",
    "overlap": "+ overlap inside a warpgroup",
}
SAID = {
    "serial": "Nothing overlaps: load a tile, then one warpgroup after the other multiplies, "
    "exponentiates and multiplies. Real FA-2 does better: it loads ahead, and thread blocks that "
    "share an SM fill each other's gaps.",
    "producer": "A warp of its own asks the TMA for the next tiles, two ahead. Both consumers "
    "still do the same thing at the same time, so the matrix units wait during the exponentials.",
    "pingpong": "While consumer A exponentiates, consumer B multiplies, and the other way round.",
    "overlap": "A consumer also starts S of the next tile before its own P V is done: the softmax "
    "of tile j runs beside P V of tile j − 1.",
}


@dataclass(frozen=True)
class Task:
    """One piece of work on ``unit``. ``what`` K V S exp PV; ``who`` the consumer, −1 the producer;
    ``time`` in µs; ``needs`` keys of tasks that must have ended."""

    key: tuple[str, int, int]
    unit: str
    time: float
    needs: tuple[tuple[str, int, int], ...]

    @property
    def name(self) -> str:
        """As on the bars: tile number behind the work."""
        return f"{self.key[0]}{self.key[2]}"


@dataclass(frozen=True)
class Slot:
    """A Task and when it runs, µs."""

    task: Task
    start: float
    end: float


def durations(d: int) -> dict[str, float]:
    """µs on one SM: S and PV a consumer (matrix rate), exp a consumer, K and V a tile (L2 rate)."""
    card, sms = CARDS["h100"], CARDS["h100"].sms
    product = 2 * ROWS * KEYS * d / (card.tensor_tflops * 1e12 / sms) * 1e6
    exps = ROWS * KEYS / (EXP_TFLOPS * 1e12 / sms) * 1e6
    load = KEYS * d * 2 / (l2_bytes_per_s() / sms) * 1e6
    return {"S": product, "PV": product, "exp": exps, "K": load, "V": load}


@lru_cache(maxsize=1)
def l2_bytes_per_s() -> float:
    """Measured on the H200, which has the H100's chip: NVIDIA publishes no figure."""
    found = next(x for x in levels(Workload(card="h200")) if x.key == "l2").bytes_per_s
    assert found
    return found


def tasks(variant: str, tiles: int, d: int) -> tuple[Task, ...]:
    """All work of ``tiles`` key tiles, in the order in which a unit prefers what is ready."""
    time, out = durations(d), []
    both = range(CONSUMERS)

    def add(what: str, who: int, j: int, unit: str, needs: list) -> None:
        kept = tuple(dict.fromkeys(n for n in needs if n[2] >= 0))
        out.append(Task((what, who, j), unit, time[what], kept))

    for j in range(tiles):
        for what, user in (("K", "S"), ("V", "PV")):  # a buffer is free when both have used it
            add(what, -1, j, TMA, [(user, w, j - STAGES) for w in both])
        for w in both:
            add("S", w, j, MATRIX, [("K", -1, j), *_before_scores(variant, w, j)])
            same = both if variant == "producer" else (w,)
            add("exp", w, j, EXP, [("S", u, j) for u in same] + [("exp", w, j - 1)])
            add("PV", w, j, MATRIX, [("V", -1, j)] + [("exp", u, j) for u in same])
    if variant == "serial":
        return _in_a_row(out)
    return tuple(sorted(out, key=_preferred))


def _before_scores(variant: str, w: int, j: int) -> list[tuple[str, int, int]]:
    """What consumer w has finished when it asks for S of tile j: the previous tile, or with overlap
    only its exponentials (FlashAttention-3, Algorithm 2)."""
    if variant == "overlap":
        return [("exp", w, j - 1)]
    return [("PV", u, j - 1) for u in (range(CONSUMERS) if variant == "producer" else (w,))]


def _preferred(task: Task) -> tuple[int, int, int]:
    """S of a tile stays with PV of the tile before it, one consumer after the other."""
    what, who, j = task.key
    return (j - 1, who, 0) if what == "S" else (j, who, 1)


def _in_a_row(made: list[Task]) -> tuple[Task, ...]:
    """The same tasks, each after the one before it."""
    return tuple(
        Task(t.key, t.unit, t.time, (*t.needs, *((made[k - 1].key,) if k else ())))
        for k, t in enumerate(made)
    )


def simulate(work: tuple[Task, ...], hand: float) -> tuple[Slot, ...]:
    """When each task runs: a free unit takes, of what is ready, the first of the list. A need on
    another unit counts ``hand`` µs after its end."""
    by_key = {t.key: t for t in work}
    rank = {t.key: k for k, t in enumerate(work)}
    missing = {t.key: len(set(t.needs)) for t in work}
    users: dict[tuple, list[Task]] = {}
    for t in work:
        for need in set(t.needs):
            users.setdefault(need, []).append(t)
    ready_at = dict.fromkeys(by_key, 0.0)
    ready: dict[str, list] = {MATRIX: [], EXP: [], TMA: []}
    events: list = [(0.0, rank[t.key], "ready", t.key) for t in work if not missing[t.key]]
    heapq.heapify(events)
    free, done = dict.fromkeys(ready, 0.0), []

    def start(unit: str, now: float) -> None:
        if ready[unit] and free[unit] <= now:
            _, key = heapq.heappop(ready[unit])
            free[unit] = now + by_key[key].time
            done.append(Slot(by_key[key], now, free[unit]))
            heapq.heappush(events, (free[unit], rank[key], "end", key))

    while events:
        now = events[0][0]
        touched = set()
        while events and events[0][0] <= now:  # all of this moment first: then the units choose
            _, _, kind, key = heapq.heappop(events)
            unit = by_key[key].unit
            touched.add(unit)
            if kind == "ready":
                heapq.heappush(ready[unit], (rank[key], key))
                continue
            for t in users.get(key, ()):
                arrives = now + (0.0 if t.unit == unit else hand)
                ready_at[t.key] = max(ready_at[t.key], arrives)
                missing[t.key] -= 1
                if not missing[t.key]:
                    heapq.heappush(events, (ready_at[t.key], rank[t.key], "ready", t.key))
        for unit in touched:
            start(unit, now)
    return tuple(sorted(done, key=lambda s: (s.start, rank[s.task.key])))


@lru_cache(maxsize=64)
def run(variant: str, tiles: int, d: int, hand: float) -> tuple[Slot, ...]:
    """The schedule of a variant, by start."""
    return simulate(tasks(variant, tiles, d), hand)


def makespan(slots: tuple[Slot, ...]) -> float:
    """µs from the first start to the last end."""
    return max(s.end for s in slots)


def busy(slots: tuple[Slot, ...]) -> float:
    """Share of the time in which the matrix unit works, 0 to 1."""
    return sum(s.task.time for s in slots if s.task.unit == MATRIX) / makespan(slots)


def tflops(slots: tuple[Slot, ...]) -> float:
    """Of all SMs, if each does the same: the matrix rate times its busy share."""
    return CARDS["h100"].tensor_tflops * busy(slots)


_COLOURS = {"K": "k", "V": "v", "S": "s", "exp": "l", "PV": "o"}
_KINDS = {"K": "K loaded", "V": "V loaded", "S": "S = Q Kᵀ", "exp": "exp", "PV": "P V"}


def _lanes(slots: tuple[Slot, ...]) -> list[tuple[str, list[tuple]]]:
    """The three units, then each consumer's products and exponentials: these two may overlap.
    A bar: start, end, words, colour, words where there is little room, what its colour means."""

    def bar(s: Slot, letter: bool) -> tuple:
        what, who, j = s.task.key
        whose = "AB"[who] if letter and who >= 0 else ""
        return (round(s.start, 4), round(s.end, 4), f"{whose} {s.task.name}".strip(),
                _COLOURS[what], f"{whose}{j}", _KINDS[what])  # fmt: skip

    lanes = [(u, [bar(s, True) for s in slots if s.task.unit == u]) for u in (TMA, MATRIX, EXP)]
    for w, name in enumerate(("consumer A", "consumer B")):
        mine = [s for s in slots if s.task.key[1] == w]
        for unit, what in ((MATRIX, "products"), (EXP, "exp")):
            lanes.append((f"{name}: {what}", [bar(s, False) for s in mine if s.task.unit == unit]))
    return lanes


def _step_words(slots: tuple[Slot, ...], step: int) -> str:
    s = slots[step - 1]
    what, who, j = s.task.key
    acts = {"K": f"loading K of tile {j}", "V": f"loading V of tile {j}",
            "S": f"the product S = Q Kᵀ of tile {j}", "PV": f"the product P V of tile {j}",
            "exp": f"the exponentials of tile {j}"}  # fmt: skip
    whose = f" for consumer {'AB'[who]}" if who >= 0 else ""
    return (
        f"Step {step} of {len(slots)}: at {s.start:.2f} µs the {s.task.unit} starts "
        f"{acts[what]}{whose}; it takes {s.end - s.start:.2f} µs."
    )


def _model_words(d: int, hand: float) -> str:
    t, card = durations(d), CARDS["h100"]
    return (
        f"The model, one of {card.sms} SMs of an H100: a product of 64 × 128 × {d} takes "
        f"{t['S']:.3f} µs ({card.tensor_tflops:g} TFLOP/s in all), its 64 × 128 exponentials "
        f"{t['exp']:.3f} µs ({EXP_TFLOPS:g} × 10¹² a second, FlashAttention-3 paper), a K or V "
        f"tile {t['K']:.3f} µs from L2 ({l2_bytes_per_s() / 1e12:.1f} TB/s, measured on an H200, "
        f"the same chip). A hand-over takes {1000 * hand:.0f} ns: an assumption, move it. Left "
        "out: maxima, sums, rescaling, and the lower clock under load. So the model is a bound."
    )


def _pipeline(v: Mapping[str, float | str]) -> list[Block]:
    variant, d, hand = str(v["variant"]), int(v["d"]), float(v["hand"]) / 1000
    slots = run(variant, SHOWN, d, hand)
    step = min(len(slots), max(1, round(float(v["step"]))))
    rows, model = [], []
    for key, name in VARIANTS.items():
        shown, long = run(key, SHOWN, d, hand), run(key, LONG, d, hand)
        mark = " (shown)" if key == variant else ""
        rows.append((name + mark, f"{makespan(shown):.2f} µs", f"{busy(shown):.0%}",
                     f"{busy(long):.0%}", f"{tflops(long):.0f}"))  # fmt: skip
        model.append((f"model: {name}", tflops(long), f"{tflops(long):.0f}"))
    published = [(f"published: {name}", float(x), f"{x}") for name, x in PUBLISHED]
    return [
        text(SAID[variant]),
        timeline(f"{VARIANTS[variant]}: {SHOWN} key tiles on one SM", _lanes(slots[:step]), "µs"),
        text(_step_words(slots, step)),
        table(
            "The same work in four ways, by the model",
            ("way", f"{SHOWN} tiles take", "matrix unit busy", f"busy, {LONG} tiles", "TFLOP/s"),
            rows,
        ),
        bars(
            f"TFLOP/s: the model at d = {d}, {LONG} key tiles, beside figures {ABOUT_PUBLISHED}",
            [*model, *published],
            limit=CARDS["h100"].tensor_tflops,
        ),
        text(_model_words(d, hand), "fine"),
    ]


WIDGETS = (
    Widget("pipeline", "FA-3: who works when", (
        pick("variant", "Way of working", "overlap", VARIANTS.items()),
        pick("d", "Head dimension d", 128, (64, 128)),
        slider("hand", "Hand-over between units, ns", 50, 0, 200, 10),
        slider("step", "Step", 48, 1, 48, 1),
    ), _pipeline),
)  # fmt: skip
