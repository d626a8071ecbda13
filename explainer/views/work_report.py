"""What a mask leaves of N², and what decoding keeps of K and V, as HTML; every text is escaped."""

from __future__ import annotations

from explainer.base.amounts import amount, count, rounded
from explainer.base.kinds import computed
from explainer.memory import mask_work
from explainer.memory.workload import Workload
from explainer.views import gradients_report
from explainer.views.html import bar, card, div, figures_of, memory_page, said, table, words

SHORT = 60  # characters of a mask in a sentence


def short(text: str, most: int = SHORT) -> str:
    """A mask's text, cut where it is long."""
    return text if len(text) <= most else f"{text[: most - 1]}…"


def percent(share: float) -> str:
    """“13 %”, “0.21 %”."""
    return f"{100 * share:.0f} %" if share >= 0.1 or not share else f"{100 * share:.2g} %"


COUNTED = computed("scores by the mask's row intervals, tiles by their classes, none of it run")
CACHE = computed("2 · Hk · d numbers of K and V for each token that is kept")


def work(w: Workload, pass_: str = "forward") -> str:
    """Scores, tiles, FLOPs and bytes beside N²; the cache of K and V in decoding, or the products
    of the backward pass."""
    found = mask_work.beside(w, pass_)
    own, full = found[w.mask.text], found["full"]
    shares = own.scores / w.n**2, own.tiles / full.tiles
    text = (
        f"{short(w.mask.text)} keeps {percent(shares[0])} of N² scores, and FA-2 visits "
        f"{percent(shares[1])} of the tiles of {w.block_q} × {w.block_k}: "
        f"{count(own.tiles, 'tile')} of {full.tiles:,}, {own.partial:,} of them partial."
    )
    rows = [
        {
            "mask": name, "scores": x.scores, "tiles": x.tiles, "partial": x.partial,
            "flops": x.flops, "bytes": x.nbytes,
        }
        for name, x in found.items()
    ]  # fmt: skip
    head = ("Mask", "scores kept", "tiles visited", "of them partial", "FLOPs of one head",
            "bytes FA-2 asks for, one head")  # fmt: skip
    return memory_page(
        said(text, COUNTED),
        div(
            "fa-run-cards",
            _left(w, found, pass_),
            gradients_report.products(w) if pass_ == "backward" else _cache(w),
        ),
        figures_of("mask-work", COUNTED, head, rows, "The work of each mask as a table"),
        view="work",
    )


def _left(w: Workload, found: dict[str, mask_work.Work], pass_: str) -> str:
    own, full = found[w.mask.text], found["full"]
    parts = [
        ("Scores kept", own.scores / w.n**2),
        ("Tiles visited", own.tiles / full.tiles),
        ("Bytes asked", own.nbytes / full.nbytes),
    ]
    bars = (bar(name, share, (percent(share),), "kernel") for name, share in parts)
    rows = [
        (short(name), f"{x.scores:,}", f"{x.tiles:,}",
         f"{rounded(x.flops / 1e9)} G", amount(x.nbytes))
        for name, x in found.items()
    ]  # fmt: skip
    head = ("Mask", "scores", "tiles", "FLOPs", "asked")
    fill = own.scores / (own.tiles * w.block_q * w.block_k) if own.tiles else 0.0
    note = (
        f"A tile is computed whole if the mask keeps any score of it: {percent(fill)} of the "
        "scores that are computed are kept. Smaller tiles waste less, and ask for more bytes."
    )
    fine = (
        f"FLOPs: {2 * len(mask_work.PRODUCTS[pass_])}·d for each score; full and causal by the "
        "papers' convention, N² and N²/2 scores. "
        "Asked: what FA-2's loads and stores add up to, one head."
    )
    return card(
        "mask-work", "Left of N²", COUNTED, f"one head, {pass_}, beside full", *bars, words(note),
        table(head, rows, "The mask beside causal and full"), words(fine, "fa-fine"),
    )  # fmt: skip


def _name(w: Workload, k_heads: int) -> str:
    kind = "MHA" if k_heads == w.heads else "MQA" if k_heads == 1 else "GQA"
    return f"{kind}, Hk = {k_heads}"


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
    head = ("", "per token", "at N", "at 128 k", "every key")
    least = mask_work.key_heads(w.heads)[-1]
    note = (
        f"H = {w.heads} heads of Q share Hk heads of K and V: the cache is H / Hk times smaller. "
        f"Of {long:,} tokens this mask needs the keys of {kept[long]:,}"
    )
    note += (
        ": a window forgets, whatever Hk."
        if kept[long] < long
        else ": all of them, so only a smaller Hk helps."
    )
    fine = (
        "Kept, at N and at 128 k tokens, is what the newest token or a later one sees; ▏and the "
        "last column: every key of 128 k tokens. Bytes of "
        f"one sequence in one layer, d = {w.d}, {w.dtype}: multiply by the model's layers."
    )
    if least == w.heads:
        note = f"With one head MHA, GQA and MQA are the same. {note.partition('. ')[2]}"
    return card(
        "kv-cache", "K and V kept in decoding", CACHE, "bars: at 128 k tokens", *bars, words(note),
        table(head, rows, "The cache of K and V by Hk"), words(fine, "fa-fine"),
    )  # fmt: skip
