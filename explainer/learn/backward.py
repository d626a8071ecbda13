"""5.2: the backward pass, softmax's derivative one step at a time, and a model trained with it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np

from explainer.algorithms.schedule import schedule
from explainer.algorithms.transfers import Step
from explainer.base.amounts import format_fixed, format_significant
from explainer.learn import training
from explainer.learn.blocks import Block, matrix, t, table, text
from explainer.learn.linear_algebra import address, attend, make_problem, products, softmax
from explainer.trace import trace_backward

Gradients = dict[str, np.ndarray]

# Four tokens, so that a row's Jacobian is a matrix of 4 × 4; random data, so that no number is 0.
SMALL = make_problem(4, 2, 2, order="fa2", seed=2)
ROW = 1  # whose numbers are written out
SAME = 1e-12  # two ways to one number, in float64
CLOSE = 1e-7  # a derivative and central differences of H, in float64
H = 1e-5
DIMS = [str(x) for x in range(SMALL.d)]
ROWS = [t("backward.row", n=x) for x in range(SMALL.n)]
KEYS = [t("backward.key", n=x) for x in range(SMALL.n)]


@dataclass(frozen=True, eq=False)
class Derived:
    """A backward pass in float64: all (n, d) or (n, n), but ``lse`` and ``D`` (n,).

    S is scaled; dK and dQ hold the scale.
    """

    scale: float
    Q: np.ndarray
    K: np.ndarray
    V: np.ndarray
    dO: np.ndarray
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
    """The backward pass of ``SMALL``, from the inputs and the dO of its trace."""
    run, scale = trace_backward(SMALL), SMALL.scale
    Q, K, V, dO = (x.astype(np.float64) for x in (run.Q, run.K, run.V, run.dO))
    S = Q @ K.T * scale
    lse = np.logaddexp.reduce(S, axis=1)
    P = np.exp(S - lse[:, None])
    O, dP = P @ V, dO @ V.T
    D = (dO * O).sum(axis=1)
    dS = P * (dP - D[:, None])
    gradients = dS @ K * scale, dS.T @ Q * scale, P.T @ dO
    return Derived(scale, Q, K, V, dO, S, lse, P, O, dP, D, dS, *gradients)


def jacobian(p: np.ndarray) -> np.ndarray:
    """∂p_a / ∂s_b (n, n) of p = softmax(s), p (n,)."""
    return np.diag(p) - np.outer(p, p)


@cache
def differences() -> Gradients:
    """dQ, dK, dV (n, d) of the loss Σ O ∘ dO by central differences in float64: no derivative."""
    x = derived()
    inputs = {"dQ": x.Q.copy(), "dK": x.K.copy(), "dV": x.V.copy()}

    def loss() -> float:
        *_, O = attend(*inputs.values())
        return float((O * x.dO).sum())

    found = {}
    for name, moved in inputs.items():
        found[name] = np.empty_like(moved)
        for at in np.ndindex(moved.shape):
            before, ends = moved[at], []
            for by in (H, -H):
                moved[at] = before + by
                ends.append(loss())
            moved[at] = before
            found[name][at] = (ends[0] - ends[1]) / (2 * H)
    return found


# ---- the derivation, step by step


def _taken(x: float) -> str:
    """A number behind an operator: a negative one in parentheses."""
    return format_fixed(x) if x >= 0 else f"({format_fixed(x)})"


def _sum(parts: np.ndarray) -> str:
    """What is added up, written out, and the sum."""
    return f"{' + '.join(map(_taken, parts))} = {format_fixed(parts.sum())}"


def _row(label: str, x: np.ndarray, **more) -> Block:
    """The shown row of scores or weights, (n,)."""
    return matrix(label, x[None], colour="s", heat=True, **more)


def _tall(label: str, x: np.ndarray, colour: str, row: int | None = None, **more) -> Block:
    """An n × d matrix: of rows, one of them outlined, or of keys."""
    names, marks = KEYS, []
    if row is not None:
        names, marks = ROWS, [(row, c) for c in range(x.shape[1])]
    return matrix(label, x, row_labels=names, col_labels=DIMS, colour=colour, marks=marks, **more)


def _verdict(words: str, holds: bool) -> Block:
    return text(words, "good" if holds else "bad")


def _again(x: Derived) -> list[Block]:
    off = np.abs(x.P - softmax(x.S)).max()
    return [
        _row(t("backward.again.S", i=ROW), x.S[ROW]),
        matrix(t("backward.again.lse"), x.lse[:, None], row_labels=ROWS, colour="l", digits=3),
        matrix(
            "P = exp(S − lse)",
            x.P,
            row_labels=ROWS,
            col_labels=KEYS,
            colour="s",
            digits=3,
            heat=True,
            marks=[(ROW, c) for c in range(SMALL.n)],
        ),
        text(
            t(
                "backward.again.P",
                i=ROW,
                s=x.S[ROW, 0],
                lse=_taken(x.lse[ROW]),
                p=x.P[ROW, 0],
            )
        ),
        _verdict(t("backward.again.off", off=off), off < SAME),
    ]


def _jacobian(x: Derived) -> list[Block]:
    p, J = x.P[ROW], jacobian(x.P[ROW])
    return [
        _row(t("backward.jacobian.P", i=ROW), p, col_labels=KEYS, digits=3),
        matrix(
            t("backward.jacobian.matrix", i=ROW),
            J,
            row_labels=[f"∂P {c}" for c in KEYS],
            col_labels=[f"∂S {c}" for c in KEYS],
            colour="s",
            digits=3,
            heat=True,
            marks=[(0, 0), (0, 1)],
        ),
        text(
            t(
                "backward.jacobian.numbers",
                p=p[0],
                on=J[0, 0],
                beside=p[1],
                off=J[0, 1],
            )
        ),
        text(t("backward.jacobian.sums", n=SMALL.n)),
    ]


def _dP(x: Derived) -> list[Block]:
    J = jacobian(x.P[ROW])
    return [
        _tall(t("backward.dP.dO"), x.dO, "o", ROW, gradient=True),
        _tall("V", x.V, "v"),
        _row(t("backward.dP.row", i=ROW), x.dP[ROW], gradient=True),
        text(f"dP[{ROW}, 0] = {products(x.dO[ROW], x.V[0], 3)} = {format_fixed(x.dP[ROW, 0])}."),
        _row(t("backward.dP.dS", i=ROW), J @ x.dP[ROW], digits=3, gradient=True),
        text(f"dS[{ROW}, 0] = {products(J[0], x.dP[ROW], 3)} = {format_fixed(J[0] @ x.dP[ROW])}."),
    ]


def _D(x: Derived) -> list[Block]:
    over_keys, over_dims = x.P[ROW] * x.dP[ROW], x.dO[ROW] * x.O[ROW]
    off = abs(over_keys.sum() - over_dims.sum())
    return [
        matrix(
            t("backward.D.keys", i=ROW),
            [x.P[ROW], x.dP[ROW], over_keys],
            row_labels=("P", "dP", "P ∘ dP"),
            col_labels=KEYS,
            colour="s",
            digits=3,
            marks=[(2, c) for c in range(SMALL.n)],
        ),
        text(f"D = Σ P dP = {_sum(over_keys)}"),
        matrix(
            t("backward.D.dims", i=ROW),
            [x.dO[ROW], x.O[ROW], over_dims],
            row_labels=("dO", "O", "dO ∘ O"),
            col_labels=DIMS,
            colour="o",
            digits=3,
            marks=[(2, c) for c in range(SMALL.d)],
        ),
        text(f"D = rowsum(dO ∘ O) = {_sum(over_dims)}"),
        _verdict(t("backward.D.off", off=off), off < SAME),
    ]


def _dS(x: Derived) -> list[Block]:
    by_jacobian = jacobian(x.P[ROW]) @ x.dP[ROW]
    off, total = np.abs(by_jacobian - x.dS[ROW]).max(), abs(x.dS[ROW].sum())
    rows = [x.P[ROW], x.dP[ROW], x.dP[ROW] - x.D[ROW], x.dS[ROW], by_jacobian]
    names = (
        "P",
        "dP",
        f"dP − D, D = {format_fixed(x.D[ROW])}",
        "P ∘ (dP − D)",
        "(diag(P) − P Pᵀ) dP",
    )
    return [
        matrix(
            t("backward.dS.both", i=ROW),
            rows,
            row_labels=names,
            col_labels=KEYS,
            colour="s",
            digits=3,
            marks=[(k, c) for k in (3, 4) for c in range(SMALL.n)],
        ),
        text(
            f"dS[{ROW}, 0] = {format_fixed(x.P[ROW, 0])} · "
            f"({format_fixed(x.dP[ROW, 0])} − {_taken(x.D[ROW])}) = {format_fixed(x.dS[ROW, 0])}"
        ),
        _verdict(t("backward.dS.off", off=off), off < SAME),
        _verdict(t("backward.dS.sum", sum=_sum(x.dS[ROW])), total < SAME),
    ]


def _gradients(x: Derived) -> list[Block]:
    numeric = differences()
    off = max(float(np.abs(getattr(x, name) - g).max()) for name, g in numeric.items())
    return [
        _row(t("backward.gradients.dS", i=ROW), x.dS[ROW], digits=3, gradient=True),
        _tall("dQ = dS K/√d", x.dQ, "q", ROW, digits=3, gradient=True),
        matrix("dK = dSᵀ Q/√d", x.dK, col_labels=DIMS, colour="k", digits=3, gradient=True),
        matrix("dV = Pᵀ dO", x.dV, col_labels=DIMS, colour="v", digits=3, gradient=True),
        text(
            f"dQ[{ROW}, 0] = ({products(x.dS[ROW], x.K[:, 0], 3)}) / √{SMALL.d} = "
            f"{format_fixed(x.dQ[ROW, 0])}"
        ),
        _verdict(t("backward.gradients.off", off=off), off < CLOSE),
    ]


def place(phase: str) -> str:
    """The address of a phase of ``SMALL``'s backward pass on the Step page, in a visit that has the
    row."""

    def has(step: Step) -> bool:
        return step.i == ROW // SMALL.block_q and phase in step.phases

    at = next(k for k, step in enumerate(schedule(SMALL, "backward")) if has(step))
    return f"{address(SMALL, at, phase)}&pass=backward"


STEPS = (_again, _jacobian, _dP, _D, _dS, _gradients)


def steps(step: int) -> list[Block]:
    """One step of the derivation, with a row's numbers written out; after it, the record."""
    if step > len(STEPS):
        return training.blocks()
    return STEPS[step - 1](derived())


# ---- the exercise: each gap's fillings, as the lesson's question has them, and what they do

LESS: dict[str, Callable[[Derived], np.ndarray | float]] = {
    "0": lambda x: 0.0,
    "lse": lambda x: x.lse[:, None],
    "mean(dP)": lambda x: x.dP.mean(axis=1, keepdims=True),
    "D": lambda x: x.D[:, None],
}
GRADIENT: dict[str, Callable[[Derived, np.ndarray], np.ndarray]] = {  # of a query or a key
    "dSᵀ K / √d": lambda x, dS: dS.T @ x.K * x.scale,
    "dS K / √d": lambda x, dS: dS @ x.K * x.scale,
    "dSᵀ Q / √d": lambda x, dS: dS.T @ x.Q * x.scale,
    "dS Q / √d": lambda x, dS: dS @ x.Q * x.scale,
}


def ran(less: str, query: str, key: str) -> Gradients:
    """dS, dQ, dK and dV that the lines give with these fillings; nothing typed is executed."""
    x = derived()
    dS = x.P * (x.dP - LESS[less](x))
    gradients = {"dQ": GRADIENT[query](x, dS), "dK": GRADIENT[key](x, dS)}
    return gradients | {"dS": dS, "dV": x.P.T @ x.dO}


def _run(g1: int | str, g2: str, g3: str) -> list[Block]:
    found, numeric = ran(str(g1), g2, g3), differences()
    off = {name: float(np.abs(found[name] - g).max()) for name, g in numeric.items()}
    verdicts = t.named("backward.run.verdicts")
    rows = [
        (name, format_significant(o, 2), verdicts["agrees" if o < CLOSE else "differs"])
        for name, o in off.items()
    ]
    wrong = [name for name, o in off.items() if o >= CLOSE]
    sums = found["dS"].sum(axis=1)
    blocks = [
        table(t("backward.run.off"), (), rows),
        matrix(
            t("backward.run.dS"),
            np.column_stack((found["dS"], sums)),
            row_labels=[str(r) for r in range(SMALL.n)],
            col_labels=[*KEYS, "Σ"],
            colour="s",
            gradient=True,
            marks=[(r, SMALL.n) for r in range(SMALL.n)],
        ),
    ]
    if not wrong:
        return [*blocks, text(t("backward.run.right"), "good")]
    return [*blocks, text(_consequence(sums, wrong), "bad")]


def _consequence(sums: np.ndarray, wrong: list[str]) -> str:
    """What can be seen of a wrong filling, the first one in the order of the lines."""
    if np.abs(sums).max() > CLOSE:
        return t("backward.run.wrong_dS", total=sums[0])
    return t("backward.run.wrong_dQ" if "dQ" in wrong else "backward.run.wrong_dK")


WIDGETS = {
    "backward": steps,
    "backward_run": _run,
}
FIGURES = {
    "backward": lambda: {"place": place("dS"), "cpu_apart": training.most_apart("training_cpu")},
}
