"""The backward pass against PyTorch's autograd: the derivation, and every filling of its code."""

from __future__ import annotations

import re
from functools import cache, partial
from itertools import product
from urllib.parse import parse_qsl

import numpy as np
import pytest
import torch

from explainer.algorithms.schedule import schedule
from explainer.learn import backward
from explainer.learn.blocks import t
from explainer.learn.registry import widgets
from explainer.problem import Problem
from explainer.trace import trace_backward
from tests.by_autograd import NAMES, autograd
from tests.learn.scenes import LESSONS, blocks

WIDGETS = {key: widgets()[key] for key in backward.WIDGETS}


LESSON = LESSONS["backward"]
STEPS = range(1, 7)


def matrices(made: list[dict]) -> dict[str, np.ndarray]:
    shown = [b for b in made if b["type"] == "matrix"]
    return {
        b["label"]: np.array([[-np.inf if x == "−∞" else x for x in row] for row in b["rows"]])
        for b in shown
    }


PROBLEM = Problem(n=4, d=2, block_q=2, block_k=2, causal=False, inputs="random", seed=2)


@cache
def truth() -> dict[str, np.ndarray]:
    """S, P, O and every gradient by autograd, in float64."""
    run = trace_backward(PROBLEM)
    true = autograd(run)
    found = {name: getattr(true, name) for name in ("S", "P", "D", "dS", "dP", *NAMES)}
    lse = torch.logsumexp(torch.from_numpy(true.S), 1).numpy()
    return found | {"O": true.P @ run.V, "dO": run.dO, "lse": lse}


def test_every_array_is_autograds():
    found = backward.derived()
    for name, wanted in truth().items():
        np.testing.assert_allclose(getattr(found, name), wanted, rtol=0, atol=1e-14, err_msg=name)
    for name, wanted in backward.differences().items():
        np.testing.assert_allclose(wanted, truth()[name], rtol=0, atol=1e-9, err_msg=name)


def test_the_jacobian_is_autograds():
    S = torch.from_numpy(truth()["S"][1])
    wanted = torch.autograd.functional.jacobian(lambda s: torch.softmax(s, 0), S)
    shown = matrices(blocks("backward", step=2))["diag(P) − P Pᵀ of row 1: ∂P by ∂S"]
    np.testing.assert_allclose(shown, wanted, rtol=0, atol=1e-15)


def test_every_step_shows_its_own_numbers():
    row, right = 1, truth()
    P, dP, dS = (right[x][row] for x in ("P", "dP", "dS"))
    D = (P * dP).sum()
    shown = {step: matrices(blocks("backward", step=step)) for step in STEPS}
    close = partial(np.testing.assert_allclose, rtol=0, atol=1e-14)
    close(shown[1]["P = exp(S − lse)"], right["P"])
    close(shown[1]["lse, kept beside Q, K, V, O"][:, 0], right["lse"])
    close(shown[3][f"dP = dO Vᵀ, row {row}"][0], dP)
    close(shown[3][f"dS, row {row}, by the Jacobian: (diag(P) − P Pᵀ) dP"][0], dS)
    close(shown[4][f"Over the keys of row {row}"].sum(1)[2], D)
    close(shown[4][f"Over the dimensions of row {row}"].sum(1)[2], D)
    both = shown[5][f"dS of row {row}, both ways"]
    close(both, [P, dP, dP - D, dS, dS])
    assert abs(both[3].sum()) < 1e-15
    close(shown[6][f"dS, row {row}"][0], dS)
    for name, label in (("dQ", "dQ = dS K/√d"), ("dK", "dK = dSᵀ Q/√d"), ("dV", "dV = Pᵀ dO")):
        close(shown[6][label], right[name])


def first(words: str) -> float:
    """The number that a text begins with; what has a negative power of ten is 0 here."""
    return 0.0 if "10⁻" in words else float(re.match(r"−?[\d.]*\d", words)[0].replace("−", "-"))


def test_the_sentences_add_up():
    """What stands left of the last "=" gives what stands right of it, as far as digits go."""
    for step in STEPS:
        for b in blocks("backward", step=step):
            for sentence in re.split(r"(?<=\d)[.:] ", b["words"]) if b["type"] == "text" else ():
                left, is_sum, right = sentence.rpartition(" = ")
                if not is_sum or not re.search(r"·|exp| \+ ", left) or "dO" in right:
                    continue
                code = left.rpartition(" = ")[2].rpartition(": ")[2].replace("−", "-")
                code = code.replace("·", "*").replace("√2", "2**.5").replace("exp", "np.exp")
                if re.fullmatch(r"[\d\s()*+\-./]+|np\.exp\([^a-z]*\)", code):
                    assert eval(code) == pytest.approx(first(right), abs=4e-3), sentence


def test_nothing_that_is_claimed_differs():
    for step in STEPS:
        kinds = {b["kind"] for b in blocks("backward", step=step) if b["type"] == "text"}
        assert "bad" not in kinds and (step in (2, 3) or "good" in kinds)


@pytest.mark.parametrize("fault", ["D", "scale", "P"])
def test_a_planted_fault_is_seen(monkeypatch, fault):
    """With D left out, the scale forgotten or all weights alike, the steps say so."""
    x = backward.derived()
    faulty = {
        "D": {"D": 0 * x.D, "dS": x.P * x.dP, "dQ": (x.P * x.dP) @ x.K * x.scale},
        "scale": {"dQ": x.dS @ x.K},
        "P": {"P": np.full((4, 4), 0.25)},
    }[fault]
    broken = backward.Derived(**vars(x) | faulty)
    monkeypatch.setattr(backward, "derived", lambda: broken)
    shown = [b for step in STEPS for b in backward.steps(step) if b["type"] == "text"]
    assert any(b["kind"] == "bad" for b in shown)


def test_the_links_lead_to_the_phase_in_a_visit_of_the_row():
    for phase in ("exp", "dP", "D", "dS", "dQ"):
        query = backward.place(phase)
        parts = dict(parse_qsl(query, strict_parsing=True))
        visit = schedule(Problem.from_query(parts), "backward")[int(parts["step"])]
        assert visit.i == 0 and Problem.from_query(parts) == PROBLEM
        assert parts["pass"] == "backward" and parts["phase"] in visit.phases


# ---- the exercise


def test_the_lesson_s_gaps_are_the_widgets_controls():
    question, controls = LESSON.question, WIDGETS[LESSON.question.run].controls
    for (at, offered, right), control in zip(question.gaps, controls, strict=True):
        assert sorted(offered) == sorted(value for value, _ in control.choices)
        assert control.label == question.options[at][0].replace("___", "?")
        filled = question.options[at][0].replace("___", right)
        on_screen = [
            LESSON.words,
            *(str(block.get("label", "")) for block in blocks(LESSON.key)),
        ]
        assert not any(filled in said for said in on_screen), "no answer beside its question"


def test_of_all_fillings_one_gives_autograds_gradients():
    gaps, right = LESSON.question.gaps, truth()
    wanted = tuple(gap[2] for gap in gaps)
    for filled in product(*(offered for _, offered, _ in gaps)):
        made = blocks("backward_run", **{f"g{k}": x for k, x in enumerate(filled, 1)})
        found = backward.ran(*filled)
        agrees = {
            name: np.allclose(found[name], right[name], rtol=0, atol=1e-9)
            for name in ("dQ", "dK", "dV")
        }
        said = {row[0]: row[2] == "agrees" for row in made[0]["rows"]}
        assert said == agrees, filled
        assert all(agrees.values()) == (filled == wanted)
        assert made[-1]["kind"] == ("good" if filled == wanted else "bad")
        sums = matrices(made)["Your dS, and the sum of each row"]
        np.testing.assert_allclose(sums[:, -1], sums[:, :-1].sum(1))


@pytest.mark.parametrize(
    ("filled", "key"),
    [
        (("0", "dS K / √d", "dSᵀ Q / √d"), "dS"),
        (("D", "dSᵀ K / √d", "dSᵀ Q / √d"), "dQ"),
        (("D", "dS K / √d", "dS Q / √d"), "dK"),
    ],
)
def test_a_wrong_filling_is_answered_by_what_it_does(filled, key):
    made = blocks("backward_run", **{f"g{k}": x for k, x in enumerate(filled, 1)})
    total = backward.ran(*filled)["dS"].sum(axis=1)[0]
    given = {"total": total} if key == "dS" else {}
    assert made[-1]["words"] == t(f"backward.run.wrong_{key}", **given)
