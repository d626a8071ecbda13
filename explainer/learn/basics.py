"""Rungs 1 to 5: dot product, matrix product, softmax, one query, attention in one picture."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from explainer.algorithms.inputs import row_names
from explainer.base.amounts import shown
from explainer.learn.blocks import Block, Control, Widget, formula, link, matrix, plot, table, text
from explainer.learn.content import rung
from explainer.learn.controls import pick, slider
from explainer.learn.rungs_low import (
    CAT,
    KEYS_EACH,
    LOOPS,
    PRODUCTS,
    SPREAD_D,
    A,
    B,
    address,
    measures,
    product,
    products,
    softmax,
    spread,
    whole,
)  # fmt: skip
from explainer.problem import Problem
from explainer.trace import Trace, trace

Values = Mapping[str, float | str]
RUNGS = (rung("cat", {"place": address(CAT, 1, "scores")}),)

LOGITS = np.array([[2.0, 1.0, 0.0, -1.0], [0.5, 0.5, 0.5, 0.5], [-1.0, 3.0, 0.0, 1.0]])

PICTURE = Problem(
    n=6, d=4, block_q=6, block_k=6, causal=False, order="standard", inputs="sentence", gain=3.0
)
SOFTMAX_QKV = (
    "<mi>O</mi><mo>=</mo><mi>softmax</mi><mo>(</mo><mfrac><mrow><mi>Q</mi><msup><mi>K</mi>"
    "<mi>T</mi></msup></mrow><msqrt><mi>d</mi></msqrt></mfrac><mo>)</mo><mi>V</mi>"
)


def _dot(v: Values) -> list[Block]:
    a, b = (np.array([float(v[f"{name}{x}"]) for x in "123"]) for name in "ab")
    found = measures(a, b)
    cosine = found["cosine"]
    d = int(v["d"])
    s = spread(d)
    seen, roots = [spread(x)["raw"] for x in SPREAD_D], [x**0.5 for x in SPREAD_D]
    return [
        matrix(
            "a, b, and their products place by place", [a, b, a * b],
            row_labels=("a", "b", "a × b"), col_labels=("1", "2", "3"), digits=1,
        ),
        table(
            "Norms, dot product and cosine of a and b", ("what", "value"),
            [
                ("norm of a, √(a·a)", shown(found["norm_a"])),
                ("norm of b, √(b·b)", shown(found["norm_b"])),
                ("dot product a·b", f"{products(a, b, 1)} = {shown(found['dot'])}"),
                ("cosine", "none: a vector of zeros" if cosine is None else shown(cosine)),
            ],
        ),
        text(_direction(cosine)),
        table(
            f"Random vectors of d = {d} numbers, {500 * KEYS_EACH:,} dot products",
            ("what", "q·k", "q·k / √d"),
            [
                ("spread (standard deviation)", shown(s["raw"]), shown(s["scaled"])),
                (
                    f"largest softmax weight of {KEYS_EACH} keys, on average",
                    shown(s["raw_top"]), shown(s["scaled_top"]),
                ),
            ],
        ),
        plot(
            "Spread of q·k against d: measured, and √d",
            [
                {"name": "measured", "x": list(SPREAD_D), "y": seen, "colour": "q", "points": True},
                {"name": "√d", "x": list(SPREAD_D), "y": roots, "colour": "plain", "points": False},
            ],
            x_label="d", y_label="spread of q·k", log_x=True, log_y=True,
        ),
    ]  # fmt: skip


def _direction(cosine: float | None) -> str:
    if cosine is None:
        return "A vector of zeros has no direction, so there is no cosine."
    if abs(cosine) < 1e-9:
        return "The dot product is 0: a and b stand at a right angle."
    where = "the same side" if cosine > 0 else "opposite sides"
    angle = np.degrees(np.arccos(np.clip(cosine, -1, 1)))
    return f"a and b point to {where}: the angle is {angle:.0f}°."


def _matmul(v: Values) -> list[Block]:
    i, j, done = int(v["i"]), int(v["j"]), whole(v["done"])
    terms = " + ".join(
        f"({shown(x, 0)})·({shown(y, 0)})" for x, y in zip(A[i], B[:, j], strict=True)
    )
    C, last = product(str(v["loops"]), done)
    same = all(np.array_equal(product(order, PRODUCTS)[0], A @ B) for order in LOOPS)
    rows, inner, cols = ([str(x) for x in range(n)] for n in (A.shape[0], A.shape[1], B.shape[1]))
    finished = done == PRODUCTS or last is None
    at = (i, j) if finished else last[:2]
    which = f"cell {at} outlined" if finished else f"the cell of the last product, {at}, outlined"
    so_far = f"C after {done} of {PRODUCTS} products, {which}; loops {LOOPS[str(v['loops'])]}"
    return [
        matrix(f"A, row {i} outlined", A, row_labels=rows, col_labels=inner, colour="q", digits=0,
               marks=[(i, k) for k in range(A.shape[1])]),
        matrix(f"B, column {j} outlined", B, row_labels=inner, col_labels=cols, colour="k",
               digits=0, marks=[(k, j) for k in range(B.shape[0])]),
        text(f"C[{i}, {j}] = row {i} of A times column {j} of B = {terms} = "
             f"{shown((A @ B)[i, j], 0)}"),
        matrix(so_far, C, row_labels=rows, col_labels=cols, colour="o", digits=0,
               marks=[at]),
        text(f"The three nestings, run to their end, give {'the same' if same else 'another'} C. "
             "What differs is which cells are finished early, and so what must be kept or moved."),
    ]  # fmt: skip


def _softmax(v: Values) -> list[Block]:
    axis = 1 if v["axis"] == "rows" else 0
    gain = float(v["gain"])
    x = LOGITS * gain
    P = softmax(x, axis)
    names = [f"row {r}" for r in range(len(x))]
    cols = [f"column {c}" for c in range(x.shape[1])]
    along = "Each row adds up to 1" if axis else "Each column adds up to 1"
    alike = softmax(x + 5.0, axis)
    return [
        matrix(f"Numbers times the gain {gain:g}", x, row_labels=names, col_labels=cols,
               colour="s", heat=True),
        matrix(f"Softmax {'along each row' if axis else 'down each column'}", P, row_labels=names,
               col_labels=cols, colour="s", digits=3, heat=True),
        matrix("Sum of each row", P.sum(axis=1, keepdims=True), row_labels=names, digits=3),
        matrix("Sum of each column", P.sum(axis=0, keepdims=True), col_labels=cols, digits=3),
        text(f"{along}; the sums the other way may be anything. The largest share is "
             f"{shown(P.max())}. Gain {gain:g} is temperature {1 / gain:.3g}."),
        text("Add 5 to every number: the largest change of a share is "
             f"{shown(np.abs(alike - P).max())}. Only differences count.", "fine"),
    ]  # fmt: skip


def stages(run: Trace) -> tuple[np.ndarray, np.ndarray]:
    """S (n, n) scaled and masked, P (n, n), of a trace in the standard order."""
    P = np.concatenate([x.P for x in run.visits if x.stage == "softmax"])
    return run.S, P


def _cat(v: Values) -> list[Block]:
    run, step, r = trace(CAT), whole(v["step"]), int(v["word"])
    names = row_names(CAT) or ()
    word = names[r]
    S, P = stages(run)
    dims = [str(x) for x in range(CAT.d)]
    one = [matrix(f"Query of “{word}”", run.Q[r : r + 1], row_labels=[word], col_labels=dims,
                  colour="q")]  # fmt: skip
    if step >= 2:
        first = products(run.Q[r], run.K[0], 2)
        one += [
            matrix("Keys, one row a word", run.K, row_labels=names, col_labels=dims, colour="k"),
            matrix(f"Scores of “{word}”: dot products divided by √d", S[r : r + 1],
                   row_labels=[word], col_labels=names, colour="s", digits=3, heat=True),
            text(f"With “{names[0]}”: ({first}) / √{CAT.d} = {shown(S[r, 0])}"),
        ]  # fmt: skip
    if step >= 3:
        best = int(P[r].argmax())
        one += [
            matrix(f"Weights of “{word}”: softmax of its scores", P[r : r + 1], row_labels=[word],
                   col_labels=names, colour="s", digits=3, heat=True),
            text(f"“{word}” looks most at “{names[best]}”, with weight {shown(P[r, best])}. The "
                 f"weights add up to {shown(P[r].sum())}."),
        ]  # fmt: skip
    if step >= 4:
        parts = [f"{shown(P[r, c])} × “{names[c]}”" for c in range(CAT.n)]
        one += [
            matrix("Values, one row a word", run.V, row_labels=names, col_labels=dims, colour="v"),
            matrix("Each value times its weight", P[r][:, None] * run.V, row_labels=parts,
                   col_labels=dims, colour="v"),
            matrix(f"Output of “{word}”: the sum of these rows", run.O[r : r + 1],
                   row_labels=[word], col_labels=dims, colour="o"),
        ]  # fmt: skip
    if step >= 5:
        one = _rows_at_once(run, S, P, names, r)
    visit, phase = {1: (r, "load"), 2: (r, "scores"), 3: (CAT.Tr + r, "exp")}.get(
        step, (2 * CAT.Tr + r, "output")
    )
    return [*one, link("This place on the Step page", address(CAT, visit, phase))]


def _rows_at_once(run: Trace, S: np.ndarray, P: np.ndarray, names, r: int) -> list[Block]:
    """All of Q, K, V, S, P, O, row ``r`` outlined where it is a query's."""
    dims = [str(x) for x in range(run.Q.shape[1])]
    table_of = (
        ("Q: the queries, one row a word", run.Q, dims, "q", True),
        ("K: the keys", run.K, dims, "k", False),
        ("S = Q Kᵀ / √d: scores", S, names, "s", True),
        ("P: softmax of S along each row", P, names, "s", True),
        ("V: the values", run.V, dims, "v", False),
        ("O = P V: the outputs", run.O, dims, "o", True),
    )
    return [
        matrix(label, x, row_labels=names, col_labels=cols, colour=colour, heat=colour == "s",
               marks=[(r, c) for c in range(x.shape[1])] if mine else [])
        for label, x, cols, colour, mine in table_of
    ]  # fmt: skip


def _attention(v: Values) -> list[Block]:
    full = PICTURE if v["data"] == "sentence" else replace(PICTURE, inputs="random", gain=1.0)
    problem = replace(full, causal=v["causal"] == "1")
    names = row_names(problem) or [str(i) for i in range(problem.n)]
    run, r = trace(problem), int(v["row"])
    S, P = stages(run)
    blocks = _rows_at_once(run, S, P, names, r)
    raw = trace(full).S
    blocks[2:3] = [
        matrix("S = Q Kᵀ / √d: every query with every key", raw, row_labels=names,
               col_labels=names, colour="s", heat=True, marks=[(r, c) for c in range(full.n)]),
        matrix("S after the mask" + ("" if problem.causal else ": none, all kept"), S,
               row_labels=names, col_labels=names, colour="s", heat=True,
               marks=[(r, c) for c in range(full.n)]),
    ]  # fmt: skip
    kept = int(np.isfinite(S).sum())
    return [
        formula("O = softmax(Q K transposed / √d) V", SOFTMAX_QKV),
        text(f"{kept} of {S.size} scores are kept. Row {r} (“{names[r]}”) sees "
             f"{int(np.isfinite(S[r]).sum())} keys; its weights add up to {shown(P[r].sum())}."),
        *blocks,
        link("These settings on the Step page", address(problem, 1, "exp")),
    ]  # fmt: skip


_VECTORS = tuple(
    slider(f"{name}{x + 1}", f"{name}, place {x + 1}", start[x], -3, 3, 0.5)
    for name, start in (("a", (1.0, 2.0, 2.0)), ("b", (2.0, 0.0, 1.0)))
    for x in range(3)
)

WIDGETS = (
    Widget(
        "dot", "Two vectors, and many",
        (*_VECTORS, pick("d", "Numbers in a random vector, d", 64, SPREAD_D)),
        _dot,
    ),
    Widget(
        "matmul", "A row times a column",
        (
            pick("i", "Row i of A", 1, range(A.shape[0])),
            pick("j", "Column j of B", 2, range(B.shape[1])),
            pick("loops", "Loops, from the outer to the inner", "ijk", LOOPS.items()),
            slider("done", "Products done", PRODUCTS, 0, PRODUCTS, 1),
        ),
        _matmul,
    ),
    Widget(
        "softmax", "Shares along an axis",
        (
            pick("axis", "Axis", "rows", [("rows", "along each row (dim = −1)"),
                                           ("columns", "down each column (dim = 0)")]),
            slider("gain", "Gain (1 / temperature)", 1.0, 0.1, 8.0, 0.1),
        ),
        _softmax,
    ),
    Widget(
        "cat", "The cat sat",
        (
            pick("word", "Follow the word", 1, enumerate(row_names(CAT) or ())),
            slider("step", "Step: query, scores, weights, output, all words", 3, 1, 5, 1),
        ),
        _cat,
    ),
    Widget(
        "attention", "From Q, K and V to O",
        (
            Control("causal", "Causal: no looking ahead", "toggle", "1"),
            pick("row", "Follow row", 2, range(PICTURE.n)),
            pick("data", "Data", "sentence", [("sentence", "six words"), ("random", "random")]),
        ),
        _attention,
    ),
)  # fmt: skip
