"""kernels.attention as PyTorch sees it, what kernels.which says, and Transformers with both."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch

import kernels
from kernels import door
from tests.kernels.attention_checks import DEVICE, make_qkv, tolerance

ROOT = Path(__file__).resolve().parents[2]
with_transformers = pytest.mark.skipif(
    importlib.util.find_spec("transformers") is None, reason="Transformers is not installed"
)


@pytest.mark.parametrize("causal", [False, True], ids=["full", "causal"])
@pytest.mark.parametrize("dtype", ["fp32", "bf16"])
def test_it_is_attention(dtype, causal):
    q, k, v = make_qkv(33, 64, n_k=50, heads=4, k_heads=2, dtype=dtype)
    o, lse = kernels.attention(q, k, v, causal=causal, return_lse=True)
    o_ref, lse_ref = kernels.reference_attention(q, k, v, causal=causal)
    allowed = tolerance(
        q, k, v, o_ref, causal=causal, scale=0.125, order="fa2", key_blocks=1, tf32=False
    )
    assert (o.double() - o_ref).abs().max().item() <= allowed.o
    assert (lse.double() - lse_ref).abs().max().item() <= allowed.lse
    assert torch.equal(kernels.attention(q, k, v, causal=causal), o)
    assert torch.equal(kernels.attention(q, k, v, mask="causal" if causal else "full"), o)


def test_which_names_the_kernel_and_says_why():
    q, k, v = make_qkv(33, 32, dtype="fp16")
    choice = kernels.which(q, k, v)
    assert choice.kernel == "fa2" and choice.why.endswith(".")
    want = kernels.flash_attention(q, k, v)
    assert torch.equal(kernels.attention(q, k, v), want)
    with pytest.raises(ValueError, match="mask = 'round' is not allowed"):
        kernels.which(q, k, v, mask="round")


def test_the_operator_obeys_pytorchs_rules():
    """Schema, fake implementation, tracing: PyTorch's own checks of a custom operator."""
    q, k, v = make_qkv(20, 16, n_k=30, heads=2)
    for options in ((), (True,), (False, "causal"), (False, None, 0.3)):
        torch.library.opcheck(torch.ops.kernels.attention.default, (q, k, v, *options))


def test_torch_compile_sees_it_whole():
    """No graph break, and the compiled function is the eager one, whatever the strides."""
    q, k, v = (x.transpose(1, 2) for x in make_qkv(2, 16, heads=40))

    def block(q, k, v):
        return kernels.attention(q * 2, k, v, causal=True).transpose(1, 2).flatten(2) + 1

    compiled = torch.compile(block, fullgraph=True, backend="aot_eager")
    assert torch.allclose(compiled(q, k, v), block(q, k, v), atol=1e-6)


def test_gradients_are_refused_in_a_sentence():
    q, k, v = make_qkv(8, 16)
    q.requires_grad_()
    with pytest.raises(RuntimeError, match="no backward pass yet"):
        kernels.attention(q, k, v)
    with torch.no_grad():
        kernels.attention(q, k, v)


@pytest.mark.parametrize(
    ("more", "field"),
    [({"dropout": 0.1}, "dropout"), ({"softcap": 30.0}, "softcap"),
     ({"sliding_window": 16}, "sliding_window"), ({"s_aux": 1}, "s_aux"),
     ({"attention_mask": 1}, "attention_mask")],
)  # fmt: skip
def test_what_transformers_may_ask_and_the_kernels_lack(more, field):
    q, k, v = make_qkv(8, 16)
    more = {"attention_mask": None, **more}
    with pytest.raises(ValueError, match=f"^{field}.* is not allowed"):
        kernels.transformers_attention(None, q, k, v, more.pop("attention_mask"), **more)


@with_transformers
@pytest.mark.parametrize("k_heads", [4, 2], ids=["mha", "gqa"])
def test_three_lines_register_it_with_transformers(k_heads):
    """Logits of a small random model against "sdpa" and "eager"; a padded batch is refused."""
    from transformers import LlamaConfig, LlamaForCausalLM

    namespace: dict = {}
    exec(registration(), namespace)  # the lines of the documentation, as they stand
    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=97, hidden_size=64, intermediate_size=96, num_hidden_layers=2,
        num_attention_heads=4, num_key_value_heads=k_heads,
    )  # fmt: skip
    model = LlamaForCausalLM(config).to(DEVICE).eval()
    tokens = torch.randint(0, 97, (2, 19), device=DEVICE)
    with torch.no_grad():
        logits, written = {}, {}
        for name in ("tiled", "sdpa", "eager"):
            model.set_attn_implementation(name)
            logits[name] = model(tokens).logits
            written[name] = model.generate(tokens, max_new_tokens=5, do_sample=False)
        for name in ("sdpa", "eager"):
            assert torch.allclose(logits["tiled"], logits[name], atol=2e-5), name
            assert torch.equal(written["tiled"], written[name])
        model.set_attn_implementation("tiled")
        padded = torch.ones_like(tokens)
        padded[0, :4] = 0
        with pytest.raises(ValueError, match="attention_mask is not allowed"):
            model(tokens, attention_mask=padded)


def registration() -> str:
    """The three lines of door.py's documentation."""
    text = door.__doc__
    return "\n".join(line.strip() for line in text.splitlines() if line.startswith("    "))


def test_the_documented_registration_is_three_lines():
    assert len(registration().splitlines()) == 3
    assert all(line in (ROOT / "README.md").read_text() for line in registration().splitlines())


def run_beside(script: str, *paths: Path) -> None:
    """Runs Python in the repository's root with these folders at the end of its path."""
    env = os.environ | {"PYTHONPATH": os.pathsep.join(map(str, paths))}
    done = subprocess.run(
        [sys.executable, "-c", f"import sys; sys.path.insert(0, '')\n{script}"],
        cwd=ROOT, env=env, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]


def test_another_package_of_this_name_is_found_behind_it(tmp_path):
    """As Hugging Face's `kernels`: names of its own, submodules that import each other."""
    other = tmp_path / "kernels"
    (other / "layer").mkdir(parents=True)
    (other / "load.py").write_text("def get_kernel():\n    return 'theirs'\n")
    (other / "layer" / "__init__.py").write_text("from kernels.load import get_kernel\n")
    (other / "__init__.py").write_text(
        "from kernels.layer import get_kernel as get_kernel\navailable = 'theirs'\n"
    )
    run_beside(
        "import kernels\n"
        "from kernels import get_kernel\n"
        "from kernels.layer import get_kernel as again\n"
        "assert get_kernel() == again() == 'theirs' and get_kernel is again\n"
        "assert callable(kernels.available) and callable(kernels.flash_attention)\n"
        "assert not hasattr(kernels, 'nobody')\n",
        tmp_path,
    )
    run_beside("import kernels\nassert not hasattr(kernels, 'get_kernel')\n")


@with_transformers
def test_transformers_with_whatever_package_kernels_it_finds():
    """It imports Hugging Face's `kernels` where that is installed, from this folder's name."""
    run_beside(
        "import kernels, torch, transformers, transformers.integrations.hub_kernels\n"
        "from transformers.utils.import_utils import is_kernels_available\n"
        "small = transformers.LlamaConfig(vocab_size=9, hidden_size=16, intermediate_size=16,\n"
        "    num_hidden_layers=1, num_attention_heads=2, num_key_value_heads=2)\n"
        "transformers.LlamaModel(small)(torch.zeros(1, 3, dtype=torch.long))\n"
        "assert callable(kernels.attention)\n"
        "assert not is_kernels_available() or callable(kernels.kernelize)\n",
        *map(Path, filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))),
    )
