"""Which runs the kernel's machine takes: decided before anything is allocated."""

from collections.abc import Mapping

from explainer.algorithms import tiling
from explainer.algorithms.registry import ALGORITHMS, RUN_BACKWARD
from explainer.algorithms.schedule import MAX_N_LISTED, MAX_TILES
from explainer.algorithms.sizes import trace_bytes
from explainer.base.texts import Texts
from explainer.engine.requests import (
    ORDERS,
    YOURS,
    PlacementRequest,
    Request,
    RunRequest,
    SweepPoint,
)
from explainer.memory.workload import Workload
from explainer.parallel.launch import programs
from explainer.problem import Problem
from kernels.spec.fields import MAX_N
from kernels.spec.methods import COMPILED

BASE_S, METHOD_S, POINT_S, COMPILED_S = 1.0, 2.0, 5.0, 8.0
# Of methods that first import much: a learner's function torch, FlexAttention PyTorch's compiler
FIRST_S = {YOURS: 3.0, "flex": 3.0}
# Of a run under the interpreter, and of each of its tiles: measured on two CPU cores
INTERPRETED_S = {"forward": (0.2, 0.016), "backward": (0.5, 0.025)}
INTERPRETER_TILES = 2_080  # half a minute: one head over INTERPRETER_N tokens, causal, in 64 × 64
INTERPRETER_N = 4_096  # naive attention's N × N matrices on a CPU
BOTH_PASSES = 3  # times that, of the backward pass: it is run six times with what precedes it
MAX_GRADIENT_TILES, MAX_GRADIENT_BYTES = 1_024, 64 << 20  # a second of tracing
GPU_TILES = 2**26  # all heads together: about a second
SERIAL_TILES = 2**21  # of one head, one after the other: a few seconds
t = Texts("engine")


def tiles_to_run(problem: Problem, order: str) -> int:
    """Count the tiles that the kernel computes: standard attention skips none of them."""
    total = problem.Tr * problem.Tc
    if ALGORITHMS[order].stores_scores or total > MAX_TILES:
        return total
    return total - tiling.counts(problem)["skipped"]


def expected_s(request: Request, machine: Mapping | None) -> float:
    """Seconds that a run takes once it has begun: under the interpreter by its tiles, on a GPU
    roughly by its methods, since what it compiles takes longer than what it computes."""
    if isinstance(request, RunRequest) and machine and machine["interpreted"]:
        own = sum(FIRST_S.get(name, 0.0) for name in request.methods)
        run_s, tile_s = INTERPRETED_S[request.pass_]
        return run_s + own + tile_s * _tiles_of_all(request)
    methods = getattr(request, "methods", ())
    compiling = COMPILED_S * sum(name in COMPILED for name in methods)
    is_run = isinstance(request, RunRequest)  # with its judging, else a point
    return (BASE_S + METHOD_S * len(methods) if is_run else POINT_S) + compiling


def _tiles_of_all(request: RunRequest) -> int:
    """Tiles of all heads in all kernels; of both passes so many times as they take longer."""
    kernels, times = [name for name in request.methods if name in ORDERS], 1
    if request.pass_ == "backward":
        kernels, times = [name for name in kernels if name in RUN_BACKWARD], BOTH_PASSES
    heads = request.batch * request.heads
    return times * heads * sum(tiles_to_run(request.problem, name) for name in kernels)


def can_compare_tiles(problem: Problem) -> bool:
    """Whether m and l of every tile are compared: not when the tiles are too many to be listed."""
    tiles = problem.Tr * problem.Tc * (problem.q_heads if problem.score.by_head else 1)
    return problem.n <= MAX_N_LISTED and tiles <= MAX_TILES


def can_compare_gradients(problem: Problem) -> bool:
    """The same of the backward pass, whose trace and states hold N × d numbers a tile's row."""
    few = problem.Tr * problem.Tc <= MAX_GRADIENT_TILES
    return few and trace_bytes(problem, "backward") <= MAX_GRADIENT_BYTES


def refuse_method(request: RunRequest, name: str, machine: Mapping) -> str | None:
    """One sentence why this method does not run this request here, or None."""
    if name not in ORDERS or machine["interpreted"]:
        return None
    p = request.problem
    tiles = p.Tr * p.Tc
    heads = request.batch * request.heads
    listed = not p.mask.plain and tiles > tiling.MAX_COUNTED  # which of them are visited
    serial = ALGORITHMS[name].program == "head" and tiles > SERIAL_TILES
    if listed or tiles * heads > GPU_TILES or serial:
        return _too_many(p, tiles * heads)
    return None


def _too_many(of: Problem | Workload, tiles: int) -> str:
    return t("tiles", br=of.block_q, bc=of.block_k, tiles=tiles)


def _refuse_placed(request: PlacementRequest, machine: Mapping) -> str | None:
    if machine["interpreted"]:
        return t("no_gpu.placed")
    visits = programs(request.workload, request.order).visits
    w = request.workload
    if visits.sum() > GPU_TILES or visits.max() > SERIAL_TILES:
        return _too_many(w, int(visits.sum()))
    return None


def refuse(request: Request, machine: Mapping) -> str | None:
    """One sentence why nothing of this request is run on this machine, or None.

    ``machine`` is as the worker described it.
    """
    if not machine["available"]:
        return machine["reason"]
    if isinstance(request, PlacementRequest):
        return _refuse_placed(request, machine)
    if not machine["interpreted"]:
        return None
    if isinstance(request, SweepPoint):
        return t("no_gpu.sweep")
    p = request.problem
    if p.n > INTERPRETER_N:
        return t("interpreter.n", n=p.n, most=INTERPRETER_N, longest=MAX_N)
    kernels = [name for name in request.methods if name in ORDERS]
    heads = request.batch * request.heads
    tiles = _tiles_of_all(request)
    if tiles > INTERPRETER_TILES:
        found = {"br": p.block_q, "bc": p.block_k, "tiles": tiles, "n": p.n, "heads": heads}
        found |= {"most": INTERPRETER_TILES}
        if request.pass_ == "backward":
            return t("interpreter.backward", **found)
        return t("interpreter.tiles", kernels=len(kernels), **found)
    return None
