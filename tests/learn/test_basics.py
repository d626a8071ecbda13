"""Rungs 1 to 5 against PyTorch, and what all nine low rungs must have."""

from __future__ import annotations

import json
import math
from functools import partial
from urllib.parse import parse_qsl

import numpy as np
import pytest
import torch

from explainer.algorithms.schedule import schedule
from explainer.learn import basics, online, rungs_low, stable
from explainer.learn.blocks import values
from explainer.learn.registry import rungs
from explainer.problem import Problem, ProblemError
from explainer.trace import trace
from tests.effort import assert_light

MODULES = (basics, stable, online)
RUNGS = {rung.key: rung for rung in rungs()}
WIDGETS = {w.key: w for module in MODULES for w in module.WIDGETS}


def blocks(key: str, **query: object) -> list[dict]:
    widget = WIDGETS[key]
    return widget.compute(values(widget, {k: str(v) for k, v in query.items()}))


def found(made: list[dict], start: str) -> dict:
    """The block whose label or words begin so."""
    return next(b for b in made if str(b.get("label", b.get("words"))).startswith(start))


def rows(made: list[dict], start: str) -> np.ndarray:
    return np.array(found(made, start)["rows"], float)


def corners(widget) -> list[dict[str, str]]:
    """The defaults, and each control at its ends."""
    made = [{}]
    for c in widget.controls:
        if c.kind == "range":
            made += [{c.key: str(x)} for x in (c.low, (c.low + c.high) / 2 + 0.3, c.high)]
        else:
            ends = ("0", "1") if c.kind == "toggle" else [v for v, _ in c.choices]
            made += [{c.key: v} for v in ends]
            made += [
                {c.key: v, "step": "5"} for v in ends if "step" in {x.key for x in widget.controls}
            ]
    return made


def place(query: str) -> None:
    """The query names a Problem, a visit and a phase that exist."""
    parts = dict(parse_qsl(query, strict_parsing=True))
    visit = schedule(Problem.from_query(parts))[int(parts["step"])]
    assert parts["phase"] in visit.phases


@pytest.mark.parametrize("key", WIDGETS)
def test_a_widget_answers_with_little_work_small_and_in_json(key):
    widget = WIDGETS[key]
    for query in corners(widget):
        given = values(widget, query)
        made = assert_light(
            partial(widget.compute, given), 15_000, 8_000_000
        )  # 4,258 lines, 4.8 MB
        assert len(json.dumps(made, allow_nan=False)) < 40_000, query
        assert all(b.get("label") or b.get("words") for b in made), query
        for b in made:
            if b["type"] == "link":
                place(b["query"])


@pytest.mark.parametrize("key", WIDGETS)
def test_bad_values_are_refused_in_one_sentence(key):
    widget = WIDGETS[key]
    for control in widget.controls:
        with pytest.raises(ProblemError, match=f"^{control.key} = ?.* is not allowed: .*[.]$"):
            values(widget, {control.key: "<b>"})


@pytest.mark.parametrize("d", basics.SPREAD_D)
def test_dot_products_spread_as_the_root_of_d(d):
    s = rungs_low.spread(d)
    assert s["raw"] == pytest.approx(math.sqrt(d), rel=0.06)
    assert s["scaled"] == pytest.approx(1.0, rel=0.06)
    rng = np.random.default_rng(d)
    q, k = (torch.from_numpy(rng.standard_normal((500, m, d), dtype=np.float32)) for m in (1, 8))
    raw = (q.double() * k.double()).sum(-1)
    assert s["raw"] == pytest.approx(float(raw.std(correction=0)), rel=1e-5)
    top = torch.softmax(raw / d**0.5, -1).max(-1).values.mean()
    assert s["scaled_top"] == pytest.approx(float(top), rel=1e-5)


def test_norm_dot_and_cosine():
    rng = np.random.default_rng(0)
    for a, b in rng.uniform(-3, 3, (50, 2, 3)):
        m = rungs_low.measures(a, b)
        x, y = torch.from_numpy(a), torch.from_numpy(b)
        assert m["norm_a"] == pytest.approx(float(x.norm()))
        assert m["dot"] == pytest.approx(float(x @ y))
        assert m["cosine"] == pytest.approx(float(torch.cosine_similarity(x, y, dim=0)))
    zeros = {f"a{x}": 0 for x in "123"}
    assert found(blocks("dot", **zeros), "A vector of zeros")
    turned = {"a1": 1, "a2": 0, "a3": 0, "b1": 0, "b2": 2, "b3": 0}
    assert found(blocks("dot", **turned), "The dot product is 0")


@pytest.mark.parametrize("loops", rungs_low.LOOPS)
def test_matrix_product_in_any_order(loops):
    want = torch.from_numpy(rungs_low.A) @ torch.from_numpy(rungs_low.B)
    made = blocks("matmul", loops=loops, i=2, j=1)
    np.testing.assert_array_equal(rows(made, "C after 36"), want.numpy())
    assert found(made, "C[2, 1]")["words"].endswith(f"= {int(want[2, 1])}".replace("-", "−"))
    assert "give the same C" in found(made, "The three nestings")["words"]


def test_the_outline_in_c_says_what_it_is():
    """The cell that is described when all is done; before, that of the last product."""
    for done, at in ((36, (1, 2)), (0, (1, 2)), (18, (1, 1))):
        c = found(blocks("matmul", done=done), f"C after {done}")
        assert c["marks"] == [list(at)]
        which = f"cell {at} outlined" if done != 18 else f"of the last product, {at}, outlined"
        assert which in c["label"]


def test_loops_differ_in_what_is_done_early():
    A, B = torch.from_numpy(rungs_low.A), torch.from_numpy(rungs_low.B)
    half = {x: rows(blocks("matmul", loops=x, done=18), "C after 18") for x in rungs_low.LOOPS}
    np.testing.assert_array_equal(half["kij"], A[:, :2] @ B[:2])  # two of four layers, every cell
    np.testing.assert_array_equal(half["ijk"].ravel()[:4], (A @ B).ravel()[:4])
    assert not half["ijk"].ravel()[5:].any()
    np.testing.assert_array_equal(half["ikj"][0], (A @ B)[0])
    assert not half["ikj"][2].any()


def test_matmul_question_shows_the_product():
    q = RUNGS["matmul"].question
    want = (rungs_low.A @ rungs_low.B).tolist()
    assert [[int(x.replace("−", "-")) for x in row] for row in q.cells] == want
    assert q.answer == ((2, 0),)


@pytest.mark.parametrize(("axis", "dim"), [("rows", 1), ("columns", 0)])
@pytest.mark.parametrize("gain", [0.1, 1, 8])
def test_softmax_along_an_axis(axis, dim, gain):
    made = blocks("softmax", axis=axis, gain=gain)
    want = torch.softmax(torch.from_numpy(basics.LOGITS) * gain, dim).numpy()
    np.testing.assert_allclose(rows(made, "Softmax"), want, rtol=1e-12)
    np.testing.assert_allclose(rows(made, "Sum of each row")[:, 0], want.sum(1), rtol=1e-12)
    np.testing.assert_allclose(rows(made, "Sum of each column")[0], want.sum(0), rtol=1e-12)
    assert (
        RUNGS["softmax"].question.options[RUNGS["softmax"].question.answer][0] == "Along each row"
    )


@pytest.mark.parametrize("word", range(3))
def test_the_cat_sat_is_attention(word):
    run = trace(rungs_low.CAT)
    Q, K, V = (torch.from_numpy(np.array(x)).double() for x in (run.Q, run.K, run.V))
    want = torch.nn.functional.scaled_dot_product_attention(Q[None], K[None], V[None])[0]
    made = blocks("cat", word=word, step=4)
    name = ("the", "cat", "sat")[word]
    np.testing.assert_allclose(rows(made, f"Output of “{name}”")[0], want[word], atol=1e-6)
    np.testing.assert_allclose(rows(made, "Each value").sum(0), want[word], atol=1e-6)
    weights = torch.softmax(Q @ K.T / 2, -1)
    np.testing.assert_allclose(rows(made, f"Weights of “{name}”")[0], weights[word], atol=1e-6)
    np.testing.assert_allclose(rows(blocks("cat", step=5), "O = P V"), want, atol=1e-6)
    assert [len(blocks("cat", step=s)) for s in range(1, 6)] == [2, 5, 7, 10, 7]


@pytest.mark.parametrize("causal", [0, 1])
@pytest.mark.parametrize("data", ["sentence", "random"])
def test_attention_in_one_picture(causal, data):
    made = blocks("attention", causal=causal, data=data)
    Q, K, V = (torch.from_numpy(rows(made, x)) for x in ("Q:", "K:", "V:"))
    want = torch.nn.functional.scaled_dot_product_attention(
        Q[None], K[None], V[None], is_causal=bool(causal)
    )[0]
    np.testing.assert_allclose(rows(made, "O = P V"), want, atol=1e-6)
    np.testing.assert_allclose(rows(made, "S = Q Kᵀ / √d: every"), Q @ K.T / 2, atol=1e-5)
    masked = found(made, "S after the mask")["rows"]
    kept = sum(isinstance(x, float) for row in masked for x in row)
    assert kept == (RUNGS["attention"].question.answer if causal else 36)
    assert found(made, f"{kept} of 36")
