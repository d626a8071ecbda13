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


def bad_calls():
    yield "not a tensor", ([1], X, X), {}, TypeError, "q must be a torch.Tensor, not list"
    yield "3 dimensions", (X[0], X, X), {}, ValueError, "q must have 4 dimensions"
    yield "float64", (X.double(), X, X), {}, TypeError, "torch.float64"
    yield "two dtypes", (X, X.half(), X), {}, TypeError, "k is torch.float16"
    yield "k unlike v", (X, X, X[:, :, :3]), {}, ValueError, "k and v must have one shape"
    yield "batch", (X, *[X.expand(3, 2, 4, 8)] * 2), {}, ValueError, "q has batch 1"
    yield "heads", (X, *[X.repeat(1, 2, 1, 1)] * 2), {}, ValueError, "do not divide"
    yield "two d", (X, *[X[..., :4]] * 2), {}, ValueError, "head dimension 8"
    yield "large d", (torch.zeros(1, 1, 2, 300),) * 3, {}, ValueError, "d = 300"
    yield "no dimension", (X[..., :0],) * 3, {}, ValueError, "d = 0"
    yield "order", (X, X, X), {"order": "xyz"}, ValueError, "order = 'xyz'"
    yield "block 0", (X, X, X), {"block_m": 0}, ValueError, "block_m = 0"
    yield "block 2.5", (X, X, X), {"block_n": 2.5}, TypeError, "block_n"
    yield "block too large", (X, X, X), {"block_n": 1 << 21}, ValueError, "too large"
    yield "scale", (X, X, X), {"scale": float("nan")}, ValueError, "scale = nan"
    yield "tiny scale", (X, X, X), {"scale": 1e-60}, ValueError, "scale = 1e-60"
    yield (
        "mask",
        (X, X, X),
        {"mask": "windows"},
        ValueError,
        "mask = 'windows' is not allowed: .* is none",
    )
    yield "no text", (X, X, X), {"mask": [1]}, ValueError, "is not allowed"
    yield "two masks", (X, X, X), {"mask": "full", "causal": True}, ValueError, "contradicts"
    yield "precision", (X, X, X), {"precision": "bf8"}, ValueError, "precision = 'bf8'"
    meta = torch.zeros(1, 2, 4, 8, device="meta")
    yield "device", (meta, meta, meta), {}, RuntimeError, "meta"
    yield "two devices", (X, meta, X), {}, RuntimeError, "q is on"


@pytest.mark.parametrize(
    ("tensors", "options", "error", "words"),
    [case[1:] for case in bad_calls()],
    ids=[case[0] for case in bad_calls()],
)
def test_bad_input_is_one_sentence(tensors, options, error, words):
    if DEVICE == "cuda":
        tensors = [x.cuda() if getattr(x, "is_cpu", False) else x for x in tensors]
    with pytest.raises(error, match=words) as caught:
        kernels.flash_attention(*tensors, **options)
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


def test_importing_needs_no_driver_and_no_gluon():
    out = in_fresh_process(
        "import sys, kernels\n"
        "print([m for m in sys.modules if 'gluon' in m or m == 'gradio' or 'explainer' in m])\n",
        CUDA_VISIBLE_DEVICES="",
    )
    assert "gradio" not in out and "explainer" not in out and "kernels" not in out


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
