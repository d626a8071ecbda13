"""The chapter "decoding" of Parallel: one query; its keys in parts give every SM a program."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any
from urllib.parse import urlencode

import numpy as np

from explainer.algorithms.inputs import make_inputs
from explainer.base.amounts import format_fixed
from explainer.base.cards import CARDS
from explainer.base.kinds import recorded
from explainer.base.records import about, rows_where
from explainer.base.texts import Texts
from explainer.memory.workload import Workload
from explainer.parallel import split_keys
from explainer.parallel.split_keys import RECORD, SDPA
from explainer.problem import Problem
from explainer.views.stories.chapter import (
    PARALLEL,
    Chapter,
    Choice,
    Json,
    Table,
    switch,
    table,
    words,
)

t = Texts("parallel")
RULE = "rule"  # as many parts as the kernel chooses
KEYS = 65_536  # shown where the address has no number of keys
SMALL = Problem(n=32, d=8, block_q=8, block_k=8, mask="full", inputs="random")
SMALL_PARTS = (1, 2, 4)  # of the small example; more of the launch leave it in four
SMS = CARDS["h200"].sms

TIMES = ("median_ms", "p20_ms", "p80_ms", "loop_ms")
Rows = list[Mapping[str, Any]]  # of the record, one for each number of keys


def chapter(w: Workload, choice: Choice) -> Chapter:
    """Return the chapter for the recorded launch that is nearest to ``w``, with 65,536 keys unless
    ``choice`` has ``n``. ``choice``: ``parts`` a recorded number of parts, ``rule`` or anything
    else as many as the kernel chooses; ``beside`` "sdpa" adds SDPA's backends."""
    wanted = w if choice.get("n") else replace(w, n=KEYS)
    nearest = split_keys.nearest_rows(wanted)[0]
    n, heads = nearest["n_k"], nearest["heads"]
    beside = switch("beside", t("decode.beside"), t.named("decode.beside.choices"), choice)
    lines = _lines(heads)
    chosen = choice.get("parts", RULE) if choice.get("parts") in lines else RULE
    whole, split = lines["1"], lines[chosen]
    lengths = [r["n_k"] for r in whole]
    at = lengths.index(n)
    small = min(split[at]["splits"], SMALL_PARTS[-1])
    weights = [f"{part.weight:.1%}" for part in split_keys.parts(SMALL, small)[0]]
    count = len(t.row("decode.beats"))
    return {
        **words(
            "decoding",
            asked=(wanted.n, w.batch * w.heads),
            n=n,
            heads=heads,
            sms=SMS,
            parts=split[at]["splits"],
            ratio=whole[at]["median_ms"] / split[at]["median_ms"],
            record=recorded(RECORD).text,
            d=nearest["d"],
            keys=SMALL.n,
            weights=weights,
            spoken=[
                (k, _us(one)["us"], other["splits"], _us(other)["us"])
                for k, one, other in zip(lengths, whole, split, strict=True)
            ],
        ),
        "switches": [beside],
        "beats": [
            {"label": label, "note": t("decode.beat", k=k, count=count)}
            for k, label in enumerate(t.row("decode.beats"), 1)
        ],
        "start": count - 1,
        "values": wanted.to_query(),
        "defaults": replace(PARALLEL, n=KEYS).to_query(),
        "table": [_times_table(heads), _parts_table(small)],
        "links": [
            (t("decode.link.step"), f"?{urlencode(SMALL.to_query() | {'order': 'fa2_split'})}"),
            (t("decode.link.lesson"), "?page=learn&lesson=decode"),
        ],
        "picture": {
            "keys": SMALL.n,
            "q": _numbers(make_inputs(SMALL)[0][-1]),
            "small": {count: _small(count) for count in SMALL_PARTS},
            "chart": {
                "n": lengths,
                "at": at,
                "lines": [_split_line(parts, rows, whole, at) for parts, rows in lines.items()],
                "chosen": [*lines].index(chosen),
                "beside": [
                    _line([name], rows_where(RECORD, heads=heads, method=method))
                    for method, name in SDPA.items()
                    if beside["value"] == "sdpa"
                ],
            },
        },
    }


def _lines(heads: int) -> dict[str, Rows]:
    """Return the kernel's recorded rows in as many parts at every length, and by its own rule."""
    ours = [r for r in rows_where(RECORD, heads=heads) if "splits" in r]
    counts = dict.fromkeys(r["splits"] for r in ours)
    found = {str(count): [r for r in ours if r["splits"] == count] for count in counts}
    found[RULE] = [r for r in ours if r["rule"]]
    return {parts: rows for parts, rows in found.items() if len(rows) == len(found["1"])}


def _us(row: Mapping[str, Any]) -> dict[str, float]:
    """Return a row's median and spread in µs, as the record has them to 0.01 µs."""
    names = {"us": "median_ms", "low": "p20_ms", "high": "p80_ms"}
    return {name: round(row[key] * 1e3, 2) for name, key in names.items()}


def _line(names: list[str], rows: Rows) -> Json:
    """Return the times at every length, µs, with their spread, and what names the line."""
    methods = (SDPA.get(r["method"]) or t("decode.parts", n=r["splits"]) for r in rows)
    return {
        "rows": names,
        "us": [_us(r)["us"] for r in rows],
        "tips": [
            t("decode.tip", method=method, n=r["n_k"], **_us(r))
            for method, r in zip(methods, rows, strict=True)
        ],
    }


def _split_line(parts: str, rows: Rows, whole: Rows, at: int) -> Json:
    """Return the kernel's times in so many parts, and how many times as long the keys in one part
    take."""
    splits, heads = rows[at]["splits"], rows[at]["heads"]
    names = [
        t("decode.line.parts", parts=splits) if splits > 1 else t("decode.line.whole"),
        t("decode.line.programs", programs=heads * splits),
    ]
    pairs = zip(whole, rows, strict=True)
    return {
        **_line(names, rows),
        "value": parts,
        "splits": splits,
        "ratios": [f"{one['median_ms'] / r['median_ms']:.1f}" for one, r in pairs],
    }


def _numbers(values: np.ndarray) -> list[float]:
    return [round(float(x), 3) for x in values]


def _small(count: int) -> Json:
    """Compute one query's attention to 32 keys in ``count`` parts, and how far their sum is from
    one softmax over all keys."""
    parts, o, lse = split_keys.parts(SMALL, count)
    _, whole, _ = split_keys.parts(SMALL, 1)
    same = t("decode.same", keys=SMALL.n, off=float(np.abs(o - whole).max()))
    return {
        "parts": [
            {
                "first": p.first,
                "last": p.last - 1,
                "lse": format_fixed(p.lse, 2),
                "weight": p.weight,
                "O": _numbers(p.O),
                "tip": t("decode.part.tip", m=p.m, l=p.l, lse=p.lse, weight=p.weight),
            }
            for p in parts
        ],
        "O": _numbers(o),
        "lse": format_fixed(lse, 2),
        "same": same if count > 1 else "",
    }


def _times_table(heads: int) -> Table:
    """Return every recorded time of so many heads, with the share of the SMs at work."""
    lines = []
    for r in rows_where(RECORD, heads=heads):
        own = [None, "", None, None]
        if "splits" in r:
            programs = heads * r["splits"]
            share = 100 * split_keys.share_at_work(programs, SMS)
            own = [r["splits"], t("decode.chosen") if r["rule"] else "", programs, round(share)]
        times = [round(r[key] * 1e3, 1) if key in r else None for key in TIMES]
        lines.append([SDPA.get(r["method"], t("decode.kernel")), r["n_k"], *own, *times])
    return table(t, "decode.table", lines, heads=heads, record=about(RECORD))


def _parts_table(count: int) -> Table:
    """Return the small example, part by part."""
    parts, o, lse = split_keys.parts(SMALL, count)
    lines = [
        [t("decode.keys", first=p.first, last=p.last - 1), p.m, p.l, p.lse, p.weight, *p.O[:4]]
        for p in parts
    ]
    lines.append([t("decode.all"), None, None, lse, 1.0, *o[:4]])
    return table(t, "decode.parts_table", lines, d=SMALL.d, keys=SMALL.n)
