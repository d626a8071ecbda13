"""Every private part of Triton that the kernels read or replace; Gluon's are in hopper/gluon.py.

Tried with Triton 3.6.0, 3.7.1, 3.8.0 and 3.9.0, the releases that requirements.txt allows. Where a
part is missing, its user falls back to Triton's public way, which costs time and no result;
tests/kernels/test_triton_internals.py fails by the name of the missing part, and of the
interpreter's builder the tests that count bytes and programs.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import triton
import triton.language
from triton import knobs
from triton.backends.compiler import GPUTarget
from triton.runtime import driver

# A kernel is Python for Triton's compiler alone: a value is a tensor, a number or a constexpr,
# whatever its annotation says, so that type checkers see `tl` as untyped.
if TYPE_CHECKING:

    class tl(Any):
        constexpr: TypeAlias = Any

else:
    tl = triton.language

MAX_TENSOR_MAPS = 256  # cached for one argument, 128 bytes each
HOOKS: Any = knobs.runtime
ENTER_HOOK, EXIT_HOOK = HOOKS.launch_enter_hook, HOOKS.launch_exit_hook
# From 3.7 on one launcher serves kernels of all types and is passed the types.
PASSES_TYPES = tuple(map(int, triton.__version__.split(".")[:2])) >= (3, 7)


def active_driver() -> Any:
    """Return Triton's driver of the current process, whose class differs by backend."""
    return driver.active


def unwrap_launcher(run, compiled, programs: int) -> tuple[Callable, Callable[..., tuple]]:
    """Return a launcher and the function of (stream, kernel's arguments) that packs what it takes.

    The launcher is the C function that Triton's launcher wraps, if that is built as in 3.6 to 3.9
    and has no scratch memory to allocate; else Triton's launcher itself, called as Triton does,
    with grid, stream, function, metadata and hooks.
    """
    function, metadata = compiled.function, compiled.packed_metadata
    launch, options, types = run, (), ()
    try:
        is_simple = not (run.global_scratch_size or run.profile_scratch_size)
        is_simple = is_simple and not getattr(run, "gsan_enabled", False)
        options = run.launch_cooperative_grid, run.launch_pdl
        types = (run.arg_annotations, run.kernel_signature) if PASSES_TYPES else ()
        launch = run.launch if is_simple else run
    except AttributeError:
        is_simple = False

    def pack(stream: int, arguments: tuple) -> tuple:
        grid = programs, 1, 1, stream, function
        if not is_simple:
            return (*grid, metadata, None, None, None, *arguments)
        if types:
            return (*grid, *options, metadata, *(None,) * 5, *types, arguments)
        return (*grid, *options, None, None, metadata, None, None, None, *arguments)

    return launch, pack


def unwrap_tensor_maps(compiled, descriptors: tuple) -> tuple[Any, list[Callable] | None]:
    """Return Triton's launcher, and for each tensor read by TMA a function from its address to its
    arguments; None in their place if the launcher encodes the maps itself.

    Triton encodes each tensor map anew at each call. Where its launcher is built as in 3.6 to 3.9
    the maps are cached by address and passed to the launcher that it wraps.
    """
    run = compiled.run
    if not descriptors:
        return run, []
    try:
        cell = run.launch.__code__.co_freevars.index("launcher")
        bare = copy.copy(run)
        bare.launch = run.launch.__closure__[cell].cell_contents
        encoders = [
            _tensor_map_encoder(one, meta)
            for one, meta in zip(descriptors, compiled.metadata.tensordesc_meta, strict=True)
        ]
    except (AttributeError, ValueError, KeyError, TypeError):
        return run, None
    return bare, encoders


def _tensor_map_encoder(descriptor, meta: dict) -> Callable[[int], tuple]:
    """Return a function from the address of a tensor shaped as `descriptor` to (tensor map, shape,
    strides)."""
    from triton.backends.nvidia.driver import TMA_DTYPE_DEVICE_TO_HOST

    utils = active_driver().utils
    encode = getattr(utils, "fill_tma_descriptor_tiled", None) or utils.fill_tma_descriptor
    layout = meta["swizzle"], meta["elem_size"], TMA_DTYPE_DEVICE_TO_HOST[meta["elem_type"]]
    shape, strides, zero_padding = list(descriptor.shape), list(descriptor.strides), 0

    @lru_cache(MAX_TENSOR_MAPS)
    def arguments(address: int) -> tuple:
        encoded = encode(address, *layout, meta["block_size"], shape, strides, zero_padding)
        return encoded, *shape, *strides

    return arguments


class NamedTarget:
    """A driver that only names a target, so that kernels compile for a card that is not here."""

    def __init__(self, capability: int) -> None:
        self.target = GPUTarget("cuda", capability, 32)

    def get_current_target(self) -> GPUTarget:
        """Return the target that Triton compiles for."""
        return self.target

    def get_current_device(self) -> int:
        """Return the key of Triton's cache of compiled kernels."""
        return 0

    def get_current_stream(self, device: int) -> int:
        """Return a stream that nothing is launched on."""
        return 0


def compile_for(capability: int) -> None:
    """Have Triton compile for this compute capability, such as 90, from now on."""
    set_active: Any = driver.set_active
    set_active(NamedTarget(capability))


def cuobjdump() -> Path:
    """Return the path of NVIDIA's disassembler, which Triton's wheel contains."""
    return Path(triton.__file__).parent / "backends" / "nvidia" / "bin" / "cuobjdump"


@contextmanager
def wrap_interpreter(**wrappers: Callable[[Callable], Callable]) -> Iterator[None]:
    """Within the block, replace methods of the interpreter's builder by what wraps them.

    Not thread-safe, like the interpreter itself.
    """
    from triton.runtime.interpreter import interpreter_builder as builder

    for name, wrap in wrappers.items():
        setattr(builder, name, wrap(getattr(builder, name)))
    try:
        yield
    finally:
        for name in wrappers:
            delattr(builder, name)


def patch_interpreter_once() -> None:
    """Have the interpreter replace the functions of `triton.language` once per launch.

    It replaces them by its own for a launch, and searches all of them again whenever the kernel
    calls another function, which is nearly half of a launch's time. Not thread-safe, like the
    interpreter itself.
    """
    from triton.runtime import interpreter

    replace = getattr(interpreter, "_patch_lang", None)
    scope = getattr(interpreter, "_LangPatchScope", None)
    if replace is None or scope is None:
        return

    def replace_if_needed(fn):
        modules = {id(value) for value in fn.__globals__.values()}
        core = triton.language.core
        languages = [lang for lang in (triton.language, core) if id(lang) in modules]
        functions = [triton.language.tensor.__add__, *(lang.load for lang in languages)]
        return replace(fn) if any(map(core.is_builtin, functions)) else scope()

    interpreter.__dict__["_patch_lang"] = replace_if_needed
