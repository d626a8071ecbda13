"""5.2: the backward pass on the running example, and its lines as an exercise."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np

from explainer.algorithms.schedule import schedule
from explainer.base.amounts import format_significant
from explainer.base.records import load
from explainer.learn.example import IT, KINDS, MEANINGS, WORDS, K, Q, V, make_example
from explainer.learn.kit import (
    Block,
    cells,
    grid,
    note,
    picture,
    row,
    shares,
    table,
    words,
    words_of,
)
from explainer.learn.linear_algebra import address, attend

t = words_of(__name__)
Gradients = dict[str, np.ndarray]
# The loss falls when the output of "it" has more of its last dimension, feeling.
DO = np.zeros_like(V)
DO[IT, MEANINGS.index("feeling")] = -1.0
SCALE = 1 / np.sqrt(Q.shape[1])
CLOSE = 1e-7  # a derivative and central differences of H, in float64
H = 1e-5


@dataclass(frozen=True, eq=False)
class Derived:
    """A backward pass in float64: all (n, d) or (n, n), but ``lse`` and ``D`` (n,). S is scaled;
    dK and dQ hold the scale."""

    S: np.ndarray
    lse: np.ndarray
    P: np.ndarray
    O: np.ndarray
    dP: np.ndarray
    D: np.ndarray
    dS: np.ndarray
    dQ: np.ndarray
    dK: np.ndarray
    dV: np.ndarray


@cache
def derived() -> Derived:
    """The backward pass of the running example and DO."""
    S, _, O = attend(Q, K, V)
    lse = np.logaddexp.reduce(S, axis=1)
    P = np.exp(S - lse[:, None])
    dP, D = DO @ V.T, (DO * O).sum(axis=1)
    dS = P * (dP - D[:, None])
    return Derived(S, lse, P, O, dP, D, dS, dS @ K * SCALE, dS.T @ Q * SCALE, P.T @ DO)


@cache
def differences() -> Gradients:
    """dQ, dK, dV (n, d) of the loss Σ O ∘ dO by central differences in float64: no derivative."""
    inputs = {"dQ": Q.copy(), "dK": K.copy(), "dV": V.copy()}

    def loss() -> float:
        *_, O = attend(*inputs.values())
        return float((O * DO).sum())

    found = {}
    for name, moved in inputs.items():
        found[name] = np.empty_like(moved)
        for at in np.ndindex(moved.shape):
            value, ends = moved[at], []
            for by in (H, -H):
                moved[at] = value + by
                ends.append(loss())
            moved[at] = value
            found[name][at] = (ends[0] - ends[1]) / (2 * H)
    return found


def compute(step: int) -> Block:
    """The row of "it" through the formulas, and the gradients as they come."""
    x, names = derived(), t.named("rows")
    feels = MEANINGS.index("feeling")
    under = [
        (1, shares(names["P"], x.P[IT])),
        (2, cells(t("of", name="dV", part=MEANINGS[feels]), x.dV[:, feels], "v", digits=2)),
        (3, cells(names["dP"], x.dP[IT], digits=2)),
        (5, cells(names["dS"], x.dS[IT], "s", digits=2)),
        *(
            (7, cells(t("of", name="dK", part=KINDS[k]), x.dK[:, k], "k", digits=2))
            for k in np.flatnonzero(Q[IT])
        ),
    ]
    name, says = t.row("names")[step - 1], t.row("says")[step - 1]
    notes = [note(says, aside=True)]
    if step == 1:
        notes.append(note(t("lse", lse=x.lse[IT]), "fine", aside=True))
    if step >= 4:
        over = " + ".join(f"({a:.0f})·{b:.2f}" for a, b in zip(DO[IT], x.O[IT], strict=True) if a)
        notes.append(note(t("D", sum=over, D=x.D[IT]), "fine", aside=True))
    if step >= 5:
        notes.append(note(t("sum", sum=abs(x.dS[IT].sum())), "good"))
    results = (x.P[IT], x.dV[:, -1], x.dP[IT], [x.D[IT]], x.dS[IT], x.dQ[IT], x.dK[:, 0])
    return picture(
        t("label", word=WORDS[IT], step=step, all=7),
        t("spoken", step=step, all=7, name=name, says=says, numbers=results[step - 1]),
        note(f"{step}. {name}", "big"),
        words(WORDS, at=IT, weights=x.P[IT], rows=[made for first, made in under if step >= first]),
        row(
            grid(t("dO"), DO[[IT]], "o", rows=[WORDS[IT]], cols=MEANINGS, digits=0),
            *([grid("dQ", x.dQ[[IT]], "q", cols=KINDS, key="dQ")] if step >= 6 else []),
        ),
        *notes,
    )


# ---- the exercise: each gap's fillings, as the lesson's question has them, and what they do

LESS: dict[str, Callable[[Derived], np.ndarray | float]] = {
    "0": lambda x: 0.0,
    "lse": lambda x: x.lse[:, None],
    "mean(dP)": lambda x: x.dP.mean(axis=1, keepdims=True),
    "D": lambda x: x.D[:, None],
}
GRADIENT: dict[str, Callable[[np.ndarray], np.ndarray]] = {  # of a query or a key
    "dSᵀ K / √d": lambda dS: dS.T @ K * SCALE,
    "dS K / √d": lambda dS: dS @ K * SCALE,
    "dSᵀ Q / √d": lambda dS: dS.T @ Q * SCALE,
    "dS Q / √d": lambda dS: dS @ Q * SCALE,
}


def ran(less: str, query: str, key: str) -> Gradients:
    """dS, dQ, dK and dV that the lines give with these fillings; nothing typed is executed."""
    x = derived()
    dS = x.P * (x.dP - LESS[less](x))
    return {"dQ": GRADIENT[query](dS), "dK": GRADIENT[key](dS), "dS": dS, "dV": x.P.T @ DO}


def run(g1: int | str, g2: str, g3: str) -> Block:
    """How far the reader's gradients are from finite differences, and what that shows."""
    found, numeric = ran(str(g1), g2, g3), differences()
    off = {name: float(np.abs(found[name] - g).max()) for name, g in numeric.items()}
    wrong = [name for name, o in off.items() if o >= CLOSE]
    rows = [
        (name, format_significant(o, 2), t("run.differs" if name in wrong else "run.agrees"))
        for name, o in off.items()
    ]
    notes = _consequence(found["dS"].sum(axis=1), wrong)
    spoken = " ".join([notes, *(f"{name}: {o}, {how}." for name, o, how in rows)])
    return picture(
        t("run.label"),
        spoken,
        table(t.row("run.head"), rows),
        note(notes, "bad" if wrong else "good"),
    )


def _consequence(sums: np.ndarray, wrong: list[str]) -> str:
    """What can be seen of a wrong filling, the first one in the order of the lines."""
    if not wrong:
        return t("run.right")
    if abs(sums[IT]) > CLOSE:
        return t("run.wrong_dS", total=sums[IT])
    return t("run.wrong_dQ" if "dQ" in wrong else "run.wrong_dK")


def most_apart(name: str = "training_cpu") -> str:
    """How far the recorded losses of our attention and PyTorch's part at most, in percent."""
    ours, theirs = (row["losses"] for row in load(name)["rows"])
    most = max(abs(a - b) / b for a, b in zip(ours, theirs, strict=True))
    return f"{format_significant(100 * most, 2)} %"


def figures() -> dict[str, str]:
    """Where Step shows dS of the row, and what the record says."""
    problem = make_example()
    at = next(
        k
        for k, x in enumerate(schedule(problem, "backward"))
        if x.i == IT // problem.block_q and "dS" in x.phases
    )
    return {"place": f"{address(problem, at, 'dS')}&pass=backward", "cpu_apart": most_apart()}


WIDGETS = {"backward_run": run}
