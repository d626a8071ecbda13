"""Send tensors straight into another GPU's memory, by copy engines.

NCCL's send is a kernel: it needs multiprocessors, and a persistent attention kernel has them all
until it ends. Copies into memory that PyTorch maps between processes need none.
"""

from __future__ import annotations

import os
import socket
import time
import zlib
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from weakref import WeakKeyDictionary

import torch
import torch.distributed as dist

SLOTS = 3  # of messages, with two ranks 2: one is read, one arrives, one was read by the next rank
ALIGNMENT = 256  # bytes
LEAST_BYTES = 1 << 20  # of a slot; it grows by powers of two, since all ranks must allocate again
POLL = 2e-5  # seconds between two looks at a GPU

Gather = Callable[[list[int]], list[list[int]]]
_inboxes: WeakKeyDictionary[dist.ProcessGroup, Inboxes | None] = WeakKeyDictionary()


def inboxes(
    group: dist.ProcessGroup, device: torch.device, size: int, gather: Gather
) -> Inboxes | None:
    """Return the inboxes of a group's ranks, with slots of at least `size` bytes; None where its
    ranks cannot map each other's memory. All ranks must call it alike; `gather` returns numbers of
    every rank."""
    found = _inboxes.get(group)
    if group in _inboxes and (found is None or found.slot_bytes >= size):
        return found
    _inboxes[group] = None
    if found is not None:
        torch.cuda.synchronize(device)  # nothing is under way in what is freed here
        del found
    slot_bytes = max(LEAST_BYTES, 1 << (size - 1).bit_length())
    slots, memory, is_mapped = min(dist.get_world_size(group), SLOTS), None, False
    with suppress(RuntimeError, ImportError, AttributeError):  # PyTorch has no such memory
        memory = Symmetric(device, slots * slot_bytes, 2 * slots)
    hosts = gather([_host() if memory is not None else -1])
    if memory is not None and hosts.count(hosts[0]) == len(hosts):
        with suppress(RuntimeError):  # no peer access
            memory.map(group)
            is_mapped = True
    if all(has for (has,) in gather([is_mapped])):
        _inboxes[group] = Inboxes(memory, dist.get_rank(group), slots, slot_bytes)
    return _inboxes[group]


class Inboxes:
    """Memory of each rank into which the others write: some slots, and two numbers for each.

    Messages are counted over all calls, and every rank sends and receives as many. Message t lies
    in slot t modulo their number. When it has arrived, its sender writes t + 1 beside the slot;
    when it has been read, its receiver does, and the slot is free for the next one.
    """

    def __init__(self, memory, rank: int, slots: int, slot_bytes: int) -> None:
        self.memory, self.rank, self.slots, self.slot_bytes = memory, rank, slots, slot_bytes
        self.sent = 0
        self.reading: int | None = None  # a message that has arrived and not been released

    def exchange(
        self, tensors: Sequence[torch.Tensor], rows: int, to: int, timeout: float
    ) -> tuple[Callable[[], None], Callable[[], list[torch.Tensor]]]:
        """Prepare to send contiguous tensors (B, H, N, d), as the current stream leaves them, to a
        rank, and to receive as many, of so many rows. Return two functions to call in this order:
        one begins to send; one waits and returns what has arrived, which is valid until `release`
        or until the next message has been waited for. Both raise RuntimeError after `timeout`."""
        number, self.sent = self.sent, self.sent + 1
        slot, ready, has_left = number % self.slots, self.memory.mark(), None
        first = tensors[0]

        def views(rank: int, shapes: Sequence[tuple[int, ...]]) -> list[torch.Tensor]:
            starts = [slot * self.slot_bytes]
            for shape in shapes:
                starts.append(starts[-1] + padded(shape, first))
            pairs = zip(shapes, starts, strict=False)
            return [self.memory.view(rank, shape, first.dtype, at) for shape, at in pairs]

        def send() -> None:
            nonlocal has_left
            self._await(to, self.slots + slot, number + 1 - self.slots, timeout)
            pairs = zip(views(to, [tuple(x.shape) for x in tensors]), tensors, strict=True)
            has_left = self.memory.send(ready, pairs, to, slot, number + 1)

        def wait() -> list[torch.Tensor]:
            self._await(self.rank, slot, number + 1, timeout)
            self.memory.join(has_left)
            self.release()
            self.reading = number
            return views(self.rank, [(*x.shape[:2], rows, x.shape[3]) for x in tensors])

        return send, wait

    def release(self) -> None:
        """Free the slot that was read once the current stream is here."""
        if self.reading is not None:
            self.memory.write(self.rank, self.slots + self.reading % self.slots, self.reading + 1)
            self.reading = None

    def _await(self, rank: int, at: int, number: int, timeout: float) -> None:
        deadline = time.monotonic() + timeout
        while number > 0 and self.memory.read(rank, at) < number:
            if time.monotonic() > deadline:
                raise RuntimeError("timed out")
            time.sleep(POLL)


class Symmetric:
    """Memory of every rank of one host, mapped into the others, and some numbers behind it."""

    def __init__(self, device: torch.device, size: int, numbers: int) -> None:
        from torch._C._distributed_c10d import _SymmetricMemory
        from torch.distributed import _symmetric_memory as symmetric

        self.device, self.size = device, size
        self.own = symmetric.empty(size + 4 * numbers, dtype=torch.uint8, device=device)
        self.own[size:].zero_()
        torch.cuda.synchronize(device)
        self.rendezvous = symmetric.rendezvous
        self._write = _SymmetricMemory.stream_write_value32
        self.sending, self.looking = torch.cuda.Stream(device), torch.cuda.Stream(device)
        self.seen = torch.zeros(1, dtype=torch.uint32, pin_memory=True)

    def map(self, group: dist.ProcessGroup) -> None:
        """Map the memory of all ranks; every one of them must call it."""
        self.handle = self.rendezvous(self.own, group)
        shape = ((self.own.numel() - self.size) // 4,)
        self.numbers = [
            self.view(rank, shape, torch.uint32, self.size)
            for rank in range(dist.get_world_size(group))
        ]

    def view(self, rank: int, shape: tuple[int, ...], dtype: torch.dtype, at: int) -> torch.Tensor:
        """Return a rank's memory from byte `at` on as a tensor."""
        return self.handle.get_buffer(rank, shape, dtype, at // dtype.itemsize)

    def mark(self):
        """Return an event where the current stream is."""
        return torch.cuda.current_stream(self.device).record_event()

    def join(self, event: torch.cuda.Event) -> None:
        """Let the current stream wait for an event."""
        torch.cuda.current_stream(self.device).wait_event(event)

    def send(self, ready: torch.cuda.Event, pairs, rank: int, at: int, number: int):
        """Copy into pairs' first tensors their second ones, then write a rank's number, beside the
        current stream and after `ready`; return the event of its end."""
        self.sending.wait_event(ready)
        with torch.cuda.stream(self.sending):
            for its, mine in pairs:
                if mine.numel():
                    its.copy_(mine, non_blocking=True)
            self.write(rank, at, number)
        return self.sending.record_event()

    def write(self, rank: int, at: int, number: int) -> None:
        """Write a rank's number once the current stream is here."""
        self._write(self.numbers[rank], at, number)

    def read(self, rank: int, at: int) -> int:
        """Return a rank's number as it is now."""
        with torch.cuda.stream(self.looking):
            self.seen.copy_(self.numbers[rank][at : at + 1], non_blocking=True)
        self.looking.synchronize()
        return int(self.seen.item())


def padded(shape: Sequence[int], like: torch.Tensor) -> int:
    """Return the bytes that a tensor of this shape, and another's dtype, takes of a slot."""
    size = torch.Size(shape).numel() * like.element_size()
    return -(-size // ALIGNMENT) * ALIGNMENT


def _host() -> int:
    """Return a number by which ranks of one running system are known."""
    boot = Path("/proc/sys/kernel/random/boot_id")
    name = boot.read_text() if boot.exists() else str(os.getppid())
    return zlib.crc32(f"{socket.gethostname()} {name}".encode())
