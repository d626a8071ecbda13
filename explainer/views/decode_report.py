"""Decoding on the Parallel page as HTML: one query, its keys split; every text is escaped."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from explainer.algorithms.inputs import INPUTS
from explainer.base.amounts import shown
from explainer.base.kinds import Kind, computed, recorded, simulated
from explainer.base.records import about
from explainer.base.texts import Texts
from explainer.memory.workload import Workload
from explainer.parallel import split_keys
from explainer.problem import Problem
from explainer.views.html import card, figures_of, said, table, words
from explainer.views.parallel_report import page

say = Texts("parallel")
RECORD = "decode_nvidia_h200"


def decode_rows(w: Workload) -> list[dict]:
    """Parts, simulated share of the card at work, measured time where there is one; then SDPA's."""
    timed = {r["splits"]: r for r in split_keys.recorded(w)}
    chosen = split_keys.chosen(w)
    rows = []
    for splits in sorted({*split_keys.SPLITS, *timed, chosen}):
        s = split_keys.schedule(w, splits)
        row = {"method": say("decode.method"), "splits": splits}
        row["rule"] = say("decode.yes") if splits == chosen else ""
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
    at = say("decode.at", n=r["n_k"], heads=r["heads"], about=about(RECORD))
    return {x: r[x] for x in ("median_ms", "p20_ms", "p80_ms")} | {"source": at}


def _kind_of(r: Mapping) -> Kind:
    """Of a row of ``decode_rows``: how busy the card is was simulated, times were recorded."""
    busy = [simulated(say("decode.busy"))] * ("busy" in r)
    times = [recorded(RECORD, say("decode.times"))] * ("median_ms" in r)
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
    if heads < sms:
        text = say("decode.idle", n=w.n, heads=heads, sms=sms, idle=sms - heads)
    else:
        text = say("decode.full", n=w.n, heads=heads, sms=sms)
    text += say(
        "decode.measured",
        keys=at["n_k"],
        heads=at["heads"],
        parts=best["splits"],
        time=best["median_ms"] * 1e3,
        whole=timed[0]["median_ms"] * 1e3,
    )
    return page(said(text, computed() + recorded(RECORD)), view="decode")


def _beside(w: Workload) -> str:
    """The rule and what it chooses; measured beside SDPA where that is recorded."""
    rule = say(
        "rule.note",
        programs=split_keys.PROGRAMS_A_MULTIPROCESSOR,
        keys=split_keys.MIN_KEYS,
        most=split_keys.MAX_PARTS,
        parts=split_keys.chosen(w),
    )
    listed = []
    for r in split_keys.beside(w):
        ours = say("decode.method_parts", n=r.get("splits", 1))
        name = split_keys.SDPA.get(r["method"], ours)
        times = (f"{r[x] * 1e3:.1f} µs" if x in r else "" for x in ("median_ms", "loop_ms"))
        listed.append((name, r["refused"], "") if "refused" in r else (name, *times))
    if not listed:
        return card("rule", say("rule"), computed(), "", words(rule))
    at = split_keys.beside(w)[0]
    note = say("rule.measured", keys=at["n_k"], heads=at["heads"])
    return card(
        "rule",
        say("rule"),
        computed() + recorded(RECORD),
        "",
        words(rule),
        words(note),
        table(say.row("rule.head"), listed, say("rule.caption")),
    )


def decode_tail(w: Workload, rows: Sequence[Mapping]) -> str:
    """A small combine, number by number; the figures."""
    problem = Problem(n=16, d=8, block_q=4, block_k=4, mask="full")
    parts, o, lse = split_keys.parts(problem, 4)
    lines = [
        (
            say("combine.keys", first=p.first, last=p.last - 1),
            *(shown(x, 4) for x in (p.m, p.l, p.lse, p.weight)),
            " ".join(map(shown, p.O[:4])),
        )
        for p in parts
    ]
    lines.append(
        (say("combine.all"), "", "", shown(lse, 4), shown(1, 4), " ".join(map(shown, o[:4])))
    )
    note = say("combine.note", inputs=INPUTS[problem.inputs])
    kinds = [_kind_of(r) for r in rows]
    return page(
        _beside(w),
        card(
            "combine",
            say("combine"),
            computed(),
            "",
            words(note),
            table(say.row("combine.head"), lines, say("combine.caption")),
        ),
        figures_of("decode", kinds, say.row("decode.head"), rows, say("decode.caption")),
        view="decode-figures",
    )
