"""Calls that cost the host little: whatever a key fixes is found out once.

A `Launch` is one kernel on one grid, for tensors of one device, dtype, shape and strides: its first
call goes through Triton's `kernel[grid](…)`, which compiles; the next ones hand the compiled kernel
the addresses and nothing else. `Calls` keeps prepared calls, so that input is checked once a key.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from functools import lru_cache, partial

import numpy
import torch
import triton
from triton import knobs
from triton.runtime import driver

from .availability import INTERPRETED
from .interpreting import replace_once

MOST_CALLS = 1024  # kept at once; whoever has more shapes than that prepares some again
MOST_PACKED = 256  # argument lists kept of one launch, by stream and addresses
MOST_MAPS = 256  # tensor maps kept of one argument, 128 bytes each
_TYPED = tuple(map(int, triton.__version__.split(".")[:2])) >= (3, 7)  # one launcher for all types
_EMPTY = getattr(torch._C._dynamo.guards, "_empty_strided_cuda", None)
_hooks = knobs.runtime
_ENTER, _LEAVE = _hooks.launch_enter_hook, _hooks.launch_exit_hook
if INTERPRETED:
    replace_once()


class Calls:
    """Prepared calls by what they depend on: the tensors' shapes, strides, dtypes, devices and
    alignment, and the options. `prepare(q, k, v, *options)` checks everything, raises for input
    that cannot run, and returns a function of (q, k, v), and of `sink` if there is one: which the
    options say."""

    def __init__(self, prepare: Callable) -> None:
        self.prepare = prepare
        self.kept: dict[tuple, Callable] = {}

    def __call__(
        self, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, *options: object,
        sink: torch.Tensor | None = None,
    ):  # fmt: skip
        """Calls what was prepared for such input, on the device and the current stream of q."""
        try:
            device = q.device
            key = (
                q.shape, k.shape, v.shape, q.stride(), k.stride(), v.stride(),
                q.dtype, k.dtype, v.dtype, device, k.device, v.device,
                (q.data_ptr() | k.data_ptr() | v.data_ptr()) & 15, options,
            )  # fmt: skip
            call = self.kept.get(key)
        except (AttributeError, TypeError):
            self.prepare(q, k, v, *options)  # no tensors, or an option that is none: says which
            raise
        if call is None:
            call = self.prepare(q, k, v, *options)
            if len(self.kept) >= MOST_CALLS:
                self.kept.clear()
            self.kept[key] = call
        if sink is not None:
            return on_device(call, q, k, v, sink)
        return call(q, k, v) if _gpus() == 1 else on_device(call, q, k, v)


def on_device(call: Callable, q: torch.Tensor, *others: torch.Tensor):
    """call(q, *others) with q's device as the current one."""
    index = q.device.index
    if index is None or index == torch.cuda.current_device():
        return call(q, *others)
    with torch.cuda.device(index):
        return call(q, *others)


_gpus = lru_cache(torch.cuda.device_count)


def maker(*shape: int, dtype: torch.dtype, device: torch.device) -> Callable[[], torch.Tensor]:
    """A function that allocates such a tensor on the current device, which is `device`, for less
    than torch.empty takes to read this: as the code that PyTorch's Inductor writes does it."""
    if device.type == "cuda" and _EMPTY is not None:
        strides = torch.empty(shape, device="meta").stride()
        return partial(_EMPTY, shape, strides, dtype)
    return partial(torch.empty(0, dtype=dtype, device=device).new_empty, shape)


def quiet(call: Callable) -> Callable:
    """The call, silent where a GPU is: the interpreter warns."""
    return numpy.errstate(over="ignore", invalid="ignore")(call) if INTERPRETED else call


def nothing(
    q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, sink: torch.Tensor | None = None
) -> tuple[torch.Tensor, torch.Tensor]:
    """O and lse of input without a row or without a key: 0 and −∞ or the sink, where there is a
    row."""
    lse = torch.full(q.shape[:-1], float("-inf"), dtype=torch.float32, device=q.device)
    if sink is not None:
        lse[:] = sink[:, None]
    return torch.zeros(q.shape, dtype=q.dtype, device=q.device), lse


class Launch:
    """One kernel on `programs` programs, for tensors of one device, dtype, shape and strides.

    The kernel's signature: tensors, then `scalars` (stride tuples, ints that are not specialized,
    floats, None, tensors that every call shares or a tuple of them), then the constexprs, which
    `constants` has with the launch options. `boxes`: for the first tensors, which the kernel copies
    by TMA, one function each from the tensor to Triton's TensorDescriptor.
    """

    def __init__(
        self, kernel, programs: int, scalars: tuple, constants: dict, boxes: tuple = ()
    ) -> None:
        self.kernel, self.grid = kernel, (programs,)
        self.scalars, self.constants, self.boxes = scalars, constants, boxes
        self.ready: Callable[[tuple], None] | None = None

    def __call__(self, *tensors: torch.Tensor) -> None:
        """Launches on the current stream of the current device."""
        ready, enter, leave = self.ready, _hooks.launch_enter_hook, _hooks.launch_exit_hook
        unseen = enter is _ENTER and leave is _LEAVE and not (enter.calls or leave.calls)
        if ready is not None and unseen and not self.kernel.pre_run_hooks:
            ready(tensors)
            return
        # Triton's own way: it compiles, and calls the hooks of whoever wants to see launches.
        described = [box(x) for box, x in zip(self.boxes, tensors, strict=False)]
        plain = tensors[len(described) :]
        compiled = self.kernel[self.grid](*described, *plain, *self.scalars, **self.constants)
        # For an address that is no multiple of 16 it compiles another variant: left to it.
        if compiled is not None and not INTERPRETED and not any(x.data_ptr() & 15 for x in tensors):
            self.ready = self._direct(compiled, described, len(tensors))

    def _direct(self, compiled, described: list, tensors: int) -> Callable[[tuple], None]:
        """A function of the tensors that launches what was compiled, past Triton's binding of
        arguments: its launcher gets them in order, packed once for the same stream and addresses.
        Of a constexpr only the place counts."""
        stream_of, device = driver.active.get_current_stream, torch.cuda.current_device()
        constexprs = len(self.kernel.arg_names) - tensors - len(self.scalars)
        tail = (*_addresses(self.scalars), *(None,) * constexprs)
        run, mapped = _with_maps(compiled, described)
        launch, packed = _unwrapped(run, compiled, self.grid[0])
        if mapped is None:  # Triton encodes its maps itself, from objects that hold the tensors
            by_tma = len(described)

            def described_anew(tensors: tuple) -> None:
                maps = [box(x) for box, x in zip(self.boxes, tensors, strict=False)]
                pointers = [x.data_ptr() for x in tensors[by_tma:]]
                launch(*packed(stream_of(device), (*maps, *pointers, *tail)))

            return described_anew
        kept: dict[tuple, tuple] = {}

        def start(tensors: tuple) -> None:
            key = (stream_of(device), *[x.data_ptr() for x in tensors])
            found = kept.get(key)
            if found is None:
                if len(kept) >= MOST_PACKED:
                    kept.clear()
                stream, *pointers = key
                arguments = [part for i, one in enumerate(mapped) for part in one(pointers[i])]
                arguments += [*pointers[len(mapped) :], *tail]
                found = kept[key] = packed(stream, tuple(arguments))
            launch(*found)

        return start


def _addresses(scalars: tuple) -> tuple:
    """The same with a tensor's address for a tensor; who keeps `scalars` keeps the tensors."""
    return tuple(
        _addresses(x) if isinstance(x, tuple) else x.data_ptr() if hasattr(x, "data_ptr") else x
        for x in scalars
    )


def _unwrapped(run, compiled, programs: int) -> tuple[Callable, Callable[..., tuple]]:
    """A launcher, and the function of (stream, kernel's arguments) that packs what it takes.

    Triton's launcher is called as Triton does, with grid, stream, function, metadata, hooks; or, if
    it is built as in 3.6 to 3.9 and has no scratch memory to allocate, what it wraps is.
    """
    function, metadata = compiled.function, compiled.packed_metadata
    try:
        simple = not (run.global_scratch_size or run.profile_scratch_size)
        simple = simple and not getattr(run, "gsan_enabled", False)
        launch, how = run.launch, (run.launch_cooperative_grid, run.launch_pdl)
        typed = (run.arg_annotations, run.kernel_signature) if _TYPED else ()
    except AttributeError:
        simple = False

    def packed(stream: int, arguments: tuple) -> tuple:
        grid = programs, 1, 1, stream, function
        if not simple:
            return (*grid, metadata, None, None, None, *arguments)
        if typed:
            return (*grid, *how, metadata, *(None,) * 5, *typed, arguments)
        return (*grid, *how, None, None, metadata, None, None, None, *arguments)

    return (launch if simple else run), packed


def _with_maps(compiled, described: list) -> tuple[Callable, list[Callable] | None]:
    """Triton's launcher, and for every tensor read by TMA a function from its address to its
    arguments; None in their place if the launcher encodes the maps itself.

    Triton encodes every tensor map anew at each call. Where its launcher is built as in 3.6 to 3.9
    the maps are kept by address and given to what it wraps; where not, it does so itself.
    """
    run = compiled.run
    if not described:
        return run, []
    try:
        wraps = run.launch.__code__.co_freevars.index("launcher")
        bare = copy.copy(run)
        bare.launch = run.launch.__closure__[wraps].cell_contents
        encoders = [
            _encoder(one, meta)
            for one, meta in zip(described, compiled.metadata.tensordesc_meta, strict=True)
        ]
    except (AttributeError, ValueError, KeyError, TypeError):
        return run, None
    return bare, encoders


def _encoder(described, meta: dict) -> Callable[[int], tuple]:
    """From the address of a tensor shaped as `described` to (tensor map, shape, strides)."""
    from triton.backends.nvidia.driver import TMA_DTYPE_DEVICE_TO_HOST

    utils = driver.active.utils
    encode = getattr(utils, "fill_tma_descriptor_tiled", None) or utils.fill_tma_descriptor
    how = meta["swizzle"], meta["elem_size"], TMA_DTYPE_DEVICE_TO_HOST[meta["elem_type"]]
    shape, strides, zero_padding = list(described.shape), list(described.strides), 0

    @lru_cache(MOST_MAPS)
    def arguments(address: int) -> tuple:
        encoded = encode(address, *how, meta["block_size"], shape, strides, zero_padding)
        return encoded, *shape, *strides

    return arguments
