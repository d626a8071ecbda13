"""A learner's function as a method of Run and a lane of Step is judged as the checker judges it;
one that does not run is refused with a sentence."""

from functools import partial

import numpy as np
import pytest
import torch

from explainer.base.fields import ProblemError
from explainer.check.method import Learner
from explainer.check.mistakes import MISTAKES
from explainer.check.verdict import check
from explainer.engine.child import ProcessChild
from explainer.engine.engine import Engine
from explainer.engine.requests import RunRequest
from explainer.problem import Problem
from explainer.trace import trace
from explainer.web.kernel_file import worker
from tests.check.planted import NUMPY, PLANTED, TORCH, TRITON, plant
from tests.engine.conftest import finish
from tests.tables import table

# Exact as long as nothing overflows
OTHER_M = [key for key, mistake in MISTAKES.items() if mistake.warning]
FORWARD = [key for key, where in PLANTED.items() if NUMPY in where]


@pytest.fixture
def mine(write):
    return write(plant(None, NUMPY))


@pytest.mark.parametrize("key", FORWARD)
def test_the_first_tile_is_the_checker_s(key, mine, write):
    write(plant(key, NUMPY))
    found, same = check(mine), Learner(mine).tiles(Problem(mask="causal"))
    assert same
    if found.first and found.first["problem"] == "tiles" and None not in found.first.values():
        first = found.first["i"], found.first["j"]
        assert (same["map"]["first"], same["agrees"]) == (first, False)
    else:  # O is right on this Problem, and so are its tiles unless they hold another m
        assert same["agrees"] is (key not in OTHER_M)


def test_what_it_reports_not_is_probed(mine, write):
    write(plant("o_not_rescaled", TORCH))
    same = Learner(mine).tiles(Problem(mask="causal"))
    assert same and (same["against"], same["map"]["first"]) == ("probes", (1, 1))
    write(plant(None, TORCH))
    same = Learner(mine).tiles(Problem(n=22, block_k=8, mask="full", inputs="random"))
    assert same and same["agrees"] and same["map"]["cells"] == "=" * 18


def test_its_numbers_are_those_of_the_trace(mine):
    problem = Problem(n=24, d=16, block_q=8, block_k=4, mask="causal", inputs="random")
    traced = trace(problem)
    arrays = (x[None, None] for x in (traced.Q, traced.K, traced.V))
    o, lse, figures = Learner(mine).run(RunRequest(problem), *arrays)
    assert np.allclose(o[0, 0], traced.O, atol=1e-6) and lse is not None
    same = figures["same"]
    computed = [visit for visit in traced.visits if visit.m_new is not None]
    assert same and same["tiles"] == len(computed) and same["values"] == 16 * len(computed)
    assert figures["peak_bytes"] >= o.astype(np.float32).nbytes


@pytest.mark.parametrize(("query", "why"), table(__file__))
def test_what_it_has_no_argument_for_is_refused(query, why, mine):
    request = RunRequest.from_query(query)
    shape = (request.batch, request.heads, request.problem.n, request.problem.d)
    nothing = np.broadcast_to(np.float32(0), shape)
    with pytest.raises(ProblemError, match=why):
        Learner(mine).run(request, nothing, nothing, nothing)


def test_a_file_that_breaks_is_run_again_when_it_is_mended(mine, write):
    learner = Learner(mine)
    for source, sentence in (
        ("def attention(:", "line 1"),
        ("import os, numpy\ndef attention(q, k, v, *, causal): os._exit(0)", "ended without"),
    ):
        write(source)
        with pytest.raises(ProblemError, match=sentence):
            learner.tiles(Problem())
    write(plant(None, NUMPY))
    same = learner.tiles(Problem())
    assert same and same["agrees"]
    mine.unlink()
    with pytest.raises(ProblemError, match="no file"):
        learner.tiles(Problem())


def test_run_has_it_beside_the_kernels_and_never_an_old_answer(mine, write):
    engine = Engine(partial(ProcessChild, worker(mine)))
    request = RunRequest(Problem(), ("naive", "fa2", "yours"), heads=2)
    try:
        for key, is_right in ((None, True), ("l_not_rescaled", False)):
            write(plant(key, NUMPY))
            rows = {row["method"]: row for row in finish(engine.submit(request)).result["rows"]}
            assert [rows["fa2"]["right"], rows["yours"]["right"]] == [True, is_right]
            assert rows["yours"]["same"]["agrees"] is is_right
        write("def attention(:")
        last = finish(engine.submit(request)).result["rows"][-1]
        assert "mine.py, line 1" in last["refused"]
    finally:
        engine.close()


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA GPU")
def test_on_a_gpu_its_process_measures_time_and_memory(mine, write):
    write(plant(None, TRITON))
    problem = Problem(n=512, d=64, block_q=64, block_k=64, mask="causal", dtype="fp16")
    q = np.random.default_rng(0).standard_normal((2, 4, 512, 64), dtype=np.float32)
    o, _, figures = Learner(mine).run(RunRequest(problem, batch=2, heads=4), q, q, q)
    assert o.shape == q.shape and figures["runs"] > 1
    assert 0 < figures["p20_ms"] <= figures["median_ms"] <= figures["p80_ms"]
    assert figures["peak_bytes"] >= 2 * q.size
