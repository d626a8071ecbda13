"""The order of the claims gives none of them away."""

from __future__ import annotations

from itertools import groupby, pairwise

from explainer.learn.claims import CLAIMS


def longest(truths: list[bool], equal: bool) -> int:
    """How many verdicts in a row are equal, or are each the opposite of the one before."""
    runs = groupby(a == b for a, b in pairwise(truths))
    return 1 + max((len(list(run)) for same, run in runs if same == equal), default=0)


def test_neither_runs_nor_turns_give_a_claim_away():
    truths = [c.truth for c in CLAIMS]
    assert longest(truths, equal=True) <= 3 and longest(truths, equal=False) <= 4
    assert longest([True, False] * 3, equal=False) == 6, "a planted one is found"


# Read from the proof of the second, the first would be known: so it is asked before.
ASKED_BEFORE = (
    "bits exact, bits order, bits dq, written scattered, flops backward, flops again, "
    "backward again, petaflop bound, blackwell bound, memory quadruple, memory impossible, "
    "memory again, least quadruple, optimal quadruple"
)


def given_away(keys: list[str]) -> list[str]:
    pairs = (pair.split() for pair in ASKED_BEFORE.split(", "))
    return [first for first, then in pairs if keys.index(first) > keys.index(then)]


def test_no_proof_answers_a_later_claim():
    keys = [c.key for c in CLAIMS]
    assert not given_away(keys) and {"written", "flops"} <= {*given_away(keys[::-1])}
