"""Speculative decoding: a tree of guesses, its mask, and what is kept."""

from functools import cache

import numpy as np

from explainer.learn.kit import Block, Words
from explainer.learn.linear_algebra import address
from explainer.problem import Problem

t = Words(__name__)

PROMPT = tuple(t.row("prompt"))
PARENTS = (-1, -1, 0, 0, 2)  # of each guess: another guess, or −1, the prompt's last token
GUESSES = tuple(t.row("guesses"))
MASKED, SEEN = 0.0, 1.0


def ancestors(guess: int) -> list[int]:
    """Return the guesses on the way from the prompt to this one, itself the last."""
    parent = PARENTS[guess]
    return [*(ancestors(parent) if parent >= 0 else ()), guess]


@cache
def tree_mask() -> str:
    """Return the mask as Step writes it: causal, and of the guesses only the ancestors."""
    p = len(PROMPT)
    pairs = [(p + g, p + a) for g in range(len(GUESSES)) for a in ancestors(g)]
    listed = ",".join(f"{i}.{j}" for i, j in pairs)
    return f"causal&prefix:{p}|block:1x1,{listed}"


def problem() -> Problem:
    """Return the prompt and all guesses as one Problem with the tree mask."""
    n = len(PROMPT) + len(GUESSES)
    return Problem(n=n, d=8, block_q=2, block_k=2, mask=tree_mask())


def accepted(wanted: tuple[str, ...]) -> list[int]:
    """Return the guesses that agree with what the large model wants, from the prompt on."""
    branch: list[int] = []
    for word in wanted:
        parent = branch[-1] if branch else -1
        found = [g for g, p in enumerate(PARENTS) if p == parent and GUESSES[g] == word]
        if not found:
            break
        branch.append(found[0])
    return branch


def expected(chance: float, guesses: int) -> float:
    """Return the tokens that a pass yields on average, if each guess of a chain is right with this
    chance: those before the first wrong one, and one of the large model's own."""
    return sum(chance**k for k in range(guesses + 1))


def compute(wanted: str) -> Block:
    """Show the tree with the branch that is kept, the mask, and tokens per pass."""
    branch = accepted(tuple(wanted.split()))
    depths = [len(ancestors(g)) for g in range(len(GUESSES))]
    levels = [
        [g for g, depth in enumerate(depths) if depth == level]
        for level in range(1, max(depths) + 1)
    ]
    p = problem()
    return t.picture(
        branch=" ".join(GUESSES[g] for g in branch) or t("none"),
        n=len(branch) + 1,
        levels=levels,
        is_kept=[g in branch for g in range(len(GUESSES))],
        parents=[f"g{g}" if g >= 0 else "prompt" for g in PARENTS],
        cells=np.where(p.mask.keep(p.n, p.n), SEEN, MASKED)[len(PROMPT) :],
        words=[*PROMPT, *GUESSES],
        seen=[(g, len(PROMPT) + a) for g in branch for a in ancestors(g)],
        tone="good" if branch else "",
        chances=(0.3, 0.6, 0.9),
        expected=[expected(chance, 4) for chance in (0.3, 0.6, 0.9)],
    )


def question(guess: int) -> dict:
    """The tokens of a line that a guess sees."""
    seen = [*range(len(PROMPT)), *(len(PROMPT) + a for a in ancestors(guess))]
    names = (*PROMPT, *GUESSES)
    return {
        "answer": tuple((0, j) for j in seen),
        "cells": (names,),
        "notes": (
            tuple(t("sees" if j in seen else "apart", word=name) for j, name in enumerate(names)),
        ),
        "words": t(
            "question",
            word=GUESSES[guess],
            before=" ".join(GUESSES[a] for a in ancestors(guess)[:-1]) or PROMPT[-1],
        ),
    }


def figures() -> dict[str, str]:
    """Return the address of the tree mask, on the Step page."""
    return {"place": address(problem(), 4, "mask")}
