"""Our forward kernel phase by phase, its check, and what the mistakes of a course note would give.

The source is read from kernels/fa2.py itself, never run here.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Sequence
from functools import cache, lru_cache

import numpy as np

from explainer.algorithms.listings import code_lines
from explainer.base.amounts import scientific
from explainer.base.records import about, rows_where
from explainer.learn.blocks import Block, bars, code, t, table, text
from explainer.learn.linear_algebra import attend, online_softmax
from explainer.learn.scene import Shape, box, panel, scene
from kernels.spec.formats import FORMATS

MARK = re.compile(r"# phase: \w+ — ")
# In the order of a program: the phase, which of its places in the file, what to see there.
STOPS = tuple(
    (*place, remark)
    for place, remark in zip(
        (
            ("load", 1),
            ("load", 0),
            ("scores", 0),
            ("mask", 0),
            ("max", 0),
            ("exp", 0),
            ("sum", 0),
            ("output", 0),
            ("store", 0),
        ),
        t.row("reading.stops"),
        strict=True,
    )
)
FINE = dict(enumerate(t.row("reading.fine"), 2))
BECAUSE = t.named("reading.because")
N_ODD, D, BC = 100, 64, 64
LEAST_LOGIT = np.float32(-1e9)  # what the note has in the place of −∞

# The note's loop; a fault takes the place of the line of the same number.
LOOP = (
    "for start in range(0, Nk, 64):",
    "    k, v = load(K, start), load(V, start)  # 0 beyond Nk",
    "    S = where(col < Nk, q @ k.T * scale, -inf)",
    "    S = where(col <= row + Nk - Nq, S, -inf)",
    "    m_new = maximum(m, S.max(1))",
    "    p = exp(S - m_new)",
    "    l = exp(m - m_new) * l + p.sum(1)",
    "    O = exp(m - m_new) * O + p @ v",
    "    m = m_new",
)
FAULTS = {
    "padding": (2, "    S = q @ k.T * scale"),
    "corner": (3, "    S = where(col <= row, S, -inf)"),
    "sum": (6, "    l = l + p.sum(1)"),
}


@cache
def extracts() -> dict[str, tuple[str, ...]]:
    """{phase: its places in the kernel}, each the lines that follow its comment."""
    found: dict[str, list[str]] = {}
    for line in code_lines("triton", "fa2"):
        if MARK.search(line.text):
            found.setdefault(str(line.phase), []).append(MARK.sub("# ", line.text))
        elif line.phase:
            found[line.phase][-1] += f"\n{line.text}"
    return {phase: tuple(map(textwrap.dedent, places)) for phase, places in found.items()}


def _inputs(n_q: int, n_k: int) -> tuple[np.ndarray, ...]:
    rng = np.random.default_rng(4)
    return tuple(rng.standard_normal((n, D)).astype(np.float32) for n in (n_q, n_k, n_k))


def loop(
    q: np.ndarray,
    k: np.ndarray,
    v: np.ndarray,
    causal: bool,
    fault: str = "",
    hidden: float = -np.inf,
) -> np.ndarray:
    """O (Nq, d) float32 by LOOP, with one of FAULTS or none; ``hidden`` takes the place of −∞."""
    n_q, n_k = len(q), len(k)
    k, v = (np.pad(x, ((0, -n_k % BC), (0, 0))) for x in (k, v))
    S = np.hstack([q @ tile.T for tile in np.split(k, len(k) // BC)]) / np.float32(np.sqrt(D))
    rows, cols = np.arange(n_q)[:, None], np.arange(len(k))
    if fault != "padding":
        S = np.where(cols < n_k, S, np.float32(-np.inf))
    if causal:
        shift = 0 if fault == "corner" else n_k - n_q
        S = np.where((cols <= rows + shift) | (cols >= n_k), S, np.float32(hidden))
    states = [*online_softmax(S, v, BC)]
    l = states[-1].l
    if fault == "sum":
        l = np.sum([x.P.sum(axis=1, keepdims=True) for x in states], axis=0)
    return states[-1].O / np.where(l > 0, l, 1)


def exact(q: np.ndarray, k: np.ndarray, v: np.ndarray, causal: bool) -> np.ndarray:
    """O in float64, all keys at once, aligned bottom-right; 0 for a row that sees none."""
    keep = np.tri(len(q), len(k), len(k) - len(q), dtype=bool) if causal else True
    return attend(q, k, v, keep)[2]


@lru_cache(maxsize=8)
def off(fault: str) -> float:
    """The largest error of O that a fault makes: padding at N = 100; corner with one query and 100
    keys; sum at N = 100; "finite" in a row that sees no key; "tf32" by operands in TF32."""
    n_q = {"corner": 1, "finite": N_ODD + 28}.get(fault, N_ODD)
    q, k, v = _inputs(n_q, N_ODD)
    causal = fault in ("corner", "finite")
    if fault == "finite":
        found = loop(q, k, v, causal, hidden=float(LEAST_LOGIT))
    elif fault == "tf32":
        short_q, short_k, short_v = (
            FORMATS["tf32"].round_to(x).astype(np.float32) for x in (q, k, v)
        )
        found = loop(short_q, short_k, short_v, causal)
    else:
        found = loop(q, k, v, causal, fault)
    return float(np.abs(found - exact(q, k, v, causal)).max())


def _walk(step: int) -> list[Block]:
    phase, place, remark = STOPS[step - 1]
    names = [*t.row("reading.loads"), *(name for name, _, _ in STOPS[2:])]

    def chips(wide: float, across: int) -> list[Shape]:
        each = wide / across
        return [
            box(
                k % across * each,
                k // across * 38,
                each - 6,
                32,
                name,
                hue="m" if k == step - 1 else "",
                look="is-full is-small" if k == step - 1 else "is-pale is-small",
            )
            for k, name in enumerate(names)
        ]

    return [
        scene(
            t("reading.title"),
            t("reading.stop", step=step, all=len(STOPS), name=names[step - 1]),
            panel(844, 34, chips(844, len(STOPS)), only="wide"),
            panel(350, 110, chips(350, 3), only="narrow"),
        ),
        code(f"kernels/fa2.py: {names[step - 1]}", extracts()[phase][place]),
        text(remark),
    ]


def _note() -> list[Block]:
    gives = (
        t("reading.note.padding", n=N_ODD, off=off("padding")),
        t("reading.note.finite", off=off("finite")),
        t("reading.note.corner", n=N_ODD, off=off("corner")),
        t("reading.note.tf32", off=off("tf32"), fp32=off("")),
        t("reading.note.lse"),
    )
    mistakes, reasons = t.row("reading.note.mistakes"), t.row("reading.note.reasons")
    rows = [*zip(mistakes, gives, reasons, strict=True)]
    return [
        table(t("reading.note.title"), t.row("reading.note.head"), rows),
        text(t("reading.note.source"), "fine"),
    ]


def _check() -> list[Block]:
    """The recorded errors of our kernel and of PyTorch's, one shape."""
    names = t.named("reading.kernels")
    recorded = rows_where(n=4096, d=64, mask="causal", dtype="fp16")
    found = {r["method"]: r["error"] for r in recorded if r.get("error") is not None}
    items = [
        (name, found[key], scientific(found[key])) for key, name in names.items() if key in found
    ]
    return [
        bars(t("reading.check.title"), items, colour="o"),
        text(t("reading.check.rule")),
        text(t("reading.check.about", about=about()), "fine"),
    ]


def _read(show: str, step: int) -> list[Block]:
    if show == "note":
        return _note()
    return _check() if show == "check" else _walk(min(len(STOPS), max(1, step)))


WIDGETS = {
    "read": _read,
}


def _question(fault: str, lines: Sequence[int]) -> dict:
    """The lines of the loop that are asked about, with this fault, and what is said of each: only a
    causal one has a mask of its own."""
    at, wrong = FAULTS[fault]
    fine = FINE | ({5: t("reading.late")} if fault == "padding" else {})
    listing = [
        (wrong.strip(), BECAUSE[fault]) if k == at else (LOOP[k].strip(), fine[k]) for k in lines
    ]
    return {"options": tuple(listing), "answer": lines.index(at)}


FIGURES = {"read": lambda: {f"off_{fault}": off(fault) for fault in FAULTS}}
QUESTIONS = {"read": _question}
