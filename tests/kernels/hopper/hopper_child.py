"""Child process of test_backward.py and test_compiled.py: Hopper kernels compiled for sm_90 without
a card, and the backward run.

Each line of stdin is a request in JSON, each line of stdout its answer, or its error. Of a problem
(n_q, n_k, batch, heads, k_heads, d, dtype, mask) the call of `kernels.hopper.backward` is prepared
and made, its Gluon kernel by `ptx_machine` on `programs` blocks, and its gradients judged: "fault"
says what was wrong, "" if nothing. "serialized": deterministic; "plant" (pattern, replacement)
edits the PTX before. With "plan" (fields of a Plan of either pass), d and dtype it is
compiled: shared_bytes, wgmma and adds (in the PTX), and log, what ptxas -v wrote. With another
Triton first on PYTHONPATH it is that one that compiles.
"""

import io
import json
import sys
from contextlib import redirect_stdout
from functools import partial
from itertools import pairwise
from types import SimpleNamespace
from typing import ClassVar

import torch
import triton
from numpy.lib.stride_tricks import as_strided

import kernels
from kernels import fp8
from kernels.hopper import backward, backward_plans, backward_wide, launch, plans
from kernels.hopper.versions import OPTIONS
from kernels.measure.compile_child import LENGTH
from kernels.spec import masks, scores
from kernels.tables import SPANS
from kernels.triton_internals import compile_for
from kernels.varlen import spans_of_offsets
from tests.kernels.attention_checks import assert_attention, assert_same_roundings, make_qkv
from tests.kernels.gradient_checks import assert_gradients, like
from tests.kernels.hopper.ptx_async import Map
from tests.kernels.hopper.ptx_machine import Fault, Machine

compile_for(90)
triton.knobs.nvidia.dump_ptxas_log = True
triton.knobs.compilation.always_compile = True  # a kernel found in the cache has no log
SWIZZLES = {0: 0, 1: 32, 2: 64, 3: 128}  # Triton's number: bytes


def bits(x: torch.Tensor):
    """The same memory as NumPy has it: floats of 16 and of 8 bits as uint16 and uint8."""
    size = x.element_size()
    if size == 4:
        return x.numpy()
    return x.view(torch.int16 if size == 2 else torch.uint8).numpy().view(f"u{size}")


class OnMachine:
    """`launching.Launch` where no GPU is: the Gluon kernel by its PTX, the others by PyTorch."""

    request: ClassVar[dict] = {}
    compiled: ClassVar[dict] = {}
    is_planted = False  # what the request plants was found in some kernel

    def __init__(self, kernel, programs, scalars, constants, boxes=()):
        self.kernel, self.programs, self.scalars = kernel, programs, scalars
        self.constants, self.boxes = constants, boxes

    def __call__(self, *tensors):
        getattr(self, self.kernel.fn.__name__)(*tensors)

    def before_kernel(self, o, grad_o, lse, scaled, less, added):
        *strides, _heads, n_q, _padded, slopes, ahead = self.scalars
        assert strides == [o.stride(), grad_o.stride()]
        less.zero_()[:, :, :n_q] = -(o.float() * grad_o.float()).sum(-1)
        lse = torch.where(lse.isneginf(), float("inf"), lse * 1.4426950408889634)
        if slopes is not None:
            place = torch.arange(n_q) % self.constants["BLOCK_M"] + ahead
            lse = lse + slopes[: lse[..., 0].numel()].view(*lse.shape[:2], 1) * place
        scaled.fill_(float("inf"))[:, :, :n_q] = lse
        if self.constants["DQ_D"]:
            added.zero_()

    def scale_kernel(self, added, dq):
        dq.copy_((added * self.scalars[1]).view(dq.shape))

    def on_machine(self, *tensors):
        described = [box(x) for box, x in zip(self.boxes, tensors, strict=False)]
        plain = tensors[len(described) :]
        compiled = self._compiled(described, plain)
        arguments = []
        for one, meta in zip(described, compiled.metadata.tensordesc_meta, strict=True):
            array = bits(one.base).reshape(-1)
            place = [step * array.itemsize for step in one.strides]
            seen = as_strided(array, one.shape, place)
            arguments += [Map(seen, tuple(meta["block_size"]), SWIZZLES[meta["swizzle"]])]
            arguments += [*one.shape, *one.strides]
        scalars = [x for x in (*plain, *self.scalars) if x is not None]
        ptx, (pattern, new) = compiled.asm["ptx"], self.request.get("plant", ("", ""))
        if pattern and pattern in ptx:
            ptx, OnMachine.is_planted = ptx.replace(pattern, new), True
        arguments += [bits(x) if isinstance(x, torch.Tensor) else x for x in scalars] + [0, 0]
        how = {"late": self.request["late"], "seed": self.request["seed"]}
        Machine(ptx, arguments, compiled.metadata.shared, **how).run(self.programs)
        counters = [x for x in plain if x.dtype == torch.int32]
        assert not any(x.any() for x in counters[:1]), "the queue's counter is not back at 0"

    backward_kernel = fp8_kernel = hopper_kernel = on_machine
    wide_keys_kernel = wide_rows_kernel = on_machine

    def _compiled(self, described, plain):
        kernel, first = self.kernel.fn.__name__, described[0]
        key = (kernel, self.constants["plan"], first.base.dtype, *first.block_shape)
        if key not in self.compiled:
            with redirect_stdout(io.StringIO()):
                self.compiled[key] = self.kernel.warmup(
                    *described, *plain, *self.scalars, grid=(1,), **self.constants
                )
        return self.compiled[key]


for module in (backward, backward_wide, launch, fp8):
    module.Launch = OnMachine
    module.counter_of = lambda *_: torch.zeros(4, dtype=torch.int32)
launch.why_not = lambda *tensors, **rules: ""
fp8.why_not_here = lambda device: ""
torch.cuda.is_current_stream_capturing = lambda: False
torch.cuda.get_device_properties = lambda device: SimpleNamespace(
    multi_processor_count=OnMachine.request["programs"]
)


def inputs(request: dict) -> tuple[torch.Tensor, ...]:
    """q, k and v of a problem; d_v: the head dimension of v, where it is another one."""
    sizes = {key: request[key] for key in ("n_k", "batch", "heads", "k_heads", "dtype")}
    q, k, v = make_qkv(request["n_q"], request["d"], **sizes)
    if "d_v" in request:
        *_, v = make_qkv(request["n_q"], request["d_v"], **sizes)
    return q, k, v


def parts(request: dict) -> list[tuple[slice, slice]]:
    """The rows and the keys of each packed sequence, or all of them."""
    cuts = request.get("cuts", [[0, request["n_q"]], [0, request["n_k"]]])
    return [(slice(*rows), slice(*keys)) for rows, keys in zip(*map(pairwise, cuts), strict=True)]


def spans(request: dict, causal: bool) -> torch.Tensor:
    """What each row sees of packed sequences."""
    offsets = [torch.tensor(x, dtype=torch.int32) for x in request["cuts"]]
    return spans_of_offsets(*offsets, request["n_q"], request["n_k"], torch.device("cpu"), causal)


def play_backward(request: dict) -> None:
    """The gradients of one problem, judged."""
    mask, scale = masks.parse(request["mask"]), request["d"] ** -0.5
    rules = {"mask": mask.text, "score": request.get("score", "none")}
    q, k, v = inputs(request)
    o, lse = q.new_zeros(*q.shape[:3], v.shape[3]), torch.full(q.shape[:3], -torch.inf)
    grad_o = like(o)
    for at, of in parts(request):
        one = q[:, :, at], k[:, :, of], v[:, :, of]
        o[:, :, at], lse[:, :, at] = kernels.reference_attention(*one, **rules)
    tensors = q, k, v, o, grad_o
    rule, more = mask, ()
    if "cuts" in request:
        rule, more = SPANS, (spans(request, mask.hides),)
    score = scores.parse(rules["score"])
    reason = backward.why_not_this(q, k, v, rule, score, scale)
    assert not reason, reason
    call = backward.prepare(*tensors, rule, score, scale, request.get("serialized", False))
    *grads, _ = call(*tensors, lse.float(), None, *more)
    for at, of in parts(request):
        mine = [x[:, :, cut] for x, cut in zip(grads, (at, of, of), strict=True)]
        one = q[:, :, at], k[:, :, of], v[:, :, of], grad_o[:, :, at]
        if one[0].numel() and one[1].numel():
            assert_gradients(mine, *one, **rules)


def play_forward(request: dict) -> None:
    """O and lse of one problem, judged."""
    q, k, v = inputs(request)
    rules = {key: request[key] for key in ("mask", "score", "sink") if key in request}
    causal = request["causal"]
    if "cuts" in request:
        o, lse = launch.prepare(q, k, v, mask=SPANS)(q, k, v, spans(request, causal))
    else:
        o, lse = launch.prepare(q, k, v, causal, **rules)(q, k, v)
    for at, of in parts(request):
        found = o[:, :, at], lse[:, :, at]
        if found[0].numel():
            one = q[:, :, at], k[:, :, of], v[:, :, of]
            assert_attention(*one, lambda *_, found=found, **__: found, causal=causal, **rules)


def play_fp8(request: dict) -> None:
    """O and lse of one problem in fp8, compared with the same roundings by PyTorch."""
    causal = request["causal"]
    plan = (plans.FP8 if request["two_level"] else plans.FP8_ONE_LEVEL)[request["d"], causal]
    # A P between two values of e4m3 may be rounded to either: few are, by 1/16.
    assert_same_roundings(fp8_inputs(request), causal, plan, 2**-8, 1e-4)


def fp8_inputs(request: dict) -> fp8.Quantized:
    """Random inputs rounded to e4m3 by PyTorch: Triton's interpreter is not at work here. sharp: Q
    is times it, so that maxima rise by more than a plan's slack."""
    q, k, v = (x.float() for x in inputs(request))
    q *= request.get("sharp", 1)

    def rounded(x, size, dim):
        short = -x.shape[2] % size
        blocks = torch.nn.functional.pad(x, (0, 0, 0, short)).unflatten(2, (-1, size))
        scales = blocks.abs().amax(dim, keepdim=True) / 448
        y = (blocks / scales).to(torch.float8_e4m3fn).flatten(2, 3)[:, :, : x.shape[2]]
        return y.contiguous(), scales.flatten(2).contiguous()

    (q8, q_scales), (k8, k_scales) = rounded(q, 64, (3, 4)), rounded(k, 128, (3, 4))
    padded = -(-v.shape[2] // 128) * 128
    v8, v_scales = rounded(torch.nn.functional.pad(v, (0, 0, 0, padded - v.shape[2])), padded, 3)
    slots = torch.arange(padded)
    order = torch.tensor(fp8.KEY_ORDER)
    v8 = v8.view(torch.uint8)[:, :, slots // 16 * 16 + order[slots % 16]].mT.contiguous()
    parts = q8, k8, v8.view(torch.float8_e4m3fn), q_scales, k_scales, v_scales
    return fp8.Quantized(*parts, torch.bfloat16, v.shape[2])


def compile_backward(plan: backward_plans.Plan, x: torch.Tensor):
    """The compiled kernel of the backward pass for tensors like x."""
    from kernels.hopper.backward_kernel import backward_kernel

    added = torch.empty(1, *x.shape[2:])
    rows, keys, half = (launch.describe_rows(x, n) for n in (plan.block_m, 128, 64))
    flat = launch.describe_list(torch.empty(LENGTH), plan.block_m)
    table = torch.empty(16, dtype=torch.int32)
    backward_kernel.device_caches.clear()  # a kernel found there has no log
    boxes = rows, keys, keys, rows, flat, flat, backward._added(added), half, half
    sizes, ranks = (8, 1, 1, 1, LENGTH, 1), table if plan.serialized else None
    slopes = torch.empty(1) if plan.score == "alibi" else None
    scalars = (*sizes, 0.125, 0.18, table, table, ranks, slopes)
    return backward_kernel.warmup(*boxes, table, table, *scalars, plan, grid=(1,), **OPTIONS)


def compile_wide(plan: backward_plans.WidePlan, x: torch.Tensor) -> tuple:
    """The two compiled kernels of the backward pass for tensors like x, d above 128."""
    from kernels.hopper.backward_wide_kernels import wide_keys_kernel, wide_rows_kernel

    box, lse = launch.describe_rows(x, backward_wide.BLOCK, plan.width), torch.empty(LENGTH)
    flat = launch.describe_list(lse, backward_wide.BLOCK)
    table = torch.empty(16, dtype=torch.int32)
    sizes, scales = (8, 1, 1, 1, LENGTH, 1), (0.125, 0.18)
    of_keys = (*[box] * 4, flat, flat, box, box, *sizes, *scales, table, table, plan)
    of_rows = (*[box] * 5, lse, lse, *sizes, *scales, 0, table, table, plan)
    found = []
    for kernel, arguments in ((wide_keys_kernel, of_keys), (wide_rows_kernel, of_rows)):
        kernel.device_caches.clear()  # a kernel found there has no log
        found.append(kernel.warmup(*arguments, grid=(1,), **OPTIONS))
    return tuple(found)


def compile_forward(plan: plans.Plan, x: torch.Tensor):
    """The compiled kernel of the forward pass for tensors like x."""
    from kernels.hopper.kernel import hopper_kernel

    width = plans.box(x.shape[-1]) // plan.chunks
    rows, keys = (launch.describe_rows(x, n, width) for n in (64, plan.block_n))
    lse, table = torch.empty(1), torch.empty(16, dtype=torch.int32) if plan.table else None
    slopes, sinks = lse if plan.score == "alibi" else None, lse if plan.sink else None
    scalars = (8, 1, 1, 1, LENGTH, LENGTH, 1, 0.125, 0)
    extra = table, table, slopes, sinks, 0.5 if plan.table else None
    tensors = rows, keys, keys, rows, lse, torch.empty(1, dtype=torch.int32)
    hopper_kernel.device_caches.clear()  # a kernel found there has no log
    return hopper_kernel.warmup(*tensors, *scalars, *extra, plan, grid=(1,), **OPTIONS)


def compile_fp8(plan: plans.Plan, d: int):
    """The compiled kernel of attention in fp8."""
    from kernels.hopper.fp8_kernel import fp8_kernel
    from kernels.hopper.gluon import describe

    make = partial(torch.empty, dtype=torch.float8_e4m3fn)
    x, v, scale = make(1, 1, LENGTH, d), make(1, 1, d, LENGTH), torch.empty(1)
    boxes = (
        *(launch.describe_rows(x, rows) for rows in (64, *fp8.CHUNKS)),
        *(describe(v, (1, 1, d, keys)) for keys in fp8.CHUNKS),
        launch.describe_rows(torch.empty(x.shape, dtype=torch.bfloat16), 64),
    )
    tensors = *boxes, scale, torch.empty(1, dtype=torch.int32), scale, scale, scale
    sizes = 8, 1, 1, 1, LENGTH, LENGTH, 1
    fp8_kernel.device_caches.clear()  # a kernel found there has no log
    return fp8_kernel.warmup(*tensors, *sizes, 0.125, plan, grid=(1,), **OPTIONS)


def compile_plan(request: dict) -> dict:
    """What the compiler makes of a plan, and what ptxas -v writes."""
    fields, is_fp8 = request["plan"], request["dtype"] == "e4m3"
    x, *_ = make_qkv(LENGTH, request["d"], dtype="fp32" if is_fp8 else request["dtype"])
    log = io.StringIO()
    with redirect_stdout(log):
        if is_fp8:
            compiled = (compile_fp8(plans.Plan(**fields), request["d"]),)
        elif "v_stages" in fields:
            compiled = compile_wide(backward_plans.WidePlan(**fields), x)
        elif "masked" in fields:
            compiled = (compile_backward(backward_plans.Plan(**fields), x),)
        else:
            compiled = (compile_forward(plans.Plan(**fields), x),)
    return {
        "triton": triton.__version__,
        "shared_bytes": max(one.metadata.shared for one in compiled),
        "wgmma": min(one.asm["ptx"].count("wgmma.mma_async") for one in compiled),
        "adds": sum(one.asm["ptx"].count("cp.reduce.async.bulk.tensor") for one in compiled),
        "log": log.getvalue(),
    }


# What a request of a problem leaves out.
DEFAULTS = {"batch": 1, "k_heads": 1, "dtype": "bf16", "late": True, "seed": 0, "programs": 2}


def answer(request: dict) -> dict:
    """What a request asks for, or why there is nothing."""
    play = play_forward if "causal" in request else play_backward
    OnMachine.request, OnMachine.is_planted = DEFAULTS | request, False
    try:
        if "plan" in request:
            return compile_plan(request)
        (play_fp8 if "two_level" in request else play)(OnMachine.request)
        if "plant" in request and not OnMachine.is_planted:
            raise LookupError(f"nothing to plant: {request['plant'][0]}")
    except (Fault, AssertionError) as error:
        return {"fault": f"{type(error).__name__}: {str(error)[:2000]}"}
    except Exception as error:
        return {"error": f"{type(error).__name__}: {error}"}
    return {"fault": ""}


if __name__ == "__main__":
    for line in sys.stdin:
        print(json.dumps(answer(json.loads(line))), flush=True)
