"""3.4: parts of a row's keys, computed apart in any order and merged by their lse."""

from __future__ import annotations

import math

import numpy as np

from explainer.learn.example import MEANINGS, WORDS, K, N, Q, V, make_example
from explainer.learn.kit import Block, bar, drawn, frame, grid, picture, row, words_of
from explainer.learn.linear_algebra import Running, address, attend, online_softmax, weighed

t = words_of(__name__)
ROW = WORDS.index("tired")
ORDERS = {"forward": (0, 1, 2, 3), "backward": (3, 2, 1, 0), "mixed": (2, 0, 3, 1)}


def logits() -> np.ndarray:
    """The row's logits (1, n)."""
    return attend(Q, K, V)[0][[ROW]]


def merged(parts: list[tuple[float, np.ndarray]]) -> tuple[float, np.ndarray]:
    """lse and O of the whole row, from (lse, normalized O) of its parts."""
    lse = np.array([x for x, _ in parts])
    weights = np.exp(lse - lse.max())
    O = weighed(zip(weights, (O for _, O in parts), strict=True))
    return float(lse.max() + np.log(weights.sum())), np.asarray(O)


def part(keys: slice) -> tuple[float, np.ndarray]:
    """lse and the normalized O (d,) of these keys alone."""
    last: Running
    (last,) = online_softmax(logits()[:, keys], V[keys], N)
    return float(last.m[0, 0] + math.log(last.l[0, 0])), (last.O / last.l)[0]


def compute(parts: int, order: str) -> Block:
    """Each part with its lse and O, and the whole; then online softmax in the order chosen."""
    size = N // parts
    slices = [slice(k * size, (k + 1) * size) for k in range(parts)]
    found = [part(keys) for keys in slices]
    whole, O = merged(found)
    weights = [math.exp(lse - whole) for lse, _ in found]
    states = [*online_softmax(logits(), V, 2, order=ORDERS[order])]
    off = float(
        max(
            np.abs(O - attend(Q, K, V)[2][ROW]).max(),
            np.abs(states[-1].O / states[-1].l - O).max(),
        )
    )
    names = [" ".join(WORDS[keys]) for keys in slices]
    frames = [
        frame(
            name,
            grid("" if parts == 8 else t("O"), [O_part], "o", most=4, digits=2 if parts < 8 else 1),
            remark=t("lse", lse=lse),
            key=f"part {k}",
        )
        for k, (name, (lse, O_part)) in enumerate(zip(names, found, strict=True))
    ]
    spoken = "; ".join(
        t("part", words=name, lse=lse, weight=weight)
        for name, (lse, _), weight in zip(names, found, weights, strict=True)
    )
    grows = (1,) * min(parts, 4)
    values = {
        "parts": [row(*frames[k : k + 4], grow=grows, align="stretch") for k in range(0, parts, 4)],
        "lse": whole,
        "weights": [
            bar(name, weight, f"{weight:.2f}", "l", key=f"weight {k}")
            for k, (name, weight) in enumerate(zip(names, weights, strict=True))
        ],
        "upright": parts == 8,
        "O": [O],
        "meanings": MEANINGS,
        "blocks": [f"{WORDS[2 * j]}, {WORDS[2 * j + 1]}" for j in ORDERS[order]],
        "m": [[x.m[0, 0] for x in states]],
        "l": [[x.l[0, 0] for x in states]],
        "off": off,
    }
    return picture(
        t("label", word=WORDS[ROW], parts=parts),
        t("spoken", parts=spoken, lse=whole, O=O, off=off),
        *values["parts"],
        *drawn(__name__, values),
    )


def question(first: float, times: int, second: float) -> dict:
    """Two parts of a row, the second's lse 2 + log(times): the answer, and: the mean, the weights
    exchanged, lse as a weight."""
    lse, more = 2.0, 2 + math.log(times)
    return {
        "answer": weighed(((1, first), (times, second))),
        "wrong": (
            (first + second) / 2,
            weighed(((times, first), (1, second))),
            weighed(((lse, first), (more, second))),
        ),
        "figures": {"whole": times + 1},
    }


def figures() -> dict[str, object]:
    """Where Step shows the row, and how far floating point parts the orders in fp32."""
    S = logits().astype(np.float32)
    values = V.astype(np.float32)
    ends = []
    for order in ORDERS.values():
        *_, last = online_softmax(S, values, 2, order=order)
        ends.append(last.O / last.l)
    off = max(float(np.abs(one - ends[0]).max()) for one in ends)
    return {"place": address(make_example(), 15, "exp"), "off": f"{off:.0e}" if off else "nothing"}
