"""Rungs 8 and 9: sizes against the tables they come from; online softmax and its exercise."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest
import torch

from explainer.learn import online
from explainer.learn.blocks import values
from explainer.learn.registry import rungs
from explainer.trace import trace

RUNGS = {rung.key: rung for rung in rungs()}


def right_lines() -> tuple[str, ...]:
    """The exercise solved: lines in order, gaps filled."""
    right = {index: fill for index, _, fill in online.GAPS}
    return tuple(line.replace("___", right.get(i, "")) for i, (line, _) in enumerate(online.LINES))


def blocks(key: str, **query: object) -> list[dict]:
    widget = next(w for w in online.WIDGETS if w.key == key)
    return widget.compute(values(widget, {k: str(v) for k, v in query.items()}))


def words(made: list[dict]) -> str:
    return " | ".join(b["words"] for b in made if b["type"] == "text")


def test_only_a_negative_number_stands_in_brackets():
    taken = [
        words(blocks("online", step=step, row=row)).split("α = exp(")[1].split(" − ", 1)[1]
        for row in range(online.STREAM.n)
        for step in (1, 4)
    ]
    assert all(x[0].isdigit() for x in taken), "every maximum of this data is positive"
    (visit,) = trace(replace(online.STREAM, block_k=online.STREAM.n)).visits
    low = replace(visit, m_old=visit.m_new - 9, m_new=visit.m_new - 8)
    assert "− (−" in online._sentence(low, 0)


def test_the_stream_is_the_same_whatever_the_blocks():
    first = trace(online.STREAM).S
    for bc in online.BLOCKS:
        np.testing.assert_allclose(trace(replace(online.STREAM, block_k=bc)).S, first, atol=1e-6)


@pytest.mark.parametrize("bc", online.BLOCKS)
@pytest.mark.parametrize("row", [0, 5, 11])
def test_m_and_l_follow_and_end_in_softmax(bc, row):
    problem = replace(online.STREAM, block_k=bc)
    S = torch.from_numpy(np.array(trace(problem).S[row])).double()
    for step in range(min(problem.Tc + 1, 12) + 1):
        made = blocks("online", bc=bc, row=row, step=step)
        seen = S[: min(step * bc, 12)]
        if not step:
            assert "Before the first block" in words(made)
            continue
        weights = next(b for b in made if str(b.get("label")).startswith("exp(S"))["rows"][0]
        got = [x for x in weights if x is not None]
        np.testing.assert_allclose(got, torch.softmax(seen, 0), atol=1e-6)
        line = next(b for b in made if b["type"] == "table")["rows"][-1]
        m, l = (float(line[k].replace("−", "-")) for k in (3, 7))
        assert m == pytest.approx(float(seen.max()), abs=6e-4)
        assert l == pytest.approx(float(torch.exp(seen - seen.max()).sum()), abs=6e-4)
        assert ("over everything" in words(made)) == (step >= problem.Tc)
        assert (
            next(b for b in made if b["type"] == "text" and "Against" in b["words"])["kind"]
            == "good"
        )


def test_alpha_is_the_change_of_the_maximum():
    made = blocks("online", bc=3, row=11, step=4)
    for line in next(b for b in made if b["type"] == "table")["rows"][1:]:
        m_old, _, m_new, alpha, l_old, total, l_new = (float(x.replace("−", "-")) for x in line[1:])
        assert alpha == pytest.approx(np.exp(m_old - m_new), abs=2e-3)
        assert l_new == pytest.approx(alpha * l_old + total, abs=4e-3)


# ---- the exercise

# Far apart and large: a line out of place or a wrong gap overflows or shows.
HARD = np.array([150, 20, -300, 95, -40, 151, -2, 149.5, -200, 150.5, 0, -130], np.float32)
EASY = np.array(trace(online.STREAM).S[11])


def right(weights: np.ndarray, scores: np.ndarray) -> bool:
    want = torch.softmax(torch.from_numpy(scores).double(), 0).numpy()
    return weights.shape == want.shape and bool(np.abs(weights - want).max() < 1e-5)


def passes(lines: tuple[str, ...]) -> bool:
    """Whether these lines do what the real function does, on all data and blocks."""
    try:
        return all(
            right(online.simulate(lines, scores, block), scores)
            for scores in (EASY, HARD, -HARD)
            for block in (1, 3, 5, 12)
        )
    except KeyError:  # a line uses what does not exist yet
        return False


def test_the_right_order_is_the_real_function():
    lines = right_lines()
    assert 7 <= len(lines) <= 9 and "___" not in "".join(lines)
    assert passes(lines)
    for bc in online.BLOCKS:
        real = online.seen_weights(trace(replace(online.STREAM, block_k=bc)).visits, 11)
        np.testing.assert_allclose(online.simulate(lines, EASY, bc), real, rtol=1e-5, atol=1e-9)


def test_no_other_order_of_the_loop_is_right():
    lines = right_lines()
    first, last = lines[:2], lines[-1:]
    good = [x for x in itertools.permutations(lines[2:-1]) if passes((*first, *x, *last))]
    assert good == [lines[2:-1]]


def test_every_wrong_gap_gives_a_wrong_result():
    lines = right_lines()
    for index, offered, fill in online.GAPS:
        for word in offered:
            filled = online.LINES[index][0].replace("___", word)
            assert filled.strip() in online.DOES
            assert passes((*lines[:index], filled, *lines[index + 1 :])) == (word == fill), filled


def test_the_question_holds_the_exercise():
    question = RUNGS["online"].question
    assert (question.kind, question.options, question.gaps) == (
        "order",
        online.LINES,
        online.GAPS,
    )
