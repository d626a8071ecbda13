"""What a method has to do for a request: FLOPs, and bytes by both conventions. In the worker
only."""

from collections.abc import Callable

import torch

from explainer.algorithms.tiling import seeing
from explainer.algorithms.traffic import compulsory_bytes, requested_bytes
from explainer.engine.requests import ORDERS, RunRequest
from explainer.engine.results import Figures
from explainer.memory.mask_work import flops
from kernels.gradients import config_for
from kernels.measure.contenders import OF_OPERATORS, tiles
from kernels.measure.memory import moved_bytes
from kernels.spec.cases import BenchmarkCase
from kernels.spec.fields import PASSES
from kernels.spec.formats import ITEMSIZE


def work(
    request: RunRequest, shape: BenchmarkCase, q: torch.Tensor, name: str, function: Callable
) -> Figures:
    """FLOPs, tiles of our kernels and the bytes that they ask for, and the least bytes of each
    method, of one pass or of both: of PyTorch's operators each one's inputs and outputs, of a fused
    backend FA-2's."""
    p, heads = request.problem, request.batch * request.heads
    passes = PASSES[: 1 + PASSES.index(request.pass_)]
    found: Figures = {"flops": sum(flops(p.mask, heads, p.n, p.d, each) for each in passes)}
    tile = tiles(name, shape, q, p.block_q, p.block_k)
    if tile:
        order, back = name if name in ORDERS else "fa2", config_for(q, p.block_q, p.block_k)
        blocks = {"forward": tile, "backward": (back.block_m, back.block_n)}
        found |= {"block_m": tile[0], "block_n": tile[1], "bytes": 0}
        for each in passes:
            one = requested_bytes(p.n, p.d, p.mask, p.dtype, order, *blocks[each], each)
            found["bytes"] += heads * one - (each == "backward") * _shared(request, each)
        return found | {"least_bytes": _least(request, order, passes)}
    if name in OF_OPERATORS:
        return found | {"least_bytes": moved_bytes(function)}
    dense = p.n**2 * ITEMSIZE[p.dtype] * (name == "sdpa_dense")  # as it is added to the scores
    return found | {"least_bytes": _least(request, "fa2", passes) + dense}


def _least(request: RunRequest, order: str, passes: tuple[str, ...]) -> int:
    """The least bytes of all heads; those of a group share their keys."""
    p, heads = request.problem, request.batch * request.heads
    of_all = (
        heads * compulsory_bytes(p.n, p.d, p.dtype, order, p.mask, each) - _shared(request, each)
        for each in passes
    )
    return sum(of_all)


def _shared(request: RunRequest, pass_: str) -> int:
    """Bytes that the heads of a group need once, and not once each: K and V that some query sees;
    of the backward pass, whose programs have a whole group, all of K, V, dK and dV."""
    p = request.problem
    seen = seeing(p.mask, p.n)[1]
    keys = 2 * seen if pass_ == "forward" else 4 * p.n
    return request.batch * (p.q_heads - p.kv_heads) * keys * p.d * ITEMSIZE[p.dtype]
