"""The Hopper backward: its PTX run on the CPU, every plan compiled for sm_90, the GPU's grid."""

import re
from itertools import product

import pytest
import torch

import kernels
from kernels import gradients, hopper
from kernels.hopper import backward, backward_ends, backward_plans
from kernels.launching import Launch
from kernels.spec import masks, scores
from tests.kernels.attention_checks import (
    DEVICE,
    assert_attention,
    full_and_causal,
    hopper_only,
    interpreter_only,
    make_qkv,
    of_64_and_128,
)
from tests.kernels.gradient_checks import assert_gradients, like
from tests.kernels.hopper.conftest import PROBLEMS, only_full
from tests.kernels.hopper.test_compiled import assert_fast
from tests.kernels.hopper.test_hopper import LENGTHS, NARROW, REGISTERS, SHARED_BYTES

# Bytes of a thread that ptxas keeps in memory: addresses, in the passes over row blocks only read.
STACK = 120
SLOW = r"wgmma\.mma_async instructions are serialized|warpgroup\.\w+ is injected"


# Key blocks that meet 0, 1, 2, 3 and 5 row blocks, one and several tiles to a program, groups of
# heads, ragged ends, rows and keys that see nothing; the asynchronous early and late.
RUNS = PROBLEMS["backward"]


@pytest.mark.parametrize("run", only_full(RUNS | PROBLEMS["backward, slow"], RUNS))
def test_the_ptx_computes_the_gradients(ask, run):
    assert ask(run)["fault"] == ""


@pytest.mark.parametrize(
    "planted", only_full(PROBLEMS["backward, planted"], ("no fence", "slot not let go"))
)
def test_the_machine_rejects(ask, planted):
    """Each fault is planted in PTX that without it passes."""
    pattern, new, said, *of = planted
    run = (RUNS | PROBLEMS["backward, slow"])[of[0] if of else "grouped"]
    assert re.search(said, ask({**run, "plant": (pattern, new)})["fault"])


FORMS = [
    *product((64, 128), *[(False, True)] * 3, ("bf16", "fp16"), ["none"]),
    *product((64, 128), *[(False, True)] * 3, ["bf16"], ["alibi"]),
]
FEW = [(128, True, True, True, "fp16", "none")]


@pytest.mark.parametrize("form", only_full(FORMS, FEW))
def test_no_plan_serializes_its_products(compiled, form):
    d, masked, grouped, serialized, dtype, score = form
    rows = backward_plans.ROWS[d]
    peeled = backward_plans.peels(rows)
    plan = backward_plans.Plan(
        rows, masked, grouped, serialized, peeled=peeled, dk_first=rows == 64, score=score
    )
    found = compiled(plan, d, dtype)
    assert re.findall(SLOW, found["log"]) == []
    assert int(re.search(r"(\d+) bytes stack frame", found["log"])[1]) <= STACK
    assert found["shared_bytes"] <= SHARED_BYTES
    assert found["wgmma"] and found["adds"]


WIDTHS = ((160, 160), (192, 192), (192, 128), (128, 256), (256, 256))
WIDE = [*product(WIDTHS, ("full", "causal"), ("bf16", "fp16"))]
FEW_WIDE = [((192, 128), "full", "fp16"), ((256, 256), "causal", "bf16")]


@pytest.mark.parametrize("form", only_full(WIDE, FEW_WIDE))
def test_no_wide_plan_spills_or_serializes_its_products(compiled, form):
    (d, d_v), mask, dtype = form
    plan = backward_plans.choose_wide(d, d_v, masks.parse(mask), 128)
    assert_fast(compiled(plan, max(d, d_v), dtype))


def test_a_plan_with_too_few_registers_is_found(compiled):
    plan = backward_plans.Plan(64, True, True, consumer_registers=160)
    log = compiled(plan, 128, "bf16")["log"]
    assert int(re.search(r"(\d+) bytes stack frame", log)[1]) > STACK
    assert re.findall(SLOW, log)


def test_plans_fit_the_registers():
    plans = [backward_plans.Plan(rows, True, True) for rows in backward_plans.ROWS.values()]
    for plan in (*plans, backward_plans.choose_wide(256, 256, masks.parse("causal"), 128)):
        # the producer's one warp counts as a warpgroup of four
        assert 128 * (2 * plan.consumer_registers + plan.producer_registers) <= REGISTERS


@interpreter_only
def test_what_comes_before():
    q, *_ = make_qkv(70, 40, batch=2, heads=3, dtype="fp16")
    o, grad_o, padded = like(q, 1), like(q, 2), 128
    lse = like(q, 3)[..., 0].float().contiguous()
    lse[..., 5] = float("-inf")
    scaled, less = torch.full((2, 2, 3, padded), float("nan"))
    added = torch.full((*q.shape[:3], 24), float("nan"))
    constants = {"D": 40, "DQ_D": 24, "PAD_D": 64, "ROWS": 64, "BLOCK_M": 32}

    def before(scaled, slopes, ahead):
        scalars = (o.stride(), grad_o.stride(), 3, 70, padded, slopes, ahead)
        launch = Launch(backward_ends.before_kernel, 12, scalars, constants)
        launch(o, grad_o, lse, scaled, less, added)

    before(scaled, None, 0)
    torch.testing.assert_close(less[:, :, :70], -(o.float() * grad_o.float()).sum(-1))
    assert not less[:, :, 70:].any() and scaled[:, :, 70:].isposinf().all()
    assert scaled[:, :, 5].isposinf().all() and not added.any()
    torch.testing.assert_close(scaled[:, :, 6:70], lse[:, :, 6:] / torch.log(torch.tensor(2.0)))
    slopes, biased = torch.rand(6, device=DEVICE), torch.empty_like(scaled)
    before(biased, slopes, 9)
    place = torch.arange(padded, device=DEVICE) % 32 + 9
    torch.testing.assert_close(biased, scaled + slopes.view(2, 3, 1) * place)


@pytest.mark.parametrize("said", PROBLEMS["backward, refused"])
def test_refuses_in_a_sentence(said):
    d, dtype, mask, score, scale = PROBLEMS["backward, refused"][said]
    tensors = make_qkv(40, d, dtype=dtype)
    reason = backward.why_not_this(*tensors, masks.parse(mask), scores.parse(score), scale)
    assert said in reason and reason.endswith(".") and reason.count(". ") == 0


def test_a_method_that_cannot_run_says_why():
    q, k, v = make_qkv(8, 16)
    o, lse = kernels.flash_attention(q, k, v, return_lse=True)
    with pytest.raises(ValueError, match="method = 'fast' is not allowed: readable, hopper"):
        gradients.backward(o, None, q, k, v, o, lse, method="fast")
    here = "q is torch.float32" if DEVICE == "cuda" else "The Hopper kernel needs"
    with pytest.raises(ValueError, match=here):
        gradients.backward(o, None, q, k, v, o, lse, method="hopper")


def judge(q, k, v, grad_o=None, **how):
    """The gradients by the rule, summed in any order and serialized; and once more
    serialized: the same bits."""
    with torch.no_grad():
        o, lse = kernels.flash_attention(q, k, v, return_lse=True, **how)
    grad_o = like(o) if grad_o is None else grad_o
    tensors, more = (grad_o, None, q, k, v, o, lse), how | {"method": "hopper"}
    free, serialized, again = (
        gradients.backward(*tensors, **more, deterministic=d)[:3] for d in (False, True, True)
    )
    for grads in (free, serialized):
        assert_gradients(grads, q, k, v, grad_o, **how)
    assert all(map(torch.equal, serialized, again))
    assert all(map(torch.equal, free[1:], serialized[1:]))
    if max(q.shape[-1], v.shape[-1]) > backward.WIDEST:
        assert torch.equal(free[0], serialized[0])


MASKS = ("causal&window:100,0", "causal|prefix:64", "causal&document:0,140,300", "chunk:46")


@hopper_only
@pytest.mark.parametrize("mask", ["full", "causal", "causal&window:50,0", "causal&document:0,200"])
@pytest.mark.parametrize(("d", "dtype"), [(32, "bf16"), (40, "fp16"), (96, "bf16"), (120, "fp16")])
def test_other_head_dims(d, dtype, mask):
    """Both passes: TMA reads 0 beyond d, and writes nothing there."""
    for n_q, n_k in ((257, 257), (300, 700)):
        q, k, v = make_qkv(n_q, d, n_k=n_k, batch=2, heads=6, k_heads=2, dtype=dtype)
        assert_attention(q, k, v, hopper.flash_attention, mask=mask)
        judge(q, k, v, mask=mask)


@hopper_only
@pytest.mark.parametrize("mask", ["full", "causal", *MASKS])
@pytest.mark.parametrize("d", [136, 192, 232, 256])
def test_wide_head_dims(d, mask):
    """Where dQ has a kernel of its own."""
    judge(*make_qkv(515, d, batch=2, heads=4, k_heads=2, dtype="bf16"), mask=mask)
    judge(*make_qkv(300, d, n_k=470, heads=8, k_heads=1, dtype="fp16"), mask=mask)
    judge(*make_qkv(515, d, dtype="bf16", q_by=5.0, kv_by=3.0), mask=mask)
    q, k, v = (x.transpose(1, 2) for x in make_qkv(6, d, batch=2, heads=400, dtype="bf16"))
    judge(q, k, v, torch.ones(1, 1, 1, 1, dtype=q.dtype, device=DEVICE).expand(q.shape), mask=mask)


@hopper_only
@pytest.mark.parametrize("mask", ["full", "causal", *MASKS])
@pytest.mark.parametrize(("d", "d_v"), [*NARROW, (64, 128), (96, 256), (120, 56)])
def test_values_of_another_head_dimension(d, d_v, mask):
    for n_q, n_k, dtype in ((515, 515, "bf16"), (300, 470, "fp16")):
        q, k, v = (make_qkv(n_q, x, n_k=n_k, batch=2, heads=3, dtype=dtype) for x in (d, d, d_v))
        leaves = [x.requires_grad_() for x in (q[0], k[1], v[2])]
        judge(*leaves, mask=mask)
        o = kernels.attention(*leaves, mask=mask)
        assert_gradients(torch.autograd.grad(o, leaves, like(o)), *leaves, like(o), mask=mask)


@hopper_only
@pytest.mark.parametrize("dtype", ["bf16", "fp16"])
@full_and_causal
@of_64_and_128
@pytest.mark.parametrize(("n_q", "n_k"), LENGTHS)
def test_peers_grid(n_q, n_k, d, causal, dtype):
    judge(*make_qkv(n_q, d, n_k=n_k, batch=2, heads=3, dtype=dtype), causal=causal)


@hopper_only
@pytest.mark.parametrize("mask", MASKS)
@of_64_and_128
def test_masks_groups_strides_and_large_logits(d, mask):
    judge(*make_qkv(515, d, batch=2, heads=4, k_heads=2, dtype="bf16"), mask=mask)
    judge(*make_qkv(300, d, n_k=470, heads=8, k_heads=1, dtype="fp16"), mask=mask)
    judge(*make_qkv(515, d, dtype="bf16", q_by=5.0, kv_by=3.0), mask=mask)
    q, k, v = (x.transpose(1, 2) for x in make_qkv(6, d, batch=2, heads=400, dtype="bf16"))
    judge(q, k, v, mask=mask, scale=0.3)
    judge(q, k, v, torch.ones(1, 1, 1, 1, dtype=q.dtype, device=DEVICE).expand(q.shape), mask=mask)


@hopper_only
@pytest.mark.parametrize("mask", ["full", *MASKS])
@of_64_and_128
def test_alibi(d, mask):
    for score in ("alibi", "scale:2&alibi"):
        judge(*make_qkv(515, d, batch=2, heads=4, dtype="bf16"), mask=mask, score=score)
        sizes = {"n_k": 470, "batch": 2, "heads": 8, "k_heads": 2, "dtype": "fp16"}
        judge(*make_qkv(300, d, **sizes), mask=mask, score=score)


@hopper_only
@of_64_and_128
def test_keys_beyond_the_last_add_nothing(d):
    """All scores are far below 0, the score of a key that is not there."""
    q, k, v = make_qkv(300, d, n_k=270, heads=4, dtype="fp16")
    judge(q / 4 + 1.5, k / 4 - 1.5, v)


@hopper_only
@of_64_and_128
def test_many_tiles(d):
    """Several to a program, and more heads than a section has."""
    judge(*make_qkv(257, d, batch=5, heads=40, dtype="bf16"), causal=True)
    judge(*make_qkv(2048, d, batch=2, heads=24, k_heads=8, dtype="bf16"), causal=True)
