"""Render how much of N² a mask leaves, and what decoding keeps of K and V."""

from __future__ import annotations

from explainer.base.kinds import computed
from explainer.base.texts import Texts
from explainer.memory import mask_work
from explainer.memory.workload import Workload
from explainer.views import gradients_report
from explainer.views.templates import render
from explainer.views.view import View

t = Texts("memory")


def render_work(w: Workload, pass_: str = "forward") -> View:
    """Render scores, tiles, FLOPs and bytes beside N², and the cache of K and V in decoding, or for
    the backward pass its products."""
    works = mask_work.beside(w, pass_)
    own, full = works[w.mask.text], works["full"]
    if pass_ == "backward":
        below = {"products": gradients_report.render_products(w)}
    else:
        below = _cache_values(w)
    computed_scores = own.tiles * w.block_q * w.block_k
    rows = [
        {
            "mask": mask,
            "scores": work.scores,
            "tiles": work.tiles,
            "partial": work.partial,
            "flops": work.flops,
            "bytes": work.nbytes,
        }
        for mask, work in works.items()
    ]
    return View(
        render(
            "memory/work",
            w=w,
            pass_=pass_,
            own=own,
            full=full,
            shares=(own.scores / w.n**2, own.tiles / full.tiles, own.nbytes / full.nbytes),
            visible_of_computed=own.scores / computed_scores if computed_scores else 0.0,
            flops_per_score=2 * len(mask_work.PRODUCTS[pass_]),
            counted=computed(t("work.counted")),
            rows=rows,
            **below,
        )
    )


def _cache_values(w: Workload) -> dict:
    """Return the values of the cache's card: a row for each number of key heads, in bytes."""
    long = mask_work.LONG
    visible = {n: mask_work.cached_keys(w.mask, n) for n in (w.n, long)}
    key_heads = mask_work.key_heads(w.heads)
    rows = []
    for heads in key_heads:
        kind = "MHA" if heads == w.heads else "MQA" if heads == 1 else "GQA"
        sizes = {"token": 1, "now": visible[w.n], "long": visible[long], "every": long}
        rows.append(
            {"name": t("cache.name", kind=kind, heads=heads)}
            | {name: mask_work.cache_bytes(w, heads, n) for name, n in sizes.items()}
        )
    alone = key_heads[-1] == w.heads
    note = t("cache.alone") if alone else t("cache.shared", heads=w.heads)
    if visible[long] < long:
        note += t("cache.window", long=long, kept=visible[long])
    else:
        note += t("cache.all", long=long)
    return {
        "cached": computed(t("work.cache")),
        "caches": rows,
        "longest": mask_work.cache_bytes(w, w.heads, long),
        "note": note,
    }
