"""What GPUs were recorded to do with each layout: the last picture of "devices", and its table."""

from __future__ import annotations

from explainer.base.amounts import format_fixed, format_significant
from explainer.base.kinds import recorded
from explainer.base.records import about, load, rows_where
from explainer.base.texts import Texts
from explainer.parallel import devices
from explainer.views.stories.chapter import Json, Table, table

t = Texts("parallel")
ALIKE = (
    65_536  # tokens; at more, one GPU's call reaches the power limit, and the others' do less so
)
LAYOUTS, PEER = ("ring contiguous", "ring head-tail"), "context_parallel cudnn"
MASK = "causal"


def compared(both: list[Json], problem: str) -> Json:
    """Return both layouts as computed (``both``) for a small ``problem``, beside what was
    recorded at each length up to ``ALIKE``, which are its positions."""
    rows = devices.recorded_rows()
    lengths = sorted({one.n for one in rows if one.n <= ALIKE})
    beats = [_length(n, [one for one in rows if (one.n, one.mask) == (n, MASK)]) for n in lengths]
    gpus, device = (load(devices.RECORD)[key] for key in ("gpus", "device"))
    return {
        "headline": beats[-1]["headline"],
        "sentence": t("devices.sentence.compared", limit=100 * gpus / (2 * gpus - 1)),
        "provenance": t("devices.both.provenance", record=recorded(devices.RECORD).text),
        "beats": beats,
        "start": len(beats) - 1,
        "picture": {
            "both": both,
            "titles": [
                t("devices.both.computed", gpus=len(both[0]["devices"])),
                t("devices.both.recorded", gpus=gpus, device=device),
            ],
            "problem": problem,
            "names": t.row("devices.both.names"),
            "kernels": t.row("devices.both.kernels"),
            "half": t("devices.both.half"),
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


def recorded_table() -> Table:
    """Return every recorded method that uses all GPUs."""
    rows = []
    for one in devices.recorded_rows():
        exposed = "" if one.exposed is None else format_fixed(one.exposed, 2)
        error = "" if one.error is None else format_significant(one.error, 2)
        each = [
            [format_fixed(one.ms[key], 2), f"{one.speedup[key]:.0%}"] if key in one.ms else ["", ""]
            for key in ("forward", "backward")
        ]
        rows.append([f"{one.n:,}", one.mask, one.method, *each[0], exposed, *each[1], error])
    return table(t, "devices.table.recorded", rows, record=about(devices.RECORD))
