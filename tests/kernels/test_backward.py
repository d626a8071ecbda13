"""The backward pass: dQ, dK, dV and dsink against float64, faults that the judge must reject."""

import math
from collections import defaultdict
from contextlib import nullcontext
from inspect import signature

import numpy as np
import pytest
import torch
import triton
import triton.language as tl

import kernels
from kernels import fa2_backward, gradients
from kernels.launching import Launch
from kernels.scoring import modified
from tests.kernels.attention_checks import (
    DEVICE,
    full_and_causal,
    in_each_dtype,
    interpreter_only,
    make_qkv,
)
from tests.kernels.gradient_checks import assert_gradients, like
from tests.kernels.random_masks import Case, run_all
from tests.tables import table

CASES, ON_GPU, TOGETHER = 200, 1000, 50
HOW = table(__file__)


def found(q, k, v, grad_o, call=kernels.flash_attention, **how):
    """dQ, dK, dV and dsink, through autograd; the sink as a tensor that requires a gradient."""
    leaves = [x.detach().requires_grad_() for x in (q, k, v)]
    if how.get("sink") is not None:
        sink = torch.as_tensor(how["sink"], dtype=torch.float32, device=q.device)
        how["sink"] = sink.expand(q.shape[1]).clone().requires_grad_()
        leaves.append(how["sink"])
    return (*torch.autograd.grad(call(*leaves[:3], **how), leaves, grad_o), None)[:4]


def judge(q, k, v, how, grad_o=None, forms=(False, True), **more) -> None:
    """Both forms of the backward under the rule."""
    grad_o = like(q) if grad_o is None else grad_o
    for deterministic in forms:
        grads = found(q, k, v, grad_o, **how, **more, deterministic=deterministic)
        assert_gradients(grads, q, k, v, grad_o, **how, order=more.get("order", "fa2"))


of_each_rule = pytest.mark.parametrize("how", HOW)


@pytest.mark.pairwise
@of_each_rule
@in_each_dtype
@pytest.mark.parametrize(("n_q", "n_k"), [(32, 32), (13, 26), (26, 13)])
@pytest.mark.parametrize("k_heads", [1, 2], ids=["mqa", "mha"])
@pytest.mark.parametrize(("d", "block_m", "block_n"), [(16, 16, 16), (20, 11, 16), (16, 16, 13)])
@pytest.mark.parametrize("form", [False, True], ids=["atomics", "two passes"])
def test_grid(how, dtype, n_q, n_k, k_heads, d, block_m, block_n, form):
    q, k, v = make_qkv(n_q, d, n_k=n_k, heads=2, k_heads=k_heads, dtype=dtype)
    judge(q, k, v, HOW[how], forms=(form,), block_m=block_m, block_n=block_n)


def run(c: Case, number: int) -> None:
    q, k, v = c.tensors(number, batch=1 + number % 2)
    blocks = {"block_m": max(c.block_m, c.n_q // 4), "block_n": max(c.block_n, c.n_k // 4)}
    judge(q, k, v, c.rules(number), order=c.order, **blocks)


@interpreter_only
@pytest.mark.parametrize("first", range(0, CASES, TOGETHER))
def test_random_masks_in_the_interpreter(first, pytestconfig):
    run_all(run, first, TOGETHER, pytestconfig, 40 if pytestconfig.getoption("--full") else 20)


@pytest.mark.gpu
@pytest.mark.parametrize("first", range(0, ON_GPU, TOGETHER))
def test_random_masks_on_a_gpu(first, pytestconfig):
    run_all(run, first, TOGETHER, pytestconfig, 400, ("fp16", "bf16"))


@pytest.mark.gpu
@full_and_causal
@pytest.mark.parametrize("dtype", ["fp16", "bf16", "fp32"])
@pytest.mark.parametrize("d", [32, 59, 64, 96, 128, 192, 256])
def test_peers_grid(d, dtype, causal):
    for n_q, n_k in ((113, 203), (256, 512), (512, 256), (1023, 1024), (1, 239), (127, 513)):
        q, k, v = make_qkv(n_q, d, n_k=n_k, batch=2, heads=4, k_heads=2, dtype=dtype)
        judge(q, k, v, {"causal": causal})
        if d > 128:  # refused by the Hopper kernels
            judge(q, k, v, {"causal": causal, "score": "softcap:9"})


@pytest.mark.gpu
def test_offsets_above_2_to_31():
    """dO and Q cut out of a tensor whose rows lie far apart."""
    n, d, step = 300, 64, 1 << 23
    wide = torch.zeros(n * step, dtype=torch.bfloat16, device=DEVICE)
    grad_o = wide.as_strided((1, 1, n, d), (0, 0, step, 1))
    q, k, v = make_qkv(n, d, dtype="bf16")
    grad_o.copy_(like(q))
    far = wide.as_strided((1, 1, n, d), (0, 0, step, 1), 128)
    judge(far.copy_(q), k, v, {"causal": True}, grad_o)


def test_large_scores_and_rows_that_see_no_key():
    q, k, v = make_qkv(40, 16, n_k=24, dtype="bf16", q_by=5.0, kv_by=3.0)
    judge(q, k, v, {"causal": True}, block_m=16, block_n=16)
    blind = 40 - 24
    grads = found(q, k, v, like(q), causal=True)
    assert not grads[0][:, :, :blind].any()  # nothing depends on what such a row asks for


@pytest.mark.parametrize("kind", ["expanded", "transposed", "every other", "negated"])
def test_any_strides_of_the_gradient(kind):
    q, k, v = make_qkv(20, 16, heads=2, dtype="fp16")
    made = {
        "expanded": lambda: torch.ones(1, 1, 1, 1, dtype=q.dtype, device=DEVICE).expand(q.shape),
        "transposed": lambda: like(q.transpose(1, 2).contiguous()).transpose(1, 2),
        "every other": lambda: like(torch.cat((q, q), -1))[..., ::2],
        "negated": lambda: torch._neg_view(like(q)),
    }[kind]()
    judge(q, k, v, {"causal": True}, made)


def test_a_loss_that_takes_lse():
    q, k, v = make_qkv(20, 16, n_k=30, heads=2)
    sink = torch.linspace(-1, 1, 2, device=DEVICE)
    for k_sink in (None, sink):
        leaves = [x.detach().requires_grad_() for x in (q, k, v, k_sink) if x is not None]
        how = {"causal": True, "sink": None if k_sink is None else leaves[3]}
        o, lse = kernels.attention(*leaves[:3], **how, return_lse=True)
        grad_o, grad_lse = like(o), like(lse, 8)
        mine = torch.autograd.grad((o, lse), leaves, (grad_o, grad_lse), retain_graph=True)
        true = kernels.reference_gradients(q, k, v, grad_o, grad_lse, causal=True, sink=k_sink)
        alone = torch.autograd.grad(lse, leaves, grad_lse)
        zero = torch.zeros_like(grad_o)
        only = kernels.reference_gradients(q, k, v, zero, grad_lse, causal=True, sink=k_sink)
        for grads, want in ((mine, true), (alone, only)):
            same = {"atol": 1e-5, "rtol": 1e-5, "check_dtype": False}
            torch.testing.assert_close(grads, want[: len(grads)], **same)


@of_each_rule
def test_the_reference_agrees_with_finite_differences(how):
    q, k, v = (x.double() for x in make_qkv(5, 4, n_k=7, heads=2, k_heads=1))
    grad_o, h, how = like(q), 1e-5, {**HOW[how]}
    if "sink" in how:
        how["sink"] = torch.full((2,), how["sink"], dtype=torch.float64)
    truth = kernels.reference_gradients(q, k, v, grad_o, **how)

    def loss() -> float:
        return (kernels.reference_attention(q, k, v, **how)[0] * grad_o).sum().item()

    for x, grads in zip((q, k, v, how.get("sink")), truth, strict=True):
        for at in () if x is None else np.ndindex(x.shape):
            before = x[at].item()
            x[at] = before + h
            up = loss()
            x[at] = before - h
            down = loss()
            x[at] = before
            assert math.isclose((up - down) / (2 * h), grads[at], abs_tol=1e-7)


def test_no_row_and_no_key():
    for n_q, n_k in ((0, 3), (3, 0)):
        q = torch.ones(1, 2, n_q, 16, device=DEVICE, requires_grad=True)
        k = torch.ones(1, 2, n_k, 16, device=DEVICE, requires_grad=True)
        for call in (kernels.flash_attention, kernels.attention):
            for grad in torch.autograd.grad(call(q, k, k).sum(), (q, k)):
                assert not grad.any()


def planted(monkeypatch, *name_and_fault) -> None:
    """Puts a fault into what the backward runs, where every call is prepared anew."""
    monkeypatch.setattr(gradients, "_calls", {})
    monkeypatch.setattr(*name_and_fault)


def launch_with(name: str, **changed):
    """A launch that tells the kernel of this name other constants."""

    def launch(kernel, programs, scalars, constants):
        told = changed if kernel is getattr(gradients, name) else {}
        return Launch(kernel, programs, scalars, constants | told)

    return launch


# For a kernel: it is launched on no grid.
NOTHING = defaultdict(lambda: lambda *arguments, **constants: None)


@triton.jit
def blind_rows_as_they_come(pointers, row_ok, PART: tl.constexpr):
    return tl.load(pointers, mask=row_ok, other=float("inf")) * 1.4426950408889634


@triton.jit
def padded_rows_unwritten(pointers, row_ok, PART: tl.constexpr):
    lse = tl.load(pointers, mask=row_ok, other=float("nan"))
    return tl.where(lse == float("-inf"), float("inf"), lse * 1.4426950408889634)


@triton.jit
def no_slope(s, keys, rows, h, H, SCORE: tl.constexpr, TABLES):
    return modified(s, keys, rows, h, H, SCORE, TABLES), 1.0


FAULTS = {
    "none": [],
    "mask forgotten": [
        (gradients, "Launch", launch_with("keys_kernel", MASK="full", RAGGED_N=False))
    ],
    "lse of blind rows": [(fa2_backward, "load_lse", blind_rows_as_they_come)],
    "padded rows unwritten": [(fa2_backward, "load_lse", padded_rows_unwritten)],
    "dQ not zeroed": [
        (gradients, "Launch", launch_with("delta_kernel", ADD_DQ=False)),
        (torch, "empty", torch.ones),
    ],
    "dQ not scaled": [(gradients, "scale_kernel", NOTHING), (torch, "empty", torch.zeros)],
    "D forgotten": [
        (gradients, "delta_kernel", NOTHING),
        (torch, "empty_like", torch.zeros_like),
        (torch, "empty", torch.zeros),
    ],
    "slope forgotten": [(fa2_backward, "modified_with_slope", no_slope)],
}


@interpreter_only
@pytest.mark.parametrize("fault", FAULTS)
def test_the_judge_rejects(fault, monkeypatch):
    """Each fault is planted and must be seen; without one the same problem passes."""
    q, k, v = make_qkv(30, 16, n_k=20, dtype="fp32")
    how, grad_o = {"causal": True, "score": "softcap:1"}, like(q)
    with monkeypatch.context() as planting:
        for one in FAULTS[fault]:
            planted(planting, *one)
        grads = found(q, k, v, grad_o, **how, block_m=16, block_n=16)
    seen = pytest.raises(AssertionError, match="error") if FAULTS[fault] else nullcontext()
    with seen:
        assert_gradients(grads, q, k, v, grad_o, **how)


@pytest.mark.parametrize("name", ["causal", "masked"])
def test_deterministic_gradients_are_bit_equal(name, pytestconfig):
    big = DEVICE == "cuda"
    n, repeats = (777, 1000 if pytestconfig.getoption("--full") else 20) if big else (20, 1)
    q, k, v = make_qkv(n, 64 if big else 16, heads=4, k_heads=2, dtype="bf16")
    how = HOW[name] | {"sink": 0.5, "deterministic": True}
    first = found(q, k, v, like(q), **how)
    for _ in range(repeats):
        assert all(map(torch.equal, first, found(q, k, v, like(q), **how)))


def test_pytorchs_switch_is_asked(monkeypatch):
    asked = []
    real = gradients._prepare
    at = [*signature(real).parameters].index("deterministic")
    planted(monkeypatch, gradients, "_prepare", lambda *x: asked.append(x[at]) or real(*x))
    q, k, v = make_qkv(8, 16)
    before = torch.are_deterministic_algorithms_enabled()
    for given, switch in ((None, False), (None, True), (True, False), (False, True)):
        gradients._calls.clear()
        torch.use_deterministic_algorithms(switch)
        try:
            found(q, k, v, like(q), deterministic=given)
        finally:
            torch.use_deterministic_algorithms(before)
    assert asked == [False, True, True, False]


@pytest.mark.parametrize("call", [kernels.flash_attention, kernels.attention])
def test_a_second_backward_says_no_in_a_sentence(call):
    q, k, v = (x.requires_grad_() for x in make_qkv(8, 16))
    (dq,) = torch.autograd.grad(call(q, k, v).sum(), q, create_graph=True)
    with pytest.raises(RuntimeError, match="a second backward pass is not implemented"):
        dq.sum().backward()


def test_only_what_is_asked_for_gets_a_gradient():
    q, k, v = make_qkv(8, 16)
    k.requires_grad_()
    kernels.attention(q, k, v, causal=True, sink=0.5).sum().backward()
    assert k.grad is not None and q.grad is None
    with torch.no_grad():
        assert not kernels.attention(q, k, v).requires_grad
    assert not kernels.flash_attention(q, k.detach(), v).requires_grad
