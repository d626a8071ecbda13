"""Our forward kernel phase by phase, its check, and what the mistakes of a course note would give.

The source is read from kernels/fa2.py itself, never run here.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache

import numpy as np

from explainer.base.amounts import scientific, shown
from explainer.base.formats import FORMATS
from explainer.base.paths import ROOT
from explainer.base.records import about, load
from explainer.learn.blocks import Block, Widget, bars, code, table, text
from explainer.learn.content import Rung, rung
from explainer.learn.controls import pick, slider
from explainer.learn.rungs_low import whole
from explainer.learn.scene import box, panel, scene

SOURCE = ROOT / "kernels/fa2.py"
MARK = re.compile(r"^\s*# phase: (\w+) — (.*)$")
# In the order of a program: the phase, which of its places in the file, what to see there.
STOPS = (
    ("load", 1, "Once per program: its block of Q, and m = −∞, ℓ = 0, O = 0 in registers. A sink "
     "starts m and ℓ elsewhere. Lanes beyond N load 0."),
    ("load", 0, "For each key block: Kᵀ and V. key_ok is false beyond N, and remembers it for the "
     "mask. start is 64 bits, since an offset may pass 2³¹."),
    ("scores", 0, "tl.dot with the precision that the caller asked for: fp32 stays fp32 unless "
     "TF32 is allowed. The scale waits for its first use."),
    ("mask", 0, "Only tiles with an edge come here. −∞, not a large number, and keys beyond N are "
     "hidden even where no mask is asked for."),
    ("max", 0, "The new maximum, scaled. A row that has seen no key keeps −∞; m_ref = 0 there, so "
     "that −∞ − (−∞) never happens."),
    ("exp", 0, "exp2, since the unit computes powers of 2: log₂(e) went into the scale. alpha is "
     "what corrects the past."),
    ("sum", 0, "ℓ is corrected, then this tile's weights are added, in fp32."),
    ("output", 0, "O is corrected in the product's accumulator. P is rounded to V's "
     "format here and only here."),
    ("store", 0, "One division, one write, and lse for the backward pass. A row without keys gives "
     "O = 0 and lse = −∞."),
)  # fmt: skip
# Lines of LOOP that a question offers: only a causal one has a mask of its own.
ASKED = {"padding": (2, 4, 5, 6), "corner": (2, 3, 4, 5), "sum": (2, 4, 5, 6)}
FINE = {
    2: "It hides what lies beyond Nk, before the maximum. This line is right.",
    3: "Row i of the queries is token i + Nk − Nq, so this is bottom-right. It is right.",
    4: "The maximum so far and this tile's: right.",
    5: "Measured from the new maximum, like everything after it. This line is right.",
    6: "The old sum is brought to the new maximum first. This line is right.",
}
BECAUSE = {
    "padding": "Padded keys score 0, and exp(0 − m) enters the sum. They need −inf.",
    "corner": "Query 0 of 1 is token 99; this mask shows it key 0 alone.",
    "sum": "The old ℓ was measured from the old maximum; without the factor it counts too much.",
}
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


@lru_cache(maxsize=1)
def extracts() -> dict[str, tuple[str, ...]]:
    """{phase: its places in the kernel}, each the lines that follow its comment."""
    lines = SOURCE.read_text(encoding="utf-8").split("# kernel: begin")[1]
    lines = lines.split("# kernel: end")[0].splitlines()
    starts = [k for k, line in enumerate(lines) if MARK.match(line)]
    found: dict[str, list[str]] = {}
    for at, start in enumerate(starts):
        indent = len(lines[start]) - len(lines[start].lstrip())
        last = starts[at + 1] if at + 1 < len(starts) else len(lines)
        body = []
        for line in lines[start + 1 : last]:
            if not line.strip() or len(line) - len(line.lstrip()) < indent:
                break
            body.append(line[indent:])
        phase, said = MARK.match(lines[start]).groups()
        found.setdefault(phase, []).append("\n".join([f"# {said}", *body]))
    return {phase: tuple(places) for phase, places in found.items()}


def _inputs(n_q: int, n_k: int) -> tuple[np.ndarray, ...]:
    rng = np.random.default_rng(4)
    return tuple(rng.standard_normal((n, D)).astype(np.float32) for n in (n_q, n_k, n_k))


def loop(q: np.ndarray, k: np.ndarray, v: np.ndarray, causal: bool, fault: str = "",
         hidden: float = -np.inf) -> np.ndarray:  # fmt: skip
    """O (Nq, d) float32 by LOOP, with one of FAULTS or none; ``hidden`` takes the place of −∞."""
    n_q, n_k = len(q), len(k)
    m = np.full((n_q, 1), -np.inf, np.float32)
    l, O = np.zeros_like(m), np.zeros_like(q)
    rows = np.arange(n_q)[:, None]
    shift = 0 if fault == "corner" else n_k - n_q
    for start in range(0, n_k, BC):
        cols = np.arange(start, start + BC)[None, :]
        tile = np.zeros((2, BC, D), np.float32)
        end = min(start + BC, n_k)
        tile[0, : end - start], tile[1, : end - start] = k[start:end], v[start:end]
        S = q @ tile[0].T / np.float32(np.sqrt(D))
        if fault != "padding":
            S = np.where(cols < n_k, S, np.float32(-np.inf))
        if causal:
            S = np.where((cols <= rows + shift) | (cols >= n_k), S, np.float32(hidden))
        m_new = np.maximum(m, S.max(axis=1, keepdims=True))
        base = np.where(np.isneginf(m_new), np.float32(0), m_new)
        p, alpha = np.exp(S - base), np.exp(m - base)
        l = (l if fault == "sum" else alpha * l) + p.sum(axis=1, keepdims=True)
        O, m = alpha * O + p @ tile[1], m_new
    return O / np.where(l > 0, l, 1)


def exact(q: np.ndarray, k: np.ndarray, v: np.ndarray, causal: bool) -> np.ndarray:
    """O in float64, all keys at once, aligned bottom-right; 0 for a row that sees none."""
    q, k, v = (x.astype(np.float64) for x in (q, k, v))
    S = q @ k.T / np.sqrt(D)
    if causal:
        S = np.where(np.tri(len(q), len(k), len(k) - len(q), dtype=bool), S, -np.inf)
    top = S.max(axis=1, keepdims=True)
    P = np.exp(S - np.where(np.isneginf(top), 0, top))
    total = P.sum(axis=1, keepdims=True)
    return P @ v / np.where(total > 0, total, 1)


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
        short = [FORMATS["tf32"].round_to(x).astype(np.float32) for x in (q, k, v)]
        found = loop(*short, causal)
    else:
        found = loop(q, k, v, causal, fault)
    return float(np.abs(found - exact(q, k, v, causal)).max())


def _walk(step: int) -> list[Block]:
    phase, place, said = STOPS[step - 1]
    wide = 844 / len(STOPS)
    names = ["load Q" if at == 0 else "load K, V" if at == 1 else name
             for at, (name, _, _) in enumerate(STOPS)]  # fmt: skip
    chips = [box(k * wide, 0, wide - 6, 32, name, hue="m" if k == step - 1 else "",
                 look="is-full is-small" if k == step - 1 else "is-pale is-small")
             for k, name in enumerate(names)]  # fmt: skip
    return [
        scene("One program, from its load to its store",
              f"Stop {step} of {len(STOPS)}: {names[step - 1]}", panel(844, 34, chips)),
        code(f"kernels/fa2.py: {names[step - 1]}", extracts()[phase][place]),
        text(said),
    ]  # fmt: skip


def _note() -> list[Block]:
    rows = (
        ("no mask for keys beyond N", f"N = {N_ODD}: error {shown(off('padding'))}",
         "padded keys score 0 and count"),
        ("−10⁹ in the place of −∞", f"a row without keys: error {shown(off('finite'))}",
         "it averages V in place of 0"),
        ("causal mask from the top left", f"1 query, {N_ODD} keys: error {shown(off('corner'))}",
         "it sees the first key only"),
        ("fp32 through TF32", f"error {scientific(off('tf32'))} in place of "
         f"{scientific(off(''))}", "10 bits of mantissa"),
        ("no lse is written", "no backward pass", "weights cannot be made again"),
    )  # fmt: skip
    return [
        table("Five mistakes of a course note's kernel", ("mistake", "gives", "because"), rows),
        text("Computed here in NumPy, the note's loop with one mistake at a time, against float64.",
             "fine"),
    ]  # fmt: skip


def _check() -> list[Block]:
    """The recorded errors of our kernel and of PyTorch's, one shape."""
    names = {"fa2": "this kernel", "sdpa_flash": "SDPA, flash", "sdpa_cudnn": "SDPA, cuDNN",
             "naive": "plain PyTorch"}  # fmt: skip
    rows = [r for r in load()["rows"]
            if (r["n"], r["d"], r["mask"], r["dtype"]) == (4096, 64, "causal", "fp16")]  # fmt: skip
    found = {r["method"]: r["error"] for r in rows if r.get("error") is not None}
    items = [(name, found[key], scientific(found[key])) for key, name in names.items()
             if key in found]  # fmt: skip
    return [
        bars("Largest error of O, N = 4,096, d = 64, causal, fp16", items, colour="o"),
        text("The rule: at most twice the error of plain PyTorch in the same format, plus the "
             "rounding of the output."),
        text(f"Errors {about()}. The Run page makes the same check live.", "fine"),
    ]  # fmt: skip


def _read(v: Mapping[str, float | str]) -> list[Block]:
    if v["show"] == "note":
        return _note()
    return _check() if v["show"] == "check" else _walk(min(len(STOPS), max(1, whole(v["step"]))))


WIDGETS = (
    Widget("read", "The forward kernel", (
        pick("show", "Show", "walk", (("walk", "the kernel"), ("check", "its check"),
                                      ("note", "a note's mistakes")), closed=("note",)),
        slider("step", "Stop", 6, 1, len(STOPS)),
    ), _read),
)  # fmt: skip


def listing(fault: str) -> tuple[tuple[str, str], ...]:
    """The lines of the loop that are asked about, with this fault, and what is said of each."""
    at, wrong = FAULTS[fault]
    return tuple(
        (wrong.strip(), BECAUSE[fault]) if k == at else (LOOP[k].strip(), FINE[k])
        for k in ASKED[fault]
    )


def _rung() -> Rung:
    made = [{"options": listing(f), "answer": ASKED[f].index(FAULTS[f][0])} for f in FAULTS]
    figures = {f"off_{f}": shown(off(f)) for f in FAULTS}
    return rung("read", figures, **made[0], variants=made[1:])


RUNGS = (_rung(),)
