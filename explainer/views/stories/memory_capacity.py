"""Capacity: the longest sequence that each card's memory holds, with and without S and P."""

from explainer.base.amounts import amount, round_step
from explainer.base.cards import CARDS
from explainer.base.records import BENCH, load
from explainer.base.texts import Texts
from explainer.memory import capacity
from explainer.memory.workload import Workload
from explainer.views.stories.chapter import (
    Chapter,
    Choice,
    Json,
    Table,
    links,
    switch,
    table,
    words,
)
from kernels.spec.fields import PASSES

t = Texts("memory")
# Of each choice: what is in memory with standard attention and with the fused kernel.
AT_WORK = {PASSES[0]: ("standard", "fused"), PASSES[1]: ("standard_back", "fused_back")}
STEPS = 80  # about as many positions of N, evenly on the axis
TABLED = tuple(2**k for k in range(8, 17))
Longest = dict[str, tuple[int, ...]]  # by card: with standard attention, with the fused kernel


def chapter(w: Workload, choice: Choice) -> Chapter:
    """Draw a card's two longest sequences as bars on one linear scale, and an N to compare."""
    mode = switch("pass", t("capacity.mode"), t.named("capacity.modes"), choice)
    forms = AT_WORK[mode["value"]]
    cards = sorted(CARDS, key=lambda card: CARDS[card].hbm_bytes)
    longest = {card: tuple(capacity.longest(w, form, card) for form in forms) for card in cards}
    standard, fused = longest[w.card]
    is_forward = mode["value"] == PASSES[0]
    beats = [_beat(n, longest) for n in _positions(longest)]
    peaks = capacity.peaks(w) if is_forward else []
    return {
        **words(
            "capacity",
            is_forward=is_forward,
            card=_short(w.card),
            gain=fused / standard,
            peaks=peaks,
            equal=sum(peak.recorded == peak.computed for peak in peaks),
            record=load(BENCH),
            cards=len(longest),
        ),
        "switches": [mode],
        "beats": beats,
        "start": _start(beats, longest),
        "table": [_ends(longest), _needed(w, forms), *([_peaks(peaks)] if peaks else [])],
        "links": links(w, "fa2", "recompute"),
        "picture": {
            "cards": [_row(w, card, longest[card]) for card in longest],
            "most": max(map(max, longest.values())),
            "names": t.named("capacity.forms"),
            "remark": _remark(w, forms),
        },
    }


def _short(card: str) -> str:
    """Return a card's name without its form and its family."""
    words = [x for x in CARDS[card].name.split() if x not in ("SXM", "80", "GB", "Blackwell")]
    return " ".join(words)


def _amount_of_tokens(n: int) -> str:
    """Three digits, rounded down: 48,400; 18.2 million."""
    n = capacity.round_down(n)
    if n >= 10**9:
        return t("capacity.billion", n=f"{n / 10**9:.3g}")
    return t("capacity.million", n=f"{n / 10**6:.3g}") if n >= 10**6 else f"{n:,}"


def _row(w: Workload, card: str, longest: tuple[int, ...]) -> Json:
    standard, fused = longest
    return {
        "key": card,
        "name": _short(card),
        "room": amount(CARDS[card].hbm_bytes),
        "chosen": card == w.card,
        "longest": longest,
        "texts": [_amount_of_tokens(n) for n in longest],
        "tip": t(
            "capacity.tip",
            card=CARDS[card].name,
            room=CARDS[card].hbm_bytes,
            standard=capacity.round_down(standard),
            fused=capacity.round_down(fused),
        ),
    }


def _remark(w: Workload, forms: tuple[str, str]) -> str:
    """Say what twice the memory does to each form's longest N."""
    standard, fused = (
        capacity.longest(w, form, w.card, 2) / capacity.longest(w, form, w.card) for form in forms
    )
    return t("capacity.remark", fused=fused, standard=standard)


# ---- positions of N


def _positions(longest: Longest) -> list[int]:
    """Return the positions of N: 1, 2, 5, … while standard attention fits some card, then even
    steps to the end of the longest bar."""
    most_standard, most = map(max, zip(*longest.values(), strict=True))
    few = [k * 10**tens for tens in range(3, 16) for k in (1, 2, 5)]
    step = int(round_step(most / STEPS))
    return sorted(
        {n for n in few if n <= min(2 * most_standard, most)}
        | {step * k for k in range(1, most // step + 1)}
    )


def _beat(n: int, longest: Longest) -> Json:
    standard, fused = (
        sum(n <= most for most in each) for each in zip(*longest.values(), strict=True)
    )
    none = t("capacity.none")
    return {
        "label": f"{n:,}",
        "note": t("capacity.tokens"),
        "n": n,
        "flag": t("capacity.at", n=_amount_of_tokens(n)),
        "fits": t(
            "capacity.fits", fused=fused or none, all=len(longest), standard=standard or none
        ),
    }


def _start(beats: list[Json], longest: Longest) -> int:
    """Start where two cards have run out with the fused kernel and five still fit."""
    bound = sorted(fused for _, fused in longest.values())[2]
    return max(0, sum(beat["n"] <= bound for beat in beats) - 1)


# ---- tables


def _ends(longest: Longest) -> Table:
    rows = [
        [CARDS[card].name, CARDS[card].hbm_bytes, *(capacity.round_down(n) for n in pair)]
        for card, pair in longest.items()
    ]
    return table(t, "capacity.ends", rows)


def _needed(w: Workload, forms: tuple[str, str]) -> Table:
    rows = [[n, *(capacity.needed(w, form, n) for form in forms)] for n in TABLED]
    return table(t, "capacity.needed", rows)


def _peaks(peaks: list[capacity.Peak]) -> Table:
    names = t.named("capacity.forms")
    rows = [
        [
            *(names[p.form], p.workload.n, f"{p.workload.batch} × {p.workload.heads}"),
            *(str(p.workload.mask), p.recorded, p.computed),
        ]
        for p in peaks
    ]
    return table(t, "capacity.peaks", rows, record=load(BENCH)["device"])
