"""kernels.attention as PyTorch sees it, and what kernels.which says."""

import os
from functools import partial
from pathlib import Path

import pytest
import torch

import kernels
from tests.kernels.attention_checks import DEVICE, assert_attention, make_qkv
from tests.kernels.test_interface import in_fresh_process

ROOT = Path(__file__).resolve().parents[2]


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
    wider = make_qkv(12, 24, heads=2)[2].requires_grad_()
    torch.library.opcheck(torch.ops.kernels.attention.default, (q, k, wider))


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
    torch.testing.assert_close(*found, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("name", ["attention", "flash_attention"])
def test_torch_vmap_runs_one_call_of_a_larger_batch(name):
    call = partial(getattr(kernels, name), mask="causal&window:9,0")
    q, k, v = (x.unflatten(0, (3, 2)).requires_grad_() for x in make_qkv(8, 16, batch=6))
    found, want = torch.vmap(call)(q, k, v), torch.stack(list(map(call, q, k, v)))
    assert torch.equal(found, want)
    grads = (torch.autograd.grad(x.sum(), (q, k, v)) for x in (found, want))
    torch.testing.assert_close(*grads, atol=1e-5, rtol=1e-5)
    shared = torch.vmap(call, in_dims=(1, None, None))(q.transpose(0, 1), k[0], v[0])
    assert torch.equal(shared, torch.stack([call(x, k[0], v[0]) for x in q]))
    with_sink = partial(call, sink=0.5)
    want = torch.stack(list(map(with_sink, q, k, v)))
    torch.testing.assert_close(torch.vmap(with_sink)(q, k, v), want)
    with pytest.raises(ValueError, match="sink is not allowed to differ"):
        torch.vmap(lambda q, s: call(q, q, q, sink=s))(q, torch.zeros(3, 1, device=DEVICE))
    with pytest.raises(RuntimeError, match=r"torch\.func's grad is not run: .* are\.$"):
        torch.func.grad(lambda q: call(q, q, q).sum())(q[0])
    with pytest.raises(RuntimeError, match=r"^decode_attention is not run under torch\.compile or"):
        torch.vmap(kernels.decode_attention)(q, k, v)
    with pytest.raises(ValueError, match=r"^sink = nan is not allowed"):
        torch.vmap(partial(call, sink=float("nan")))(q, k, v)


def test_torch_compile_sees_flash_attention_whole():
    q, k, v = (x.requires_grad_() for x in make_qkv(20, 16, n_k=24, heads=2))
    how = {"causal": True, "order": "fa1", "block_m": 8, "block_n": 16, "precision": "tf32"}

    def call(q, k, v, **more):
        return kernels.flash_attention(q, k, v, **how, **more).square().sum()

    compiled = torch.compile(call, fullgraph=True, backend="aot_eager")
    grads = (torch.autograd.grad(x(q, k, v), (q, k, v)) for x in (compiled, call))
    torch.testing.assert_close(*grads, atol=1e-5, rtol=1e-5)
    with pytest.raises(Exception, match=r"dropout = 0\.1 is not allowed"):
        compiled(q, k, v, dropout=0.1)


@pytest.mark.parametrize(("d", "d_v"), [(24, 16), (16, 24), (192, 128)])
@pytest.mark.parametrize("name", ["attention", "flash_attention"])
def test_values_may_have_another_head_dim(name, d, d_v):
    """As they do in models with latent attention; O and the gradients are PyTorch's."""
    tensors = (make_qkv(20, x, heads=2)[i] for i, x in enumerate((d, d, d_v)))
    leaves = [x.requires_grad_() for x in tensors]
    o = getattr(kernels, name)(*leaves, causal=True)
    want = torch.nn.functional.scaled_dot_product_attention(*leaves, is_causal=True)
    found = ((x, *torch.autograd.grad(x.square().sum(), leaves)) for x in (o, want))
    torch.testing.assert_close(*found, atol=1e-4, rtol=1e-4)
    with torch.no_grad():
        assert torch.equal(getattr(kernels, name)(*leaves, causal=True), o)


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
