"""What launches move through HBM, one after the other, and what one fused launch moves."""

from explainer.base.cards import CARDS
from explainer.learn.kit import Block, Words
from explainer.learn.launches import Launch, attention, launch_flow, total
from kernels.spec.formats import ITEMSIZE

t = Words(__name__)
CARD, D, DTYPE = CARDS["h200"], 64, "fp16"


def chain(what: str, n: int) -> tuple[list[Launch], list[Launch]]:
    """Launches (apart, fused) of one head, their compulsory bytes: "softmax", scale, mask and
    softmax of S (n, n); or "attention", three kernels against FA-2."""
    if what == "softmax":
        size = n * n * ITEMSIZE[DTYPE]
        results = {"scale": "S", "mask": "S", "softmax": "P"}
        apart = [(name, {"S": size}, {made: size}) for name, made in results.items()]
        return apart, [("all", {"S": size}, {"P": size})]
    ((_, loaded, stored),) = attention("fa2", n, D, DTYPE)
    return attention("standard", n, D, DTYPE), [("fused", loaded, stored)]


def _title(group: list[Launch]) -> str:
    return t("launches", n=len(group)) if len(group) > 1 else t("one")


def _spoken(group: list[Launch]) -> str:
    names = t.named("names")
    moves = [
        t("moves", name=names[name], read=sum(read.values()), written=sum(written.values()))
        for name, read, written in group
    ]
    return t("group", title=_title(group), moves=moves)


def compute(what: str, n: int) -> Block:
    """The trips of both, and all their bytes."""
    both = chain(what, n)
    most = max(max(*r.values(), *w.values()) for group in both for _, r, w in group)
    titles, totals = [_title(group) for group in both], [total(group) for group in both]
    return t.picture(
        n=n,
        said=". ".join(map(_spoken, both)),
        flows=[launch_flow(_title(group), group, t.named("names"), most) for group in both],
        titles=titles,
        totals=totals,
        us=[size / CARD.hbm_bytes_per_s * 1e6 for size in totals],
        times=totals[0] / totals[1],
        rate=CARD.hbm_bytes_per_s / 1e12,
        lse=both[1][0][2].get("lse"),
    )


def question(count: int, extra: int) -> dict:
    """``count`` launches of which ``extra`` also load a bias: matrices moved, apart ÷ fused; and
    launches counted, the bias not loaded again, stores alone."""
    apart, fused = 2 * count + extra, 2 + extra
    figures = {"count": count, "extra": extra, "apart": apart, "fused": fused}
    return {
        "answer": apart / fused,
        "wrong": (count, apart / 2, (count + extra) / (1 + extra)),
        "figures": figures,
    }
