"""Rung 14: variants of attention beside each other."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from explainer.algorithms import tiling
from explainer.algorithms.schedule import schedule
from explainer.base.amounts import amount, scientific, shown
from explainer.base.facts import fact
from explainer.learn.blocks import Block, Control, Widget, bars, cells, link, plot, table, text
from explainer.learn.content import rung
from explainer.learn.controls import commas, pick, slider
from explainer.learn.rungs_low import address, whole
from explainer.learn.variants import (
    DOCUMENT,
    FEW,
    GROUPS,
    HEADS,
    SHOWN,
    VARIANTS,
    WIDE,
    Variant,
    at_size,
    cache,
    errors,
    example,
    levels,
    per_token,
    products,
    weights,
)
from kernels.scores import slope

Values = Mapping[str, float | str]
NS = (2_048, 8_192, 32_768, 65_536)
LINES = (0, 1, 3, 7)  # of FEW heads, whose ALiBi lines are drawn

MAPS = {
    "gqa": "Query heads down, K, V across",
    "mqa": "Query heads down, K, V across",
    "alibi": "What is added: strongest at 0",
    "rope": "One q times one k: stronger is more",
    "linear": "In the place of P: stronger is more",
}  # fmt: skip


def _map(v: Variant, row: int) -> Block:
    if v.key in GROUPS:
        few = len(levels(v.key)[0])
        said = f"{FEW} query heads read {few} head{'s' * (few > 1)} of K and V"
        return cells(levels(v.key), MAPS[v.key], f"{said}, {FEW // few} each.")
    p = v.problem
    kinds = (
        [[tiling.KINDS[x] for x in r] for r in tiling.kinds(p)] if p.mask.text != "causal" else []
    )
    said = f"{p.mask.visible(p.n, p.n)} of {p.n * p.n} scores are kept."
    if kinds:
        said = f"{said[:-1]}, in tiles of {p.block_q} × {p.block_k}."
    if v.key == "linear":
        said = "Drawn to be compared: no kernel computes it."
    return cells(levels(v.key), MAPS.get(v.key, "Queries down, keys across"), said, row,
                 p.block_q, kinds)  # fmt: skip


def _weights(v: Variant, row: int) -> Block:
    """What a query gives its keys, beside plain causal attention."""
    at = list(range(row + 1))

    def series(name: str, P: np.ndarray, colour: str) -> dict:
        return {"name": name, "x": at, "y": P[row, : row + 1].tolist(), "colour": colour,
                "points": True}  # fmt: skip

    plain = series("head 0" if v.key in GROUPS else "causal attention", weights(), "plain")
    mine = (series("head 1, the same keys", weights(second=True), "o") if v.key in GROUPS else
            series(v.title, weights(v.key), "o"))  # fmt: skip
    return plot(f"Weights of query {row}", [plain, mine], x_label="key j", y_label="weight")


def _seen(v: Variant, row: int) -> str:
    """What a query sees, and what becomes of the tiles."""
    p = v.problem
    counts = tiling.counts(p)
    keys = np.flatnonzero(p.mask.keep(p.n, p.n, slice(row, row + 1))[0])
    span = f"{keys[0]} to {keys[-1]}" if keys.size == keys[-1] - keys[0] + 1 > 1 else (
        ", ".join(map(str, keys)))  # fmt: skip
    return (f"Query {row} sees {keys.size} of the {row + 1} keys up to it: {span}. Of "
            f"{p.Tr * p.Tc} tiles {counts['skipped']} are never loaded, {counts['partial']} are "
            "masked inside.")  # fmt: skip


def _kv(v: Variant) -> Block:
    each = {"every head its own": HEADS, "GQA": GROUPS["gqa"], "MQA": GROUPS["mqa"]}
    items = [(f"{name}, Hk = {h}", float(per_token(h)), amount(per_token(h)))
             for name, h in each.items()]  # fmt: skip
    return bars(f"K and V per token and layer, H = {HEADS}, d = {WIDE}, fp16", items, colour="k")


def _alibi() -> Block:
    p, far = VARIANTS["alibi"].problem, np.arange(SHOWN.n)
    series = [
        {"name": f"head {h}, slope 1/{1 / slope(h, FEW):g}", "x": far.tolist(),
         "y": p.score.apply(np.zeros((p.n, 1)), far[:, None], np.zeros((1, 1), int), h, FEW)[:, 0]
         .tolist(), "colour": colour, "points": False}
        for h, colour in zip(LINES, "oqvm", strict=True)
    ]  # fmt: skip
    return plot(f"Added at distance i − j, {FEW} heads", series, x_label="i − j", y_label="added")


def _rope(row: int) -> Block:
    x, j = example(), row // 2
    rows = []
    for shift in (0, 1, 100, 10_000):
        i, k = np.array([row + shift]), np.array([j + shift])
        turned = products(x.Q[0], x.K[0], i, k).item()
        rows.append((f"{i[0]:,}, {k[0]:,}", f"{row - j}", shown(turned, 6)))
    other = products(x.Q[0], x.K[0], np.array([row + 1]), np.array([j])).item()
    rows.append((f"{row + 1}, {j}", f"{row + 1 - j}", shown(other, 6)))
    return table("One q, one k, rotated to positions i and j", ("i, j", "i − j", "q·k/√d"), rows)


def _linear() -> Block:
    size = float(np.abs(weights() @ example().V).max())
    rows = [(name, scientific(x) if x < 1e-3 else shown(x)) for name, x in errors().items()]
    return table(f"Largest difference of O to softmax attention; O goes up to {shown(size)}",
                 ("what", "off by"), rows)  # fmt: skip


def _beside(chosen: str, n: int) -> Block:
    """All of them, in numbers."""
    rows = []
    for key, title, does in (("causal", "Causal alone", "skips tiles"),
                             *((v.key, v.title, v.does) for v in VARIANTS.values())):  # fmt: skip
        gone = key == "linear"
        kept = at_size(key, n).visible(n, n) / n**2
        each = per_token(GROUPS.get(key, HEADS))
        said = (title, "0" if gone else f"{kept:.1%}", "0 B" if gone else amount(each),
                amount(cache(key, n)), does, "no" if gone else "yes")  # fmt: skip
        rows.append([x.replace(" ", "\u00a0").replace("-", "\u2011") for x in said])
    head = ("", "Scores of N²", "K, V per token", "Cache", "The kernel", "Exact softmax")
    return table(f"Beside each other: N = {n:,}, H = {HEADS}, d = {WIDE}, fp16, one layer, causal",
                 head, rows, 1 + [*VARIANTS].index(chosen))  # fmt: skip


def _place(v: Variant) -> str:
    """Where it goes on: the first tile that its mask cuts, or the Memory page."""
    if v.key in GROUPS:
        return "page=memory"
    cut = next(k for k, x in enumerate(schedule(v.problem)) if x.kind == "partial" and x.j)
    return address(v.problem, cut, "mask")


def _variants(values: Values) -> list[Block]:
    v, row, n = VARIANTS[str(values["what"])], whole(values["row"]), int(values["n"])
    more = {"gqa": lambda: _kv(v), "mqa": lambda: _kv(v), "alibi": _alibi, "linear": _linear,
            "rope": lambda: _rope(row)}.get(v.key)  # fmt: skip
    models, source = v.grounds
    return [
        _map(v, row),
        _weights(v, row),
        text(v.says),
        more() if more else text(_seen(v, row)),
        _beside(v.key, n),
        text(f"In the table: a window of {fact('preset.window')} keys, documents of "
             f"{DOCUMENT:,} tokens, blocks of N / 8, Hk = {GROUPS['gqa']} with GQA. {v.title} in "
             f"models: {models}. Source: {source}.", "fine"),
        link(v.link, _place(v)),
    ]  # fmt: skip


WIDGETS = (
    Widget(
        "variants", "Variants beside each other",
        (
            Control("what", "Variant", "choice", "window",
                    choices=tuple((key, v.title) for key, v in VARIANTS.items()),
                    pictures=tuple(" ".join(levels(key)) for key in VARIANTS)),
            slider("row", "Query i", 11, 0, SHOWN.n - 1),
            pick("n", "N of the table", 8_192, commas(NS)),
        ),
        _variants,
    ),
)  # fmt: skip
RUNGS = (rung("gqa", {"place": _place(VARIANTS["window"])}),)
