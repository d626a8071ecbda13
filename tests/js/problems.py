"""The Problems whose every tick and phase is judged."""

from __future__ import annotations

from urllib.parse import parse_qsl

from explainer.problem import Problem
from kernels.spec.fields import ORDERS

# A union of intersections, a row block that sees no key, every change of a score, a sink above and
# below the scores.
ANY = [
    "mask=causal%26window:5,0|prefix:2",
    "n=13&d=5&br=4&bc=3&mask=window:2,1|block:4x4,0.2,3.1&order=fa1&data=random&sink=0.5",
    "n=16&br=4&bc=5&mask=block:4x4,0.0,2.1-2&score=softcap:2%26alibi&data=random&sink=-1",
    "n=16&br=4&bc=5&mask=block:4x4,0.0,2.1-2&data=random",
    "n=11&d=4&br=3&bc=4&mask=causal%26document:0,4,9&order=standard&score=softcap:1.5&sink=2",
    "n=12&d=4&mask=causal%26chunk:5&score=scale:2%26bias:0.5,-0.25,-1&dtype=fp16&data=random",
]
# Every order, mask, dtype and generator; ragged N; Br < Bc, Br > Bc; one row; one tile.
PROBLEMS = [
    "",
    "n=16&d=8&br=4&bc=4&mask=causal&order=fa1",
    "n=16&d=8&br=4&bc=4&mask=full&order=standard&dtype=fp16",
    "n=11&d=6&br=4&bc=3&mask=causal&order=fa2&dtype=bf16&data=random&seed=7",
    "n=11&d=6&br=3&bc=5&mask=causal&order=fa1&dtype=fp16&data=random&seed=7",
    "n=10&d=5&br=4&bc=3&mask=causal&order=standard&dtype=bf16&data=random",
    "n=13&d=64&br=2&bc=6&mask=full&order=fa2&dtype=fp16&data=spike&seed=3",
    "n=9&d=3&br=5&bc=2&mask=full&order=fa1&dtype=bf16&data=rising",
    "n=6&d=16&br=2&bc=2&mask=causal&order=fa2&data=sentence",
    "n=6&d=16&br=4&bc=3&mask=full&order=standard&data=sentence",
    "n=1&d=1&br=1&bc=1",
    "n=1&d=1&br=1&bc=1&mask=full&order=standard",
    "n=11&d=4&br=4&bc=3&mask=causal&order=fa2",
    "n=7&d=4&br=3&bc=2&mask=causal&order=fa1",
    "n=7&d=4&br=3&bc=4&mask=causal&order=standard&dtype=fp16",
    "n=19&d=6&br=4&bc=5&mask=causal&order=fa1&data=random&seed=3",
    "n=24&d=4&br=6&bc=4&mask=full&order=fa2&data=random&seed=1",
    # loud: fp16 overflows to infinity and NaN
    *(
        f"n=12&d=4&br=4&bc=3&mask={mask}&order={order}&dtype={dtype}&data=spike&gain=3000"
        for mask, order in (("causal", "standard"), ("causal", "fa1"), ("full", "fa2"))
        for dtype in ("fp32", "fp16", "bf16")
    ),
    "n=112&d=64&br=32&bc=48&order=fa2&data=random",  # shown in half precision
    "n=120&d=64&br=64&bc=64&order=standard&data=spike&mask=full",
    "order=fa2_split",
    "n=13&d=5&br=4&bc=3&mask=window:2,1%7Cblock:4x4,0.2,3.1&order=fa2_split&data=random&sink=0.5",
    "n=11&d=6&br=4&bc=3&mask=full&order=fa2_split&dtype=bf16&data=random",
    "n=16&d=4&br=4&bc=16&mask=causal&order=fa2_split&data=random",  # more lanes than key blocks
    "n=16&d=256&br=16&bc=16",  # on no card's chip, or on some
    *ANY,
]
# Rows that rise and rows that stay, maxima that leap by more than 8 in log2, one row, one tile.
STORIES = [
    "",
    "data=random&seed=9",
    "n=13&d=5&br=4&bc=3&mask=full&order=fa1&data=random&gain=8",
    "n=11&d=4&br=3&bc=5&data=spike&seed=2",
    "n=14&d=8&br=4&bc=5&mask=full&order=standard",
    "n=1&d=1&br=1&bc=1",
    *ANY,
]
# Every order, ragged both ways, rounded operands, one row.
LINKS = [
    "",
    "n=11&d=5&br=3&bc=5&mask=causal&order=fa1&data=random&seed=7",
    "n=10&d=6&br=4&bc=3&mask=full&order=standard&dtype=fp16&data=random",
    "n=9&d=3&br=4&bc=4&mask=full&order=fa2&dtype=bf16&data=spike",
    "n=1&d=1&br=1&bc=1",
    "n=7&d=3&br=3&bc=2&mask=window:2,0|prefix:1&score=softcap:2%26alibi&sink=0.5&data=random",
    "n=8&d=3&br=2&bc=3&mask=block:2x2,0.0,2.1-2&score=scale:2%26bias:1,-1&data=random",
    "n=8&d=4&br=3&bc=3&score=alibi&hq=8&hk=8&head=0&data=random",
    "n=8&d=4&br=3&bc=3&score=softcap:4%26alibi&hq=3&hk=3&head=1&data=random",
]
# Too many numbers to travel: tiles only; ragged in both directions.
LONG = [Problem(n=1024, d=16, block_q=128, block_k=96, order=order) for order in ORDERS]
LONGEST = Problem(n=4096, d=64, block_q=128, block_k=64)


def problem_of(query: str) -> Problem:
    return Problem.from_query(dict(parse_qsl(query)))
