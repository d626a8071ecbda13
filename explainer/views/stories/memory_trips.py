"""The chapter "trips" of Memory: what each kernel moves between HBM and the chip, as time."""

import math
from dataclasses import dataclass

from explainer.algorithms import traffic
from explainer.algorithms.algorithm import COMPULSORY
from explainer.algorithms.registry import BASELINE, LABELS
from explainer.base.amounts import amount, round_step, rounded
from explainer.base.cards import peak_tflops
from explainer.base.kinds import computed
from explainer.base.texts import Texts
from explainer.memory.workload import Workload
from explainer.views.stories.chapter import (
    Chapter,
    Choice,
    Json,
    Table,
    links,
    round_times,
    table,
    words,
)
from kernels.spec.masks import flops

t = Texts("memory")
ORDERS = (BASELINE, "fa2")
MOST_BEATS, TICKS = 60, 6
START = 2 / 3  # of the time: the third matrix of N × N is on its way
UNITS = {"s": 1.0, "ms": 1e-3, "µs": 1e-6, "ns": 1e-9}


@dataclass(frozen=True)
class Trip:
    """A matrix on its way: of which kernel (``launch``), read from HBM or written to it; ``start``
    and ``end`` in bytes that the algorithm has moved by then, of all heads."""

    launch: int
    tensor: str
    is_read: bool
    start: int
    end: int


def trips(w: Workload, order: str) -> list[Trip]:
    """List the trips of an algorithm one after the other, each matrix once per kernel."""
    found: list[Trip] = []
    heads = w.batch * w.heads
    for k, (_, moved) in enumerate(traffic.launches(w.problem(order), COMPULSORY)):
        for is_read in (True, False):
            for tensor, (read, written) in moved.items():
                if n := heads * (read if is_read else written):
                    start = found[-1].end if found else 0
                    found.append(Trip(k, tensor, is_read, start, start + n))
    return found


def chapter(w: Workload, _choice: Choice) -> Chapter:
    """Return the chapter; it has no switches."""
    lanes = [trips(w, order) for order in ORDERS]
    standard, fused = (lane[-1].end for lane in lanes)
    rate = w.hardware.hbm_bytes_per_s
    unit = next(name for name, size in UNITS.items() if standard / rate >= size or name == "ns")
    whole = standard / rate / UNITS[unit]
    times = round_times(whole, MOST_BEATS)
    square = w.batch * w.heads * w.n**2 * w.itemsize
    facts = {"l2": w.hardware.l2_bytes, "rate": rate, "kind": computed().text}
    return {
        **words("trips", standard=standard, fused=fused, square=square, **facts),
        "switches": [],
        "beats": [_beat(lanes, time / whole, time, whole, unit) for time in times],
        "start": round(START * (len(times) - 1)),
        "table": [_table(w, lanes)],
        "links": links(w, BASELINE, "trips", "fusion"),
        "picture": {
            "lanes": [
                _lane(lane, standard, form)
                for lane, form in zip(lanes, ("standard", "fused"), strict=True)
            ],
            "ticks": _ticks(whole, unit),
            "pace": _pace(w, fused / rate),
            "sms": t("trips.sms"),
            "memory": w.hardware.memory,
        },
    }


def _lane(lane: list[Trip], whole: int, form: str) -> Json:
    """Describe the trips of an algorithm: ``start`` and ``end`` as shares of the time axis."""
    return {
        "name": t(f"trips.{form}"),
        "note": t(f"trips.{form}.note"),
        "kernels": [
            {"name": name, "end": max(x.end for x in lane if x.launch == k) / whole}
            for k, name in enumerate(t.row(f"trips.{form}.kernels"))
        ],
        "trips": [
            {
                "tensor": x.tensor,
                "read": x.is_read,
                "start": x.start / whole,
                "end": x.end / whole,
                "size": amount(x.end - x.start),
                "word": (word := t("trips.read" if x.is_read else "trips.written")),
                "tip": t("trips.tip", tensor=x.tensor, word=word, n=x.end - x.start),
            }
            for x in lane
        ],
    }


def _beat(lanes: list[list[Trip]], share: float, time: float, whole: float, unit: str) -> Json:
    """Describe a moment, at this share of the axis: the bytes that each algorithm has moved, and
    how much of standard attention's matrix that is on its way."""
    here = share * lanes[0][-1].end
    trip = next((x for x in lanes[0] if x.start < here < x.end), None)
    ends = [lane[-1].end for lane in lanes]
    return {
        "label": t("trips.beat", time=time, whole=whole, unit=unit),
        "note": t("trips.beat.note", size=ends[0]),
        "share": share,
        "moved": [amount(min(here, end)) for end in ends],
        "so_far": [t("trips.done" if here >= end else "trips.so_far") for end in ends],
        "part": t("trips.part", moved=here - trip.start, size=trip.end - trip.start)
        if trip
        else "",
    }


def _ticks(whole: float, unit: str) -> list[tuple[float, str]]:
    """List the ticks of the time axis: (share, figure)."""
    step = round_step(whole / TICKS)
    count = math.floor(whole / step + 1e-9)
    figures = [t("trips.zero", unit=unit), *(rounded(k * step) for k in range(1, count + 1))]
    return [(k * step / whole, figure) for k, figure in enumerate(figures)]


def _pace(w: Workload, bus: float) -> dict[str, str]:
    """Say when the fused kernel's matrices have passed, and how long its products take at least;
    ``bus`` in seconds."""
    peak = peak_tflops(w.hardware.driver_names[0], w.dtype)
    then = t("trips.free")
    if peak is not None:
        products = flops(w.mask, w.batch * w.heads, w.n, w.n, w.d) / (peak * 1e12)
        key = "trips.products" if products > bus else "trips.bus"
        then = t(key, ms=products * 1e3, peak=peak)
    return {"in": t("trips.in"), "over": t("trips.over", ms=bus * 1e3), "then": then}


def _table(w: Workload, lanes: list[list[Trip]]) -> Table:
    """List every trip, its bytes and its time at the card's rate."""
    rate = w.hardware.hbm_bytes_per_s
    rows = [
        [
            LABELS[order],
            x.launch + 1,
            x.tensor,
            t("trips.read" if x.is_read else "trips.written"),
            x.end - x.start,
            round((x.end - x.start) / rate * 1e6, 3),
        ]
        for order, lane in zip(ORDERS, lanes, strict=True)
        for x in lane
    ]
    return table(t, "trips.table", rows)
