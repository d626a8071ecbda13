"""kernels.attention as PyTorch sees it, what kernels.which says, and Transformers with both."""

from __future__ import annotations

import importlib.util
import os
from pathlib import Path

import pytest
import torch

import kernels
from kernels import dispatch
from kernels.spec import masks
from tests.kernels.attention_checks import DEVICE, assert_attention, make_qkv
from tests.kernels.test_interface import in_fresh_process, of_transformers

ROOT = Path(__file__).resolve().parents[2]
with_transformers = pytest.mark.skipif(
    importlib.util.find_spec("transformers") is None, reason="Transformers is not installed"
)


@pytest.mark.parametrize("causal", [False, True], ids=["full", "causal"])
@pytest.mark.parametrize("dtype", ["fp32", "bf16"])
def test_it_is_attention(dtype, causal):
    q, k, v = make_qkv(33, 64, n_k=50, heads=4, k_heads=2, dtype=dtype)
    o, _ = assert_attention(q, k, v, kernels.attention, causal=causal)
    assert torch.equal(kernels.attention(q, k, v, causal=causal), o)
    assert torch.equal(kernels.attention(q, k, v, mask="causal" if causal else "full"), o)


def test_which_names_the_kernel_and_says_why():
    q, k, v = make_qkv(33, 32, dtype="fp16")
    choice = kernels.which(q, k, v)
    assert choice.kernel == "fa2" and choice.why.endswith(".")
    want = kernels.flash_attention(q, k, v)
    assert torch.equal(kernels.attention(q, k, v), want)


# opcheck of torch 2.15 reads .grad of its own copies, which are no leaves, and PyTorch warns.
@pytest.mark.filterwarnings("ignore:The .grad attribute of a Tensor that is not a leaf:UserWarning")
def test_the_operator_obeys_pytorchs_rules():
    """Schema, fake implementation, tracing, gradients: PyTorch's own checks of an operator."""
    q, k, v = (x.requires_grad_() for x in make_qkv(8, 16, n_k=12, heads=2))
    sink = torch.linspace(-1, 1, 2, device=DEVICE, requires_grad=True)
    masked = (False, "causal&window:5,0", None, "softcap:9", sink, True)
    for options in ((), (True,), (False, None, 0.3), masked):
        torch.library.opcheck(torch.ops.kernels.attention.default, (q, k, v, *options))


def test_torch_compile_sees_it_whole_and_trains_through_it():
    """No graph break, and loss and gradients are those of the eager call, whatever the strides."""
    tensors = [x.transpose(1, 2) for x in make_qkv(2, 16, heads=40)]
    tensors.append(torch.linspace(-1, 1, 2, device=DEVICE))

    def loss(q, k, v, sink):
        how = {"mask": "causal&window:9,0", "score": "alibi"}
        o, lse = kernels.attention(q * 2, k, v, **how, sink=sink, return_lse=True)
        plain = kernels.attention(o, k, v, causal=True).transpose(1, 2).flatten(2)
        return (plain + 1).square().sum() + lse.sum() + kernels.attention(q, k, v, sink=0.25).sum()

    found = []
    for call in (loss, torch.compile(loss, fullgraph=True, backend="aot_eager")):
        leaves = [x.detach().requires_grad_() for x in tensors]
        value = call(*leaves)
        found.append((value, *torch.autograd.grad(value, leaves)))
    for mine, want in zip(*found, strict=True):
        torch.testing.assert_close(mine, want, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("n_q", [1, 33])
@pytest.mark.parametrize(
    "how",
    [
        {"mask": "causal&window:9,0"},
        {"mask": "causal", "score": "softcap:5"},
        {"sink": 0.5},
        {"sink": torch.linspace(-1, 2, 4, dtype=torch.bfloat16)},
    ],
    ids=["window", "softcap", "sink", "sinks"],
)
def test_any_mask_score_and_sink(how, n_q):
    how = {key: x.to(DEVICE) if isinstance(x, torch.Tensor) else x for key, x in how.items()}
    q, k, v = make_qkv(n_q, 64, n_k=50, heads=4, k_heads=2, dtype="bf16")
    if DEVICE == "cpu":
        assert kernels.which(q, k, v, **how).kernel == "fa2"
    assert_attention(q, k, v, kernels.attention, **how)


def test_another_sink_in_the_same_tensor_is_read():
    """A model's sinks are a parameter: what it holds when the call is made counts."""
    q, k, v = make_qkv(8, 16, heads=2)
    sink = torch.zeros(2, device=DEVICE)
    before = kernels.attention(q, k, v, sink=sink)
    sink += 3
    assert torch.allclose(kernels.attention(q, k, v, sink=sink), kernels.attention(q, k, v, sink=3))
    assert not torch.allclose(kernels.attention(q, k, v, sink=sink), before)


def test_what_transformers_asks_is_mapped():
    q, k, v = make_qkv(12, 16, n_k=20, heads=2)
    sink = torch.linspace(-1, 1, 2, device=DEVICE)
    how = {"mask": "causal&window:3,0", "score": "softcap:7", "sink": sink}
    dense = torch.tensor(masks.parse(how["mask"]).keep(12, 20), device=DEVICE)[None, None]
    want = kernels.flash_attention(q, k, v, **how)
    for given in (None, dense, dense):
        found, _ = of_transformers(q, k, v, given, softcap=7, sliding_window=4, s_aux=sink)
        assert torch.equal(found.transpose(1, 2), want)
    with pytest.raises(ValueError, match="unless it is causal&window:4,0"):
        of_transformers(q, k, v, dense, sliding_window=5)


MODELS = [
    ("Llama", 4, {}),
    ("Llama", 2, {}),
    ("Mistral", 2, {"sliding_window": 6}),
    ("Gemma2", 2, {"sliding_window": 6, "attn_logit_softcapping": 5.0, "head_dim": 16}),
    ("GptOss", 2, {"sliding_window": 6, "num_local_experts": 4, "head_dim": 16}),
]


@with_transformers
@pytest.mark.parametrize(("kind", "k_heads", "more"), MODELS)
def test_three_lines_register_it_with_transformers(kind, k_heads, more):
    """Logits and words of a small random model, longer than its window, against "eager"; a padded
    batch is refused."""
    import transformers

    exec(registration(), {})  # the lines of the documentation, as they stand
    sizes = {"vocab_size": 97, "hidden_size": 64, "intermediate_size": 96, "num_hidden_layers": 2}
    heads = {"num_attention_heads": 4, "num_key_value_heads": k_heads}
    config = getattr(transformers, f"{kind}Config")(**sizes, **heads, **more)
    torch.manual_seed(0)
    model = getattr(transformers, f"{kind}ForCausalLM")(config).to(DEVICE).eval()
    tokens, found = torch.randint(3, 97, (2, 19), device=DEVICE), []  # none pads or ends
    with torch.no_grad():
        for name in ("eager", "tiled"):
            model.set_attn_implementation(name)
            words = model.generate(tokens, max_new_tokens=5, do_sample=False)
            found.append((model(tokens).logits, words))
        (logits, words), (mine, my_words) = found
        assert torch.allclose(mine, logits, atol=2e-5) and torch.equal(my_words, words)
        padded = torch.ones_like(tokens)
        padded[0, :4] = 0
        with pytest.raises(ValueError, match="attention_mask is not allowed"):
            model(tokens, attention_mask=padded)


def registration() -> str:
    """The three lines of dispatch.py's documentation."""
    text = dispatch.__doc__
    return "\n".join(line.strip() for line in text.splitlines() if line.startswith("    "))


def test_the_documented_registration_is_three_lines():
    assert len(registration().splitlines()) == 3
    assert all(line in (ROOT / "README.md").read_text() for line in registration().splitlines())


def run_beside(script: str, *paths: Path) -> None:
    """Runs Python in the repository's root with these folders at the end of its path."""
    folders = os.pathsep.join(map(str, paths))
    in_fresh_process(f"import sys; sys.path.insert(0, '')\n{script}", PYTHONPATH=folders)


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
