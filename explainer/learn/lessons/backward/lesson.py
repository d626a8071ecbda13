"""The backward pass on the running example, and its lines as an exercise."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np

from explainer.algorithms.schedule import schedule
from explainer.base.amounts import format_significant
from explainer.base.records import load
from explainer.learn.example import IT, KINDS, MEANINGS, WORDS, K, Q, V, make_example
from explainer.learn.kit import Block, Words
from explainer.learn.linear_algebra import address, attend

t = Words(__name__)
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
    x = derived()
    over = " + ".join(f"({a:.0f})·{b:.2f}" for a, b in zip(DO[IT], x.O[IT], strict=True) if a)
    results = (x.P[IT], x.dV[:, -1], x.dP[IT], [x.D[IT]], x.dS[IT], x.dQ[IT], x.dK[:, 0])
    seen = np.flatnonzero(Q[IT])
    return t.picture(
        step=step,
        name=t.row("names")[step - 1],
        says=t.row("says")[step - 1],
        numbers=results[step - 1],
        P=x.P[IT],
        dV=x.dV[:, MEANINGS.index("feeling")],
        dP=x.dP[IT],
        dS=x.dS[IT],
        dK=[x.dK[:, k] for k in seen],
        parts=[KINDS[k] for k in seen],
        dO=DO[[IT]],
        dQ=x.dQ[[IT]],
        lse=x.lse[IT],
        over=over,
        D=x.D[IT],
        sum=abs(x.dS[IT].sum()),
        is_first=step == 1,
        words=WORDS,
        kinds=KINDS,
        meanings=MEANINGS,
        **{f"has_{k}": step >= k for k in range(1, 8)},
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
    return t.picture(
        "run.label",
        "run.spoken",
        "run",
        consequence=_consequence(found["dS"].sum(axis=1), wrong),
        lines=" ".join(f"{name}: {o}, {how}." for name, o, how in rows),
        rows=rows,
        is_wrong=bool(wrong),
    )


def _consequence(sums: np.ndarray, wrong: list[str]) -> str:
    """What can be seen of a wrong filling, the first one in the order of the lines."""
    if not wrong:
        return t("run.right")
    if abs(sums[IT]) > CLOSE:
        return t("run.wrong_dS", total=sums[IT])
    return t("run.wrong_dQ" if "dQ" in wrong else "run.wrong_dK")


def most_apart() -> str:
    """How far the recorded losses of our attention and PyTorch's part at most, in percent."""
    ours, theirs = (row["losses"] for row in load("training_cpu")["rows"])
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
