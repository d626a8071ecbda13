"""The chapter "masks" of Memory: the tiles that a mask leaves, and the cache of K and V."""

from dataclasses import replace

import numpy as np

from explainer.algorithms import tiling
from explainer.base.amounts import amount
from explainer.base.texts import Texts
from explainer.memory import mask_work
from explainer.memory.workload import Workload
from explainer.views.stories.chapter import Chapter, Choice, Json, Table, links, table, words
from kernels.spec.masks import parse

t = Texts("memory")
MOST_CELLS = 64  # of the map's side; a cell stands for a square of tiles where there are more
WINDOW = 4  # N over the window that is shown where the workload's mask is full or causal


def chapter(w: Workload, _choice: Choice) -> Chapter:
    """Return the chapter: a beat for each mask, then one for each smaller number of key heads."""
    own = w.mask.text
    window = f"causal&window:{max(1, w.n // WINDOW)},0"
    masks = dict.fromkeys(("full", "causal", own if own not in ("full", "causal") else window))
    masked = {text: replace(w, mask=parse(text)) for text in masks}
    works = {text: mask_work.work(x) for text, x in masked.items()}
    last = [*masks][-1]
    heads = mask_work.key_heads(w.heads)
    places = [(text, w.heads) for text in masks] + [(last, k) for k in heads[1:]]
    beats = [_beat(w, text, k, works) for text, k in places]
    start = [text for text, _ in places].index(own if own != "full" else last)
    return {
        "headline": beats[start]["headline"],
        "sentence": t("masks.sentence"),
        "provenance": t("masks.provenance", n=w.n),
        "label": t("masks.label"),
        "switches": [],
        "beats": beats,
        "start": start,
        "table": [_work_table(works), _cache_table(w, last, heads)],
        "links": links(w, "fa2", "windows", "gqa"),
        "picture": {
            "maps": {text: _map(x) for text, x in masked.items()},
            "heads": w.heads,
            "texts": t.named("masks.picture")
            | {"of_heads": t("masks.heads", n=w.heads), "full": _size(w, w.heads, w.n)},
        },
    }


def _beat(w: Workload, text: str, k_heads: int, works: dict[str, mask_work.Work]) -> Json:
    """Describe a mask with so many key heads: its share of the tiles and of the cache."""
    work, full = works[text], works["full"]
    cached = mask_work.cached_keys(parse(text), w.n)
    share = cached * k_heads / (w.n * w.heads)
    name = "causal" if text == "causal" else "window" if "window" in text else "own"
    facts = {"mask": text, "name": name, "heads": w.heads, "key_heads": k_heads, "cache": share}
    return {
        **words("masks_beat", work=work, full=full, **facts),
        "mask": text,
        "heads": k_heads,
        "cached": _size(w, k_heads, cached),
    }


def _size(w: Workload, k_heads: int, tokens: int) -> str:
    return amount(mask_work.cache_bytes(w, k_heads, tokens))


def _map(w: Workload) -> Json:
    """Return runs of visited cells, [row, first, past the last] by kind, beside the rows' and
    columns' number, and the runs of keys that stay in the cache, as shares of N."""
    found = tiling.kinds(w.problem("fa2"))
    step = -(-max(found.shape) // MOST_CELLS)  # tiles along a cell's side
    visited = tiling.shrink(found != tiling.SKIPPED, step, step)
    partial = tiling.shrink(found == tiling.KINDS.index("partial"), step, step)
    rows, columns = visited.shape
    cached = mask_work.is_cached(w.mask, w.n)
    return {
        "rows": rows,
        "columns": columns,
        "full": [[r, *run] for r in range(rows) for run in _runs(visited[r] & ~partial[r])],
        "partial": [[r, *run] for r in range(rows) for run in _runs(partial[r])],
        "cached": [[first / w.n, past / w.n] for first, past in _runs(cached)],
    }


def _runs(row: np.ndarray) -> list[tuple[int, int]]:
    """Return (first, past the last) of each run of True."""
    edges = np.flatnonzero(np.diff(np.concatenate(([0], row.astype(np.int8), [0]))))
    return [(int(a), int(b)) for a, b in zip(edges[::2], edges[1::2], strict=True)]


# ---- tables


def _work_table(works: dict[str, mask_work.Work]) -> Table:
    rows = [[text, x.scores, x.tiles, x.partial, x.flops, x.nbytes] for text, x in works.items()]
    return table(t, "masks.table", rows)


def _cache_table(w: Workload, text: str, heads: tuple[int, ...]) -> Table:
    """Give the bytes of the cache by key heads: those of one token, of the tokens cached of N and
    of LONG, and of all LONG."""
    long = mask_work.LONG
    lengths = [1, *(mask_work.cached_keys(parse(text), n) for n in (w.n, long)), long]
    rows = [[k, *(mask_work.cache_bytes(w, k, n) for n in lengths)] for k in heads]
    return table(t, "masks.cache_table", rows, mask=text)
