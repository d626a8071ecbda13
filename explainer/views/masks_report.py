"""The recorded times of masks and scores, our Hopper kernel beside FlexAttention, as HTML."""

from __future__ import annotations

from collections.abc import Mapping

from explainer.base import kinds
from explainer.base.amounts import milliseconds
from explainer.base.records import load
from explainer.base.texts import Texts
from explainer.views.html import card, div, table, words


def short(text, most=60):
    return text if len(text) <= most else f"{text[: most - 1]}…"


say = Texts("run")
NAME = "masks_nvidia_h200"
LONGEST = 22  # characters of a mask in the table


def recorded() -> str:
    """Each case in time and how many times as fast; then a window at growing N."""
    record = load(NAME)
    cases: dict[str, dict[str, Mapping]] = {}
    for row in record["rows"]:
        cases.setdefault(row["case"], {})[row["method"]] = row
    pairs = [(case["hopper"], case["flex"]) for case in cases.values() if len(case) > 1]
    lines = [
        (_asked(ours), _time(ours), _time(flex), f"{flex['median_ms'] / ours['median_ms']:.2f} ×")
        for ours, flex in pairs
    ]
    one = pairs[0][0]
    shape = say(
        "masks.shape", n=one["n"], d=one["d"], dtype=one["dtype"], b=one["batch"], h=one["heads"]
    )
    lengths = ", ".join(
        say("masks.length", time=milliseconds(row["median_ms"]), n=row["n"])
        for row in record["lengths"]
    )
    note = say("masks.note", runs=one["runs"])
    grown = say("masks.window", lengths=lengths) if lengths else ""
    return div(
        "fa-run",
        card(
            "masks-recorded",
            say("masks"),
            kinds.recorded(NAME),
            shape,
            table(say.row("masks.head"), lines, say("masks.caption")),
            *([words(grown)] if grown else []),
            words(note, "fa-fine"),
        ),
        data_testid="masks-recorded",
    )


def _asked(row: Mapping) -> str:
    mask = short(row["mask"], LONGEST)
    return mask if row["score"] == "none" else f"{mask}, {row['score']}"


def _time(row: Mapping) -> str:
    spread = f"{row['p20_ms']:.3g}–{row['p80_ms']:.3g}"
    return f"{milliseconds(row['median_ms'])} ({spread})"
