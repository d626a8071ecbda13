"""FlashAttention-2 on the running example: SRAM as a chip, K and V streaming past."""

from collections.abc import Mapping
from functools import cache

from explainer.algorithms.registry import BASELINE
from explainer.algorithms.schedule import schedule
from explainer.algorithms.traffic import requested_bytes
from explainer.learn.example import WORDS, Q, make_example
from explainer.learn.kit import Block, Words
from explainer.learn.linear_algebra import address, make_problem
from explainer.trace import Visit, trace

t = Words(__name__)
PROBLEM = make_example("causal")
SIDE = PROBLEM.block_q
BEATS = ("scores", "output", "store")  # of a tile; the last one where its row block ends
PLACE = (8, "output")  # where Step shows the picture's first step
LOW = "₀₁₂₃"


def reads_of_a_key_block(n: int, block_q: int, block_k: int) -> int:
    """How often FA-2 loads a block of K, as the first one: once per row block."""
    steps = schedule(make_problem(n, 64, block_q, block_k=block_k))
    moves = [(x.tensor, x.op, x.block) for step in steps for x in step.transfers]
    return moves.count(("K", "read", 0))


@cache
def places() -> tuple[tuple[int, str], ...]:
    """(visit, phase that it ends with) of every step, in order."""
    visits = trace(PROBLEM).visits
    return tuple((k, beat) for k, x in enumerate(visits) for beat in BEATS if beat in x.phases)


def moved(at: int, phase: str) -> int:
    """Bytes moved up to the end of this phase."""
    visits = trace(PROBLEM).visits
    here = visits[at].phases[: visits[at].phases.index(phase) + 1]
    return sum(
        move.nbytes
        for k, visit in enumerate(visits[: at + 1])
        for move in visit.transfers
        if k < at or move.phase in here
    )


def all_bytes(order: str = PROBLEM.order) -> int:
    """The bytes that all visits of an algorithm request."""
    steps = schedule(make_example("causal", order=order))
    return sum(move.nbytes for step in steps for move in step.transfers)


def _names(block: int) -> tuple[str, str]:
    return WORDS[block * SIDE], WORDS[block * SIDE + 1]


def does(here: Visit, phase: str) -> str:
    """What happens in a step, in a sentence."""
    if phase == "scores":
        masked = here.kind == "partial"
        return t("does.mask" if masked else "does.load", j=LOW[here.j])
    if phase == "store":
        return t("does.store")
    if here.first:
        return t("does.first")
    rises = [
        t("does.rises", word=word, by=f"{new - old:.1f}", alpha=f"{alpha:.2f}")
        for word, old, new, alpha in zip(
            _names(here.i), here.m_old, here.m_new, here.alpha, strict=True
        )
        if new > old
    ]
    return " ".join(rises) or t("does.keeps")


def compute(step: int) -> Block:
    """One step: HBM at the left, one SM at the right. The map of tiles lies between the blocks of
    Q, K, V and O; the blocks of K and V before, at and after the visit move on by one place each;
    on chip lie Q, the tile of logits, then of weights, and m, ℓ and O."""
    at, phase = places()[step - 1]
    visits, here = trace(PROBLEM).visits, trace(PROBLEM).visits[at]
    done = {(x.i, x.j) for x in visits[:at]}
    stored = {x.i for x in visits[: at + (phase == "store")] if "store" in x.phases}
    blocks, is_scores = range(PROBLEM.Tr), phase == "scores"
    m, l = (here.m_old, here.l_old) if is_scores else (here.m_new, here.l_new)
    alpha = ["–", "–"] if is_scores else here.alpha
    before = [x.O for x in visits if (x.i, x.j) == (here.i, here.j - 1)]
    near = [here.j + by for by in (-1, 0, 1)]
    is_there = [0 <= j <= here.i for j in near]
    names = [" ".join(_names(i)) for i in blocks]
    return t.picture(
        step=step,
        all=len(places()),
        words=names[here.i],
        does=does(here, phase),
        moved=moved(at, phase),
        end=all_bytes(),
        standard=all_bytes(BASELINE),
        cells=[
            ["✓" if (i, j) in done else "skip" if j > i else None for j in blocks] for i in blocks
        ],
        rows=[f"Q{LOW[i]} {names[i]}" for i in blocks],
        cols=[f"K{LOW[j]} V{LOW[j]}" for j in blocks],
        outputs=[f"O{LOW[i]} ✓" if i in stored else f"O{LOW[i]}" for i in blocks],
        i=here.i,
        j=here.j,
        near=near,
        belt=[f"K{LOW[j]}, V{LOW[j]}" if ok else "–" for j, ok in zip(near, is_there, strict=True)],
        keys=[", ".join(_names(j)) if ok else " " for j, ok in zip(near, is_there, strict=True)],
        low_i=LOW[here.i],
        low_j=LOW[here.j],
        queries=_names(here.i),
        columns=_names(here.j),
        Q=Q[here.i * SIDE : (here.i + 1) * SIDE],
        S=here.S,
        P=here.P,
        has_weights=not is_scores,
        state=[*zip(m, alpha, l, strict=True)],
        O=before if is_scores else [here.O],
    )


def question(n: int, block_q: int, block_k: int) -> dict:
    """How often a key block is loaded; and key blocks counted, one load, the size of a block."""
    rows = reads_of_a_key_block(n, block_q, block_k)
    return {
        "answer": float(rows),
        "wrong": (n // block_k, 1, block_k),
        "figures": {"rows": rows},
    }


def figures() -> Mapping[str, object]:
    """Where Step shows the same tile, and what FA-2 requests with small and with large tiles."""
    return {"place": address(PROBLEM, *PLACE)} | {
        f"asked{side}": requested_bytes(4096, 64, "full", "fp16", "fa2", side, side)
        for side in (16, 128)
    }
