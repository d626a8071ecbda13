"""Child process of test_compiled.py: the Hopper kernel compiled for sm_90, without a card.

Each line of stdin is a request in JSON (d, dtype, plan: fields of a Plan), each line of stdout its
answer: triton, shared_bytes, wgmma (in the PTX) and log, what ptxas -v wrote; or error. With
another Triton first on PYTHONPATH it is that one that compiles.
"""

from __future__ import annotations

import io
import json
import sys
from contextlib import redirect_stdout

import torch
import triton

from kernels.checks import DTYPES
from kernels.hopper import plans, versions
from kernels.measure.compile_child import LENGTH
from kernels.triton_internals import compile_for

compile_for(90)
triton.knobs.nvidia.dump_ptxas_log = True
triton.knobs.compilation.always_compile = True  # a kernel found in the cache has no log


def compile_plan(plan: plans.Plan, d: int, dtype: str):
    """(compiled kernel, ptxas's log) of the launch that `kernels.hopper` makes."""
    from triton.experimental.gluon import language as gl  # may ask for the driver named above
    from triton.experimental.gluon.nvidia.hopper import TensorDescriptor

    from kernels.hopper.kernel import hopper_kernel

    x = torch.empty(1, 1, LENGTH, d, dtype=DTYPES[dtype])
    element = {"fp16": gl.float16, "bf16": gl.bfloat16}[dtype]

    def descriptor(rows: int) -> TensorDescriptor:
        box = [1, 1, rows, d]
        layout = gl.NVMMASharedLayout.get_default_for(box, element)
        return TensorDescriptor(x, list(x.shape), list(x.stride()), box, layout)

    rows, keys = descriptor(64), descriptor(plan.block_n)
    lse, counter = torch.empty(1), torch.empty(1, dtype=torch.int32)
    sizes = (8, 1, 1, 1, LENGTH, LENGTH, 1)
    table = torch.empty(16, dtype=torch.int32) if plan.table else None
    extra = (
        table,
        table,
        lse if plan.score == "alibi" else None,
        lse if plan.sink else None,
        0.5 if plan.table else None,
    )
    log = io.StringIO()
    with redirect_stdout(log):
        compiled = hopper_kernel.warmup(
            rows,
            keys,
            keys,
            rows,
            lse,
            counter,
            *sizes,
            0.125,
            0,
            *extra,
            plan,
            grid=(1,),
            **versions.OPTIONS,
        )
    return compiled, log.getvalue()


def answer(request: dict) -> dict:
    """What is compiled for a request, or why nothing is."""
    try:
        plan = plans.Plan(**request["plan"])
        compiled, log = compile_plan(plan, request["d"], request["dtype"])
    except Exception as error:
        return {"error": f"{type(error).__name__}: {error}"}
    return {
        "triton": triton.__version__,
        "shared_bytes": compiled.metadata.shared,
        "wgmma": compiled.asm["ptx"].count("wgmma.mma_async"),
        "log": log,
    }


if __name__ == "__main__":
    for line in sys.stdin:
        print(json.dumps(answer(json.loads(line))), flush=True)
