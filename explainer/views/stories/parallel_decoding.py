"""The chapter "decoding" of Parallel: one query; its keys in parts give every SM a program."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlencode

import numpy as np

from explainer.algorithms.inputs import make_inputs
from explainer.base.amounts import format_fixed
from explainer.base.cards import CARDS
from explainer.base.kinds import recorded
from explainer.base.records import about, load
from explainer.base.texts import Texts
from explainer.memory.workload import Workload
from explainer.parallel import split_keys
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

TIMES = ("median_ms", "p20_ms", "p80_ms", "loop_ms")
Row = Mapping[str, Any]


@dataclass(frozen=True)
class _Launch:
    """The recorded launch that is shown: ``n`` keys, ``heads``, and of each length that was
    recorded with so many heads its ``rows``; ``parts`` a number of parts, or ``RULE``."""

    n: int
    heads: int
    rows: dict[int, list[Row]]
    parts: str

    def row(self, parts: str, n: int) -> Row:
        """Return the row of the kernel in so many parts of ``n`` keys."""
        ours = (r for r in self.rows[n] if "splits" in r)
        return next(
            r for r in ours if (r.get("rule") if parts == RULE else str(r["splits"]) == parts)
        )

    @property
    def choices(self) -> list[str]:
        """The numbers of parts that were recorded at every length, and ``RULE``."""
        of_each = [{r["splits"] for r in rows if "splits" in r} for rows in self.rows.values()]
        return [*map(str, sorted(set.intersection(*of_each))), RULE]


def _launch(w: Workload, choice: Choice) -> _Launch:
    """Find the recorded launch that is nearest to ``w``."""
    nearest = split_keys.nearest_rows(w)[0]
    rows: dict[int, list[Row]] = {}
    for r in load(split_keys.RECORD)["rows"]:
        if r["heads"] == nearest["heads"]:
            rows.setdefault(r["n_k"], []).append(r)
    found = _Launch(nearest["n_k"], nearest["heads"], dict(sorted(rows.items())), RULE)
    parts = choice.get("parts", RULE)
    return replace(found, parts=parts if parts in found.choices else RULE)


def chapter(w: Workload, choice: Choice) -> Chapter:
    """Return the chapter for the recorded launch that is nearest to ``w``, with 65,536 keys unless
    ``choice`` has ``n``. ``choice``: ``parts`` a recorded number of parts, ``rule`` or anything
    else as many as the kernel chooses; ``beside`` "sdpa" adds SDPA's backends."""
    wanted = w if choice.get("n") else replace(w, n=KEYS)
    launch = _launch(wanted, choice)
    beside = switch("beside", t("decode.beside"), t.named("decode.beside.choices"), choice)
    row = launch.row(launch.parts, launch.n)
    small = {count: _small(count) for count in SMALL_PARTS}
    shown = small[min(row["splits"], SMALL_PARTS[-1])]
    chart = _chart(launch, beside["value"] == "sdpa")
    said = words(
        "decoding",
        asked=(wanted.n, w.batch * w.heads),
        n=launch.n,
        heads=launch.heads,
        sms=CARDS["h200"].sms,
        parts=row["splits"],
        ratio=launch.row("1", launch.n)["median_ms"] / row["median_ms"],
        record=recorded(split_keys.RECORD).text,
        d=row["d"],
        small=shown,
        weights=[f"{part['weight']:.1%}" for part in shown["parts"]],
        spoken=[_spoken(launch, n) for n in launch.rows],
    )
    count = len(t.row("decode.beats"))
    return {
        **said,
        "switches": [beside],
        "beats": [
            {"label": label, "note": t("decode.beat", k=k, count=count)}
            for k, label in enumerate(t.row("decode.beats"), 1)
        ],
        "start": count - 1,
        "values": wanted.to_query(),
        "defaults": replace(PARALLEL, n=KEYS).to_query(),
        "table": [_times_table(launch), _parts_table(shown)],
        "links": [
            (t("decode.link.step"), f"?{urlencode(SMALL.to_query() | {'order': 'fa2_split'})}"),
            (t("decode.link.lesson"), "?page=learn&lesson=decode"),
        ],
        "picture": {"small": small, "chart": chart},
    }


def _line(launch: _Launch, parts: str) -> Json:
    """Return the kernel's times in so many parts at every length, µs, with their spread, and how
    many times as long the keys in one part take."""
    rows = [launch.row(parts, n) for n in launch.rows]
    whole = [launch.row("1", n) for n in launch.rows]
    here = launch.row(parts, launch.n)["splits"]
    return {
        "value": parts,
        "splits": here,
        "us": [_microseconds(r)["us"] for r in rows],
        "tips": [t("decode.tip", n=r["n_k"], parts=r["splits"], **_microseconds(r)) for r in rows],
        "ratios": [
            f"{one['median_ms'] / r['median_ms']:.1f}" for one, r in zip(whole, rows, strict=True)
        ],
        "rows": [
            t("decode.line.parts", parts=here) if here > 1 else t("decode.line.whole"),
            t("decode.line.programs", programs=launch.heads * here),
        ],
    }


def _microseconds(row: Row) -> dict[str, float]:
    """Return a row's median and spread in µs, as the record has them to 0.01 µs."""
    names = {"us": "median_ms", "low": "p20_ms", "high": "p80_ms"}
    return {name: round(row[key] * 1e3, 2) for name, key in names.items()}


def _chart(launch: _Launch, with_sdpa: bool) -> Json:
    """Return the recorded times over the number of keys: of every number of parts, the first of
    which is one, and of SDPA's backends."""
    return {
        "n": [*launch.rows],
        "at": [*launch.rows].index(launch.n),
        "lines": [_line(launch, parts) for parts in launch.choices],
        "chosen": launch.choices.index(launch.parts),
        "beside": [_sdpa_line(launch, method) for method in split_keys.SDPA] if with_sdpa else [],
    }


def _sdpa_line(launch: _Launch, method: str) -> Json:
    """Return a backend's times at every length, None where it refused."""
    found = {r["n_k"]: r for n in launch.rows.values() for r in n if r.get("method") == method}
    times = {n: _microseconds(r) for n, r in found.items() if "median_ms" in r}
    name = split_keys.SDPA[method]
    return {
        "rows": [name],
        "us": [times[n]["us"] if n in times else None for n in launch.rows],
        "tips": [
            t("decode.tip.sdpa", name=name, n=n, **times[n]) if n in times else ""
            for n in launch.rows
        ],
    }


def _small(count: int) -> Json:
    """Compute one query's attention to 32 keys in ``count`` parts, and how far their sum is from
    one softmax over all keys."""
    parts, o, lse = split_keys.parts(SMALL, count)
    _, whole, _ = split_keys.parts(SMALL, 1)
    same = t("decode.same", keys=SMALL.n, off=float(np.abs(o - whole).max()))
    return {
        "keys": SMALL.n,
        "q": [round(float(x), 3) for x in make_inputs(SMALL)[0][-1]],
        "parts": [
            {
                "first": p.first,
                "last": p.last - 1,
                "lse": format_fixed(p.lse, 2),
                "weight": p.weight,
                "O": [round(float(x), 3) for x in p.O],
                "tip": t("decode.part.tip", m=p.m, l=p.l, lse=p.lse, weight=p.weight),
                "row": [*map(float, (p.m, p.l, p.lse, p.weight, *p.O[:4]))],
            }
            for p in parts
        ],
        "O": [round(float(x), 3) for x in o],
        "lse": format_fixed(lse, 2),
        "same": same if count > 1 else "",
        "row": ["", "", *map(float, (lse, 1.0, *o[:4]))],
    }


def _spoken(launch: _Launch, n: int) -> tuple[int, float, int, float]:
    """Return what the chart says of a length: keys, µs not split, parts and µs in parts."""
    whole, split = launch.row("1", n), launch.row(launch.parts, n)
    return n, _microseconds(whole)["us"], split["splits"], _microseconds(split)["us"]


def _times_table(launch: _Launch) -> Table:
    """Return every recorded time of so many heads, with the simulated share of the SMs at work."""
    lines = []
    for n, rows in launch.rows.items():
        for r in rows:
            name = split_keys.SDPA.get(r.get("method", ""), t("decode.kernel"))
            w = Workload(card="h200", n=n, d=r["d"], heads=launch.heads)
            s = split_keys.schedule(w, r["splits"]) if "splits" in r else None
            rule = t("decode.chosen") if r.get("rule") else ""
            own = [r["splits"], rule, len(s.sm), f"{s.busy:.0%}"] if s else ["", "", "", ""]
            times = [f"{r[key] * 1e3:.1f}" if key in r else "" for key in TIMES]
            lines.append([name, f"{n:,}", *own, *times, r.get("refused", "")])
    return table(t, "decode.table", lines, heads=launch.heads, record=about(split_keys.RECORD))


def _parts_table(small: Mapping[str, Any]) -> Table:
    """Return the small example, part by part."""
    keys = (t("decode.keys", first=p["first"], last=p["last"]) for p in small["parts"])
    names = [*keys, t("decode.all")]
    lines = [
        [name, *(format_fixed(x, 4) if x != "" else "" for x in part["row"])]
        for name, part in zip(names, [*small["parts"], small], strict=True)
    ]
    return table(t, "decode.parts_table", lines, d=SMALL.d, keys=SMALL.n)
