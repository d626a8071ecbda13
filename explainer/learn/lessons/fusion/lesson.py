"""3.1: what launches move through HBM, one after the other, and what one fused launch moves."""

from __future__ import annotations

from explainer.algorithms.algorithm import COMPULSORY
from explainer.algorithms.traffic import launches
from explainer.base.amounts import amount, rounded
from explainer.base.cards import CARDS
from explainer.learn.kit import Block, Mark, arrow, bar, bars, flow, node, note, picture, words_of
from explainer.learn.linear_algebra import make_problem
from kernels.spec.formats import ITEMSIZE

t = words_of(__name__)
CARD, D, DTYPE = CARDS["h200"], 64, "fp16"
HUES = {"Q": "q", "K": "k", "V": "v", "O": "o", "lse": "l"}
Moved = dict[str, int]
Launch = tuple[str, Moved, Moved]  # the key of its name, bytes loaded and stored by tensor


def chain(what: str, n: int) -> tuple[list[Launch], list[Launch]]:
    """Launches (apart, fused) of one head, their compulsory bytes: "softmax", scale, mask and
    softmax of S (n, n); or "attention", three kernels against FA-2."""
    if what == "softmax":
        size = n * n * ITEMSIZE[DTYPE]
        results = {"scale": "S", "mask": "S", "softmax": "P"}
        apart = [(name, {"S": size}, {made: size}) for name, made in results.items()]
        return apart, [("all", {"S": size}, {"P": size})]
    apart, fused = (
        [
            (
                "fused" if order == "fa2" else name,
                {tensor: read for tensor, (read, _) in moved.items() if read},
                {tensor: written for tensor, (_, written) in moved.items() if written},
            )
            for name, moved in launches(make_problem(n, D, n, order=order, dtype=DTYPE), COMPULSORY)
        ]
        for order in ("standard", "fa2")
    )
    return apart, fused


def total(group: list[Launch]) -> int:
    return sum(sum(read.values()) + sum(written.values()) for _, read, written in group)


def _microseconds(group: list[Launch]) -> str:
    return rounded(total(group) / CARD.hbm_bytes_per_s * 1e6)


def _flow(title: str, group: list[Launch], most: int) -> Mark:
    """Matrices in HBM and kernels in turn; an arrow is as thick as its bytes."""
    columns: list[list[Mark]] = []
    arrows = []
    names = t.named("names")
    before: Moved = {}
    for k, (name, read, written) in enumerate(group):
        columns.append([node(f"{x}{k}", x, hue=HUES.get(x, "s")) for x in {**before, **read}])
        columns.append([node(f"kernel{k}", names[name], on=True)])
        for tensor, size in read.items():
            at = (f"{tensor}{k}", f"kernel{k}")
            arrows.append(arrow(*at, amount(size), HUES.get(tensor, "s"), amount=0.6 * size / most))
        for tensor, size in written.items():
            at = (f"kernel{k}", f"{tensor}{k + 1}")
            arrows.append(arrow(*at, amount(size), HUES.get(tensor, "s"), amount=0.6 * size / most))
        before = written
    columns.append([node(f"{x}{len(group)}", x, hue=HUES.get(x, "s")) for x in before])
    return flow(title, columns, arrows)


def _title(group: list[Launch]) -> str:
    return t("launches", n=len(group)) if len(group) > 1 else t("one")


def _spoken(group: list[Launch]) -> str:
    names = t.named("names")
    moves = ", ".join(
        t("moves", name=names[name], read=sum(read.values()), written=sum(written.values()))
        for name, read, written in group
    )
    return t("group", title=_title(group), moves=moves)


def compute(what: str, n: int) -> Block:
    """The trips of both, and all their bytes."""
    both = chain(what, n)
    apart, fused = both
    most = max(max(*r.values(), *w.values()) for group in both for _, r, w in group)
    items = [
        bar(
            _title(group),
            total(group),
            t("total", size=total(group), time=_microseconds(group)),
            "o" if group is fused else "s",
            key=f"total {k}",
        )
        for k, group in enumerate(both)
    ]
    rate = CARD.hbm_bytes_per_s / 1e12
    lse = fused[0][2].get("lse")
    sentence = (
        t("note", card=CARD.name, rate=rate, lse=lse)
        if lse
        else t("plain", card=CARD.name, rate=rate)
    )
    times = total(apart) / total(fused)
    return picture(
        t("label", n=n, d=D, dtype=DTYPE),
        t("spoken", apart=_spoken(apart), fused=_spoken(fused), times=times),
        *(_flow(_title(group), group, most) for group in both),
        bars(t("bytes"), items),
        note(sentence, "fine", aside=True),
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
