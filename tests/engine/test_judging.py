"""The verdict's two rules: right kernels pass them, and planted faults do not."""

import math
from dataclasses import replace

import pytest
import torch

import kernels
from explainer.algorithms.inputs import INPUTS, make_inputs
from explainer.engine.jobs import device, run
from explainer.engine.judging import Truth, agreement
from explainer.engine.requests import METHODS, ORDERS, RunRequest
from explainer.engine.results import ran
from explainer.problem import Problem
from explainer.trace import trace
from kernels.checks import DTYPES
from kernels.spec.formats import FORMATS
from tests.tables import table

HEADS = [(0, 0)]
AT_64 = Problem(n=64, d=64, block_q=32, block_k=32, mask="full", inputs="random")


def tensors(problem: Problem) -> list[torch.Tensor]:
    made = (torch.tensor(x.copy(), dtype=DTYPES[problem.dtype]) for x in make_inputs(problem))
    return [x.to(device())[None, None] for x in made]


def truth_of(problem: Problem) -> Truth:
    return Truth(*tensors(problem), problem, HEADS, with_naive=True)


def judged(problem: Problem, name: str, o: torch.Tensor) -> dict:
    """The verdict on this O (N, d) as the method's."""
    return truth_of(problem).judge(problem, name, o[None, None], None)


def attention(problem: Problem, fault: str = "") -> torch.Tensor:
    """FA-2 in plain PyTorch, O (N, d), right unless it is told its fault."""
    dtype = DTYPES[problem.dtype]
    q, k, v = (x[0, 0].cpu().float() for x in tensors(problem))
    if fault == "a padded key":
        k, v = (torch.cat([x, torch.zeros(1, problem.d)]) for x in (k, v))
    if fault == "TF32 products":
        q, k = (_cut(x, 13, half=True) for x in (q, k))
    s = (q @ k.T) * problem.scale
    if str(problem.mask) == "causal":
        row, key = torch.arange(len(q))[:, None], torch.arange(len(k))
        visible = key < row if fault == "an off-by-one mask" else key <= row
        visible[0, 0] = True
        s = s.masked_fill(~visible, -math.inf)
    p = torch.exp(s - s.amax(1, keepdim=True))
    l = p.sum(1, keepdim=True)
    p = _cut(p, 16) if fault == "a truncated P" else p.to(dtype).float()
    return (p @ v / l).to(dtype).to(device())


def _cut(x: torch.Tensor, bits: int, half: bool = False) -> torch.Tensor:
    """fp32 without its lowest bits, truncated, or rounded with ``half`` of the last kept place."""
    whole = x.contiguous().view(torch.int32) + (1 << (bits - 1)) * half
    return (whole >> bits << bits).view(torch.float32)


of_all_data = pytest.mark.parametrize("data", [name for name in INPUTS if name != "own"])
FAULTS, SHAPES = table(__file__).values()


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    ("fault", "mask", "dtype"), [(f, m, dtype) for f, m, dtypes in FAULTS for dtype in dtypes]
)
def test_a_planted_fault_is_rejected(fault, mask, dtype, seed):
    problem = replace(AT_64, mask=mask, dtype=dtype, seed=seed)
    assert judged(problem, "fa2", attention(problem))["right"], "without it the same is right"
    assert not judged(problem, "fa2", attention(problem, fault))["right"]


@of_all_data
def test_a_planted_fault_is_rejected_whatever_the_data_in_fp32(data):
    for fault, mask, dtypes in FAULTS:
        if "fp32" in dtypes:
            problem = replace(AT_64, inputs=data, mask=mask)
            assert not judged(problem, "fa2", attention(problem, fault))["right"], fault


@pytest.mark.pairwise
@pytest.mark.parametrize("gain", [1.0, 0.01, 32.0])
@pytest.mark.parametrize("mask", ["full", "causal"])
@pytest.mark.parametrize("dtype", DTYPES)
@of_all_data
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_the_kernels_are_accepted(shape, data, dtype, mask, gain):
    n, d, br, bc = shape
    problem = Problem(n, d, br, bc, mask, dtype=dtype, inputs=data, gain=gain)
    q, k, v = tensors(problem)
    truth = truth_of(problem)
    for name in ORDERS:
        made = {"mask": mask, "order": name, "block_m": br, "block_n": bc}
        found = truth.judge(problem, name, kernels.flash_attention(q, k, v, **made), None)
        assert found["right"], (name, found)


@pytest.mark.skipif(device() == "cpu", reason="needs a CUDA GPU")
@pytest.mark.parametrize("dtype", ["fp16", "bf16"])
@pytest.mark.parametrize("n", [4096, 16_384, 65_536])
def test_on_a_gpu_long_sums_are_accepted_of_every_method(n, dtype):
    problem = Problem(n, 64, 64, 64, "full", dtype=dtype, inputs="random")
    result = run(RunRequest(problem, tuple(METHODS)), lambda *_, **__: None)
    assert all(row["right"] for row in ran(result["rows"])), result["rows"]


def test_equal_rows_and_a_single_key_are_no_false_alarm():
    """Errors that are all the same, and a naive attention that has none."""
    rows = "\n".join(["1.1,2.3,0.7"] * 9)
    for text in ("\n\n".join([rows] * 3), "1.1,2.3\n\n0.3,0.7\n\n5.5,1.7"):
        n, d = (9, 3) if "0.7\n1.1" in text else (1, 2)
        for dtype in DTYPES:
            problem = Problem(n, d, min(4, n), min(4, n), dtype=dtype, inputs="own", text=text)
            q, k, v = tensors(problem)
            for name in ORDERS:
                o = kernels.flash_attention(q, k, v, causal=True, order=name)
                assert judged(problem, name, o[0, 0])["right"]


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_what_is_allowed_is_the_sum_of_what_is_shown(dtype, name):
    problem = replace(AT_64, dtype=dtype)
    q, k, v = tensors(problem)
    truth = truth_of(problem)
    found = truth.judge(problem, name, kernels.naive_attention(q, k, v), None)
    assert found["allowed"] == sum(found["terms"].values())
    assert found["terms"]["naive"] == 2 * found["error"]
    q, k, v = (x[0, 0].double() for x in (q, k, v))
    p = torch.softmax(q @ k.T * problem.scale, 1)
    unit, most = FORMATS[dtype].unit_roundoff, (p @ v.abs()).max().item()
    visits = problem.Tc**0.5 if name == "fa1" else 1
    assert math.isclose(found["terms"]["rounding"], (1 + visits) * unit * most, rel_tol=1e-9)
    stored = name in ("naive", "standard", "sdpa_math", "naive_compiled", "yours")
    assert (found["signed"] is not None) == (dtype != "fp32" and not stored)


@pytest.mark.parametrize("dtype", DTYPES)
def test_of_several_heads_each_is_judged_by_its_own_alibi(dtype):
    """Naive attention too, which gives the first rule its size; a GPU may round the products of
    heads alone otherwise than of all."""
    heads, score = 4, "alibi"
    problem = replace(AT_64, dtype=dtype, score=score)
    one = tensors(problem)
    q, k, v = (x.repeat(1, heads, 1, 1) for x in one)
    truth = Truth(q, k, v, problem, [(0, 0), (0, heads - 1)], with_naive=True)
    right = kernels.naive_attention(q, k, v, score=score)
    found = truth.judge(problem, "naive", right, None)
    assert found["right"]
    assert found["terms"]["naive"] == pytest.approx(2 * found["error"], rel=0.6)
    first = kernels.naive_attention(*one, score=score).repeat(1, heads, 1, 1)  # of H = 1
    assert not truth.judge(problem, "naive", first, None)["right"]


def test_where_naive_does_not_fit_its_part_is_a_rounding():
    problem = replace(AT_64, dtype="fp16")
    truth = Truth(*tensors(problem), problem, HEADS, with_naive=False)
    terms = truth.terms(problem, "fa2")
    assert truth.naive_error is None and terms["naive"] == terms["rounding"]


@pytest.mark.parametrize(
    "change", [{"dtype": "fp32"}, {"inputs": "spike"}, {"n": 48}, {"d": 63}], ids=str
)
def test_the_second_rule_is_not_applied_where_roundings_depend_on_each_other(change):
    problem = replace(AT_64, **({"dtype": "bf16"} | change))
    assert judged(problem, "fa2", attention(problem))["signed"] is None


@pytest.mark.parametrize("dropout", [0.1, 0.3, 0.5])
def test_with_dropout_the_largest_weight_of_every_row_rounds_alike(dropout):
    """1/(1 − dropout) in bf16 is off by 0.16 %, 0.08 % and nothing: no fault of the kernel's."""
    problem = replace(AT_64, n=128, mask="causal", dtype="bf16", dropout=dropout)
    truth = truth_of(problem)
    made = {"mask": "causal", "block_m": 32, "block_n": 32, **problem.dropped}
    found = truth.judge(problem, "fa2", kernels.flash_attention(*tensors(problem), **made), None)
    plain = truth._signed(
        replace(problem, dropout=0.0), "fa2", torch.zeros_like(truth.o[0]).flatten()
    )
    more = found["signed"]["allowed"] - plain["allowed"]
    assert found["right"] and more == pytest.approx(
        {0.1: 1 / 640, 0.3: 1 / 1280, 0.5: 0.0}[dropout]
    )
    assert found["signed"]["error"] <= (more or plain["allowed"])
    off = kernels.flash_attention(*tensors(problem), **made | {"dropout": dropout - 0.01})
    assert not truth.judge(problem, "fa2", off, None)["right"]


OF_HEADS = {
    "none": (lambda k: k, {}),
    "the keys of another group": (lambda k: k.flip(1), {}),
    "dropout of another seed": (lambda k: k, {"seed": 8}),
    "no dropout": (lambda k: k, {"dropout": 0.0}),
}


@pytest.mark.parametrize("dtype", ["fp32", "bf16"])
@pytest.mark.parametrize("fault", OF_HEADS)
def test_the_judge_knows_the_group_and_what_is_dropped(fault, dtype):
    problem = Problem(
        n=40, d=16, q_heads=6, kv_heads=2, head=3, score="alibi", dropout=0.3, seed=7, dtype=dtype
    )
    random = torch.Generator().manual_seed(0)
    q, k, v = (torch.randn(2, h, 40, 16, generator=random).to(DTYPES[dtype]) for h in (6, 2, 2))
    truth = Truth(q, k, v, problem, [(0, 3), (1, 5)], with_naive=True)
    keys, more = OF_HEADS[fault]
    rules = {**problem.rules, **problem.dropped, **more}
    o = kernels.reference_attention(q, keys(k), v, **rules)[0].to(q.dtype)
    assert truth.judge(problem, "fa2", o, None)["right"] == (fault == "none")


@pytest.mark.parametrize("added", [0.0, 1e-3])
def test_an_output_that_is_not_the_pictures_is_found(added):
    problem = replace(AT_64, dtype="fp32", order="standard")
    o = torch.tensor(trace(problem).O)[None, None] + added
    same = agreement(problem, "standard", *tensors(problem), o, None)
    assert same["agrees"] == (added == 0) and same["o_error"] >= added / 2
