"""Demonstrations of claims: sums in parts and other orders, who writes how often, what is rated."""

import numpy as np

from explainer.algorithms.traffic import requested_bytes
from explainer.base.cards import CARDS, KIB
from explainer.learn.claim_demos import Values, plain, qkv
from explainer.learn.lessons.backends.lesson import GPUS, NAMES, Input, chosen
from explainer.learn.linear_algebra import softmax
from explainer.learn.matrix_units import exps_per_s

KEYS, BLOCK = 64, 8  # of the query whose blocks are shuffled


def shift(by: int) -> Values:
    """The same number added to all scores of a row."""
    step = np.float32(by)
    q, k, v = qkv(64)
    S = q[:4] @ k.T / np.float32(8)
    off = np.abs(plain(S + step, v) - plain(S, v)).max()
    return {"by": by, "exps": np.exp(S[0, :4] - S[0].max()).astype(float), "off": float(off)}


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


def dq(seed: int) -> Values:
    """dQ added up by atomics, in whatever order the key blocks finish."""
    usual, other = partial_dq(seed)
    same = float((usual == other).mean())
    return {"same": same, "differ": 1 - same, "off": float(np.abs(usual - other).max())}


def exp_bound(d: int) -> Values:
    """Time of a forward pass's products and of its exponentials on two cards."""
    cards = [CARDS[key] for key in ("h100", "h100", "b200", "b200")]
    seconds = [
        1 / exps_per_s(card) if k % 2 else 4 * d / (card.tensor_tflops * 1e12)
        for k, card in enumerate(cards)
    ]
    return {"d": d, "cards": [card.name for card in cards], "ps": [s * 1e12 for s in seconds]}


def length(dtype: str) -> Values:
    """What SDPA runs, at any length."""
    names = [NAMES[chosen(Input(int(sm), dtype, 64, "causal"))] for sm in GPUS]
    return {
        "dtype": dtype,
        "ns": (64, 512, 513, 4096, 65_536),
        "gpus": GPUS.values(),
        "names": names,
    }


def petaflop() -> Values:
    """Dense rates of the cards in fp16 and fp8."""
    cards = [CARDS[key] for key in ("h100", "h200", "b200") for _ in range(2)]
    rates = [card.tensor_tflops * (1 + k % 2) for k, card in enumerate(cards)]
    return {"cards": [card.name for card in cards], "rates": rates}


def constants(n: int) -> Values:
    """Bytes that FA-2 asks for by its rows per block: the theorem leaves such factors open."""
    rows = (32, 64, 128, 256)
    sizes = [requested_bytes(n, 64, "full", "fp16", "fa2", br, 64) for br in rows]
    return {"n": n, "rows": rows, "sizes": sizes}


def long(n: int) -> Values:
    """Memory of one head's scores at a long N: whole, by rows, and fused."""
    n = n * KIB
    return {"n": n, "sizes": [n * n * 2, 128 * n * 2, n * 4], "room": CARDS["h200"].hbm_bytes}
