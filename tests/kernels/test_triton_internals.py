"""Each private part of Triton that the kernels use is there: a release that lacks one fails here,
by the part's name, before a kernel falls back to a slower way or computes something else."""

from types import SimpleNamespace

import pytest
import torch
import triton
from triton import knobs
from triton._C.libtriton import gluon_ir, ir
from triton.backends.nvidia import driver as nvidia
from triton.compiler import CompiledKernel
from triton.experimental.gluon.language._semantic import GluonSemantic
from triton.runtime import JITFunction, driver, interpreter

from kernels import triton_internals
from kernels.hopper import gluon

RELEASE = tuple(map(int, triton.__version__.split(".")[:2]))


def names_of(function) -> set[str]:
    """The names of attributes and of local variables in a function's code."""
    code = function.__code__
    return {*code.co_names, *code.co_varnames, *code.co_freevars}


def kernel():
    pass


# what a part belongs to → its attributes, or the names in its code
ATTRIBUTES = [
    (knobs.runtime.launch_enter_hook, ["calls"]),
    (knobs.runtime.launch_exit_hook, ["calls"]),
    (JITFunction(kernel), ["arg_names", "fn", "pre_run_hooks", "warmup"]),
    (interpreter, ["_patch_lang", "_LangPatchScope"]),
    (nvidia, ["TMA_DTYPE_DEVICE_TO_HOST"]),
    (GluonSemantic, ["memdesc_reinterpret"]),
]
if RELEASE < (3, 8):  # from then on the addition by TMA has a public name
    ATTRIBUTES += [
        (GluonSemantic, ["_convert_to_ir_values"]),
        (gluon_ir.GluonOpBuilder, ["create_async_tma_reduce"]),
        (ir.DESCRIPTOR_REDUCE_KIND, ["ADD"]),
    ]
LAUNCHER = ["launch", "global_scratch_size", "profile_scratch_size", "launch_pdl"]
IN_CODE = [
    (CompiledKernel.__init__, ["function", "packed_metadata"]),
    (nvidia.CudaLauncher.__init__, [*LAUNCHER, "launch_cooperative_grid"]),
    (nvidia.CudaUtils.__init__, ["fill_tma_descriptor" + "_tiled" * (RELEASE >= (3, 7))]),
]
if RELEASE >= (3, 7):
    IN_CODE.append((nvidia.CudaLauncher.__init__, ["arg_annotations", "kernel_signature"]))


@pytest.mark.parametrize(
    ("owner", "name"), [(owner, name) for owner, names in ATTRIBUTES for name in names]
)
def test_an_attribute_is_there(owner, name):
    assert hasattr(owner, name), f"Triton {triton.__version__}: {owner} has no {name}"


@pytest.mark.parametrize(
    ("function", "name"), [(function, name) for function, names in IN_CODE for name in names]
)
def test_a_name_is_in_the_code(function, name):
    where = f"{function.__module__}.{function.__qualname__}"
    assert name in names_of(function), f"Triton {triton.__version__}: {where} has no {name}"


def launcher(launch) -> nvidia.CudaLauncher:
    """Triton's launcher as it would be on a card, of a kernel without scratch memory."""
    made = object.__new__(nvidia.CudaLauncher)
    made.__dict__ |= {"launch": launch, "num_ctas": 1, "gsan_enabled": False}
    made.__dict__ |= {"launch_cooperative_grid": False, "launch_pdl": True}
    for kind in ("global", "profile"):
        made.__dict__ |= {f"{kind}_scratch_size": 0, f"{kind}_scratch_align": 1}
    if RELEASE >= (3, 7):
        made.__dict__ |= {"arg_annotations": ("annotations",), "kernel_signature": b"signature"}
    return made


@pytest.fixture
def named_target(monkeypatch):
    """Triton's driver is the one that names a card, for as long as a test runs."""
    monkeypatch.setattr(driver, "_active", triton_internals.NamedTarget(90))


@pytest.fixture
def compiled():
    """A compiled kernel as the launcher's parts see it, and the list of what is launched."""
    launched = []

    def launch(*arguments):
        launched.append(arguments)

    made = SimpleNamespace(function=7, packed_metadata=("metadata",), run=launcher(launch))
    return made, launched


def test_the_direct_launch_passes_what_triton_passes(named_target, compiled):
    made, launched = compiled
    launch, pack = triton_internals.unwrap_launcher(made.run, made, 12)
    assert launch is made.run.launch, "Triton's launcher has lost an attribute"
    arguments = (0x1000, 3, 0.5, None)
    made.run(12, 1, 1, 99, made.function, made.packed_metadata, None, None, None, *arguments)
    launch(*pack(99, arguments))
    assert launched[0] == launched[1]


def test_a_launcher_with_scratch_memory_is_called_as_triton_calls_it(compiled):
    made, _ = compiled
    made.run.global_scratch_size = 64
    launch, pack = triton_internals.unwrap_launcher(made.run, made, 12)
    assert launch is made.run
    assert pack(9, (1, 2)) == (12, 1, 1, 9, 7, ("metadata",), None, None, None, 1, 2)


META = {"swizzle": 3, "elem_size": 2, "elem_type": 6, "block_size": [64, 64], "fp4_padded": False}


def test_the_launcher_inside_the_tensor_maps_is_found(compiled, monkeypatch):
    made, _launched = compiled
    bare, signature = made.run.launch, {0: "tensordesc<fp16[64, 64]>"}
    made.run.launch = nvidia.wrap_handle_tensordesc(bare, signature, [META])
    made.metadata = SimpleNamespace(tensordesc_meta=[META])
    encoded = []

    def encode(*arguments):
        encoded.append(arguments)
        return "map"

    utils = SimpleNamespace(fill_tma_descriptor_tiled=encode)
    monkeypatch.setattr(triton_internals, "active_driver", lambda: SimpleNamespace(utils=utils))
    descriptor = gluon.describe(torch.zeros(128, 64, dtype=torch.float16), (64, 64))
    run, encoders = triton_internals.unwrap_tensor_maps(made, (descriptor,))
    assert encoders is not None, "Triton's launcher has no cell named launcher"
    assert run.launch is bare and made.run.launch is not bare
    assert encoders[0](0x40) == encoders[0](0x40) == ("map", 128, 64, 64, 1)
    host_type = nvidia.TMA_DTYPE_DEVICE_TO_HOST[META["elem_type"]]
    assert encoded == [(0x40, 3, 2, host_type, [64, 64], [128, 64], [64, 1], 0)]


def test_a_launcher_that_is_built_otherwise_keeps_its_own_way(compiled):
    made, _ = compiled
    made.metadata = SimpleNamespace(tensordesc_meta=[META])
    assert triton_internals.unwrap_tensor_maps(made, (object(),)) == (made.run, None)
    del made.run.launch_pdl
    launch, pack = triton_internals.unwrap_launcher(made.run, made, 1)
    assert launch is made.run and pack(9, ())[:5] == (1, 1, 1, 9, 7)
