"""The Parallel page's views as HTML: pure functions of a workload; every text is escaped."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from explainer.algorithms.registry import LABELS
from explainer.base.amounts import milliseconds
from explainer.base.kinds import Kind, simulated
from explainer.base.texts import Texts
from explainer.memory.workload import Workload
from explainer.parallel import launch
from explainer.parallel.durations import pace, places
from explainer.parallel.real_schedules import Compared
from explainer.parallel.simulator import Schedule
from explainer.views.additions_report import additions
from explainer.views.balance_report import BLOCKS, balance
from explainer.views.html import card, div, figures_of, said, table, tag, words

say = Texts("parallel")
HEADS = {"forward": say.row("programs.forward"), "backward": say.row("programs.backward")}
MOST_LISTED = 600  # programs of a launch in the table and its downloads


def page(*parts: str, view: str, **data: object) -> str:
    return div("fa-run", *parts, data_testid="parallel", data_view=view, **data)


def time(value: float, unit: str) -> str:
    """µs as µs, ms or s; visits as a number."""
    if unit == "µs":
        return f"{value:.3g} µs" if value < 1000 else milliseconds(value / 1e3)
    return say("visits", n=value)


def simulation(w: Workload, pass_: str = "forward") -> Kind:
    """Of a simulated launch."""
    return simulated(say("simulated", source=pace(w, "fa2", pass_).source))


def told(
    s: Schedule, launched: launch.Programs, unit: str, kind: Kind, pass_: str = "forward"
) -> Callable[[int], str]:
    """What hovering says of a program."""

    def text(p: int) -> str:
        start, end = time(s.start[p], unit), time(s.end[p], unit)
        where = {"sm": s.sm[p], "start": start, "end": end, "kind": kind.text}
        what = {"p": p, "head": launched.head[p], "n": int(launched.visits[p])}
        if launched.row[p] < 0:
            return say("hover", **what, **where)
        return say("hover.block", **what, **where, block=BLOCKS[pass_], row=launched.row[p])

    return text


def _listed(s: Schedule, launched: launch.Programs, order: str) -> list[dict]:
    keep = np.arange(min(len(s.sm), MOST_LISTED))
    return [
        {
            "order": order,
            "program": int(p),
            "head": int(launched.head[p]),
            "row_block": int(launched.row[p]),
            "visits": int(launched.visits[p]),
            "sm": int(s.sm[p]),
            "start": round(float(s.start[p]), 3),
            "end": round(float(s.end[p]), 3),
        }
        for p in keep
    ]


# ---- the grid on the card


def grid_head(w: Workload, both: Mapping[str, Schedule], pass_: str = "forward") -> str:
    """Why FA-1 leaves a card idle where FA-2 does not, in numbers."""
    sms = w.hardware.sms
    used = {order: len(np.unique(s.sm)) for order, s in both.items()}
    heads = w.batch * w.heads
    idle = {order: sms - n for order, n in used.items()}
    use = {o: say("grid.idle", n=n) if n else say("grid.all") for o, n in idle.items()}
    serial, parallel = both  # one program a head, one a block
    text = say(
        "grid.finding_backward" if pass_ == "backward" else "grid.finding",
        heads=heads,
        serial=len(both[serial].sm),
        sms=sms,
        card=w.hardware.name,
        use1=use[serial],
        parallel=len(both[parallel].sm),
        block=BLOCKS[pass_],
        use2=use[parallel],
    )
    return page(said(text, simulation(w, pass_)), _facts(w, both, pass_), view="grid")


def _facts(w: Workload, both: Mapping[str, Schedule], pass_: str) -> str:
    rows = []
    for order, s in both.items():
        slots, known = places(w, order, pass_)
        p = pace(w, order, pass_)
        rows.append(
            (
                LABELS[order],
                f"{len(s.sm):,}",
                say("launch.used", n=len(np.unique(s.sm)), sms=s.sms),
                say("launch.compiled" if known else "launch.assumed", n=slots),
                f"{s.waves:.2f}",
                f"{100 * s.busy:.0f} %",
                f"{100 * s.tail:.0f} %",
                time(s.makespan, p.unit),
            )
        )
    times = say("launch.times", source=pace(w, "fa2", pass_).source)
    return card(
        "facts",
        say("launch"),
        simulation(w, pass_),
        times,
        table(say.row("launch.head"), rows, say("launch.caption")),
    )


def grid_tail(
    w: Workload,
    both: Mapping[str, Schedule],
    others: Mapping[str, Schedule],
    pass_: str = "forward",
) -> str:
    """What heavy-first order repairs; how the simulation works; the figures. Of the backward pass
    also what the order of its additions does."""
    kind, parts, spread = simulation(w, pass_), [], pace(w, "fa2", pass_).spread
    if others:
        parts.append(words(_imbalance(w, others, pass_)))
    backward = pass_ == "backward"
    how = say("tail.backward") if backward else say("tail.forward", spread=100 * spread)
    parts.append(words(say("tail.note") + how))
    launches = {order: launch.programs(w, order, pass_=pass_) for order in both}
    listed = [row for order, s in both.items() for row in _listed(s, launches[order], order)]
    caption = say("tail.caption")
    if len(listed) > MOST_LISTED:
        caption = say("tail.caption_first", n=MOST_LISTED)
    return page(
        *([additions(w)] if backward else []),
        balance(w, pass_),
        card("tail", say("tail"), kind, "", *parts),
        figures_of("schedule", kind, HEADS[pass_], listed, caption),
        view="grid-figures",
    )


def _imbalance(w: Workload, others: Mapping[str, Schedule], pass_: str) -> str:
    """What the order of unequal blocks does to the launch."""
    unit, own = pace(w, "fa2", pass_).unit, launch.kernels_order(w, pass_)
    texts, forward = say.named("order"), pass_ == "forward"
    names = {
        launch.PLAIN: texts[f"{pass_} plain"],
        launch.HEAD: texts["head"],
        launch.HEAVY: say("order.heavy", n=launch.section(w)),
        launch.LIGHT: texts["light"],
    }
    told = "; ".join(
        say(
            "order.kernel" if o == own else "order.took",
            order=name,
            time=time(others[o].makespan, unit),
        )
        for o, name in names.items()
        if o in others
    )
    kernel, visits = others[own], sum(launch.block_visits(w, pass_))
    less = 1 - min(s.makespan for s in others.values()) / kernel.makespan
    end = say("order.best", less=100 * less)
    if kernel.waves <= 1:
        end = say("order.at_once")
    elif less < 0.005:
        end = say("order.own")
    least, most = int(visits.min()), int(visits.max())
    if least == most:
        unequal = say("order.equal_rows" if forward else "order.equal_keys", most=most)
    else:
        key = "order.row_blocks" if forward else "order.key_blocks"
        unequal = say(key, most=most, least=least)
        if not forward and w.causal:
            unequal += say("order.causal")
    return f"{unequal} {told[0].upper()}{told[1:]}. {end}"


# ---- the real run


def real_head(c: Compared) -> str:
    """How far simulation and reality are apart."""
    name = LABELS[c.order]
    w = c.workload
    mask = str(w.mask)
    low, high = c.spread_us
    took = {"real": c.real.makespan, "low": low, "high": high, "simulated": c.simulated.makespan}
    text = say(
        "real.finding",
        name=name,
        mask=mask,
        dtype=w.dtype,
        n=w.n,
        heads=w.batch * w.heads,
        d=w.d,
        br=w.block_q,
        bc=w.block_k,
        **{key: time(value, "µs") for key, value in took.items()},
        off=abs(100 * c.makespan),
        sign=say("real.longer" if c.makespan >= 0 else "real.shorter"),
        learned=say("real.scaled" if c.scaled else "real.learned"),
    )
    kind = simulation(w) + c.kind
    return page(said(text, kind), view="real", data_off=f"{c.makespan:.6f}")


def real_tail(c: Compared) -> str:
    """Both schedules in numbers, and every program."""
    rows = [
        (
            name,
            say("launch.used", n=len(np.unique(s.sm)), sms=s.sms),
            str(s.slots),
            f"{100 * s.busy:.0f} %",
            f"{100 * s.tail:.0f} %",
            time(s.makespan, "µs"),
        )
        for name, s in zip(say.row("real.rows"), (c.simulated, c.real), strict=True)
    ]
    listed = _listed(c.real, c.launch, c.order)
    return page(
        card(
            "real",
            say("real"),
            simulation(c.workload) + c.kind,
            "",
            table(say.row("real.head"), rows, say("real.caption")),
            words(say("real.note")),
        ),
        figures_of("real-schedule", c.kind, HEADS["forward"], listed, say("real.figures")),
        view="real-figures",
    )


def failure(sentence: str) -> str:
    """One sentence in place of a view."""
    return div("fa-run", tag("p", sentence, class_="fa-run-refused", role="alert"))


def progress(text: str) -> str:
    """A live run on its way."""
    return page(words(text, "fa-finding"), view="real")


def warps_head() -> str:
    """What the two lanes below show."""
    return page(said(say("warps"), simulated(say("warps.kind"))), view="warps")
