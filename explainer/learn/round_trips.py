"""Lessons 2.3 and 2.4: what three kernels carry through HBM and back, as a sum one can follow; and
whether bytes or operations set the pace, before and after fusion."""

from __future__ import annotations

from collections.abc import Sequence

from explainer.algorithms.algorithm import COMPULSORY
from explainer.algorithms.traffic import compulsory_bytes, launches
from explainer.base.amounts import amount, milliseconds
from explainer.base.cards import CARDS
from explainer.learn.blocks import Block, picture, t
from explainer.learn.linear_algebra import make_problem
from kernels.spec.formats import ITEMSIZE

Moves = list[tuple[str, dict[str, int], dict[str, int]]]

CARD, D, DTYPE = "h200", 128, "fp16"
NAMES = {"scores": "Q Kᵀ", "softmax": "softmax", "output": "P V"}
LENGTHS = (512, 2048, 8192, 32768, 131072)
KNOWN = 8192  # an N whose S the picture shows and the hint names


# ---- round trips


def kernels(n: int, heads: int) -> Moves:
    """[(kernel, {tensor: bytes read}, {tensor: bytes written})] of standard attention's three
    launches, each matrix once per kernel, all heads."""
    side, size = min(n, 128), ITEMSIZE[DTYPE]
    short = make_problem(side, D, side, order="standard", dtype=DTYPE)
    exact = {t: heads * n * size * (n if t in "SP" else D) for t in "QKVSPO"}  # any N
    return [
        (
            NAMES[name],
            {t: exact[t] for t, (r, _) in moved.items() if r},
            {t: exact[t] for t, (_, w) in moved.items() if w},
        )
        for name, moved in launches(short, COMPULSORY)
    ]


def square(n: int, heads: int) -> int:
    """Bytes of S of so many heads."""
    return heads * n * n * ITEMSIZE[DTYPE]


def _sizes(moved: dict[str, int]) -> str:
    return ", ".join(f"{t} ({amount(b)})" for t, b in moved.items())


def _trips(n: int, heads: int) -> list[Block]:
    hardware = CARDS[CARD]
    moves = kernels(n, heads)
    total = sum(sum(r.values()) + sum(w.values()) for _, r, w in moves)
    fused = 4 * heads * n * D * ITEMSIZE[DTYPE]
    trips = 4 * square(n, heads)
    seconds = trips / hardware.hbm_bytes_per_s
    steps = [
        [t("round_trips.scores", n=n), t("round_trips.per_head", size=square(n, 1))],
        [
            t("round_trips.heads", heads=heads),
            t("round_trips.for_s", size=square(n, heads)),
        ],
        [t("round_trips.trips"), amount(trips)],
        [
            t(
                "round_trips.rate",
                rate=hardware.hbm_bytes_per_s / 1e12,
                card=hardware.name.split()[0],
            ),
            milliseconds(seconds * 1e3),
        ],
        [t("round_trips.operands", d=D), amount(fused)],
    ]
    ladder = [
        {"n": f"{x:,}", "bytes": square(x, heads), "text": amount(square(x, heads)), "now": x == n}
        for x in LENGTHS
        if x <= n
    ]
    wording = " ".join(
        t("round_trips.kernel", name=name, reads=_sizes(r), writes=_sizes(w))
        for name, r, w in moves
    )
    fits = square(n, heads) <= hardware.hbm_bytes
    words = t(
        "round_trips.fits" if fits else "round_trips.too_much",
        n=n,
        heads=heads,
        kernels=wording,
        total=total,
        trips=trips,
        time=steps[3][1],
        room=hardware.hbm_bytes,
    )
    data = {
        "kernels": [
            {
                "name": name,
                "reads": [[t, b, amount(b)] for t, b in r.items()],
                "writes": [[t, b, amount(b)] for t, b in w.items()],
            }
            for name, r, w in moves
        ],
        "steps": steps,
        "ladder": ladder,
        "heads": heads,
        "room": hardware.hbm_bytes,
        "room_text": t("round_trips.room", card=hardware.name.split()[0], size=hardware.hbm_bytes),
        "most": square(LENGTHS[-1], heads),
        "least": square(LENGTHS[0], 1),
    }
    return [picture("trips", t("round_trips.title", n=n, heads=heads), words, data)]


def _gib(n: int, heads: int) -> dict:
    times = n // KNOWN
    right = t(
        "round_trips.gib_right",
        first=square(KNOWN, 1),
        least=KNOWN,
        times=times,
        square=times**2,
        one=square(n, 1),
        all=square(n, heads),
        heads=heads,
    )
    return {
        "reasons": (right, t("round_trips.gib_wrong")),
        "answer": square(n, heads) / 2**30,
        "wrong": tuple(
            x / 2**30
            for x in (square(KNOWN, heads) * n / KNOWN, 2 * square(n, heads), square(n, 1))
        ),
    }


# ---- roofline


def intensity(n: int, d: int, order: str) -> float:
    """Operations per byte of one head: 4·N²·d over the least bytes, each matrix once per kernel."""
    return 4 * n * n * d / compulsory_bytes(n, d, DTYPE, order)


def ridge(key: str) -> float:
    """Operations per byte from which a card's matrix units set the pace."""
    return CARDS[key].tensor_tflops * 1e12 / CARDS[key].hbm_bytes_per_s


def attainable(key: str, per_byte: float) -> float:
    """TFLOP/s that the roofs allow at this intensity."""
    hardware = CARDS[key]
    return min(hardware.tensor_tflops, per_byte * hardware.hbm_bytes_per_s / 1e12)


def _roofline(n: int, d: int, card: str) -> list[Block]:
    hardware, edge, points, spoken = CARDS[card], ridge(card), [], []
    for order, name in zip(("standard", "fa2"), t.row("round_trips.kernels"), strict=True):
        at = intensity(n, d, order)
        most = attainable(card, at)
        bound = "round_trips.by_memory" if at < edge else "round_trips.by_units"
        found = {
            "operations": t("round_trips.operations", at=at),
            "most": t("round_trips.most", most=most),
            "bound": t(bound),
        }
        points.append({"name": name, "x": at, "y": most, **found})
        spoken.append(f"{name}: {', '.join(found.values())}")
    words = t(
        "round_trips.roofline",
        card=hardware.name,
        n=n,
        d=d,
        dtype=DTYPE,
        memory=hardware.hbm_bytes_per_s / 1e12,
        peak=hardware.tensor_tflops,
        edge=edge,
        points=". ".join(spoken),
    )
    data = {
        "points": points,
        "edge": edge,
        "edge_text": t("round_trips.ridge_at", at=edge),
        "peak": hardware.tensor_tflops,
        "per_s": hardware.hbm_bytes_per_s,
        "low": 1,
        "high": 65536,
        "card": hardware.name,
        "memory": t("round_trips.memory_roof", rate=hardware.hbm_bytes_per_s / 1e12),
        "units": t("round_trips.flat_roof", rate=hardware.tensor_tflops),
    }
    return [picture("roofline", t("round_trips.bound", n=n, d=d), words, data)]


def first_bound(key: str) -> int:
    """The first power of two N where a fused head is bound by the matrix units, not by HBM."""
    n = 16
    while intensity(n, D, "fa2") < ridge(key):
        n *= 2
    return n


def _bound(card: str, around: Sequence[int]) -> dict:
    """The question for this card: from which N on the fused kernel is bound by the matrix units."""
    right, edge, name = first_bound(card), ridge(card), CARDS[card].name.removesuffix(" SXM")

    def why(n: int) -> str:
        at = intensity(n, D, "fa2")
        if n < right:
            return t("round_trips.less", at=at, edge=edge)
        if n == right:
            return t("round_trips.more", at=at, edge=edge)
        return t("round_trips.beyond", at=at, edge=edge, first=right)

    return {
        "words": t("round_trips.ridge", card=name, edge=edge, d=D),
        "options": tuple((f"{n:,}", why(n)) for n in around),
        "answer": around.index(right),
    }


FIGURES = {"trips": lambda: {"l2": CARDS[CARD].l2_bytes}}
QUESTIONS = {"trips": _gib, "roofline": _bound}

WIDGETS = {
    "trips": _trips,
    "roofline": _roofline,
}
