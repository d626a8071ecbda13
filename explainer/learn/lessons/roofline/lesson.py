"""Whether bytes or operations set the pace, before and after fusion."""

from collections.abc import Sequence

from explainer.algorithms.traffic import compulsory_bytes
from explainer.base.cards import CARDS
from explainer.learn.kit import Block, Words

t = Words(__name__)
D, DTYPE = 128, "fp16"
LOW, HIGH = 1, 65_536  # FLOPs per byte, the ends of the axis


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


def compute(n: int, d: int, card: str) -> Block:
    """Show a card's two roofs, and where attention stands under them before and after fusion."""
    at = [intensity(n, d, order) for order in ("standard", "fa2")]
    edge, most = ridge(card), [attainable(card, x) for x in at]
    bounds = [t("by_memory" if x < edge else "by_units") for x in at]
    points = [
        t("point", name=name, at=x, most=y, bound=bound)
        for name, x, y, bound in zip(t.row("kernels"), at, most, bounds, strict=True)
    ]
    return t.picture(
        card=CARDS[card],
        n=n,
        d=d,
        memory=CARDS[card].hbm_bytes_per_s / 1e12,
        edge=edge,
        slope=attainable(card, LOW),
        points=points,
        text=". ".join(points),
        at=at,
        most=most,
        high=2 * CARDS[card].tensor_tflops,
    )


def first_bound(key: str) -> int:
    """The first power of two N where a fused head is bound by the matrix units, not by HBM."""
    n = 16
    while intensity(n, D, "fa2") < ridge(key):
        n *= 2
    return n


def question(card: str, around: Sequence[int]) -> dict:
    """The question for this card: from which N on the fused kernel is bound by the matrix units."""
    right, edge, name = first_bound(card), ridge(card), CARDS[card].name.removesuffix(" SXM")

    def why(n: int) -> str:
        at = intensity(n, D, "fa2")
        if n < right:
            return t("less", at=at, edge=edge)
        if n == right:
            return t("more", at=at, edge=edge)
        return t("beyond", at=at, edge=edge, first=right)

    return {
        "words": t("ridge", card=name, edge=edge, d=D),
        "options": tuple((f"{n:,}", why(n)) for n in around),
        "answer": around.index(right),
    }
