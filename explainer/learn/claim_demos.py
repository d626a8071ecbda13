"""Demonstrations of "Said often, and wrong" that compute attention: what comes out, how wrong."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from explainer.algorithms.inputs import make_inputs
from explainer.base.amounts import format_significant
from explainer.learn.blocks import Block, t, text
from explainer.learn.kit import mark, picture
from explainer.learn.linear_algebra import make_problem, online_softmax, softmax
from explainer.trace import trace
from kernels.spec.formats import FORMATS


def bars(
    title: str,
    items: Sequence[tuple[str, float, str]],
    *,
    hue: str = "q",
    log: bool = False,
    limit: float | None = None,
) -> Block:
    """Draw bars of (name, value, what stands beside the bar); ``limit`` draws a line."""
    made = mark(
        "bars",
        title=title,
        items=[mark("bar", name=name, value=x, text=text, hue=hue) for name, x, text in items],
        log=log,
        limit=None if limit is None else (limit, t("blocks.limit")),
        remark=t("blocks.logarithmic") if log else "",
    )
    return picture(title, "; ".join(f"{name}: {beside}" for name, _, beside in items), made)


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


def _error_bars(title: str, errors: dict[str, float], log: bool = False) -> Block:
    """Draw a bar for each error, by name."""
    items = [(name, e, format_significant(e, 2)) for name, e in errors.items()]
    return bars(title, items, log=log)


def bits(n: int, seed: int) -> list[Block]:
    """Tiled against plain in fp32: how many outputs agree in every bit, and both errors."""
    run = trace(make_problem(n, 64, 64, seed=seed))
    S = run.Q @ run.K.T * np.float32(run.problem.scale)
    whole = plain(S, run.V)
    Q, K, V = (x.astype(np.float64) for x in (run.Q, run.K, run.V))
    truth = plain(Q @ K.T * run.problem.scale, V)
    share = float((whole == run.O).mean())
    tiled, plainly = t.row("claim_demos.bits.ways")
    errors = {tiled: _error(run.O, truth), plainly: _error(whole, truth)}
    return [
        _error_bars(t("claim_demos.bits.title"), errors),
        text(t("claim_demos.bits.finding", n=n, share=share, size=run.O.size)),
    ]


def exact(n: int, bc: int) -> list[Block]:
    """Tiled against plain in fp32 and in float64: the difference goes with the rounding."""
    errors = {}
    for name, dtype in (("fp32", np.float32), ("float64", np.float64)):
        q, k, v = qkv(n, dtype=dtype)
        S = q[:64] @ k.T / np.sqrt(dtype(q.shape[1]))  # rows never meet: 64 of them tell
        errors[name] = _error(online(S, v, bc), plain(S, v))
    return [
        _error_bars(t("claim_demos.exact.title"), errors, log=True),
        text(t("claim_demos.exact.finding"), "good"),
    ]


def tf32(d: int) -> list[Block]:
    """Q Kᵀ of fp32 numbers with the operands as a tensor core takes them; sums in fp32."""
    q, k, _ = qkv(64, d)
    truth = q.astype(np.float64) @ k.astype(np.float64).T
    errors = {}
    for f in (FORMATS[key] for key in ("fp32", "tf32", "bf16")):
        a, b = (f.round_to(x).astype(np.float32) for x in (q, k))
        errors[f.title] = _error(a @ b.T, truth) / float(np.abs(truth).max())
    fp32, short, _ = errors.values()
    return [
        _error_bars(t("claim_demos.tf32.title"), errors, log=True),
        text(t("claim_demos.tf32.finding", times=short / fp32)),
    ]


def _grid(title: str, cells: np.ndarray, hue: str = "", **more: Any) -> Block:
    """Draw a matrix, which a screen reader reads as a table."""
    return picture(title, title, mark("grid", name=title, cells=cells, hue=hue, **more))


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


def padded(n: int, block: int, data: str, mask: str, seed: int) -> list[Block]:
    """The course note's loop beside ours, at an N that its block does not divide."""
    q, k, v = padded_inputs(n, data, seed)
    causal = mask == "causal"
    q = q[:64]  # rows never meet each other: the first ones tell
    S = _hide_future(q @ k.T / np.sqrt(np.float32(64)), causal)
    truth = plain(S.astype(np.float64), v.astype(np.float64))
    theirs, ours = course_note(q, k, v, block, causal), online(S, v, block)
    names = t.row("claim_demos.padded.names")
    errors = {name: _error(x, truth) for name, x in zip(names, (theirs, ours), strict=True)}
    rows = np.stack([x[0, :8] for x in (theirs, ours, truth)])
    count = -n % block
    if count and causal:
        verdict = t("claim_demos.padded.causal", count=count)
    elif count:
        verdict = t("claim_demos.padded.full", count=count)
    else:
        verdict = t("claim_demos.padded.none")
    return [
        _error_bars(t("claim_demos.padded.title", n=n, block=block, mask=mask), errors, log=True),
        _grid(t("claim_demos.padded.row"), rows, "o", rows=(*names, "float64"), digits=3),
        text(verdict, "bad" if count and not causal else "good"),
    ]


def causal_masks(nq: int, nk: int) -> dict[str, np.ndarray]:
    """{"top-left" | "bottom-right": (nq, nk) bool, True where query r sees key c}."""
    r, c = np.arange(nq)[:, None], np.arange(nk)[None, :]
    return {"top-left": c <= r, "bottom-right": c <= r + nk - nq}


def top_left(nq: int, nk: int) -> list[Block]:
    """The last Nq rows of causal attention over Nk tokens, from either mask."""
    q, k, v = qkv(8, 8, dtype=np.float64)
    S = q[:nk] @ k[:nk].T / np.sqrt(8.0)
    whole = plain(np.where(np.tri(nk, dtype=bool), S, -np.inf), v[:nk])
    queries = [t("claim_demos.top_left.query", r=r) for r in range(nq)]
    keys = [t("claim_demos.top_left.key", c=c) for c in range(nk)]
    names, grids, errors = t.named("claim_demos.top_left.corners"), [], {}
    for name, see in causal_masks(nq, nk).items():
        label = t("claim_demos.top_left.mask", corner=names[name])
        grids.append(_grid(label, see.astype(float), digits=0, rows=queries, cols=keys))
        if nq <= nk:
            O = online(np.where(see, S[nk - nq :], -np.inf), v[:nk], 4)
            errors[names[name]] = _error(O, whole[nk - nq :])
    if nq > nk:
        return [*grids, text(t("claim_demos.top_left.lost", nq=nq, nk=nk, lost=nq - nk))]
    wrong = errors[names["top-left"]] > 1e-9
    return [
        *grids,
        _error_bars(t("claim_demos.top_left.title", nq=nq, nk=nk), errors),
        text(
            t("claim_demos.top_left.hides" if wrong else "claim_demos.top_left.agree"),
            "bad" if wrong else "good",
        ),
    ]
