"""Demonstrations of claims: sums in parts and other orders, who writes how often, what is rated."""

from __future__ import annotations

import numpy as np

from explainer.algorithms.traffic import requested_bytes
from explainer.base.amounts import amount, format_significant
from explainer.base.cards import CARDS, KIB
from explainer.learn.blocks import Block, t, table, text
from explainer.learn.claim_costs import UNITS
from explainer.learn.claim_demos import bars, plain, qkv
from explainer.learn.lessons.backends.lesson import GPUS, NAMES, Input, chosen
from explainer.learn.linear_algebra import softmax
from explainer.learn.matrix_units import exps_per_s

KEYS, BLOCK = 64, 8  # of the query whose blocks are shuffled


def shift(by: int) -> list[Block]:
    """The same number added to all scores of a row."""
    step = np.float32(by)
    q, k, v = qkv(64)
    S = q[:4] @ k.T / np.float32(8)
    off = float(np.abs(plain(S + step, v) - plain(S, v)).max())
    items = [
        (t("claim_sums.shift.key", j=j), float(np.exp(x)), format_significant(float(np.exp(x)), 3))
        for j, x in enumerate(S[0, :4] - S[0].max())
    ]
    return [
        bars(t("claim_sums.shift.title", by=by), items, hue="l"),
        text(t("claim_sums.shift.finding", off=off), "good"),
    ]


def partial_dq(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """dQ of 16 rows (16, 64) added up in fp32 over blocks of 32 of 512 keys, in order and in
    another order."""
    q, k, v = qkv(512, seed=3)
    dO = np.random.default_rng(5).standard_normal((16, 64)).astype(np.float32)
    S = q[:16] @ k.T / np.float32(8)
    P = softmax(S)
    dS = P * (dO @ v.T - (dO * (P @ v)).sum(1, keepdims=True)) / np.float32(8)
    parts = [dS[:, j : j + 32] @ k[j : j + 32] for j in range(0, len(k), 32)]
    usual, shuffled = np.zeros((2, 16, 64), np.float32)
    for one in parts:
        usual += one
    for j in np.random.default_rng(seed).permutation(len(parts)):
        shuffled += parts[j]
    return usual, shuffled


def dq(seed: int) -> list[Block]:
    """dQ added up by atomics, in whatever order the key blocks finish."""
    usual, other = partial_dq(seed)
    same = float((usual == other).mean())
    off = float(np.abs(usual - other).max())
    items = [
        (t("claim_sums.dq.equal"), same, f"{same:.0%}"),
        (t("claim_sums.dq.differ"), 1 - same, f"{1 - same:.0%}"),
    ]
    return [
        bars(t("claim_sums.dq.title"), items, hue="q"),
        text(t("claim_sums.dq.finding", off=off)),
    ]


def exp_bound(d: int) -> list[Block]:
    """Time of a forward pass's products and of its exponentials on two cards."""
    items = []
    for key in ("h100", "b200"):
        card = CARDS[key]
        for what, seconds in (
            (UNITS["products"], 4 * d / (card.tensor_tflops * 1e12)),
            (UNITS["exp"], 1 / exps_per_s(card)),
        ):
            items.append((f"{card.name}: {what}", seconds * 1e12, f"{seconds * 1e12:.3f} ps"))
    return [
        bars(t("claim_sums.exp.title", d=d), items, hue="l"),
        text(t("claim_sums.exp.finding")),
    ]


def length(dtype: str) -> list[Block]:
    """What SDPA runs, at any length."""
    ns = (64, 512, 513, 4096, 65_536)
    rows = [
        (GPUS[sm], *[NAMES[chosen(Input(int(sm), dtype, 64, "causal"))]] * len(ns)) for sm in GPUS
    ]
    return [
        table(
            t("claim_sums.length.title", dtype=dtype), ("GPU", *(f"N = {n:,}" for n in ns)), rows
        ),
        text(t("claim_sums.length.finding")),
    ]


def petaflop() -> list[Block]:
    """Dense rates of the cards in fp16 and fp8."""
    items = []
    for key in ("h100", "h200", "b200"):
        card = CARDS[key]
        for bits, name in ((1, "fp16"), (2, "fp8")):
            rate = card.tensor_tflops * bits
            items.append((f"{card.name}, {name}", rate, f"{rate:,.0f} TFLOP/s"))
    return [
        bars(t("claim_sums.petaflop.title"), items, hue="q"),
        text(t("claim_sums.petaflop.finding")),
    ]


def constants(n: int) -> list[Block]:
    """Bytes that FA-2 asks for by its rows per block: the theorem leaves such factors open."""
    items = []
    for br in (32, 64, 128, 256):
        size = requested_bytes(n, 64, "full", "fp16", "fa2", br, 64)
        items.append((f"Br = {br}", float(size), amount(size)))
    return [
        bars(t("claim_sums.constants.title", n=n), items, hue="s"),
        text(t("claim_sums.constants.finding")),
    ]


def long(n: int) -> list[Block]:
    """Memory of one head's scores at a long N: whole, by rows, and fused."""
    n, rows = n * KIB, 128
    items = [
        (t("claim_sums.long.whole"), float(n * n * 2), amount(n * n * 2)),
        (t("claim_sums.long.rows", rows=rows), float(rows * n * 2), amount(rows * n * 2)),
        (t("claim_sums.long.fused"), float(n * 4), amount(n * 4)),
    ]
    room = CARDS["h200"].hbm_bytes
    return [
        bars(t("claim_sums.long.title", n=n), items, hue="s", log=True, limit=float(room)),
        text(t("claim_sums.long.finding", room=room)),
    ]
