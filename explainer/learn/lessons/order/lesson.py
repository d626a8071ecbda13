"""Parts of a row's keys, computed apart in any order and merged by their lse."""

import math

import numpy as np

from explainer.learn.example import MEANINGS, WORDS, K, N, Q, V, make_example
from explainer.learn.kit import Block, Words
from explainer.learn.linear_algebra import Running, address, attend, online_softmax, weighed

t = Words(__name__)
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
    lses, outputs = zip(*found, strict=True)
    weights = [math.exp(lse - whole) for lse in lses]
    states = [*online_softmax(logits(), V, 2, order=ORDERS[order])]
    ends = (attend(Q, K, V)[2][ROW], states[-1].O / states[-1].l)
    names = [" ".join(WORDS[keys]) for keys in slices]
    said = [
        t("part", words=name, lse=lse, weight=weight)
        for name, lse, weight in zip(names, lses, weights, strict=True)
    ]
    lines = [slice(k, k + 4) for k in range(0, parts, 4)]
    return t.picture(
        parts=parts,
        said="; ".join(said),
        is_whole=parts < 8,
        numbers=[range(parts)[line] for line in lines],
        names=[names[line] for line in lines],
        lses=[lses[line] for line in lines],
        outputs=[outputs[line] for line in lines],
        lse=whole,
        all_names=names,
        weights=weights,
        O=O,
        meanings=MEANINGS,
        blocks=[f"{WORDS[2 * j]}, {WORDS[2 * j + 1]}" for j in ORDERS[order]],
        m=[[x.m[0, 0] for x in states]],
        l=[[x.l[0, 0] for x in states]],
        off=max(float(np.abs(O - end).max()) for end in ends),
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
