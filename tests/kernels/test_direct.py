"""Messages between ranks that write into each other's memory: three threads, and plain memory."""

import random
import threading
import time

import pytest
import torch

from kernels import direct

RANKS, CALLS, BYTES = 3, 40, 2048


class Plain:
    """What `direct.Symmetric` is to one rank, in memory of this process; copies are late, as they
    are beside a stream."""

    def __init__(self, rank: int, memory: list[torch.Tensor], numbers: list[list[int]]) -> None:
        self.memory, self.numbers, self.random = memory, numbers, random.Random(rank)

    def view(self, rank, shape, dtype, at):
        size = torch.Size(shape).numel() * dtype.itemsize
        return self.memory[rank][at : at + size].view(dtype).view(shape)

    def mark(self):
        return None

    def join(self, event):
        event.join()

    def send(self, ready, pairs, rank, at, number):
        pairs, seconds = list(pairs), self.random.random() / 500

        def copy():
            time.sleep(seconds)
            for its, mine in pairs:
                its.copy_(mine)
            self.write(rank, at, number)

        thread = threading.Thread(target=copy)
        thread.start()
        return thread

    def write(self, rank, at, number):
        self.numbers[rank][at] = number

    def read(self, rank, at):
        return self.numbers[rank][at]


def _inboxes(slots: int) -> list[direct.Inboxes]:
    memory = [torch.zeros(slots * BYTES, dtype=torch.uint8) for _ in range(RANKS)]
    numbers = [[0] * (2 * slots) for _ in range(RANKS)]
    return [
        direct.Inboxes(Plain(rank, memory, numbers), rank, slots, BYTES) for rank in range(RANKS)
    ]


def _go_round(own: direct.Inboxes, found: list, now: bool) -> None:
    """Pass a pair round the ring in each call, and report what arrives when it is read."""
    slow = random.Random(7 + own.rank)
    for call in range(CALLS):
        rows = 1 + own.rank
        pair = [torch.full((1, 2, rows, 8), 100.0 * call + own.rank + x) for x in (0, 0.5)]
        for step in range(1, RANKS):
            owner = (own.rank - step) % RANKS
            send, receive = own.exchange(pair, 1 + owner, (own.rank + 1) % RANKS, 30.0)
            if now:
                send()
            time.sleep(slow.random() / 500)
            if not now:
                send()
            pair = receive()
            time.sleep(slow.random() / (50 if own.rank else 500))  # not overwritten meanwhile
            right = [torch.full((1, 2, 1 + owner, 8), 100.0 * call + owner + x) for x in (0, 0.5)]
            found.append(all(map(torch.equal, pair, right)))
        own.release()


@pytest.mark.parametrize("slots", [2, 3])
@pytest.mark.parametrize("now", [False, True])
def test_every_message_arrives_whole_and_stays_until_it_is_released(now, slots):
    found: list[list[bool]] = [[] for _ in range(RANKS)]
    threads = [
        threading.Thread(target=_go_round, args=(own, mine, now))
        for own, mine in zip(_inboxes(slots), found, strict=True)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert found == [[True] * CALLS * (RANKS - 1)] * RANKS


def test_a_rank_that_does_not_send_or_read_ends_the_wait():
    own, *_ = _inboxes(1)
    message = [torch.zeros(1, 1, 4, 8)]
    send, receive = own.exchange(message, 4, 1, 0.05)
    send()
    with pytest.raises(RuntimeError, match="timed out"):
        receive()
    send, _ = own.exchange(message, 4, 1, 0.05)
    with pytest.raises(RuntimeError, match="timed out"):
        send()


@pytest.mark.parametrize("fails", ["allocation", "mapping"])
def test_without_such_memory_every_rank_has_no_inbox(monkeypatch, fails):
    """And says so to the others, which then do not wait for it."""

    class Memory:
        def __init__(self, *_):
            if fails == "allocation":
                raise RuntimeError("no such memory")

        def map(self, group):
            raise RuntimeError("no peer access")

    def gather(numbers):
        gathered.append(numbers)
        return [numbers, numbers]

    gathered: list[list[int]] = []
    group = Memory.__new__(Memory)
    monkeypatch.setattr(direct, "Symmetric", Memory)
    monkeypatch.setattr(direct.dist, "get_world_size", lambda _: 2)
    for _ in range(2):
        assert direct.inboxes(group, torch.device("cpu"), 100, gather) is None
    assert len(gathered) == 2 and gathered[1] == [False]
