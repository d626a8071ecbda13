"""Online softmax on the row of "tired", two words per block; and its loop as an exercise,
whose lines run in any order and with any filling."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np

from explainer.base.amounts import format_fixed, power
from explainer.base.fields import refused
from explainer.learn.example import MEANINGS, WORDS, K, Q, V, make_example
from explainer.learn.folder import read_data
from explainer.learn.kit import Block, Words
from explainer.learn.linear_algebra import Running, address, attend, online_softmax

t = Words(__name__)
ROW, BLOCK = WORDS.index("tired"), 2
BLOCKS = len(WORDS) // BLOCK
SHOWN = 0  # the dimension of O that is written out
RISES = (2, 5)  # of the slide's question, other numbers than the picture has


def logits() -> np.ndarray:
    """The row's logits (1, n)."""
    return attend(Q, K, V)[0][[ROW]]


@cache
def states() -> tuple[Running, ...]:
    """The row after each block."""
    return tuple(online_softmax(logits(), V, BLOCK))


def alphas() -> list[float]:
    """The factor of each block."""
    m = [-math.inf, *(x.m[0, 0] for x in states())]
    return [math.exp(old - new) for old, new in pairwise(m)]


def _lines(at: int) -> list[str]:
    """What a block does, with its numbers; of the last one the division too."""
    now = states()[at]
    m, l, O = -math.inf, 0.0, 0.0
    if at:
        before = states()[at - 1]
        m, l, O = before.m[0, 0], before.l[0, 0], before.O[0, SHOWN]
    new = (now.P @ V[at * BLOCK : (at + 1) * BLOCK])[0, SHOWN]
    alpha, l_new, O_new = alphas()[at], now.l[0, 0], now.O[0, SHOWN]
    rows = [
        t("alpha", old=m, new=now.m[0, 0], alpha=alpha),
        t("l", alpha=alpha, old=l, more=now.P.sum(), l=l_new),
        t("O", alpha=alpha, old=O, more=new, O=O_new),
    ]
    if at == BLOCKS - 1:
        rows.append(t("end", O=O_new, l=l_new, out=O_new / l_new))
    return rows


def compute(step: int) -> Block:
    """The words so far with their weights so far, what is carried, and the block's three lines."""
    at, seen = step - 1, step * BLOCK
    S, now, done = logits()[0], states()[at], states()[:step]
    blocks = [t("block", first=WORDS[j], last=WORDS[j + 1]) for j in range(0, len(WORDS), BLOCK)]
    alpha = alphas()[at]
    sentence = t("starts") if not at else t("keeps")
    if at and alpha < 1:
        by = now.m[0, 0] - states()[at - 1].m[0, 0]
        sentence = t("rises", by=by, alpha=alpha)
    return t.picture(
        done=step,
        block=blocks[at],
        new=S[seen - BLOCK : seen],
        lines=_lines(at),
        said="; ".join(_lines(at)),
        sentence=sentence,
        weights=np.exp(S[:seen] - now.m[0, 0]) / now.l[0, 0],
        hidden=range(seen, len(WORDS)),
        logits=S[:seen],
        blocks=blocks,
        blocks_hidden=range(step, BLOCKS),
        m=[x.m[0, 0] for x in done],
        alphas=alphas()[:step],
        l=[x.l[0, 0] for x in done],
        O=np.vstack([x.O[0] for x in done]).T,
        meanings=MEANINGS,
    )


# ---- the exercise: its lines in any order, with any filling

# The lines of the loop, as the question has them in order, and the gaps in them.
EXERCISE = read_data("online")["question"]
LINES = [line for line, _ in EXERCISE["options"]]
GAPS = EXERCISE["gaps"]
# What each line and each filling does, wrong ones too: the exercise runs as data, no text is ever
# executed. A filling that is not here is the name of a value.
DOES: dict[str, Callable[[dict, Any], Any]] = {
    "m_new": lambda s, filling: max(s["m"], filling),
    "alpha": lambda s, filling: np.exp(filling),
    "m": lambda s, filling: s["m_new"],
    "p": lambda s, filling: np.exp(s["S"] - s["m"]),
    "l": lambda s, filling: filling * s["l"] + s["p"].sum(),
    "O": lambda s, filling: filling * s["O"] + s["p"] @ s["V"],
}
FILLINGS: dict[str, Callable[[dict], Any]] = {
    "": lambda s: None,
    "1": lambda s: 1,
    "max(S)": lambda s: s["S"].max(),
    "sum(S)": lambda s: s["S"].sum(),
    "m - m_new": lambda s: s["m"] - s["m_new"],
    "m_new - m": lambda s: s["m_new"] - s["m"],
}


@dataclass(frozen=True)
class Simulated:
    """What lines gave: m, the ℓ after each block, O, and the weights exp(S − m) / ℓ (n,)."""

    m: float
    sums: tuple[float, ...]
    O: float
    weights: np.ndarray

    @property
    def output(self) -> float:
        with np.errstate(all="ignore"):
            return float(np.float32(self.O) / np.float32(self.sums[-1]))


def simulate(
    lines: Sequence[tuple[str, str]], scores: np.ndarray, values: np.ndarray, block: int
) -> Simulated:
    """Run these lines of the loop for ``scores`` and ``values`` (n,) float32 in blocks.

    Each line is the name that it sets, looked up in ``DOES``, and its gap's filling. Raises
    KeyError for a name that is used before it exists.
    """
    minus, zero = np.float32(-np.inf), np.float32(0)
    state: dict = {"m": minus, "l": zero, "O": zero}
    sums = []
    with np.errstate(all="ignore"):
        for start in range(0, len(scores), block):
            state["S"], state["V"] = (x[start : start + block] for x in (scores, values))
            for name, filling in lines:
                value = FILLINGS[filling](state) if filling in FILLINGS else state[filling]
                found = DOES[name](state, value)
                state[name] = found if name == "p" else np.float32(found)
            sums.append(float(state["l"]))
        weights = np.exp(scores - state["m"]) / state["l"]
    return Simulated(float(state["m"]), tuple(sums), float(state["O"]), weights)


def filled(order: Sequence[int], fillings: Sequence[str]) -> list[tuple[str, str]]:
    """The lines in this order: the name that each sets, and its gap's filling."""
    given = {place: text for (place, _, _), text in zip(GAPS, fillings, strict=True)}
    return [(LINES[k].split(" ", 1)[0], given.get(k, "")) for k in order]


def _order(text_: object) -> tuple[int, ...]:
    """The lines' places of a text like "2,0,1". Raises ProblemError for any other."""
    parts = str(text_).split(",")
    if sorted(parts) != sorted(map(str, range(len(LINES)))):
        raise refused({"order": text_}, t("run.refused", last=len(LINES) - 1))
    return tuple(map(int, parts))


def row_data() -> tuple[np.ndarray, np.ndarray]:
    """The logits and one dimension of V (n,) that the exercise runs on, float32."""
    return logits()[0].astype(np.float32), V[:, SHOWN].astype(np.float32)


def _verdict(yours: Simulated, right: Simulated) -> tuple[str, bool]:
    """What to say of lines, by what they gave; and whether it is right."""
    odd = next((k for k, x in enumerate(yours.sums, 1) if not math.isfinite(x)), None)
    if odd:
        return t("run.odd", sum="∞" if yours.sums[odd - 1] > 0 else "NaN", k=odd), False
    total = float(yours.weights.sum())
    if abs(total - 1) > 1e-5:
        return t("run.off", total=total), False
    if abs(yours.output - right.output) > 1e-5:
        return t("run.o_off", yours=yours.output, right=right.output), False
    return t("run.right", output=right.output), True


def run(order: str, g1: str, g2: str, g3: int | str, g4: int | str) -> Block:
    """ℓ after each block and O ÷ ℓ, of the reader's lines and of the right ones."""
    lines = filled(_order(order), [g1, g2, str(g3), str(g4)])
    right = simulate(filled(range(len(LINES)), [x for _, _, x in GAPS]), *row_data(), BLOCK)
    rows: list[list[str]] = []
    try:
        yours = simulate(lines, *row_data(), BLOCK)
    except KeyError as missing:
        sentence, good = t("run.stops", name=missing.args[0]), False
    else:
        sentence, good = _verdict(yours, right)
        rows = [
            [name, *map(format_fixed, (*found.sums, found.output))]
            for name, found in zip(t.row("run.rows"), (yours, right), strict=True)
        ]
    return t.picture(
        "run.label",
        "run.spoken",
        "run",
        spoken=" ".join([sentence, *(f"{', '.join(line)}." for line in rows)]),
        sentence=sentence,
        good=good,
        rows=rows,
    )


def figures() -> dict[str, object]:
    """Where Step shows the row, and a maximum that rises, as the slide's question has it."""
    old, new = RISES
    return {
        "place": address(make_example(), 14, "exp"),
        "old": old,
        "new": new,
        "up": power("e", new - old),
        "down": power("e", old - new),
        "alpha": math.exp(old - new),
    }


WIDGETS = {"online_run": run}
