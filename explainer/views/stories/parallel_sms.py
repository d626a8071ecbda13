"""The chapter "SMs" of Parallel: how FA-1's and FA-2's programs fill a card, moment by moment."""

from dataclasses import dataclass, replace

import numpy as np

from explainer.algorithms.registry import ALGORITHMS, LABELS, PLACED
from explainer.base.amounts import round_step
from explainer.base.texts import Texts
from explainer.memory.workload import Workload
from explainer.parallel import launch
from explainer.parallel.simulator import Schedule
from explainer.views.stories import placed
from explainer.views.stories.chapter import (
    Chapter,
    Choice,
    Json,
    Table,
    links,
    nearest,
    round_times,
    switch,
    words,
)
from explainer.views.stories.placed import format_time

t, shared = Texts("parallel"), Texts("shared")
INKS = dict(zip(PLACED, ("o", "accent"), strict=True))
STEPS = 15  # about so many positions until the faster launch ends, and as many until the slower one
START = 0.7  # of the faster launch's time
GROUPS = 8  # of the SMs as they are drawn; which SMs share a GPC was not recorded
IDLE = -1


@dataclass(frozen=True)
class Launch:
    """One launch on the card: its algorithm, its schedule, what its programs are."""

    order: str
    schedule: Schedule
    is_recorded: bool
    programs: launch.Programs

    def fills(self, time: float) -> list[int]:
        """Return of each place of each SM how much of its program is done, in percent; IDLE where
        no program runs at that time."""
        s = self.schedule
        found = np.full((s.sms, s.slots), IDLE)
        here = np.flatnonzero(s.runs(time))
        share = (time - s.start[here]) / s.durations[here]
        found[s.sm[here], s.slot[here]] = np.floor(100 * share)
        return found.ravel().tolist()

    def share(self, time: float) -> float:
        """Return the share of all programs' time that lies before this moment."""
        s = self.schedule
        ran = np.clip(time - s.start, 0, s.durations)
        return float(ran.sum() / s.durations.sum())


def chapter(w: Workload, choice: Choice) -> Chapter:
    """Return the chapter. Raises ProblemError for too many programs, or a tile without room."""
    pass_switch = switch("pass", shared("pass"), shared.named("passes"), choice)
    pass_ = pass_switch["value"]
    both = [
        Launch(order, *placed.schedule_of(w, order, pass_), launch.programs(w, order, pass_=pass_))
        for order in PLACED
    ]
    unit = placed.unit_of(w, "fa2", pass_)
    times = _times(both)
    beats = [_beat(both, time, unit) for time in times]
    fast = min(one.schedule.makespan for one in both)
    serial, parallel = both
    ratio = serial.schedule.makespan / parallel.schedule.makespan
    sms, heads = w.hardware.sms, w.batch * w.heads
    used = [one.schedule.used_sms for one in both]
    return {
        **words(
            "sms",
            used=used,
            sms=sms,
            heads=heads,
            blocks=len(parallel.programs.head) // heads,
            pass_=pass_,
            source=placed.source_of(w, pass_, [one.is_recorded for one in both]),
            groups=GROUPS,
        ),
        "switches": [pass_switch],
        "beats": beats,
        "start": nearest(times, START * fast),
        "table": [
            placed.schedules_table(t("sms.table"), _launches(both, w, pass_), unit),
            _balance_table(w, pass_),
        ],
        "links": links(w, "fa2", "versions"),
        "picture": {
            "groups": [len(part) for part in np.array_split(np.arange(sms), GROUPS)],
            "cards": [_card(one, unit, pass_) for one in both],
            "sooner": t("sms.sooner", ratio=ratio) if ratio >= 1.05 else "",
        },
    }


def _card(one: Launch, unit: str, pass_: str) -> Json:
    span = one.schedule.makespan
    return {
        "name": LABELS[one.order],
        "ink": INKS[one.order],
        "programs": t.named("sms.each")[f"{pass_} {ALGORITHMS[one.order].program}"],
        "count": t("sms.count", n=len(one.programs.head)),
        "slots": one.schedule.slots,
        "span": span,
        "time": format_time(span, unit),
    }


def _times(both: list[Launch]) -> list[float]:
    """Return the positions: round times until the faster launch ends, then until the slower one."""
    fast, slow = sorted(one.schedule.makespan for one in both)
    found = round_times(fast, STEPS)
    if slow > fast:
        step = round_step((slow - fast) / STEPS)
        found += [*(float(x) for x in np.arange(0, slow, step) if x > fast), slow]
    return found


def _beat(both: list[Launch], time: float, unit: str) -> Json:
    """Describe one moment: what each place of both cards is at."""
    notes = [
        t("sms.done", order=LABELS[one.order])
        if one.schedule.makespan <= time
        else t("sms.share", order=LABELS[one.order], share=100 * one.share(time))
        for one in both
    ]
    return {
        "label": format_time(time, unit),
        "note": notes[0] if both[1].schedule.makespan > time else ", ".join(notes[::-1]),
        "time": time,
        "fills": [one.fills(time) for one in both],
        "done": [t("sms.done_count", n=one.schedule.ended(time)) for one in both],
    }


# ---- tables


def _launches(both: list[Launch], w: Workload, pass_: str) -> dict[str, Schedule]:
    """Return both schedules by name, and what other orders of unequal blocks would do to FA-2's."""
    found = {LABELS[one.order]: one.schedule for one in both}
    names, own = t.named("sms.orders"), launch.kernels_order(w, pass_)
    other = launch.HEAVY if pass_ == "backward" else launch.PLAIN
    for order in (launch.HEAD, launch.LIGHT, other):
        if w.mask.hides and order != own:
            found[names[order]] = placed.durations.schedule(w, "fa2", order, pass_)
    return found


def _balance_table(w: Workload, pass_: str) -> Table:
    """Count the visits of one head's blocks under this mask, causal and full."""
    rows = []
    for mask in dict.fromkeys((w.mask.text, "causal", "full")):
        visits = np.add(*launch.block_visits(replace(w, mask=mask), pass_))
        longest, mean = int(visits.max()), float(visits.mean())
        even = round(100 * mean / longest) if longest else 100
        rows.append([mask, int(visits.sum()), int(visits.min()), round(mean, 1), longest, even])
    title = t.named("balance.caption")[pass_]
    return {"title": title, "head": t.row("balance.head"), "rows": rows}
