"""Input that cannot run, importing where nothing can run, and progress."""

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
import torch

import kernels
from kernels.spec import masks
from tests.kernels.attention_checks import DEVICE, make_qkv

ROOT = Path(__file__).resolve().parents[2]
X = torch.zeros(1, 2, 4, 8)


META = X.to("meta")
FLASH = (kernels.flash_attention,)
ALL = (kernels.flash_attention, kernels.attention, kernels.which)
DECODE, ROPE, REPORT = (kernels.decode_attention,), (kernels.rope,), (kernels.compile_report,)


def of_transformers(q, k, v, attention_mask=None, **more):
    return kernels.transformers_attention(None, q, k, v, attention_mask, **more)


GAP = torch.tensor([[True, False, True, True]]).expand(1, 1, 4, 4)
HUGGING, STATES, COUNT = (of_transformers,), (kernels.tile_states,), (kernels.count_traffic,)
SIZES = {"n": 8, "d": 4, "block_m": 4, "block_n": 4, "order": "fa2", "dtype": "fp32"}
WIDE = {"n": 16384, "block_m": 16, "block_n": 16}
# by each of which functions, with which arguments and options, and how the refusal begins
REFUSED = [
    (ALL, ([1], X, X), {}, TypeError, "q must be a torch.Tensor, not list"),
    (ALL, (X, 1, X), {}, TypeError, "k must be a torch.Tensor, not int"),
    (ALL, (X[0], X, X), {}, ValueError, "q must have 4 dimensions"),
    (FLASH, (X.double(), X, X), {}, TypeError, "q is torch.float64"),
    (FLASH, (X, X.half(), X), {}, TypeError, "q is torch.float32 but k is torch.float16"),
    (FLASH, (X, X, X[:, :, :3]), {}, ValueError, "k and v must have one shape"),
    (FLASH, (X, *[X.expand(3, 2, 4, 8)] * 2), {}, ValueError, "q has batch 1"),
    (FLASH, (X, *[X.repeat(1, 2, 1, 1)] * 2), {}, ValueError, "k has 4 heads, which do not divide"),
    (FLASH, (X, *[X[..., :4]] * 2), {}, ValueError, "q has head dimension 8"),
    (FLASH, (torch.zeros(1, 1, 2, 300),) * 3, {}, ValueError, "d = 300"),
    (FLASH, (X[..., :0],) * 3, {}, ValueError, "d = 0"),
    (FLASH, (X, X, X), {"order": "xyz"}, ValueError, "order = 'xyz'"),
    (FLASH, (X, X, X), {"block_m": 0}, ValueError, "block_m = 0"),
    (FLASH, (X, X, X), {"block_n": 2.5}, TypeError, "block_n must be a whole number"),
    (FLASH, (X, X, X), {"block_n": 1 << 21}, ValueError, "block_.* too large"),
    (FLASH, (X, X, X), {"scale": float("nan")}, ValueError, "scale = nan"),
    (FLASH, (X, X, X), {"scale": 1e-60}, ValueError, "scale = 1e-60"),
    (FLASH, (X, X, X), {"precision": "bf8"}, ValueError, "precision = 'bf8'"),
    (FLASH, (X, X, X), {"dropout": 1.0}, ValueError, "dropout = 1.0"),
    (FLASH, (X, X, X), {"dropout": float("nan")}, ValueError, "dropout = nan"),
    (FLASH, (X, X, X), {"dropout": 0.1, "seed": -1}, ValueError, "seed = -1"),
    (ALL, (X, X, X), {"mask": "windows"}, ValueError, "mask = 'windows' is not allowed: .*is none"),
    (ALL, (X, X, X), {"mask": [1]}, TypeError, "mask must be a text .*, not list"),
    (ALL, (X, X, X), {"mask": X}, TypeError, "mask must be a text .*, not Tensor"),
    (ALL, (X, X, X), {"causal": X}, TypeError, "causal must be True or False, not Tensor"),
    (ALL, (X, X, X), {"score": X}, TypeError, "score must be a text .*, not Tensor"),
    (ALL, (X, X, X), {"scale": "1"}, TypeError, "scale must be a number, not str"),
    (ALL, (X, X, X), {"mask": "full", "causal": True}, ValueError, "mask = 'full' contradicts"),
    (ALL, (X, X, X), {"score": "cap"}, ValueError, "score = 'cap' is not allowed: "),
    (ALL, (X, X, X), {"sink": float("inf")}, ValueError, "sink = inf is not allowed"),
    (ALL, (X, X, X), {"sink": "a"}, TypeError, "sink must be a number or a tensor, not str"),
    (ALL, (X, X, X), {"sink": torch.zeros(3)}, ValueError, "sink has shape .*q's 2 heads"),
    (ALL, (X, X, X), {"sink": torch.zeros(2, device="meta")}, RuntimeError, "q is on .*but sink"),
    (ALL, (META, META, META), {}, RuntimeError, "The kernels run on .*not on meta"),
    (ALL, (X, META, X), {}, RuntimeError, "q is on"),
    (STATES, (X, X, X), {"order": "standard"}, ValueError, "order = 'standard' has no tile states"),
    *((DECODE, (X, X, X), {"parts": x}, ValueError, f"parts = {x} is not") for x in (0, 257, 2.0)),
    (DECODE, (torch.zeros(1, 2, 17, 8), X, X), {}, ValueError, "Nq = 17"),
    (HUGGING, (X, X, X), {"dropout": 0.1}, ValueError, "dropout = 0.1"),
    (
        HUGGING,
        (X, X, X),
        {"sliding_window": 4, "is_causal": False},
        ValueError,
        "sliding_window = 4",
    ),
    (HUGGING, (X, X, X), {"softcap": -2}, ValueError, "score = 'softcap:-2'"),
    (HUGGING, (X, X, X, 1), {}, ValueError, "attention_mask of int is not allowed"),
    (HUGGING, (X, X, X, torch.ones(4, 4) > 0), {}, ValueError, "attention_mask of .* is not allow"),
    (HUGGING, (X, X, X, torch.ones(1, 1, 4, 5)), {}, ValueError, "attention_mask is for 5 keys"),
    (HUGGING, (X, X, X, torch.ones(1, 1, 4, 4)), {}, ValueError, ".* adds other numbers than 0"),
    (HUGGING, (X, X, X, GAP), {}, ValueError, "attention_mask is not allowed where a row sees"),
    (HUGGING, (X, X, X), {"position_bias": X}, ValueError, "position_bias is not allowed"),
    (ROPE, (X[..., :3],), {}, ValueError, "d = 3"),
    (ROPE, (X,), {"base": 0.0}, ValueError, "base = 0.0"),
    (ROPE, (X,), {"offset": 0.5}, ValueError, "offset = 0.5"),
    (REPORT, ("sm_70", 64, "fp16"), {}, ValueError, "arch = 'sm_70'"),
    (REPORT, ("sm_90", 0, "fp16"), {}, ValueError, "d = 0"),
    (REPORT, ("sm_90", 64, "fp8"), {}, ValueError, "dtype = 'fp8'"),
    (REPORT, ("sm_90", 64, "fp16", True, 512), {}, ValueError, "block_m = 512"),
]
if kernels.INTERPRETED:
    REFUSED += [
        (COUNT, (), SIZES | {"order": "fa3"}, ValueError, "order = 'fa3'"),
        (COUNT, (), SIZES | {"dtype": "fp8"}, ValueError, "dtype = 'fp8'"),
        (COUNT, (), SIZES | {"n": 0}, ValueError, "n = 0"),
        (COUNT, (), SIZES | WIDE, ValueError, "n = 16,384 makes"),
    ]


def here(x):
    """The argument on the device of the tests."""
    return x.to(DEVICE) if getattr(x, "is_cpu", False) else x


@pytest.mark.parametrize(
    ("calls", "arguments", "options", "error", "words"), REFUSED, ids=[case[-1] for case in REFUSED]
)
def test_what_cannot_run_is_refused_in_one_sentence(calls, arguments, options, error, words):
    options = {name: here(x) for name, x in options.items()}
    for call in calls:
        with pytest.raises(error, match=f"^{words}") as caught:
            call(*map(here, arguments), **options)
        message = str(caught.value)
        assert message.endswith(".") and "\n" not in message and len(message) < 250


@pytest.fixture
def unknown(monkeypatch):
    """A mask that masks.py has and no kernel."""
    causal = masks.PREDICATES["causal"]
    monkeypatch.setitem(masks.PREDICATES, "new", replace(causal, name="new"))
    yield "new"
    masks._parse.cache_clear()


@pytest.mark.parametrize("order", ["standard", "fa1", "fa2"])
def test_a_mask_that_the_kernels_do_not_have_is_no_silent_result(order, unknown):
    q, k, v = make_qkv(20, 8)
    with pytest.raises(Exception) as raised:
        kernels.flash_attention(q, k, v, mask=unknown, order=order)
    why = [raised.value]  # a compiler says which line it is, its causes say why
    while why[-1].__cause__:
        why.append(why[-1].__cause__)
    assert "masking does not have this mask" in str(why)


def in_fresh_process(code: str, **environment: str) -> str:
    plain = {k: v for k, v in os.environ.items() if k != "TRITON_INTERPRET"}
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        env={**plain, **environment},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_import_without_triton():
    """A finder that knows no triton stands in for a system that Triton is not made for."""
    out = in_fresh_process(
        "import importlib.util, sys\n"
        "sys.modules['triton'] = None\n"
        "find = importlib.util.find_spec\n"
        "importlib.util.find_spec = lambda n, *a: None if n == 'triton' else find(n, *a)\n"
        "import kernels, torch\n"
        "print(kernels.available(), kernels.INTERPRETED)\n"
        "x = torch.ones(1, 1, 2, 2)\n"
        "print(kernels.naive_attention(x, x, x).sum().item())\n"
        "try: kernels.flash_attention\n"
        "except RuntimeError as e: print(e)\n",
        TRITON_INTERPRET="1",
    )
    assert "(False, 'Triton is not installed" in out and "4.0" in out
    assert out.splitlines()[-1].startswith("Triton is not installed")


@pytest.mark.skipif(torch.cuda.is_available(), reason="this machine has a GPU")
def test_cpu_tensors_without_the_interpreter():
    out = in_fresh_process(
        "import kernels, torch\n"
        "print(kernels.available())\n"
        "x = torch.ones(1, 1, 2, 2)\n"
        "try: kernels.flash_attention(x, x, x)\n"
        "except RuntimeError as e: print(e)\n"
    )
    assert "There is no CUDA GPU here" in out
    assert "set TRITON_INTERPRET=1 before importing kernels" in out.splitlines()[-1]


@pytest.mark.skipif(not kernels.INTERPRETED, reason="progress is reported by the interpreter only")
def test_progress():
    seen = []
    q, k, v = make_qkv(20, 8, heads=2)
    with kernels.progress(lambda done, total: seen.append((done, total))):
        kernels.flash_attention(q, k, v, block_m=4, block_n=8)
    assert seen == [(done, 10) for done in range(11)]
    kernels.flash_attention(q, k, v, block_m=4, block_n=8)
    assert len(seen) == 11, "outside the block nothing is reported"


@pytest.mark.skipif(not kernels.INTERPRETED, reason="progress is reported by the interpreter only")
def test_progress_can_stop_a_launch():
    def stop(done, total):
        if done == 3:
            raise TimeoutError("enough")

    q, k, v = make_qkv(20, 8)
    with pytest.raises(Exception, match="enough"), kernels.progress(stop):
        kernels.flash_attention(q, k, v, block_m=4, block_n=8)
    kernels.flash_attention(q, k, v, block_m=4, block_n=8)
