"""2.3: what three kernels carry through HBM and back, as a sum one can follow."""

from __future__ import annotations

from explainer.algorithms.algorithm import COMPULSORY
from explainer.algorithms.traffic import launches
from explainer.base.amounts import amount, milliseconds
from explainer.base.cards import CARDS
from explainer.learn.blocks import Block, picture
from explainer.learn.folder import words_of
from explainer.learn.linear_algebra import make_problem
from kernels.spec.formats import ITEMSIZE

Moves = list[tuple[str, dict[str, int], dict[str, int]]]

t = words_of(__name__)
CARD, D, DTYPE = "h200", 128, "fp16"
NAMES = {"scores": "Q Kᵀ", "softmax": "softmax", "output": "P V"}
LENGTHS = (512, 2048, 8192, 32768, 131072)
KNOWN = 8192  # an N whose S the picture shows and the hint names


def kernels(n: int, heads: int) -> Moves:
    """[(kernel, {tensor: bytes read}, {tensor: bytes written})] of standard attention's three
    launches, each matrix once per kernel, all heads."""
    side, size = min(n, 128), ITEMSIZE[DTYPE]
    short = make_problem(side, D, side, order="standard", dtype=DTYPE)
    exact = {x: heads * n * size * (n if x in "SP" else D) for x in "QKVSPO"}  # any N
    return [
        (
            NAMES[name],
            {x: exact[x] for x, (r, _) in moved.items() if r},
            {x: exact[x] for x, (_, w) in moved.items() if w},
        )
        for name, moved in launches(short, COMPULSORY)
    ]


def square(n: int, heads: int) -> int:
    """Bytes of S of so many heads."""
    return heads * n * n * ITEMSIZE[DTYPE]


def _sizes(moved: dict[str, int]) -> str:
    return ", ".join(f"{x} ({amount(b)})" for x, b in moved.items())


def compute(n: int, heads: int) -> Block:
    hardware = CARDS[CARD]
    moves = kernels(n, heads)
    total = sum(sum(r.values()) + sum(w.values()) for _, r, w in moves)
    fused = 4 * heads * n * D * ITEMSIZE[DTYPE]
    trips = 4 * square(n, heads)
    seconds = trips / hardware.hbm_bytes_per_s
    steps = [
        [t("scores", n=n), t("per_head", size=square(n, 1))],
        [
            t("heads", heads=heads),
            t("for_s", size=square(n, heads)),
        ],
        [t("trips"), amount(trips)],
        [
            t(
                "rate",
                rate=hardware.hbm_bytes_per_s / 1e12,
                card=hardware.name.split()[0],
            ),
            milliseconds(seconds * 1e3),
        ],
        [t("operands", d=D), amount(fused)],
    ]
    ladder = [
        {"n": f"{x:,}", "bytes": square(x, heads), "text": amount(square(x, heads)), "now": x == n}
        for x in LENGTHS
        if x <= n
    ]
    wording = " ".join(
        t("kernel", name=name, reads=_sizes(r), writes=_sizes(w)) for name, r, w in moves
    )
    fits = square(n, heads) <= hardware.hbm_bytes
    words = t(
        "fits" if fits else "too_much",
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
                "reads": [[x, b, amount(b)] for x, b in r.items()],
                "writes": [[x, b, amount(b)] for x, b in w.items()],
            }
            for name, r, w in moves
        ],
        "steps": steps,
        "ladder": ladder,
        "heads": heads,
        "room": hardware.hbm_bytes,
        "room_text": t("room", card=hardware.name.split()[0], size=hardware.hbm_bytes),
        "most": square(LENGTHS[-1], heads),
        "least": square(LENGTHS[0], 1),
    }
    return picture("trips", t("title", n=n, heads=heads), words, data)


def question(n: int, heads: int) -> dict:
    times = n // KNOWN
    right = t(
        "gib_right",
        first=square(KNOWN, 1),
        least=KNOWN,
        times=times,
        square=times**2,
        one=square(n, 1),
        all=square(n, heads),
        heads=heads,
    )
    return {
        "reasons": (right, t("gib_wrong")),
        "answer": square(n, heads) / 2**30,
        "wrong": tuple(
            x / 2**30
            for x in (square(KNOWN, heads) * n / KNOWN, 2 * square(n, heads), square(n, 1))
        ),
    }


def figures() -> dict[str, int]:
    """Bytes of the card's L2 cache."""
    return {"l2": CARDS[CARD].l2_bytes}
