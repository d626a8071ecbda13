"""What a mask leaves of N², and what decoding keeps of K and V, as HTML; every text is escaped."""

from __future__ import annotations

from explainer.base.amounts import amount, rounded
from explainer.base.kinds import computed
from explainer.base.texts import Texts
from explainer.memory import mask_work
from explainer.memory.workload import Workload
from explainer.views import gradients_report
from explainer.views.html import bar, card, div, figures_of, memory_page, said, table, words

say = Texts("memory")
SHORT = 60  # characters of a mask in a sentence


def short(text: str, most: int = SHORT) -> str:
    """A mask's text, cut where it is long."""
    return text if len(text) <= most else f"{text[: most - 1]}…"


def percent(share: float) -> str:
    """“13 %”, “0.21 %”."""
    return f"{100 * share:.0f} %" if share >= 0.1 or not share else f"{100 * share:.2g} %"


COUNTED = computed(say("work.counted"))
CACHE = computed(say("work.cache"))


def work(w: Workload, pass_: str = "forward") -> str:
    """Scores, tiles, FLOPs and bytes beside N²; the cache of K and V in decoding, or the products
    of the backward pass."""
    found = mask_work.beside(w, pass_)
    own, full = found[w.mask.text], found["full"]
    shares = own.scores / w.n**2, own.tiles / full.tiles
    text = say(
        "work.finding",
        mask=short(w.mask.text),
        scores=percent(shares[0]),
        tiles=percent(shares[1]),
        br=w.block_q,
        bc=w.block_k,
        own=own.tiles,
        all=full.tiles,
        partial=own.partial,
    )
    rows = [
        {
            "mask": name,
            "scores": x.scores,
            "tiles": x.tiles,
            "partial": x.partial,
            "flops": x.flops,
            "bytes": x.nbytes,
        }
        for name, x in found.items()
    ]
    return memory_page(
        said(text, COUNTED),
        div(
            "fa-run-cards",
            _left(w, found, pass_),
            gradients_report.products(w) if pass_ == "backward" else _cache(w),
        ),
        figures_of("mask-work", COUNTED, say.row("work.head"), rows, say("work.caption")),
        view="work",
    )


def _left(w: Workload, found: dict[str, mask_work.Work], pass_: str) -> str:
    own, full = found[w.mask.text], found["full"]
    shares = (own.scores / w.n**2, own.tiles / full.tiles, own.nbytes / full.nbytes)
    parts = zip(say.row("left.bars"), shares, strict=True)
    bars = (bar(name, share, (percent(share),), "kernel") for name, share in parts)
    rows = [
        (
            short(name),
            f"{x.scores:,}",
            f"{x.tiles:,}",
            say("products.flops", n=rounded(x.flops / 1e9)),
            amount(x.nbytes),
        )
        for name, x in found.items()
    ]
    fill = own.scores / (own.tiles * w.block_q * w.block_k) if own.tiles else 0.0
    note = say("left.note", share=percent(fill))
    fine = say("left.fine", flops=2 * len(mask_work.PRODUCTS[pass_]))
    return card(
        "mask-work",
        say("left"),
        COUNTED,
        say.named("left.remark")[pass_],
        *bars,
        words(note),
        table(say.row("left.head"), rows, say("left.caption")),
        words(fine, "fa-fine"),
    )


def _name(w: Workload, k_heads: int) -> str:
    kind = "MHA" if k_heads == w.heads else "MQA" if k_heads == 1 else "GQA"
    return say("cache.name", kind=kind, heads=k_heads)


def _cache(w: Workload) -> str:
    long = mask_work.LONG
    kept = {n: mask_work.held(w.mask, n) for n in (w.n, long)}
    most = mask_work.cache_bytes(w, w.heads, long)
    bars, rows = [], []
    for heads in mask_work.key_heads(w.heads):
        now, far, every = (
            mask_work.cache_bytes(w, heads, tokens) for tokens in (kept[w.n], kept[long], long)
        )
        bars.append(bar(_name(w, heads), far / most, (amount(far),), "hopper", limit=every / most))
        one = amount(mask_work.cache_bytes(w, heads, 1))
        rows.append((_name(w, heads), one, amount(now), amount(far), amount(every)))
    alone = mask_work.key_heads(w.heads)[-1] == w.heads
    note = say("cache.alone") if alone else say("cache.shared", heads=w.heads)
    if kept[long] < long:
        note += say("cache.window", long=long, kept=kept[long])
    else:
        note += say("cache.all", long=long)
    fine = say("cache.fine", d=w.d, dtype=w.dtype)
    return card(
        "kv-cache",
        say("cache"),
        CACHE,
        say("cache.remark"),
        *bars,
        words(note),
        table(say.row("cache.head"), rows, say("cache.caption")),
        words(fine, "fa-fine"),
    )
