"""The transfers of the schedule against the closed forms of FACTS.md, to the byte."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given

from explainer.algorithms.algorithm import COMPULSORY
from explainer.algorithms.registry import ALGORITHMS
from explainer.algorithms.schedule import schedule
from explainer.algorithms.traffic import both, moved, summed, total, traffic
from explainer.problem import Problem
from tests import by_hand
from tests.test_problem import problems

SIZE = {"fp32": 4, "fp16": 2, "bf16": 2}


def closed_form(p: Problem) -> dict[str, tuple[int, int]]:
    """{tensor: (read, written)} in bytes, by counting rows and keys, with no loop order in it."""
    e, f = SIZE[p.dtype], 4  # m, l and lse are fp32
    n, d = p.n, p.d
    row_blocks = [(i * p.block_q, min(n, (i + 1) * p.block_q)) for i in range(p.Tr)]
    key_blocks = [(j * p.block_k, min(n, (j + 1) * p.block_k)) for j in range(p.Tc)]
    mask = by_hand.seen(p)
    pairs = [
        ((r0, r1), (c0, c1))
        for r0, r1 in row_blocks
        for c0, c1 in key_blocks
        if mask[r0:r1, c0:c1].any()
    ]
    if p.order == "standard":
        nn, nd = n * n * e, n * d * e
        once = {"O": (0, nd), "S": (nn, nn), "P": (nn, nn)}
        return once | {"Q": (p.Tc * nd, 0), "K": (p.Tr * nd, 0), "V": (p.Tr * nd, 0)}
    if p.order == "fa2_split":  # in two parts, each of which reads Q and leaves O and lse in fp32
        keys = sum(c1 - c0 for _, (c0, c1) in pairs) * d * e
        out = {"Q": (2 * n * d * e, 0), "O": (0, n * d * e), "lse": (0, n * f)}
        out |= {"K": (keys, 0), "V": (keys, 0)} if keys else {}
        return out | {"O′": (2 * n * d * f, 2 * n * d * f), "lse′": (2 * n * f, 2 * n * f)}
    if p.order == "fa2":
        keys = sum(c1 - c0 for _, (c0, c1) in pairs) * d * e
        out = {"Q": (n * d * e, 0), "O": (0, n * d * e)}
        out |= {"K": (keys, 0), "V": (keys, 0)} if keys else {}
        return out | {"lse": (0, n * f)}
    rows = sum(r1 - r0 for (r0, r1), _ in pairs)
    seen = sum(c1 - c0 for c0, c1 in {c for _, c in pairs}) * d * e
    out = {"Q": (rows * d * e, 0), "K": (seen, 0), "V": (seen, 0)}
    out |= {"O": (rows * d * e,) * 2, "m": (rows * f,) * 2, "l": (rows * f,) * 2}
    return {tensor: moved for tensor, moved in out.items() if any(moved)}


@given(problems(most_n=48, most_d=20))
def test_transfers_are_the_closed_form(problem):
    found = {t: rw for t, rw in traffic(problem).items() if any(rw)}
    assert found == closed_form(problem)
    assert total(problem) == sum(r + w for r, w in found.values())


@pytest.mark.parametrize("order", ALGORITHMS)
def test_without_mask_the_papers_own_formulas(order):
    p = Problem(n=256, d=64, block_q=32, block_k=64, causal=False, order=order)
    n, d, e = p.n, p.d, 4
    nd = n * d
    requested = {
        "standard": p.Tc * nd + p.Tr * 2 * nd + nd + 4 * n * n,
        "fa1": 2 * nd + p.Tc * (3 * nd + 4 * n),
        "fa2": nd + p.Tr * 2 * nd + nd + n,
        "fa2_split": 2 * nd + p.Tr * 2 * nd + 4 * nd + 4 * n + nd + n,
    }
    compulsory = {"standard": 4 * nd + 4 * n * n, "fa1": 4 * nd + 2 * n, "fa2": 4 * nd + n}
    compulsory["fa2_split"] = 4 * nd + 4 * nd + 4 * n + n
    assert total(p) == requested[order] * e
    assert both(summed(p, COMPULSORY)) == compulsory[order] * e


@given(problems(most_n=48, most_d=20))
def test_fa2_never_asks_for_more_than_standard_in_the_same_tiles(problem):
    fa2, standard = (total(replace(problem, order=order)) for order in ("fa2", "standard"))
    assert fa2 < standard


@pytest.mark.parametrize("order", ALGORITHMS)
@given(problem=problems(most_n=48, most_d=20))
def test_requested_is_never_less_than_compulsory(problem, order):
    """Tensor by tensor; where a mask hides no key from all queries, each matrix is wanted whole."""
    p = replace(problem, order=order)
    seen = by_hand.seen(p)
    whole = seen.any(axis=0).all() and seen.any(axis=1).all()
    requested, compulsory = summed(p), summed(p, COMPULSORY)
    assert requested.keys() == compulsory.keys()
    for tensor, (read, written) in compulsory.items():
        assert requested[tensor][0] >= read and requested[tensor][1] >= written
    one_tile = replace(p, block_q=p.n, block_k=p.n)
    if order == "standard" or (order == "fa2" and whole):
        assert summed(one_tile) == compulsory


@given(problems(most_n=24, most_d=8))
def test_bytes_move_only_in_load_and_store(problem):
    steps = schedule(problem)
    for step in steps:
        for t in step.transfers:
            assert t.phase == {"read": "load", "write": "store"}[t.op]
            assert t.phase in step.phases and t.nbytes > 0
    halves = moved(steps[: len(steps) // 2]), moved(steps[len(steps) // 2 :])
    for tensor, (read, written) in traffic(problem).items():
        parts = [half.get(tensor, (0, 0)) for half in halves]
        assert (sum(r for r, _ in parts), sum(w for _, w in parts)) == (read, written)
