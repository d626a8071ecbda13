"""Input that cannot run, importing where nothing can run, and progress."""

import builtins
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
import torch

import kernels
from kernels.spec import masks
from tests.kernels.attention_checks import DEVICE, interpreter_only, make_qkv
from tests.tables import table

ROOT = Path(__file__).resolve().parents[2]
X = torch.zeros(1, 2, 4, 8)


def of_transformers(q, k, v, attention_mask=None, **more):
    return kernels.transformers_attention(None, q, k, v, attention_mask, **more)


PACKED, CU = torch.zeros(6, 2, 16), torch.tensor([0, 2, 6], dtype=torch.int32)
# What the table of refusals calls: the tensors, and the functions that are to refuse.
TENSORS = {
    "X": X,
    "3 dimensions": X[0],
    "float64": X.double(),
    "sparse": X.to_sparse(),
    "negated": torch._neg_view(X.to(DEVICE)),
    "float16": X.half(),
    "3 keys": X[:, :, :3],
    "batch 3": X.expand(3, 2, 4, 8),
    "4 heads": X.repeat(1, 2, 1, 1),
    **{f"d = {d}": torch.zeros(1, 1, 2, d) for d in (0, 3, 32, 300)},
    "d = 4": X[..., :4],
    "no row": torch.zeros(1, 1, 0, 64),
    "4 rows": torch.zeros(1, 1, 4, 64),
    "4 rows of NaN": torch.full((1, 1, 4, 64), float("nan")),
    "17 queries": torch.zeros(1, 2, 17, 8),
    "on meta": X.to("meta"),
    "3 sinks": torch.zeros(3),
    "2 sinks on meta": torch.zeros(2, device="meta"),
    "mask of 2 dimensions": torch.ones(4, 4) > 0,
    "mask for 5 keys": torch.ones(1, 1, 4, 5),
    "mask that adds 1": torch.ones(1, 1, 4, 4),
    "mask with a gap": torch.tensor([[True, False, True, True]]).expand(1, 1, 4, 4),
    "packed": PACKED,
    "packed, 4 dimensions": PACKED[None],
    "offsets": CU,
    "offsets that are halves": CU / 2,
    "2 offsets": CU[:2],
    "offsets from 6": CU[[2, 1, 2]],
    "decoding": torch.zeros(1, 2, 1, 16),
    "pages": torch.zeros(2, 4, 2, 16),
    "length 3": CU[:1] + 3,
    "length 9": CU[:1] + 9,
    "page": torch.zeros(1, 4, 2, 16),
    "table": CU[None, :1],
    "table without a page": CU[None, :0],
    "table with page 5": CU[None, :1] + 5,
}
CALLS = {
    "all": (kernels.flash_attention, kernels.attention, kernels.which),
    "flash": (kernels.flash_attention,),
    "ring": (kernels.ring_attention,),
    "judges": (kernels.reference_attention, kernels.naive_attention),
    "packed": (kernels.attention_varlen,),
    "decode": (kernels.decode_attention,),
    "decode on a CPU": (kernels.decode_attention,) if DEVICE == "cpu" else (),
    "fp8": (kernels.attention_fp8,),
    "fp8 on a CPU": (kernels.attention_fp8,) if DEVICE == "cpu" else (),
    "transformers": (of_transformers,),
    "states": (kernels.tile_states,),
    "rope": (kernels.rope,),
    "report": (kernels.compile_report,),
    "count": (kernels.count_traffic,) if kernels.INTERPRETED else (),
}
# By which functions, with which arguments and options, by which error; and how it begins.
REFUSED = table(__file__)


def argument(x):
    """The tensor of this name, on the device of the tests; every other value itself."""
    x = TENSORS.get(x, x) if isinstance(x, str) else x
    return x.to(DEVICE) if getattr(x, "is_cpu", False) else x


@pytest.mark.parametrize(
    ("calls", "arguments", "options", "error", "words"), REFUSED, ids=[case[-1] for case in REFUSED]
)
def test_what_cannot_run_is_refused_in_one_sentence(calls, arguments, options, error, words):
    options = {name: argument(x) for name, x in options.items()}
    for call in CALLS[calls]:
        with pytest.raises(getattr(builtins, error), match=f"^{words}") as caught:
            call(*map(argument, arguments), **options)
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
        timeout=600,
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


@interpreter_only
def test_progress():
    seen = []
    q, k, v = make_qkv(20, 8, heads=2)
    with kernels.progress(lambda done, total: seen.append((done, total))):
        kernels.flash_attention(q, k, v, block_m=4, block_n=8)
    assert seen == [(done, 10) for done in range(11)]
    kernels.flash_attention(q, k, v, block_m=4, block_n=8)
    assert len(seen) == 11, "outside the block nothing is reported"


@interpreter_only
def test_progress_can_stop_a_launch():
    def stop(done, total):
        if done == 3:
            raise TimeoutError("enough")

    q, k, v = make_qkv(20, 8)
    with pytest.raises(Exception, match="enough"), kernels.progress(stop):
        kernels.flash_attention(q, k, v, block_m=4, block_n=8)
    kernels.flash_attention(q, k, v, block_m=4, block_n=8)
