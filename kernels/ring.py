"""Attention over several devices: each holds its rows of Q still, K and V pass round a ring.

Ring Attention (arXiv 2310.01889). The transport is PyTorch's: `torch.distributed`, with NCCL on
GPUs, with gloo and the interpreter on CPUs; K and V of GPUs of one host go by `direct.py`. While a
device computes, its K and V travel on to the next one; what it computes for each other device's
keys is a softmax of its own, merged by lse.
"""

from __future__ import annotations

import time
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import timedelta

import torch
import torch.distributed as dist
from torch.distributed.device_mesh import DeviceMesh

from . import direct, dispatch, gradients
from .checks import check_call
from .launching import empty_result
from .merging import merge
from .spec import layouts

SECONDS = 60.0  # for a neighbor to answer in one step
HEADER = (
    "batch", "query heads", "key heads", "d", "dtype", "layout", "mask", "scale", "gradients"
)  # fmt: skip
Pair = tuple[torch.Tensor, torch.Tensor]


class PeerError(RuntimeError):
    """Another rank has ended, hangs or called something else; the group is of no more use."""


def ring_attention(
    q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, *,
    group: dist.ProcessGroup | DeviceMesh | None = None, causal: bool = False,
    mask: str | None = None, layout: str = "contiguous", scale: float | None = None,
    return_lse: bool = False, deterministic: bool | None = True,
    counts: Sequence[int] | None = None, timeout: float = SECONDS,
) -> torch.Tensor | tuple[torch.Tensor, torch.Tensor]:  # fmt: skip
    """Compute exact attention of a sequence whose rows lie on all ranks of a process group.

    Each rank passes its own rows, q (B, H, N/P, d), k and v (B, Hk, N/P, d), and gets its rows of O
    in q's dtype, with `return_lse` also lse (B, H, N/P), fp32, natural log. `group` is a process
    group or a DeviceMesh of one dimension, None the default group; its backend gloo for CPU tensors
    in the interpreter, NCCL for CUDA tensors. `layout` "contiguous": rank r has the r-th of P
    chunks of the sequence; "head-tail": of 2P chunks the r-th and the r-th from the end, in this
    order, so that a causal mask gives every rank the same work. Ranks may hold different numbers of
    rows, in head–tail as `torch.tensor_split` makes the chunks. `causal` and `mask` are of the
    whole sequence, as in `kernels.attention`; tiles and steps that they hide from all are skipped.

    All ranks must make the same call, and the same backward call where gradients are wanted. The
    bits are the same at each call; with `deterministic` None or False, gradients as in
    `kernels.attention`. Ranks first exchange their numbers of rows, for which a GPU is waited for,
    unless `counts`, the rows of each rank, is given. Raises PeerError, a RuntimeError, with one
    sentence if a neighbor has ended or does not answer within `timeout` seconds; TypeError,
    ValueError or RuntimeError for input that cannot run.
    """
    needs_graph = gradients.wanted(q, k, v, None)
    how = group, causal, mask, layout, scale, deterministic, counts, timeout, needs_graph
    ring = _check(q, k, v, *how)
    o, lse = _Recorded.apply(q, k, v, ring) if needs_graph else _forward(q, k, v, ring)
    return (o, lse) if return_lse else o


class _Group:
    """The ranks of a process group, as one of them reaches the others, with a deadline."""

    def __init__(self, group, device: torch.device, timeout: float) -> None:
        if not dist.is_available() or not dist.is_initialized():
            raise RuntimeError(
                "torch.distributed has no process group: call init_process_group first, in a "
                "process that torchrun started."
            )
        if isinstance(group, DeviceMesh):
            group = group.get_group()
        self.group: dist.ProcessGroup = group or dist.distributed_c10d._get_default_group()
        self.rank, self.size = dist.get_rank(self.group), dist.get_world_size(self.group)
        if self.rank < 0:
            raise ValueError("group is not allowed: this process is not one of its ranks.")
        self.device, self.timeout = device, timeout

    def exchange(self, tensors: Sequence[torch.Tensor], rows: int, hops: int, what: str):
        """Begin to send tensors (B, H, N, d) to the rank `hops` on, and to receive as many, of so
        many rows, from the one `hops` back; return a function that waits and returns them."""
        to, of = (self.rank + hops) % self.size, (self.rank - hops) % self.size
        sent = [x.contiguous() for x in tensors]
        got = [x.new_empty((*x.shape[:2], rows, x.shape[3])) for x in tensors]
        works = self._start(
            [(dist.isend, x, to) for x in sent] + [(dist.irecv, x, of) for x in got]
        )

        def wait() -> list[torch.Tensor]:
            self._wait(works, f"{what} of rank {of} and to send its own to rank {to}")
            sent.clear()  # until here they had to live
            return got

        return wait

    @contextmanager
    def neighbors(self, size: int) -> Iterator[Callable]:
        """Within the block, `pass_on(tensors, rows, now)` is `exchange` with the neighbors, for K
        and V of at most `size` bytes. Where GPUs can, it copies: `now`, or, since a copy is work
        for the host before it is any for a GPU, once it is waited for."""
        what = "K and V"
        inboxes = None
        if self.device.type == "cuda":
            inboxes = direct.inboxes(self.group, self.device, size, self.gather)
        if inboxes is None:
            yield lambda tensors, rows, now: self.exchange(tensors, rows, 1, what)
            return
        to, of = (self.rank + 1) % self.size, (self.rank - 1) % self.size
        both = f"{what} of rank {of} and to send its own to rank {to}"

        def pass_on(tensors: Sequence[torch.Tensor], rows: int, now: bool):
            sent = [x.contiguous() for x in tensors]
            send, receive = inboxes.exchange(sent, rows, to, self.timeout)
            if now:
                with self._report(both):
                    send()

            def wait() -> list[torch.Tensor]:
                with self._report(both):
                    if not now:
                        send()
                    return receive()

            return wait

        try:
            yield pass_on
        finally:
            inboxes.release()

    def gather(self, numbers: list[int]) -> list[list[int]]:
        """Return these numbers of every rank. Point to point: after a failure no thread waits on,
        as one would for a collective."""
        mine = torch.tensor(numbers, device=self.device)
        each = [mine if r == self.rank else torch.empty_like(mine) for r in range(self.size)]
        others = [r for r in range(self.size) if r != self.rank]
        works = self._start(
            [(dist.isend, mine, r) for r in others] + [(dist.irecv, each[r], r) for r in others]
        )
        self._wait(works, "the same call of all ranks")
        return [x.tolist() for x in each]

    def _start(self, transfers: list) -> list:
        ops = [
            dist.P2POp(op, x, dist.get_global_rank(self.group, peer), self.group)
            for op, x, peer in transfers
            if x.numel()
        ]
        with self._report("its neighbors"):
            return dist.batch_isend_irecv(ops) if ops else []

    def _wait(self, works: list, what: str) -> None:
        deadline = time.monotonic() + self.timeout
        with self._report(what):
            for work in works:
                if self.device.type == "cpu":  # at 0 gloo would wait for the group's own timeout
                    work.wait(timedelta(seconds=max(0.001, deadline - time.monotonic())))
                    continue
                while not work.is_completed():
                    if time.monotonic() > deadline:
                        raise RuntimeError("timed out")
                    time.sleep(direct.POLL)
                work.wait()  # of the stream, not of the host

    @contextmanager
    def _report(self, what: str) -> Iterator[None]:
        """Within the block, what fails is a peer for which this rank waited."""
        try:
            yield
        except RuntimeError as error:
            with suppress(Exception):  # so that nothing of it runs on
                self.group.abort()
            why = f"did not answer within {self.timeout:g} s: it hangs or made another call"
            if "clos" in str(error) or "reset" in str(error):
                why = "has closed its connection: it has ended, or met an error itself"
            raise PeerError(
                f"Rank {self.rank} of {self.size} waited for {what}, and a rank {why}."
            ) from error


@dataclass(frozen=True)
class _Ring:
    """A checked call: the keys of each rank, and the calls of this rank by step."""

    group: _Group
    k_counts: tuple[int, ...]
    parts: tuple[tuple[layouts.Part, ...], ...]
    scale: float
    deterministic: bool | None


def _check(
    q, k, v, group, causal, mask, layout, scale, deterministic, counts, timeout, needs_graph
) -> _Ring:
    """Check a call, and that all ranks make the same one."""
    parsed, _, scale = check_call(q, k, v, causal, mask, None, scale)
    layouts.check_layout(layout)
    if isinstance(timeout, bool) or not isinstance(timeout, int | float) or not 0 < timeout <= 1e9:
        raise ValueError(
            f"timeout = {str(timeout)[:40]} is not allowed: a number of seconds above 0, up to 1e9."
        )
    if counts is not None and not isinstance(counts, Sequence):
        raise TypeError(f"counts must be a sequence of numbers, not {type(counts).__name__}.")
    ranks = _Group(group, q.device, timeout)
    if counts is None:
        rules = layout, parsed.text, scale, needs_graph
        digests = [zlib.crc32(repr(x).encode()) for x in (q.dtype, *rules)]
        header = [*q.shape[:2], k.shape[1], q.shape[3], *digests]
        found = ranks.gather([q.shape[2], k.shape[2], *header])
        for r, (_, _, *other) in enumerate(found):
            for name, mine, its in zip(HEADER, header, other, strict=True):
                if mine != its:
                    raise ValueError(
                        f"The {name} of rank {r} is not that of rank {ranks.rank}: all ranks must "
                        "make the same call."
                    )
        q_counts, k_counts = (tuple(one[at] for one in found) for at in range(2))
    else:
        q_counts = k_counts = tuple(counts)
        if len(q_counts) != ranks.size or {q.shape[2], k.shape[2]} != {q_counts[ranks.rank]}:
            raise ValueError(
                f"counts = {q_counts} is not allowed: it must have the rows of q, and so of k, of "
                f"each of the {ranks.size} ranks, and those of rank {ranks.rank} are "
                f"{q.shape[2]:,} and {k.shape[2]:,}."
            )
    parts = layouts.plan(q_counts, k_counts, layout, parsed)[ranks.rank]
    return _Ring(ranks, k_counts, parts, scale, deterministic)


def _steps(ring: _Ring, k: torch.Tensor, v: torch.Tensor) -> Iterator[tuple[int, list, tuple]]:
    """Yield whose K and V are here, these, and the calls; they travel on until the next step."""
    owner, pair, group = ring.group.rank, [k, v], ring.group
    if len(ring.parts) == 1:
        yield owner, pair, ring.parts[0]
        return
    size = 2 * direct.padded((*k.shape[:2], max(ring.k_counts), k.shape[3]), k)
    with group.neighbors(size) as pass_on:
        for step, parts in enumerate(ring.parts):
            more = step + 1 < len(ring.parts)
            if more:
                following = layouts.source(group.rank, step + 1, group.size)
                wait = pass_on(pair, ring.k_counts[following], step > 0)
            yield owner, pair, parts
            if more:
                owner, pair = following, wait()


def _forward(q, k, v, ring: _Ring) -> Pair:
    """Return O and lse of this rank's rows."""
    every = [part.rows for parts in ring.parts for part in parts]
    # Of two parts each is rounded once, to q's dtype, and so is their merge; of more it is fp32.
    merges = max((sum(a.start <= b.start < a.stop for a in every) for b in every), default=0)
    found: Pair | None = None
    for _, (k_now, v_now), parts in _steps(ring, k, v):
        for part in parts:
            tensors = q[:, :, part.rows], k_now[:, :, part.keys], v_now[:, :, part.keys]
            part_o, part_lse = dispatch._run(*tensors, mask=part.mask, scale=ring.scale)
            if found is None:
                is_whole = part_o.shape[2] == q.shape[2]
                o, lse = (part_o, part_lse) if is_whole else empty_result(q, k, v)
                found = o if merges <= 2 else o.float(), lse
                if is_whole:
                    continue
            o, lse = (x[:, :, part.rows] for x in found)
            merge(o, lse, part_o, part_lse)
    o, lse = found or empty_result(q, k, v)
    return o.to(q.dtype), lse


def _backward(grad_o, grad_lse, q, k, v, o, lse, ring: _Ring):
    """Return dQ, dK and dV of this rank's rows. The merged O and lse go into each part; dK and dV
    travel in fp32 with the K and V that they belong to, one step behind, and then home."""
    group, grad_o = ring.group, torch.zeros_like(o) if grad_o is None else grad_o
    dq = torch.zeros(q.shape, dtype=torch.float32, device=q.device)
    how = {"scale": ring.scale, "deterministic": ring.deterministic}
    arriving = None
    for owner, (k_now, v_now), parts in _steps(ring, k, v):
        found = []
        for part in parts:
            rows, keys = part.rows, part.keys
            of_rows = grad_o[:, :, rows], None if grad_lse is None else grad_lse[:, :, rows]
            tensors = q[:, :, rows], k_now[:, :, keys], v_now[:, :, keys], o[:, :, rows]
            dq_part, *of_keys, _ = gradients.backward(
                *of_rows, *tensors, lse[:, :, rows], mask=part.mask, **how
            )
            dq[:, :, rows] += dq_part
            found.append((keys, of_keys))
        if arriving is None:
            sums = [torch.zeros(x.shape, dtype=torch.float32, device=q.device) for x in (k, v)]
        else:
            sums = arriving()
        for keys, of_keys in found:
            for total, one in zip(sums, of_keys, strict=True):
                total[:, :, keys] += one
        step = (group.rank - owner) % group.size
        if step + 1 < len(ring.parts):
            following = layouts.source(group.rank, step + 1, group.size)
            arriving = group.exchange(sums, ring.k_counts[following], 1, "dK and dV")
    whole = [x.to(q.dtype) for x in sums]  # nothing is added any more
    if hops := len(ring.parts) - 1:
        whole = group.exchange(whole, k.shape[2], -hops, "dK and dV")()
    return dq.to(q.dtype), *whole


class _Recorded(torch.autograd.Function):
    @staticmethod
    def forward(ctx, q, k, v, ring):
        o, lse = _forward(q, k, v, ring)
        ctx.ring = ring
        ctx.save_for_backward(q, k, v, o, lse)
        ctx.set_materialize_grads(False)
        return o, lse

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx, grad_o, grad_lse):
        q, k, v, o, lse = ctx.saved_tensors
        return *_backward(grad_o, grad_lse, q, k, v, o, lse, ctx.ring), None
