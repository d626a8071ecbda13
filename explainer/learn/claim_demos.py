"""Demonstrations of "Said often, and wrong" that compute attention: what comes out, how wrong."""

from typing import Any

import numpy as np

from explainer.algorithms.inputs import make_inputs
from explainer.learn.linear_algebra import make_problem, online_softmax, softmax
from explainer.trace import trace
from kernels.spec.formats import FORMATS

Values = dict[str, Any]  # what claims.yaml names


def qkv(n: int, d: int = 64, seed: int = 0, dtype: type = np.float32) -> list[np.ndarray]:
    """Q, K, V (n, d), random normal."""
    return [x.astype(dtype) for x in make_inputs(make_problem(n, d, min(n, 64), seed=seed))]


def plain(S: np.ndarray, V: np.ndarray) -> np.ndarray:
    """softmax(S) V over whole rows: S (rows, keys), V (keys, d) → (rows, d), in their dtype."""
    return softmax(S) @ V


def online(S: np.ndarray, V: np.ndarray, bc: int) -> np.ndarray:
    """The same, key block by key block, for scores (rows, keys) that are wrong on purpose too."""
    *_, last = online_softmax(S, V, bc)
    return last.O / np.where(last.l > 0, last.l, 1)


def _error(found: np.ndarray, truth: np.ndarray) -> float:
    return float(np.abs(found - truth).max())


def bits(n: int, seed: int) -> Values:
    """Tiled against plain in fp32: how many outputs agree in every bit, and both errors."""
    run = trace(make_problem(n, 64, 64, seed=seed))
    S = run.Q @ run.K.T * np.float32(run.problem.scale)
    whole = plain(S, run.V)
    Q, K, V = (x.astype(np.float64) for x in (run.Q, run.K, run.V))
    truth = plain(Q @ K.T * run.problem.scale, V)
    errors = [_error(run.O, truth), _error(whole, truth)]
    return {"n": n, "errors": errors, "share": (whole == run.O).mean(), "size": run.O.size}


def exact(n: int, bc: int) -> Values:
    """Tiled against plain in fp32 and in float64: the difference goes with the rounding."""
    errors = []
    for dtype in (np.float32, np.float64):
        q, k, v = qkv(n, dtype=dtype)
        S = q[:64] @ k.T / np.sqrt(dtype(q.shape[1]))  # rows never meet: 64 of them tell
        errors.append(_error(online(S, v, bc), plain(S, v)))
    return {"errors": errors}


def tf32(d: int) -> Values:
    """Q Kᵀ of fp32 numbers with the operands as a tensor core takes them; sums in fp32."""
    q, k, _ = qkv(64, d)
    truth = q.astype(np.float64) @ k.astype(np.float64).T
    formats, errors = [FORMATS[key] for key in ("fp32", "tf32", "bf16")], []
    for f in formats:
        a, b = (f.round_to(x).astype(np.float32) for x in (q, k))
        errors.append(_error(a @ b.T, truth) / float(np.abs(truth).max()))
    names = [f.title for f in formats]
    return {"names": names, "errors": errors, "times": errors[1] / errors[0]}


def course_note(
    q: np.ndarray, k: np.ndarray, v: np.ndarray, block: int, causal: bool = False
) -> np.ndarray:
    """The course note's loop: the last key block is filled up with zeros, and in full mode no mask
    takes these keys out. Each scores 0, enters m and ℓ, and brings a V of 0. A causal mask hides
    them from the queries before them, ``q`` being the first of as many as there are keys."""
    pad = ((0, -len(k) % block), (0, 0))
    S = q @ np.pad(k, pad).T / np.sqrt(q.dtype.type(q.shape[1]))
    return online(_hide_future(S, causal), np.pad(v, pad), block)


def _hide_future(S: np.ndarray, causal: bool) -> np.ndarray:
    """−∞ where a key comes after its query, if ``causal``."""
    return np.where(np.tri(*S.shape, dtype=bool), S, S.dtype.type(-np.inf)) if causal else S


def padded_inputs(n: int, data: str, seed: int) -> list[np.ndarray]:
    """Q, K, V (n, 64): random, or such that every score is far below 0."""
    q, k, v = qkv(n, seed=seed)
    if data == "negative":
        q, k = np.abs(q) + np.float32(1), -np.abs(k) - np.float32(1)
    return [q, k, v]


def padded(n: int, block: int, data: str, mask: str, seed: int) -> Values:
    """The course note's loop beside ours, at an N that its block does not divide."""
    q, k, v = padded_inputs(n, data, seed)
    causal, count = mask == "causal", -n % block
    q = q[:64]  # rows never meet each other: the first ones tell
    S = _hide_future(q @ k.T / np.sqrt(np.float32(64)), causal)
    truth = plain(S.astype(np.float64), v.astype(np.float64))
    theirs, ours = course_note(q, k, v, block, causal), online(S, v, block)
    return {
        "n": n,
        "block": block,
        "mask": mask,
        "errors": [_error(x, truth) for x in (theirs, ours)],
        "rows": np.stack([x[0, :8] for x in (theirs, ours, truth)]),
        "count": count,
        "is_causal": causal,
        "is_wrong": count and not causal,
    }


def causal_masks(nq: int, nk: int) -> dict[str, np.ndarray]:
    """{"top-left" | "bottom-right": (nq, nk) bool, True where query r sees key c}."""
    r, c = np.ogrid[:nq, :nk]
    return {"top-left": c <= r, "bottom-right": c <= r + nk - nq}


def top_left(nq: int, nk: int) -> Values:
    """The last Nq rows of causal attention over Nk tokens, from either mask."""
    q, k, v = qkv(8, 8, dtype=np.float64)
    S = q[:nk] @ k[:nk].T / np.sqrt(8.0)
    whole = plain(np.where(np.tri(nk, dtype=bool), S, -np.inf), v[:nk])
    masks, errors = [*causal_masks(nq, nk).values()], []
    for see in masks if nq <= nk else ():
        O = online(np.where(see, S[nk - nq :], -np.inf), v[:nk], 4)
        errors.append(_error(O, whole[nk - nq :]))
    return {
        "nq": nq,
        "nk": nk,
        "queries": range(nq),
        "keys": range(nk),
        "masks": [see.astype(float) for see in masks],
        "lost": max(0, nq - nk),
        "errors": errors,
        "is_wrong": errors and errors[0] > 1e-9,
    }
