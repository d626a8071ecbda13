"""Rungs 8 and 9: why tiles, and softmax over numbers that arrive block by block."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from explainer.base.amounts import shown
from explainer.learn.blocks import Block, Widget, link, matrix, plot, table, text
from explainer.learn.content import rung
from explainer.learn.controls import pick, slider
from explainer.learn.rungs_low import address, softmax, whole
from explainer.problem import Problem
from explainer.trace import Visit, trace

Values = Mapping[str, float | str]

# Scores whose maximum rises several times; random data, so that Bc does not change them.
STREAM = Problem(
    n=12, d=4, block_q=12, block_k=3, causal=False, order="fa2", inputs="random", seed=2, gain=2.0
)
BLOCKS = (1, 2, 3, 4, 5, 6, 12)

# The course-day exercise. Each line needs the one before it, so that only one order is right.
FOR = "for S in blocks:"
LINES = (
    ("m, l = -inf, 0", "Nothing has been seen: no maximum, an empty sum."),
    (FOR, "Numbers arrive block by block."),
    ("    m_new = max(m, ___)", "Any m would do on paper; the maximum keeps every exp ≤ 1."),
    ("    alpha = exp(___)", "It needs both maxima, so it comes before the old one is lost."),
    ("    m = m_new", "Only now may the old maximum go."),
    ("    p = exp(S - m)", "With the new maximum, like everything after it."),
    ("    l = ___ * l + sum(p)", "The old sum is brought to the new maximum, then p is added."),
    ("weights = exp(all_S - m) / l", "After the last block: softmax over everything."),
)
GAPS = (
    (2, ("max(S)", "sum(S)", "l"), "max(S)"),
    (3, ("m - m_new", "m_new - m", "m"), "m - m_new"),
    (6, ("alpha", "1", "m"), "alpha"),
)


def _sets(name: str, function: Callable[[dict], object]) -> Callable[[dict], None]:
    def line(s: dict) -> None:
        s[name] = np.float32(function(s)) if name != "p" else function(s)

    return line


def _start(s: dict) -> None:
    s["m"], s["l"] = np.float32(-np.inf), np.float32(0)


def _finish(s: dict) -> None:
    s["weights"] = np.exp(s["all"] - s["m"]) / s["l"]


# What each line does, wrong fillings too: the exercise runs as data, no text is ever executed.
DOES: dict[str, Callable[[dict], None]] = {
    LINES[0][0]: _start,
    "m_new = max(m, max(S))": _sets("m_new", lambda s: max(s["m"], s["S"].max())),
    "m_new = max(m, sum(S))": _sets("m_new", lambda s: max(s["m"], s["S"].sum())),
    "m_new = max(m, l)": _sets("m_new", lambda s: max(s["m"], s["l"])),
    "alpha = exp(m - m_new)": _sets("alpha", lambda s: np.exp(s["m"] - s["m_new"])),
    "alpha = exp(m_new - m)": _sets("alpha", lambda s: np.exp(s["m_new"] - s["m"])),
    "alpha = exp(m)": _sets("alpha", lambda s: np.exp(s["m"])),
    "m = m_new": _sets("m", lambda s: s["m_new"]),
    "p = exp(S - m)": _sets("p", lambda s: np.exp(s["S"] - s["m"])),
    "l = alpha * l + sum(p)": _sets("l", lambda s: s["alpha"] * s["l"] + s["p"].sum()),
    "l = 1 * l + sum(p)": _sets("l", lambda s: s["l"] + s["p"].sum()),
    "l = m * l + sum(p)": _sets("l", lambda s: s["m"] * s["l"] + s["p"].sum()),
    LINES[-1][0]: _finish,
}


def simulate(lines: Sequence[str], scores: np.ndarray, block: int) -> np.ndarray:
    """The weights (n,) float32 that these lines give for ``scores`` (n,) float32 in blocks.

    Each line is looked up in ``DOES``; the indented ones after ``FOR`` are its body. Raises
    KeyError for a line that is none of them, or that uses what does not exist yet.
    """
    at = list(lines).index(FOR)
    body = [line.strip() for line in lines[at + 1 :] if line.startswith(" ")]
    state: dict = {"all": scores}
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        for line in lines[:at]:
            DOES[line](state)
        for start in range(0, len(scores), block):
            state["S"] = scores[start : start + block]
            for line in body:
                DOES[line](state)
        for line in lines[at + 1 :]:
            if not line.startswith(" "):
                DOES[line](state)
    return state["weights"]


def seen_weights(visits: Sequence[Visit], row: int) -> np.ndarray:
    """Softmax over what has arrived, from the last m and ℓ alone, float32."""
    S = np.concatenate([x.S[row] for x in visits])
    return np.exp(S - visits[-1].m_new[row]) / visits[-1].l_new[row]


def _online(v: Values) -> list[Block]:
    problem = replace(STREAM, block_k=int(v["bc"]))
    run, row = trace(problem), int(v["row"])
    done = min(whole(v["step"]), problem.Tc)
    visits = run.visits[:done]
    arrived = sum(x.S.shape[1] for x in visits)
    S = run.S[row]
    keys = [str(c) for c in range(problem.n)]
    last = visits[-1].S.shape[1] if visits else 0
    new = [(0, c) for c in range(arrived - last, arrived)]
    scores = matrix(
        f"Scores of query {row}: {arrived} of {problem.n} have arrived, the newest outlined",
        [[x if c < arrived else None for c, x in enumerate(S)]], col_labels=keys,
        colour="s", heat=True, marks=new,
    )  # fmt: skip
    if not visits:
        return [scores, text("Before the first block: m = −∞, ℓ = 0.")]
    weights = seen_weights(visits, row)
    error = float(np.abs(weights - softmax(S[:arrived].astype(float))).max())
    over = "everything" if done == problem.Tc else f"the {arrived} numbers so far"
    return [
        scores,
        table("m and ℓ, block after block",
              ("block", "m_old", "max of block", "m_new", "α", "ℓ_old", "sum of p", "ℓ_new"),
              [_line(j, x, row) for j, x in enumerate(visits)]),
        text(_sentence(visits[-1], row)),
        matrix("exp(S − m) / ℓ with the m and ℓ of now",
               [[*weights, *[None] * (problem.n - arrived)]], col_labels=keys, colour="s",
               digits=3, heat=True),
        text(f"Against softmax over {over} at once, in float64: largest difference {error:.1e}."
             .replace("e-", "e−"), "good" if error < 1e-6 else "bad"),
        plot("m and ℓ after each block",
             [{"name": name, "x": list(range(done)), "y": [float(y) for y in ys], "points": True,
               "colour": colour} for name, ys, colour in (
                   ("m", [x.m_new[row] for x in visits], "m"),
                   ("ℓ", [x.l_new[row] for x in visits], "l"))], x_label="block"),
        link("This block on the Step page", address(problem, done - 1, "exp")),
    ]  # fmt: skip


def _line(j: int, x: Visit, row: int) -> tuple[str, ...]:
    numbers = (x.m_old, x.row_max, x.m_new, x.alpha, x.l_old, x.row_sum, x.l_new)
    return (str(j), *(shown(n[row]) for n in numbers))


def _sentence(x: Visit, row: int) -> str:
    """The newest block's formulas with their numbers."""
    m_old, m_new, alpha = (shown(n[row]) for n in (x.m_old, x.m_new, x.alpha))
    old, total, new = (shown(n[row]) for n in (x.l_old, x.row_sum, x.l_new))
    why = "the maximum stays" if x.alpha[row] == 1 else "a new maximum: what was summed shrinks"
    if np.isneginf(x.m_old[row]):
        why = "the first block: there was nothing to keep"
    taken = f"({m_new})" if m_new.startswith("−") else m_new
    return f"α = exp({m_old} − {taken}) = {alpha} ({why}); ℓ = {alpha} · {old} + {total} = {new}."


WIDGETS = (
    Widget(
        "online", "Block by block",
        (
            slider("step", "Blocks that have arrived", 2, 0, STREAM.n, 1),
            pick("bc", "Numbers in a block, Bc", 3, BLOCKS),
            pick("row", "Query", 11, range(STREAM.n)),
        ),
        _online,
    ),
)  # fmt: skip


RUNGS = (rung("online", {"place": address(STREAM, 1, "exp")}, options=LINES, gaps=GAPS),)
