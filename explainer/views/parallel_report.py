"""The Parallel page's views as HTML: pure functions of a workload; every text is escaped."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from explainer.algorithms.inputs import INPUTS
from explainer.algorithms.registry import LABELS
from explainer.base.amounts import count, milliseconds, shown
from explainer.base.kinds import Kind, computed, recorded, simulated
from explainer.base.records import about
from explainer.memory import compiled_tiles
from explainer.memory.workload import Workload
from explainer.parallel import launch, split_keys
from explainer.parallel.durations import pace
from explainer.parallel.real_schedules import Compared
from explainer.parallel.simulator import Schedule
from explainer.problem import Problem
from explainer.views.balance_report import balance
from explainer.views.html import card, div, figures_of, said, table, tag, words

MOST_LISTED = 600  # programs of a launch in the table and its downloads


def _page(*parts: str, view: str, **data: object) -> str:
    return div("fa-run", *parts, data_testid="parallel", data_view=view, **data)


def time(value: float, unit: str) -> str:
    """µs as µs, ms or s; visits as a number."""
    if unit == "µs":
        return f"{value:.3g} µs" if value < 1000 else milliseconds(value / 1e3)
    return f"{value:,.0f} visits"


def simulation(w: Workload) -> Kind:
    """Of a simulated launch."""
    how = "programs start in the order of their numbers, each where there is room first"
    return simulated(f"{how}; times {pace(w, 'fa2').source}")


def told(s: Schedule, launched: launch.Programs, unit: str, kind: Kind) -> Callable[[int], str]:
    """What hovering says of a program."""

    def text(p: int) -> str:
        row = f", row block {launched.row[p]}" if launched.row[p] >= 0 else ""
        span = f"{time(s.start[p], unit)} to {time(s.end[p], unit)}"
        where = f"{count(int(launched.visits[p]), 'visit')} on multiprocessor {s.sm[p]}"
        head = f"<b>program {p:,}</b>, head {launched.head[p]}{row}"
        return f"{head}<br>{where}<br>{span}<br>{kind.text}"

    return text


def _listed(s: Schedule, launched: launch.Programs, order: str) -> list[dict]:
    keep = np.arange(min(len(s.sm), MOST_LISTED))
    return [
        {
            "order": order, "program": int(p), "head": int(launched.head[p]),
            "row_block": int(launched.row[p]), "visits": int(launched.visits[p]),
            "sm": int(s.sm[p]),
            "start": round(float(s.start[p]), 3), "end": round(float(s.end[p]), 3),
        }
        for p in keep
    ]  # fmt: skip


PROGRAM_HEAD = ("Order", "program", "head", "row block", "visits", "multiprocessor", "start",
                "end")  # fmt: skip


# ---- the grid on the card


def grid_head(w: Workload, both: Mapping[str, Schedule]) -> str:
    """Why FA-1 leaves a card idle where FA-2 does not, in numbers."""
    sms = w.hardware.sms
    used = {order: len(np.unique(s.sm)) for order, s in both.items()}
    heads = w.batch * w.heads
    idle = {order: sms - n for order, n in used.items()}
    said_of = {order: f"leaves {n} of them idle" if n else "uses all" for order, n in idle.items()}
    text = (
        f"B × H = {heads:,}: FA-1 has {count(len(both['fa1'].sm), 'program')} for the {sms} "
        f"multiprocessors of {w.hardware.name} and {said_of['fa1']}; FA-2 has "
        f"{len(both['fa2'].sm):,}, one per head and row block, and {said_of['fa2']}."
    )
    return _page(said(text, simulation(w)), _facts(w, both), view="grid")


def _facts(w: Workload, both: Mapping[str, Schedule]) -> str:
    rows = []
    for order, s in both.items():
        slots, known = compiled_tiles.slots(w, order)
        p = pace(w, order)
        where = "compiled" if known else "assumed: not compiled"
        rows.append((
            LABELS[order], f"{len(s.sm):,}",
            f"{len(np.unique(s.sm))} of {s.sms}", f"{max(1, slots)} ({where})", f"{s.waves:.2f}",
            f"{100 * s.busy:.0f} %", f"{100 * s.tail:.0f} %", time(s.makespan, p.unit),
        ))  # fmt: skip
    head = ("Order", "programs", "multiprocessors used", "programs at once on one", "waves",
            "busy", "tail", "takes")  # fmt: skip
    times = f"times {pace(w, 'fa2').source}"
    return card("facts", "The launch", simulation(w), times,
                table(head, rows, "Both launches in numbers"))  # fmt: skip


def grid_tail(w: Workload, both: Mapping[str, Schedule], others: Mapping[str, Schedule]) -> str:
    """What heavy-first order repairs; how the simulation works; the figures."""
    parts = []
    if others:
        parts.append(words(_imbalance(w, others)))
    parts.append(words(
        "Busy: the share of the card's time in which a multiprocessor holds a program. Tail: for "
        "which share of the time one has, on average, run out of work. A wave: as many programs as "
        "the card holds at once. Simulated: programs start in the order of their numbers, each "
        "where there is room first; those that share a multiprocessor slow each other down, and "
        f"times of equal FA-2 programs spread by {100 * pace(w, 'fa2').spread:.1f} %, as recorded."
    ))  # fmt: skip
    launches = {order: launch.programs(w, order) for order in both}
    listed = [row for order, s in both.items() for row in _listed(s, launches[order], order)]
    caption = "The programs as a table" + (
        f" (the first {MOST_LISTED:,})" if len(listed) > MOST_LISTED else ""
    )
    return _page(
        balance(w),
        card("tail", "Waves, tail, imbalance", simulation(w), "", *parts),
        figures_of("schedule", simulation(w), PROGRAM_HEAD, listed, caption),
        view="grid-figures",
    )


def _imbalance(w: Workload, others: Mapping[str, Schedule]) -> str:
    """What the order of unequal rows does to the launch."""
    unit, own = pace(w, "fa2").unit, launch.kernels_order(w)
    names = {
        launch.PLAIN: "in the order of the rows",
        launch.HEAD: "the longest first within each head",
        launch.HEAVY: f"the longest of {count(launch.section(w), 'head')} first",
    }
    told = "; ".join(
        f"{name}{', as the kernel has it' * (o == own)}, {time(others[o].makespan, unit)}"
        for o, name in names.items()
    )
    kernel, visits = others[own], sum(launch.row_visits(w))
    less = 1 - min(s.makespan for s in others.values()) / kernel.makespan
    end = (
        f"The best of them takes {100 * less:.0f} % less than the kernel's. With more heads side "
        "by side, all K and V would compete for L2, of which the simulation knows nothing here."
    )
    if kernel.waves <= 1:
        end = "All programs start at once here, so the order hardly matters."
    elif less < 0.005:
        end = "The kernel's is the best of them here."
    unequal = (
        f"Row blocks are unequal: the longest visits {count(int(visits.max()), 'key block')}, the "
        f"shortest {visits.min():,}."
    )
    if visits.min() == visits.max():
        unequal = f"All row blocks visit {count(int(visits.max()), 'key block')}."
    return f"{unequal} {told[0].upper()}{told[1:]}. {end}"


# ---- the real run


def real_head(c: Compared) -> str:
    """How far simulation and reality are apart."""
    name = LABELS[c.order]
    w = c.workload
    mask = str(w.mask)
    low, high = c.spread_us
    sign = "longer" if c.makespan >= 0 else "shorter"
    learnt = (
        "Its unit was taken from this very run, so only the shape is a prediction."
        if c.scaled
        else "It was learnt from other runs, at other N and other numbers of heads."
    )
    text = (
        f"{name}, {mask}, {w.dtype}, N = {w.n:,}, B × H = {w.batch * w.heads}, d = {w.d}, tiles of "
        f"{w.block_q} × {w.block_k}: the real kernel took {time(c.real.makespan, 'µs')} "
        f"({time(low, 'µs')} to {time(high, 'µs')} over the runs), the simulation says "
        f"{time(c.simulated.makespan, 'µs')}, {abs(100 * c.makespan):.1f} % {sign}. {learnt}"
    )
    kind = simulation(w) + c.kind
    return _page(said(text, kind), view="real", data_off=f"{c.makespan:.6f}")


def real_tail(c: Compared) -> str:
    """Both schedules in numbers, and every program."""
    rows = [
        (name, f"{len(np.unique(s.sm))} of {s.sms}", str(s.slots), f"{100 * s.busy:.0f} %",
         f"{100 * s.tail:.0f} %", time(s.makespan, "µs"))
        for name, s in (("simulated", c.simulated), ("real", c.real))
    ]  # fmt: skip
    head = ("", "multiprocessors used", "at once on one", "busy", "tail", "takes")
    note = (
        "The kernel is built with a flag that lets every program write down its multiprocessor "
        "(%smid) and the GPU's clock (%globaltimer) when it starts and ends. The run shown is the "
        "one with the median time. Which multiprocessor comes next is the hardware's own choice, "
        "so rows do not match one by one."
    )
    listed = _listed(c.real, c.launch, c.order)
    return _page(
        card("real", "Simulated and real", simulation(c.workload) + c.kind, "",
             table(head, rows, "Both schedules"), words(note)),
        figures_of("real-schedule", c.kind, PROGRAM_HEAD, listed, "The real programs as a table"),
        view="real-figures",
    )  # fmt: skip


def failure(sentence: str) -> str:
    """One sentence in place of a view."""
    return div("fa-run", tag("p", sentence, class_="fa-run-refused", role="alert"))


def progress(text: str) -> str:
    """A live run on its way."""
    return _page(words(text, "fa-finding"), view="real")


def warps_head() -> str:
    """What the two lanes below show."""
    return _page(
        said(
            "One tile among the warps of one block: FA-1 splits its keys and must put the pieces "
            "together, FA-2 splits its rows and exchanges nothing.",
            simulated("every warp's work and exchange, with the very numbers of the tile"),
        ),
        view="warps",
    )


# ---- decode


def decode_rows(w: Workload) -> list[dict]:
    """Parts, simulated share of the card at work, measured time where there is one; then SDPA's."""
    timed = {r["splits"]: r for r in split_keys.recorded(w)}
    chosen = split_keys.chosen(w)
    rows = []
    for splits in sorted({*split_keys.SPLITS, *timed, chosen}):
        s = split_keys.schedule(w, splits)
        row = {"method": "split keys", "splits": splits, "rule": "yes" if splits == chosen else ""}
        row |= {"programs": len(s.sm), "busy": round(s.busy, 4)}
        rows.append(row | _timed(timed.get(splits, {})))
    return rows + [
        {"method": name} | _timed(r)
        for r in split_keys.beside(w)
        if (name := split_keys.SDPA.get(r["method"])) and "median_ms" in r
    ]


def _timed(r: Mapping) -> dict:
    """The time of a recorded row, and where it comes from; nothing without one."""
    if "median_ms" not in r:
        return {}
    at = f"measured at N = {r['n_k']:,}, {r['heads']} heads, d = 64, {about(RECORD)}"
    return {x: r[x] for x in ("median_ms", "p20_ms", "p80_ms")} | {"source": at}


RECORD = "decode_nvidia_h200"


def _kind_of(r: Mapping) -> Kind:
    """Of a row of ``decode_rows``: how busy the card is was simulated, times were recorded."""
    busy = [simulated("share of the multiprocessors that work")] * ("busy" in r)
    times = [recorded(RECORD, "times")] * ("median_ms" in r)
    first, *more = busy + times
    return sum(more, first)


def decode_kind(rows: Sequence[Mapping]) -> Kind:
    """Of all of them."""
    first, *more = map(_kind_of, rows)
    return sum(more, first)


def decode_head(w: Workload, rows: Sequence[Mapping]) -> str:
    """One query leaves the card idle; splitting the keys fills it."""
    heads, sms = w.batch * w.heads, w.hardware.sms
    timed = [r for r in rows if "splits" in r and "median_ms" in r]
    best = min(timed, key=lambda r: r["median_ms"])
    at = split_keys.recorded(w)[0]
    idle = f"and {sms - heads} stay idle" if heads < sms else "which is enough to fill the card"
    text = (
        f"One new query, {w.n:,} keys: there is one row, so splitting the queries gives one "
        f"program a head, {heads:,} for {sms} multiprocessors, {idle}. Measured on the H200 with "
        f"{at['n_k']:,} keys and {at['heads']} head{'s' * (at['heads'] > 1)}, splitting the "
        f"keys into {best['splits']} parts took {best['median_ms'] * 1e3:.0f} µs in place of "
        f"{timed[0]['median_ms'] * 1e3:.0f}."
    )
    return _page(said(text, computed() + recorded(RECORD)), view="decode")


def _beside(w: Workload) -> str:
    """The rule and what it chooses; measured beside SDPA where that is recorded."""
    rule = (
        f"The kernel splits the keys into as many parts as give every multiprocessor "
        f"{split_keys.PROGRAMS_A_MULTIPROCESSOR} programs, at most one for every "
        f"{split_keys.MIN_KEYS} keys, and at most {split_keys.MAX_PARTS}. Here: "
        f"{count(split_keys.chosen(w), 'part')}."
    )
    listed = []
    for r in split_keys.beside(w):
        name = split_keys.SDPA.get(r["method"], f"split keys, {count(r.get('splits', 1), 'part')}")
        times = (f"{r[x] * 1e3:.1f} µs" if x in r else "" for x in ("median_ms", "loop_ms"))
        listed.append((name, r["refused"], "") if "refused" in r else (name, *times))
    if not listed:
        return card("rule", "How many parts", computed(), "", words(rule))
    at = split_keys.beside(w)[0]
    note = (
        f"Measured with {at['n_k']:,} keys, {count(at['heads'], 'head')}, d = 64, bf16. GPU time: "
        "by CUDA events, L2 emptied before each run, the host's work hidden. A call in a loop: 100 "
        "calls in a row, waited for once at the end, L2 warm."
    )
    head = ("Method", "GPU time", "a call in a loop")
    return card("rule", "How many parts", computed() + recorded(RECORD), "", words(rule),
                words(note), table(head, listed, "Split keys beside SDPA"))  # fmt: skip


def decode_tail(w: Workload, rows: Sequence[Mapping]) -> str:
    """A small combine, number by number; the figures."""
    problem = Problem(n=16, d=8, block_q=4, block_k=4, causal=False)
    parts, o, lse = split_keys.parts(problem, 4)
    lines = [
        (f"keys {p.first} to {p.last - 1}", *(shown(x, 4) for x in (p.m, p.l, p.lse, p.weight)),
         " ".join(map(shown, p.O[:4])))
        for p in parts
    ]  # fmt: skip
    lines.append(("combined", "", "", shown(lse, 4), shown(1, 4), " ".join(map(shown, o[:4]))))
    head = ("Part", "m", "ℓ", "lse = m + log ℓ", "exp(lse − all)", "O, first four")
    note = (
        f"The last row of N = 16, d = 8 ({INPUTS[problem.inputs]}). Each part is a softmax of its "
        "own; lse = log Σ exp(lse of the parts), O = Σ exp(lse of the part − lse) · O of the "
        "part. In exact arithmetic nothing is lost: it is the online softmax, in any order."
    )
    columns = ("Method", "parts", "the rule's", "programs", "busy", "median ms", "p20 ms", "p80 ms",
               "measured")  # fmt: skip
    return _page(
        _beside(w),
        card("combine", "The parts put together", computed(), "", words(note),
             table(head, lines, "Combining four parts")),
        figures_of("decode", [_kind_of(r) for r in rows], columns, rows,
                   "Every bar and point as a table"),
        view="decode-figures",
    )  # fmt: skip
