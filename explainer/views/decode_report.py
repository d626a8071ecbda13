"""Decoding on the Parallel page as HTML: one query, its keys split; every text is escaped."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from explainer.algorithms.inputs import INPUTS
from explainer.base.amounts import count, shown
from explainer.base.kinds import Kind, computed, recorded, simulated
from explainer.base.records import about
from explainer.memory.workload import Workload
from explainer.parallel import split_keys
from explainer.problem import Problem
from explainer.views.html import card, figures_of, said, table, words
from explainer.views.parallel_report import page


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
    return page(said(text, computed() + recorded(RECORD)), view="decode")


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
    return page(
        _beside(w),
        card("combine", "The parts put together", computed(), "", words(note),
             table(head, lines, "Combining four parts")),
        figures_of("decode", [_kind_of(r) for r in rows], columns, rows,
                   "Every bar and point as a table"),
        view="decode-figures",
    )  # fmt: skip
