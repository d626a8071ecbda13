"""tril, masked_fill, softmax; three ways to put a mask on; and a word that is changed to see
which outputs move."""

import numpy as np

from explainer.base.amounts import format_fixed
from explainer.learn.example import WORDS, K, N, Q, V, make_example
from explainer.learn.kit import Block, Words
from explainer.learn.linear_algebra import address, softmax

t = Words(__name__)
Numbers = dict[str, np.ndarray]
BIG = np.float32(-1e9)  # what some code adds in place of −∞
NEW = 2  # queries of the shapes "new" and "corner": the keys of the others are in a cache
OTHER = np.array([2.0, 1.0, 0.0, 1.0]), np.array([2.0, 0.0, 0.5, 0.0]), np.array([3.0, 0, 0, 1])


def visible(shape: str) -> np.ndarray:
    """1 where a query (row) may see a key (column), else 0, float32: (8, 8), or (2, 8)."""
    lower = np.tril(np.ones((N, N), np.float32))
    if shape == "none":
        return np.ones_like(lower)
    if shape == "padded":
        lower[:, 0] = 0
    return {"new": lower[N - NEW :], "corner": lower[:NEW]}.get(shape, lower)


def masked(way: str, shape: str = "causal", changed: int = -1) -> Numbers:
    """Attention with a mask put on in this way, float32: ``visible`` and ``S`` (nq, 8), ``P``, and
    ``O`` (nq, d). ``way``: inf, big (−1e9), or times (P is multiplied by 0 or 1 after the softmax).
    The word ``changed`` has the vectors of OTHER."""
    q, k, v = (x.astype(np.float32) for x in (Q, K, V))
    if changed >= 0:
        q[changed], k[changed], v[changed] = OTHER
    seen = visible(shape)
    S = (q @ k.T / np.float32(2))[N - len(seen) :]
    hidden = {"inf": np.float32(-np.inf), "big": BIG, "times": np.float32(0)}[way]
    S = S + np.where(seen == 1, np.float32(0), hidden)
    P = softmax(S) * (seen if way == "times" else np.float32(1))
    return {"visible": seen, "S": S, "P": P, "O": P @ v}


def moved(way: str, shape: str, changed: int) -> np.ndarray:
    """How far each output (nq,) moves when that word is changed: the largest difference."""
    before, after = masked(way, shape)["O"], masked(way, shape, changed)["O"]
    return np.abs(np.nan_to_num(after) - np.nan_to_num(before)).max(axis=1)


def outcome(way: str, shape: str, m: Numbers) -> tuple[str, str]:
    """Return the tone and one sentence: what this way of masking comes to."""
    blind = not m["visible"].sum(axis=1).all()
    if shape == "corner":
        return "bad", t("bad.corner", n=N)
    if way == "times" and not m["visible"].all():
        return "bad", t("bad.times", sum=m["P"][0].sum())
    if not blind:
        return "good", t("good" if m["visible"].all() else "good.hidden")
    return "bad", t("bad.big", weight=m["P"][0, 0]) if way == "big" else t("bad.inf")


def compute(stage: str, shape: str, way: str, changed: int) -> Block:
    """The steps of a mask, and how far each word's output moves when one word is changed."""
    m = masked(way, shape, changed)
    asking = WORDS[N - len(m["visible"]) :]
    tone, what = outcome(way, shape, m)
    far = moved(way, shape, changed)
    if changed >= 0:
        last = [w for w, x in zip(asking, far, strict=True) if x > 0]
        which = [t("quoted", word=w) for w in last] or t("no_word")
        what, tone = t("moved", word=WORDS[changed], words=which), ""
    return t.picture(
        shape=t.named("shapes")[shape],
        pairs=int(m["visible"].sum()),
        all=m["visible"].size,
        outcome=what,
        tone=tone,
        asking=asking,
        visible=m["visible"],
        how=t.named("masked")[way],
        S=[
            ["−1e9" if x < BIG / 2 and np.isfinite(x) else float(x) for x in line]
            for line in m["S"]
        ],
        P=m["P"],
        sums=[format_fixed(s, 2) for s in m["P"].sum(axis=1)],
        has_fill=stage != "tril",
        has_softmax=stage == "softmax",
        is_changed=changed >= 0,
        changed=changed,
        moves=[*[None] * (N - len(far)), *far],
    )


def _note(query: int, key: int) -> str:
    """What a cell holds, and what a mask that is wrong there would do."""
    if key == query:
        return t("note.itself", query=query, at=key)
    side = "note.later" if key > query else "note.earlier"
    return t(side, query=query, at=key, n=abs(key - query))


def question(first: int, last: int) -> dict:
    """The question for the queries of the tokens ``first`` to ``last``, as many keys as tokens:
    which logits a causal mask hides. What stands in the cells is of no account."""
    new, keys = last - first + 1, last + 1
    rng = np.random.default_rng(keys)
    cells = tuple(tuple(format_fixed(x, 1) for x in line) for line in rng.normal(size=(new, keys)))
    seen = first + np.arange(new)[:, None] >= np.arange(keys)
    return {
        "cells": cells,
        "rows": tuple(str(token) for token in range(first, keys)),
        "notes": tuple(tuple(_note(first + r, c) for c in range(keys)) for r in range(new)),
        "answer": tuple((int(r), int(c)) for r, c in np.argwhere(~seen)),
    }


def figures() -> dict[str, str]:
    """The weight of a key whose logit became 0, not −∞, beside 1 and 2; and where Step shows it."""
    return {
        "zero": format_fixed(softmax(np.array([1.0, 2.0, 0.0]))[2], 2),
        "place": address(make_example("causal"), 0, "mask"),
    }
