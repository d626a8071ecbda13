"""How many times less FlashAttention needs, over N: memory, bytes, time."""

from functools import cache
from typing import Any

from explainer.algorithms.traffic import compulsory_bytes, requested_bytes
from explainer.base.records import about, rows_where
from explainer.learn.kit import Block, Words
from kernels.spec.formats import ITEMSIZE

t = Words(__name__)
NS = tuple(2**k for k in range(8, 17))
D, DTYPE, BR, BC, HEADS = 128, "bf16", 128, 64, 16
LSE_BYTES = 4
TOKENS = 16_384  # batch × N of the recorded times, where N is no larger
BEFORE = TOKENS // 2  # the last N of two sequences


def saved_bytes(n: int, heads: int = 1) -> int:
    """Bytes of lse, all that FlashAttention stores beside Q, K, V and O."""
    return n * heads * LSE_BYTES


def squares(n: int, heads: int = 1) -> int:
    """Bytes of S and P in 16 bits."""
    return 2 * n * n * heads * ITEMSIZE[DTYPE]


def moved(order: str, n: int) -> int:
    """Compulsory bytes of one head."""
    return compulsory_bytes(n, D, DTYPE, order)


@cache
def recorded() -> dict[int, tuple[Any, Any]]:
    """{N: (ms of standard attention in PyTorch, None where its matrices did not fit; ms of our
    FA-2)}, no mask; batch × N is TOKENS as far as N goes, then batch is 1."""
    naive, fa2 = (
        {
            r["n"]: r.get("median_ms")
            for r in rows_where(method=method, d=D, mask="full", dtype=DTYPE)
        }
        for method in ("naive", "fa2")
    )
    return {n: (naive[n], fa2[n]) for n in sorted(naive)}


def gain(n: int) -> float | None:
    """Standard attention's time ÷ FA-2's, None where there is no pair."""
    slow, fast = recorded().get(n, (None, None))
    return slow / fast if slow and fast else None


def ratios() -> dict[str, list[float | None]]:
    """How many times less FA-2 needs at each N, by what is saved."""
    return {
        "memory": [squares(n) / saved_bytes(n) for n in NS],
        "bytes": [moved("standard", n) / moved("fa2", n) for n in NS],
        "time": [gain(n) for n in NS],
    }


def _time(n: int) -> str:
    slow, fast = recorded()[n]
    return t("pair", standard=slow, fa2=fast) if slow else t("no_room")


def compute(n: int) -> Block:
    """Three lines over N, and at one N the amounts behind them; ``n`` counts the Ns."""
    at = NS[n]
    slow, fast = recorded().get(at, (None, None))
    return t.picture(
        n=at,
        standard=squares(at),
        saved=saved_bytes(at),
        moved=moved("standard", at),
        least=moved("fa2", at),
        time=_time(at),
        lines=ratios(),
        ends=NS[::4],
        fast=fast,
        times=[slow or 0, fast or 0],
        texts=[t("ms", ms=ms) if ms else t("no_room") for ms in (slow, fast)],
        about=about(),
    )


def question(n: int, heads: int) -> dict:
    """MiB: the answer, and: 2 bytes a number, one head, S and P, two numbers a row."""
    found = saved_bytes(n, heads)
    wrong = (found / 2, found / heads, squares(n, heads), 2 * found)
    return {
        "answer": found / 2**20,
        "wrong": tuple(x / 2**20 for x in wrong),
        "figures": {"squares": squares(n, heads)},
    }


def _pace(n: int, ms: float) -> float:
    """TB/s at which the recorded batch passes over S and P in this time: each written and read."""
    return 2 * squares(n, HEADS * max(1, TOKENS // n)) / ms / 1e9


def figures() -> dict[str, str]:
    """What the recorded times say, and how requested bytes grow."""
    doubled = (requested_bytes(n, D, "full", DTYPE, "fa2", BR, BC) for n in (16_384, 8_192))
    fits = max(n for n, (naive, _) in recorded().items() if naive is not None)
    (slow, fast), (slower, faster) = (recorded()[n] for n in (BEFORE, TOKENS))
    more, less = doubled
    return {
        "doubled": f"{more / less:.2f}",
        "fits": f"{fits:,}",
        "before": f"{BEFORE:,}",
        "after": f"{TOKENS:,}",
        "gain": f"{slow / fast:.1f}",
        "dropped": f"{slower / faster:.1f}",
        "slower": f"{slower / slow:.1f}",
        "pace": f"{_pace(BEFORE, slow):.1f}",
        "later": f"{_pace(TOKENS, slower):.1f}",
    }
