"""What three kernels carry through HBM and back, as a sum one can follow."""

from explainer.base.amounts import amount, milliseconds
from explainer.base.cards import CARDS
from explainer.learn.kit import Block, Words
from explainer.learn.launches import Launch, attention, launch_flow, total
from kernels.spec.formats import ITEMSIZE

t = Words(__name__)
CARD, D, DTYPE = "h200", 128, "fp16"
LENGTHS = (512, 2048, 8192, 32768, 131072)
KNOWN = 8192  # an N whose S the picture shows and the hint names


def kernels(n: int, heads: int) -> list[Launch]:
    """Return standard attention's three launches, all heads."""
    return attention("standard", n, D, DTYPE, heads)


def square(n: int, heads: int) -> int:
    """Bytes of S of so many heads."""
    return heads * n * n * ITEMSIZE[DTYPE]


def _sizes(moved: dict[str, int]) -> list[str]:
    return [f"{x} ({amount(b)})" for x, b in moved.items()]


def sum_of(n: int, heads: int) -> list[tuple[str, str]]:
    """Return the bytes of S and P, and their time, line by line; then the other matrices' bytes."""
    card, trips = CARDS[CARD], 4 * square(n, heads)
    rate = t("rate", rate=card.hbm_bytes_per_s / 1e12, card=card.name.split()[0])
    return [
        (t("scores", n=n), amount(square(n, 1))),
        (t("heads", heads=heads), amount(square(n, heads))),
        (t("trips"), amount(trips)),
        (rate, milliseconds(trips / card.hbm_bytes_per_s * 1e3)),
        (t("operands", d=D), amount(4 * heads * n * D * ITEMSIZE[DTYPE])),
    ]


def compute(n: int, heads: int) -> Block:
    """Show the three launches, the sum of their bytes, and how S grows with N."""
    card, moves, names = CARDS[CARD], kernels(n, heads), t.named("names")
    lines = sum_of(n, heads)
    ladder = [x for x in LENGTHS if x <= n]
    said = [
        t("kernel", name=names[name], reads=_sizes(loaded), writes=_sizes(stored))
        for name, loaded, stored in moves
    ]
    return t.picture(
        "title",
        "fits" if square(n, heads) <= card.hbm_bytes else "too_much",
        n=n,
        heads=heads,
        kernels=" ".join(said),
        total=total(moves),
        trips=4 * square(n, heads),
        time=lines[3][1],
        room=card.hbm_bytes,
        card=card.name.split()[0],
        flow=launch_flow(t("launches"), moves, names, square(n, heads)),
        lines=lines,
        ladder=ladder,
        squares=[square(x, heads) for x in ladder],
    )


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
