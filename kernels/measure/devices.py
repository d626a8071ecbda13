"""Attention over the GPUs of one host beside PyTorch's own context parallelism.

`torchrun --nproc-per-node 2 -m kernels.measure.devices FILE`; bf16, B = 1, H = 16, d = 128. Rows of
a record: the median time of one GPU, or of the slowest of all, by `kernels.ring_attention`, by the
same without its transfers, and by `context_parallel` with SDPA's flash, cuDNN and, after
`kernels.activate()`, these kernels; forward and backward, each from idle; the largest error of O,
in sampled rows, against float64. `merges`: errors of one sequence in P parts, by what the merge is
rounded to.
"""

from __future__ import annotations

import argparse
import itertools
import os
import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import partial
from pathlib import Path
from unittest import mock

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel

import kernels

from .. import ring
from ..merging import merge
from ..spec import layouts
from .recording import clocks, describe, require_gpu, write_rows
from .timing import FLUSH_BYTES, SLEEP_CYCLES, rotated, warm_up

LENGTHS = (8192, 16384, 32768, 65536, 131072)
HEADS, D, ROUNDS, SAMPLED = 16, 128, 5, 64
LONG, IDLE_S = 32768, 0.1  # shorter calls end before the power limit lowers a clock
PARTS = (1, 2, 4, 8, 16, 32)
BACKENDS = {
    "flash": SDPBackend.FLASH_ATTENTION, "cudnn": SDPBackend.CUDNN_ATTENTION,
    "ours": SDPBackend.FLASH_ATTENTION,
}  # fmt: skip
SDPA = ("flash", "cudnn")
Run = Callable[[], object]
Context = Callable[[], AbstractContextManager]


def drawn(n: int) -> list[torch.Tensor]:
    """Return q, k, v and dO (1, H, N, d), bf16, the same on every rank."""
    random = torch.Generator("cuda").manual_seed(n)
    options = {"device": "cuda", "dtype": torch.bfloat16, "generator": random}
    return [torch.randn(1, HEADS, n, D, **options) for _ in range(4)]


def own_rows(n: int, layout: str) -> torch.Tensor:
    """Return where this rank's rows lie."""
    counts = layouts.counts(n, dist.get_world_size(), layout)
    runs = layouts.runs(counts, layout)[dist.get_rank()]
    return torch.cat([torch.arange(*run, device="cuda") for run in runs])


def time_on_all(run: Run, flush: torch.Tensor) -> float:
    """Return the slowest rank's time of a call that begins on all together."""
    start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    torch.cuda.synchronize()
    flush.zero_()
    dist.all_reduce(torch.zeros(1, device="cuda"))
    torch.cuda._sleep(SLEEP_CYCLES)
    start.record()
    run()
    end.record()
    torch.cuda.synchronize()
    slowest = torch.tensor(start.elapsed_time(end), device="cuda")
    dist.all_reduce(slowest, dist.ReduceOp.MAX)
    return slowest.item()


def interleave(
    runs: dict[str, tuple[Run, Context]], flush: torch.Tensor, idle_s: float
) -> dict[str, dict]:
    """Return the median, least and most time of each call, in its context; round after round runs
    all, each round beginning with another. Before each call GPUs are idle for a while, so that none
    begins at the clock to which the power limit brought the one before it."""
    names, found = [*runs], {name: [] for name in runs}
    for turn in range(-1, ROUNDS):
        for name in rotated(turn, names):
            run, context = runs[name]
            with context():
                until = time.perf_counter() + idle_s
                while time.perf_counter() < until:  # a host that slept launches more slowly
                    pass
                ms = time_on_all(run, flush)
            if turn >= 0:
                found[name].append(ms)
    return {
        name: {"median_ms": statistics.median(each), "least_ms": min(each), "most_ms": max(each)}
        for name, each in found.items()
    }


@contextmanager
def without_transfers() -> Iterator[None]:
    """Leave this rank's own K and V, and gradients, in place of what would arrive."""

    def exchange(group, tensors, rows, hops, what):
        return lambda: [x.contiguous() for x in tensors]

    with (
        mock.patch.object(ring._Group, "exchange", exchange),
        mock.patch.object(ring.direct, "inboxes", lambda *_: None),
    ):
        yield


@contextmanager
def context_parallel(backend: str, rotate: str, causal: bool, n: int) -> Iterator[None]:
    """Let SDPA on this rank's rows be that of the whole sequence, by PyTorch's own engine."""
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.tensor.experimental import _attention, context_parallel

    mesh = init_device_mesh("cuda", (dist.get_world_size(),))
    _attention.set_rotate_method(rotate)
    _attention._cp_options.enable_load_balance = causal
    buffer = torch.zeros(1, n, device="cuda")
    if backend == "ours":
        kernels.activate()
    try:
        with (
            sdpa_kernel(BACKENDS[backend]),
            context_parallel(mesh, buffers=[buffer], buffer_seq_dims=[1]),
        ):
            yield
    finally:
        if backend == "ours":
            kernels.deactivate()


def names_of(run: Run) -> str:
    """Return the names of the GPU kernels that a call launches."""
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]) as profile:
        run()
        torch.cuda.synchronize()
    return " ".join(event.key for event in profile.key_averages())


def sampled_error(o: torch.Tensor, rows: torch.Tensor, q, k, v, causal: bool) -> float:
    """Return the largest error of O (1, H, rows, d) on any rank, in some rows of head 0."""
    some = torch.linspace(0, len(rows) - 1, SAMPLED, device="cuda").long()
    at = rows[some]
    s = q[0, 0, at].double() @ k[0, 0].double().T / D**0.5
    if causal:
        s.masked_fill_(torch.arange(k.shape[2], device="cuda") > at[:, None], float("-inf"))
    error = (torch.softmax(s, -1) @ v[0, 0].double() - o[0, 0, some].double()).abs().max()
    dist.all_reduce(error, dist.ReduceOp.MAX)
    return error.item()


def contenders(n: int, causal: bool) -> list[tuple[str, str, Callable, Context]]:
    """Return name, layout, attention of this rank's rows and the context that it needs, of all that
    are compared; "one GPU": of all rows."""

    def sdpa(q, k, v):  # looked up at each call: context_parallel replaces it
        return F.scaled_dot_product_attention(q, k, v, is_causal=causal)

    counts = layouts.counts(n, dist.get_world_size(), "contiguous")
    ours = partial(kernels.ring_attention, causal=causal, counts=counts)
    found: list[tuple[str, str, Callable, Context]] = [
        ("one GPU ours", "", partial(kernels.attention, causal=causal), nullcontext),
        *((f"one GPU {x}", "", sdpa, partial(sdpa_kernel, BACKENDS[x])) for x in SDPA),
    ]
    for layout in layouts.LAYOUTS if causal else layouts.LAYOUTS[:1]:
        run = partial(ours, layout=layout, deterministic=False)
        found.append((f"ring {layout}", layout, run, nullcontext))
        found.append((f"ring {layout} without transfers", layout, run, without_transfers))
    layout = layouts.LAYOUTS[causal]
    found.append(
        (f"ring {layout} deterministic", layout, partial(ours, layout=layout), nullcontext)
    )
    for backend, rotate in itertools.product(BACKENDS, ("allgather", "alltoall")):
        context = partial(context_parallel, backend, rotate, causal, n)
        found.append((f"context_parallel {backend} {rotate}", layout, sdpa, context))
    return found


def measure(n: int, causal: bool, flush: torch.Tensor) -> list[dict]:
    """Return the rows of one N and mask."""
    q, k, v, grad_o = drawn(n)
    rows, forward, backward = [], {}, {}
    for name, layout, attend, context in contenders(n, causal):
        own = own_rows(n, layout) if layout else torch.arange(n, device="cuda")
        tensors = [x[:, :, own].requires_grad_() for x in (q, k, v)]
        run = partial(torch.no_grad()(attend), *tensors)
        row = {"n": n, "mask": "causal" if causal else "full", "method": name}
        rows.append(row)
        try:
            with context():
                o = attend(*tensors)
                grads = partial(
                    torch.autograd.grad, o, tensors, grad_o[:, :, own], retain_graph=True
                )
                grads()
                if name.startswith("context_parallel"):
                    names = names_of(run)
                    row["ran_ours"] = "hopper_kernel" in names or "fa2_kernel" in names
            if not name.endswith("transfers"):
                row["error"] = sampled_error(o.detach(), own, q, k, v, causal)
        except (RuntimeError, ValueError, NotImplementedError) as why:
            row["refused"] = " ".join(str(why).split())[:300]
            continue
        forward[name], backward[name] = (run, context), (grads, context)
    for key, runs in (("forward", forward), ("backward", backward)):
        times = interleave(runs, flush, IDLE_S if n >= LONG else 0.0)
        for row in rows:
            if row["method"] in times:
                row[key] = times[row["method"]]
    if dist.get_rank() == 0:
        for row in rows:
            print(row, flush=True)
    return rows


def merges(n: int = 8192) -> list[dict]:
    """Return errors of O, of N rows of one head with the keys in P parts, merged on one GPU: parts
    in bf16 into fp32, as on P GPUs, and into bf16."""
    q, k, v, _ = (x[:, :1] for x in drawn(n))
    truth, _ = kernels.reference_attention(q, k, v)
    rows = []
    for parts, into in itertools.product(PARTS, ("fp32", "bf16")):
        pieces = zip(k.chunk(parts, 2), v.chunk(parts, 2), strict=True)
        found = [kernels.attention(q, *pair, return_lse=True) for pair in pieces]
        o, lse = found[0][0].to({"fp32": torch.float32, "bf16": torch.bfloat16}[into]), found[0][1]
        for part in found[1:]:
            merge(o, lse, *part)
        error = (o.to(q.dtype).double() - truth).abs()
        row = {"parts": parts, "into": into, "error": error.max().item()}
        rows.append(row | {"mean": error.mean().item()})
    return rows


def gradient_error(n: int = 4096) -> dict:
    """Return the largest error of dQ, dK and dV of one head over the ranks against float64."""
    q, k, v, grad_o = (x[:, :1] for x in drawn(n))
    own = own_rows(n, "head-tail")
    leaves = [x[:, :, own].requires_grad_() for x in (q, k, v)]
    o = kernels.ring_attention(*leaves, causal=True, layout="head-tail")
    assert isinstance(o, torch.Tensor)
    found = torch.autograd.grad(o, leaves, grad_o[:, :, own])
    truth = kernels.reference_gradients(q, k, v, grad_o, causal=True)
    one = [x.clone().requires_grad_() for x in (q, k, v)]
    of_one = kernels.attention(*one, causal=True, return_lse=True)[0]
    single = torch.autograd.grad(of_one, one, grad_o)
    errors = {}
    for at, name in enumerate(("dQ", "dK", "dV")):
        right = truth[at]
        assert right is not None
        error = (found[at].double() - right[:, :, own]).abs().max()
        dist.all_reduce(error, dist.ReduceOp.MAX)
        of_one = (single[at].double() - right).abs().max()
        errors[name] = {"ring": error.item(), "one GPU": of_one.item()}
    return {"n": n, "mask": "causal", "layout": "head-tail"} | errors


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=describe(__doc__))
    parser.add_argument("file", type=Path)
    parser.add_argument("--seconds", type=float, default=1e9, help="begin no case after this")
    args = parser.parse_args()
    require_gpu("devices")
    began = time.monotonic()
    torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    dist.init_process_group("nccl", device_id=torch.device("cuda", torch.cuda.current_device()))
    flush = torch.empty(FLUSH_BYTES // 4, dtype=torch.int32, device="cuda")
    warm_up(flush)
    fields = {"gradients": gradient_error(), "merges": merges(), "unfinished": [], "clocks": []}
    rows = []
    for n, causal in itertools.product(LENGTHS, (True, False)):
        late = torch.tensor(time.monotonic() - began, device="cuda")
        dist.all_reduce(late, dist.ReduceOp.MAX)
        if late.item() > args.seconds:
            fields["unfinished"].append({"n": n, "causal": causal})
            continue
        rows += measure(n, causal, flush)
        fields["clocks"].append(clocks())
        if dist.get_rank() == 0:
            command = (
                f"torchrun --nproc-per-node {dist.get_world_size()} -m kernels.measure.devices"
            )
            write_rows(args.file, f"{command} FILE", rows, gpus=dist.get_world_size(), **fields)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
