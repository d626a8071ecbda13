"""Dropout: which weights of P are dropped, by position and seed alone. Pure NumPy.

Random123's Philox4x32-10 (Salmon et al., 2011), as Triton's `tl.rand(seed, offset)` has it: no
state, so whoever asks for a place, in whatever order, gets the same number.
"""

from __future__ import annotations

import numpy as np

ROUNDS = 10
KEYS = (0x9E3779B9, 0xBB67AE85)  # added to the two halves of the seed after each round
FACTORS = (0xD2511F53, 0xCD9E8D57)
LOW = np.uint64(0xFFFF_FFFF)
HALF = np.uint64(32)
PIECE = 1 << 12  # offsets at once: what is made of them stays in the cache, six times as fast


def uniform(seed: int, offset: np.ndarray) -> np.ndarray:
    """A number in [0, 1) for each offset, fp32, bit for bit `tl.rand(seed, offset)`.

    ``seed`` from 0, ``offset`` whole numbers from 0 of any shape; both may take 64 bits.
    """
    at = np.asarray(offset)
    found, places = np.empty(at.size, np.float32), at.reshape(-1)
    for start in range(0, at.size, PIECE):
        found[start : start + PIECE] = _uniform(seed, places[start : start + PIECE])
    return found.reshape(at.shape)


def _uniform(seed: int, offset: np.ndarray) -> np.ndarray:
    at = offset.astype(np.uint64)
    c0, c1 = at & LOW, at >> HALF
    c2 = c3 = np.zeros_like(at)
    for turn in range(ROUNDS):
        k0, k1 = (
            np.uint64(((seed >> shift) + turn * key) & 0xFFFF_FFFF)
            for shift, key in zip((0, 32), KEYS, strict=True)
        )
        a, b = np.uint64(FACTORS[0]) * c0, np.uint64(FACTORS[1]) * c2
        c0, c1, c2, c3 = (b >> HALF) ^ c1 ^ k0, b & LOW, (a >> HALF) ^ c3 ^ k1, a & LOW
    signed = c0.astype(np.uint32).view(np.int32)
    return np.where(signed < 0, ~signed, signed).astype(np.float32) * np.float32(4.6566127342e-10)


def factors(dropout: float, seed: int, rows: np.ndarray, keys: np.ndarray, n_k: int) -> np.ndarray:
    """What each weight is multiplied by before P V, fp32: 0 with probability ``dropout``, else
    1/(1 − dropout). ``rows`` and ``keys`` broadcast; a row is (b·H + h)·Nq + i."""
    stays = uniform(seed, rows * np.int64(n_k) + keys) >= np.float32(dropout)
    return np.where(stays, np.float32(1.0 / (1.0 - dropout)), np.float32(0))
