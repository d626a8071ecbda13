"""Peak memory of one call, and the bytes its operators move: by PyTorch's allocator on a GPU,
tensor by tensor on a CPU, operator by operator for the bytes."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch.multiprocessing.reductions import StorageWeakRef
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves


def peak_bytes(function: Callable[[], object], device: str | torch.device) -> int:
    """Return the peak of bytes allocated by `function` beyond those before it, its result included.

    On a GPU PyTorch's caching allocator counts them (rounded up to its 512-byte blocks). On a CPU,
    where no allocator counts, every tensor that an operator returns is followed until it is freed:
    buffers inside one operator are not seen.
    """
    if torch.device(device).type == "cuda":
        torch.cuda.synchronize()
        before = torch.cuda.memory_allocated()
        torch.cuda.reset_peak_memory_stats()
        function()
        torch.cuda.synchronize()
        return torch.cuda.max_memory_allocated() - before
    with _Live() as live:
        function()
    return live.peak


def moved_bytes(function: Callable[[], object]) -> int:
    """Bytes that the operators of `function` read and write, each its operands once a call.

    For code made of PyTorch operators, such as naive attention, in which every operator is a kernel
    that goes through memory; a kernel called directly (Triton) is not seen. Views move nothing.
    """
    with _Moved() as moved:
        function()
    return moved.total


class _Watching(TorchDispatchMode):
    """Sees every operator. Nothing is compiled here, so PyTorch need not keep its compiler out of
    the watching: to do so it would import it, two seconds of a process's first run."""

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        return False


class _Moved(_Watching):
    """Sums operands and results of every operator that does more than look at a tensor."""

    def __init__(self) -> None:
        super().__init__()
        self.total = 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        result = func(*args, **(kwargs or {}))
        operands = [x for x in tree_leaves((args, kwargs)) if isinstance(x, torch.Tensor)]
        results = [x for x in tree_leaves(result) if isinstance(x, torch.Tensor)]
        storages = {x.untyped_storage()._cdata for x in operands}
        makes = func._schema.is_mutable or any(
            x.untyped_storage()._cdata not in storages for x in results
        )
        if makes and "empty" not in func._schema.name:
            self.total += sum(x.numel() * x.element_size() for x in (*operands, *results))
        return result


class _Live(_Watching):
    """Sums the storages that came out of operators and are still alive, after every operator."""

    def __init__(self) -> None:
        super().__init__()
        self.peak = 0
        self._alive: dict[int, tuple[StorageWeakRef, int]] = {}
        self._given: set[int] = set()  # storages that existed before: inputs and their views

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        for x in tree_leaves((args, kwargs)):
            if isinstance(x, torch.Tensor) and not self._knows(x):
                self._given.add(x.untyped_storage()._cdata)
        result = func(*args, **(kwargs or {}))
        for x in tree_leaves(result):
            if isinstance(x, torch.Tensor) and not self._knows(x):
                storage = x.untyped_storage()
                self._alive[storage._cdata] = StorageWeakRef(storage), storage.nbytes()
        self._alive = {k: (ref, n) for k, (ref, n) in self._alive.items() if not ref.expired()}
        self.peak = max(self.peak, sum(n for _, n in self._alive.values()))
        return result

    def _knows(self, x: torch.Tensor) -> bool:
        key = x.untyped_storage()._cdata
        known = self._alive.get(key)
        return key in self._given or (known is not None and not known[0].expired())
