"""Launch kernels for little host time: whatever a key fixes is found out once.

A `Launch` is one kernel on one grid, for tensors of one device, dtype, shape and strides: its first
call goes through Triton's `kernel[grid](…)`, which compiles; later calls pass the addresses to the
compiled kernel and nothing else. `Calls` caches prepared calls, so that input is checked once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache, partial
from typing import Any

import numpy
import torch
from torch._C._dynamo import guards

from . import triton_internals
from .availability import INTERPRETED
from .triton_internals import ENTER_HOOK, EXIT_HOOK, HOOKS

MAX_CALLS = 1024  # prepared calls in a cache; with more shapes than that some are prepared again
MAX_PACKED = 256  # argument lists cached for one launch, by stream and addresses
_EMPTY = getattr(guards, "_empty_strided_cuda", None)
_observe: Callable[[object, tuple], None] | None = None
if INTERPRETED:
    triton_internals.patch_interpreter_once()


class Calls:
    """Cache prepared calls by what they depend on: the tensors' shapes, strides, dtypes, devices
    and alignment, and the options.

    `prepare(q, k, v, *options)` checks everything, raises for input that cannot run, and returns a
    function of (q, k, v) and of `more`: what the options say there is beside, spans and a sink.
    """

    def __init__(self, prepare: Callable) -> None:
        self.prepare = prepare
        self.cache: dict[tuple, Callable] = {}

    def __call__(
        self, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, *options: object,
        more: tuple[torch.Tensor, ...] = (),
    ):  # fmt: skip
        """Call what was prepared for such input, on q's device and its current stream."""
        try:
            device = q.device
            key = (
                q.shape, k.shape, v.shape, q.stride(), k.stride(), v.stride(),
                q.dtype, k.dtype, v.dtype, device, k.device, v.device,
                (q.data_ptr() | k.data_ptr() | v.data_ptr()) & 15, options,
                q.is_neg() or k.is_neg() or v.is_neg(),
            )  # fmt: skip
            call = self.cache.get(key)
        except (AttributeError, TypeError, RuntimeError):  # the last of sparse and nested tensors
            self.prepare(q, k, v, *options)  # raises with a sentence on the wrong argument
            raise
        if call is None:
            call = self.prepare(q, k, v, *options)
            if len(self.cache) >= MAX_CALLS:
                self.cache.clear()
            self.cache[key] = call
        if more:
            return on_device(call, q, k, v, *more)
        return call(q, k, v) if _device_count() == 1 else on_device(call, q, k, v)


def on_device(call: Callable, q: torch.Tensor, *others: torch.Tensor | None):
    """Return call(q, *others), with q's device as the current one."""
    index = q.device.index
    if index is None or index == torch.cuda.current_device():
        return call(q, *others)
    with torch.cuda.device(index):
        return call(q, *others)


_device_count = lru_cache(torch.cuda.device_count)


def refuse_capture(what: str) -> None:
    """Raise RuntimeError with one sentence while a CUDA graph is captured, of which a copy to the
    device must not be a part."""
    if torch.cuda.is_available() and torch.cuda.is_current_stream_capturing():
        raise RuntimeError(
            f"{what}: call it once before capturing a CUDA graph, so that its tables are on the "
            "device."
        )


def once(spans: Any, call: Callable, make: Callable[[], Any]) -> Any:
    """Return what `make` returned for these spans and this prepared call, with tables made of them.

    Raises RuntimeError with one sentence if it is to be made while a CUDA graph is captured.
    """
    made = vars(spans).setdefault("calls", {})
    if call not in made:
        refuse_capture("spans of keys")
        made[call] = make()
    return made[call]


def allocator(*shape: int, dtype: torch.dtype, device: torch.device) -> Callable[[], torch.Tensor]:
    """Return a function that allocates such a tensor on the current device, which is `device`.

    It takes less time than torch.empty needs to parse its arguments: PyTorch's Inductor generates
    the same call.
    """
    if device.type == "cuda" and _EMPTY is not None:
        strides = torch.empty(shape, device="meta").stride()
        return partial(_EMPTY, shape, strides, dtype)
    return partial(torch.empty(0, dtype=dtype, device=device).new_empty, shape)


def without_warnings(call: Callable) -> Callable:
    """Return the call without NumPy's warnings of overflow, which only the interpreter gives."""
    return numpy.errstate(over="ignore", invalid="ignore")(call) if INTERPRETED else call


def empty_result(
    q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, *more: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return O and lse of input without a row or without a key: 0, and −∞ or the sink, the last of
    `more` if it is a vector."""
    lse = torch.full(q.shape[:-1], float("-inf"), dtype=torch.float32, device=q.device)
    if more and more[-1].dim() == 1:
        lse[:] = more[-1][:, None]
    return torch.zeros((*q.shape[:-1], v.shape[-1]), dtype=q.dtype, device=q.device), lse


@contextmanager
def observe_launches(callback: Callable[[object, tuple], None]) -> Iterator[None]:
    """Within the block, call `callback(kernel, arguments)` before each interpreted launch."""
    global _observe
    _observe = callback
    try:
        yield
    finally:
        _observe = None


class Launch:
    """One kernel on `programs` programs, for tensors of one device, dtype, shape and strides.

    The kernel's signature: tensors, then `scalars` (stride tuples, ints that are not specialized,
    floats, None, tensors that all calls share or a tuple of them), then the constexprs, which are
    in `constants` with the launch options. `boxes`: for the first tensors, which the kernel copies
    by TMA, one function each from the tensor to Triton's TensorDescriptor.
    """

    def __init__(
        self, kernel, programs: int, scalars: tuple, constants: dict, boxes: tuple = ()
    ) -> None:
        self.kernel, self.programs = kernel, programs
        self.scalars, self.constants, self.boxes = scalars, constants, boxes
        self.direct: Callable[[tuple], None] | None = None

    def __call__(self, *tensors: torch.Tensor) -> None:
        """Launch on the current stream of the current device."""
        direct, enter, leave = self.direct, HOOKS.launch_enter_hook, HOOKS.launch_exit_hook
        is_plain = enter is ENTER_HOOK and leave is EXIT_HOOK and not (enter.calls or leave.calls)
        if direct is not None and is_plain and not self.kernel.pre_run_hooks:
            direct(tensors)
            return
        # Triton's own way: it compiles, and calls the hooks that observe launches.
        arguments = self.arguments(tensors)
        if _observe is not None:
            _observe(self.kernel, arguments)
        compiled = self.kernel[(self.programs,)](*arguments, **self.constants)
        # For an address that is no multiple of 16 Triton compiles another variant: left to it.
        if compiled is not None and not INTERPRETED and not any(x.data_ptr() & 15 for x in tensors):
            self.direct = self._direct(compiled, arguments[: len(self.boxes)], len(tensors))

    def arguments(self, tensors: tuple) -> tuple:
        """Return the kernel's arguments but for the constexprs."""
        boxes = self.boxes
        descriptors = [box(x) for box, x in zip(boxes, tensors, strict=False)]
        return (*descriptors, *tensors[len(boxes) :], *self.scalars)

    def compile(self, *tensors: torch.Tensor):
        """Return Triton's compiled kernel for its active target, without a launch."""
        return self.kernel.warmup(*self.arguments(tensors), grid=(self.programs,), **self.constants)

    def _direct(self, compiled, descriptors: tuple, tensors: int) -> Callable[[tuple], None]:
        """Return a function of the tensors that launches what was compiled, without Triton's
        binding of arguments.

        Its launcher gets them in order, packed once for the same stream and addresses. Of a
        constexpr only the position counts.
        """
        stream_of = triton_internals.active_driver().get_current_stream
        device = torch.cuda.current_device()
        constexprs = len(self.kernel.arg_names) - tensors - len(self.scalars)
        tail = (*_addresses(self.scalars), *(None,) * constexprs)
        run, encoders = triton_internals.unwrap_tensor_maps(compiled, descriptors)
        launch, pack = triton_internals.unwrap_launcher(run, compiled, self.programs)
        if encoders is None:  # Triton encodes its maps itself, from objects that hold the tensors
            boxes = self.boxes

            def launch_described(tensors: tuple) -> None:
                maps = [box(x) for box, x in zip(boxes, tensors, strict=False)]
                pointers = [x.data_ptr() for x in tensors[len(boxes) :]]
                launch(*pack(stream_of(device), (*maps, *pointers, *tail)))

            return launch_described
        cache: dict[tuple, tuple] = {}

        def launch_packed(tensors: tuple) -> None:
            key = (stream_of(device), *[x.data_ptr() for x in tensors])
            packed = cache.get(key)
            if packed is None:
                if len(cache) >= MAX_PACKED:
                    cache.clear()
                stream, *pointers = key
                arguments = [part for i, one in enumerate(encoders) for part in one(pointers[i])]
                arguments += [*pointers[len(encoders) :], *tail]
                packed = cache[key] = pack(stream, tuple(arguments))
            launch(*packed)

        return launch_packed


def _addresses(scalars: tuple) -> tuple:
    """Return addresses in place of tensors; the `Launch` keeps the tensors alive."""
    return tuple(
        _addresses(x) if isinstance(x, tuple) else x.data_ptr() if hasattr(x, "data_ptr") else x
        for x in scalars
    )
