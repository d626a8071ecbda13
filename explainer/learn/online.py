"""Rungs 8 and 9: why tiles, and softmax over numbers that arrive block by block."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from explainer.base.amounts import amount, shown, written
from explainer.base.cards import CARDS
from explainer.learn.blocks import Block, Widget, bars, link, matrix, plot, table, text
from explainer.learn.content import Rung, rung
from explainer.learn.controls import card, commas, pick, slider
from explainer.learn.rungs_low import address, softmax, whole
from explainer.memory import tile_budget
from explainer.memory.levels import levels
from explainer.memory.workload import Workload
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


def _rate(bytes_per_s: float | None) -> str:
    return "not published" if bytes_per_s is None else f"{bytes_per_s / 1e12:,.3g} TB/s"


def _tiles_why(v: Values) -> list[Block]:
    br, bc = int(v["br"]), int(v["bc"])
    w = Workload(card=str(v["card"]), n=int(v["n"]), d=int(v["d"]), block_q=br, block_k=bc, heads=1,
                 dtype=str(v["dtype"]))  # fmt: skip
    card, problem = w.hardware, w.problem("fa2")
    parts = tile_budget.budget(problem)
    shared, registers = (
        tile_budget.held(parts, place) for place in (tile_budget.SHARED, tile_budget.REGISTERS)
    )
    whole_s = w.n * w.n * w.itemsize
    found = levels(w)
    sizes = [
        ("Q, K and V of one tile", shared),
        ("shared memory of one thread block", card.shared_bytes),
        ("shared memory of all SMs, added up", card.sms * card.shared_per_sm_bytes),
        ("L2 cache", card.l2_bytes),
        ("S of one head, N × N", whole_s),
        ("DRAM (HBM)", card.hbm_bytes),
    ]
    fits = tile_budget.fits(problem, card)
    best = tile_budget.largest_square(problem, card)
    return [
        table(f"Where bytes can be on the {card.name}", ("level", "whole card", "one SM", "rate"),
              [(x.name, amount(x.size_bytes), amount(x.per_sm_bytes) if x.per_sm_bytes else "—",
                _rate(x.bytes_per_s)) for x in found]),
        table(f"One tile, Br = {br}, Bc = {bc}, d = {w.d}, {w.dtype}",
              ("part", "shape", "bytes", "where"),
              [(p.sign, " × ".join(map(str, p.shape)), amount(p.nbytes), p.place) for p in parts]),
        text(f"One thread block may use {amount(card.shared_bytes)} of shared memory and "
             f"{amount(card.registers_per_sm_bytes)} of registers; this tile needs "
             f"{amount(shared)} and {amount(registers)}: it {'fits' if fits else 'does not fit'}. "
             f"The largest square tile that fits: Br = Bc = {best}.", "good" if fits else "bad"),
        bars("Sizes side by side; the line is what one thread block may use",
             [(name, float(n), amount(n)) for name, n in sizes], log=True,
             limit=float(card.shared_bytes)),
        text(f"S of one head is {written(whole_s / card.shared_bytes, 3)} times what a thread "
             f"block may use. The {card.sms} SMs have {amount(sizes[2][1])} of shared memory in "
             "all, but a thread block has its own SM's only (from Hopper on a cluster can share), "
             "so the M of the papers is per SM."),
        text("Every operand once, S, O, m and ℓ in fp32. A compiled kernel also buffers K and V "
             "several times and needs registers for more, so its largest tile is smaller.", "fine"),
    ]  # fmt: skip


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
        "tiles_why", "Does it fit?",
        (
            card("a100"),
            pick("n", "N", 4096, commas((1024, 4096, 16_384, 65_536))),
            pick("d", "d", 64, (64, 128, 256)),
            pick("br", "Br", 64, (16, 32, 64, 128, 256)),
            pick("bc", "Bc", 64, (16, 32, 64, 128, 256)),
            pick("dtype", "Format", "fp16", ("fp16", "bf16", "fp32")),
        ),
        _tiles_why,
    ),
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


def _tiles_rung() -> Rung:
    card = CARDS["a100"]
    figures = {
        "sms": card.sms,
        "per_sm": amount(card.shared_per_sm_bytes),
        "together": amount(card.sms * card.shared_per_sm_bytes),
        "l2": amount(card.l2_bytes),
        "block": amount(card.shared_bytes),
    }
    return rung("memory", figures)


RUNGS = (
    _tiles_rung(),
    rung("online", {"place": address(STREAM, 1, "exp")}, options=LINES, gaps=GAPS),
)
