"""The kernels as PyTorch's flash implementation: the operators, and on a GPU what runs them."""

import warnings

import pytest
import torch
import torch.nn.functional as F
from torch.nn import attention as registry

import kernels
from kernels import activation
from tests.kernels.attention_checks import DEVICE, assert_attention, make_qkv
from tests.kernels.gradient_checks import assert_gradients, like
from tests.tables import table

pytestmark = pytest.mark.skipif(
    not hasattr(registry, "register_flash_attention_impl"), reason="needs PyTorch 2.11"
)
ATEN = torch.ops.aten
WINDOWS, FALLBACKS = table(__file__).values()


@pytest.fixture
def active():
    kernels.activate()
    yield
    kernels.deactivate()


def test_is_registered_and_given_back(active):
    assert registry.current_flash_attention_impl() == "tiled"
    assert "tiled" in registry.list_flash_attention_impls()
    kernels.deactivate()
    assert registry.current_flash_attention_impl() is None
    kernels.deactivate()  # again: nothing happens


def test_another_implementation_is_left_alone():
    registry.register_flash_attention_impl("other", register_fn=lambda: activation._Handle())
    registry.activate_flash_attention_impl("other")
    kernels.deactivate()
    assert registry.current_flash_attention_impl() == "other"
    registry.restore_flash_attention_impl()


def test_without_a_registry_one_sentence_says_so(monkeypatch):
    monkeypatch.delattr(registry, "register_flash_attention_impl")
    with pytest.raises(RuntimeError, match=r"has no torch\.nn\.attention\.register_flash"):
        kernels.activate()


def shapes(found) -> list:
    """Shape, dtype and strides of each tensor; other values as they are."""
    return [
        (tuple(x.shape), x.dtype, x.stride()) if isinstance(x, torch.Tensor) else x for x in found
    ]


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("causal", [False, True])
def test_sdpa_operators(causal, turned):
    """O, lse and gradients are right; shapes, dtypes and strides are those PyTorch announces."""
    sizes = {"n_k": 24, "batch": 2, "heads": 4, "k_heads": 4, "dtype": "fp16"}
    tensors = make_qkv(24, 16, **sizes)
    if turned:  # as of a (B, N, H, d) tensor
        tensors = [x.transpose(1, 2).contiguous().transpose(1, 2) for x in tensors]
    found = activation._sdpa_forward(*tensors, 0.0, causal, scale=0.3)
    rules = {"causal": causal, "scale": 0.3}
    assert_attention(*tensors, lambda *_, **__: found[:2], **rules)
    grad_o = like(found[0])
    meta = [x.to("meta") for x in tensors]
    expected = ATEN._scaled_dot_product_flash_attention(*meta, 0.0, causal, scale=0.3)
    assert shapes(found)[:6] == shapes(expected)[:6]
    rest = [None, None, 24, 24, 0.0, causal, *found[6:8]]
    grads = activation._sdpa_backward(grad_o, *tensors, *found[:2], *rest, scale=0.3)
    assert_gradients(grads, *tensors, grad_o, **rules)
    assert [x.stride() for x in grads] == [torch.empty_like(x).stride() for x in tensors]


@pytest.mark.parametrize("causal, left, right, mask", WINDOWS)
def test_flash_operators(causal, left, right, mask):
    """The operators whose tensors are (B, N, H, d), also into a given O."""
    q, k, v = make_qkv(19, 8, n_k=27, heads=4, k_heads=2)
    windows = {"window_size_left": left, "window_size_right": right}
    turned = [x.transpose(1, 2) for x in (q, k, v)]
    rest = [None, None, 19, 27, 0.0, causal]
    o, lse, *state, _ = activation._flash_forward(*turned, *rest, False, **windows)
    assert_attention(q, k, v, lambda *_, **__: (o.transpose(1, 2), lse), mask=mask)
    out = torch.empty_like(o)
    again = activation._flash_forward_inplace(out, *turned, *rest, False, **windows)
    assert torch.equal(out, o) and torch.equal(again, lse)
    grad_o = like(o)
    grads = activation._flash_backward(grad_o, *turned, o, lse, *rest, *state, **windows)
    grads = [x.transpose(1, 2) for x in grads]
    assert_gradients(grads, q, k, v, grad_o.transpose(1, 2), mask=mask)


@pytest.mark.parametrize("options, reason", FALLBACKS)
def test_what_is_not_run_goes_to_pytorch_with_a_reason(active, options, reason):
    class Own:
        def call_boxed(self, keys, *tensors, **given):
            return keys, given

    tensors = make_qkv(8, 8)
    found = activation._call(activation._sdpa_forward, Own(), "keys", *tensors, **options)
    assert found == ("keys", options)
    assert kernels.fallback_reasons() == {reason: 1}
    with pytest.raises(RuntimeError, match="own kernel is not there"):
        activation._call(activation._sdpa_forward, None, "keys", *tensors, **options)
    kernels.activate()
    assert kernels.fallback_reasons() == {}


def test_a_window_that_no_mask_has_is_refused():
    with pytest.raises(activation._Refusal, match="a window reaches at most 65,536"):
        activation._mask(False, 5, -1, 70_000)


def kernels_of(run) -> str:
    """The names of all GPU kernels that a call launches."""
    run()
    with warnings.catch_warnings():  # the profiler explains itself once
        warnings.simplefilter("ignore")
        with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]) as profile:
            run()
            torch.cuda.synchronize()
    return " ".join(event.key for event in profile.key_averages())


@pytest.mark.gpu
@pytest.mark.parametrize("n, name", [(64, "fa2_kernel"), (2048, "hopper_kernel")])
def test_sdpa_runs_them(active, n, name):
    """Forward and backward, by a profile; deactivated, PyTorch's own run again."""
    if name == "hopper_kernel" and torch.cuda.get_device_capability()[0] != 9:
        pytest.skip("needs Hopper")
    q, k, v = (x.to(DEVICE) for x in make_qkv(n, 64, batch=2, heads=8, k_heads=8, dtype="bf16"))
    leaves = [x.requires_grad_() for x in (q, k, v)]

    def run():
        with registry.sdpa_kernel(registry.SDPBackend.FLASH_ATTENTION):
            o = F.scaled_dot_product_attention(*leaves, is_causal=True)
        return torch.autograd.grad(o, leaves, like(o))

    names = kernels_of(run)
    assert name in names and "flash_fwd" not in names and "flash_bwd" not in names
    assert_gradients(run(), *(x.detach() for x in leaves), like(q), causal=True)
    kernels.deactivate()
    names = kernels_of(run)
    assert name not in names and "flash_fwd" in names


@pytest.mark.gpu
def test_dropout_falls_back(active):
    q, k, v = (x.to(DEVICE) for x in make_qkv(256, 64, heads=4, k_heads=4, dtype="bf16"))
    with registry.sdpa_kernel(registry.SDPBackend.FLASH_ATTENTION):
        names = kernels_of(lambda: F.scaled_dot_product_attention(q, k, v, dropout_p=0.5))
    assert "flash_fwd" in names
    assert list(kernels.fallback_reasons()) == [
        "dropout_p = 0.5: the kernels have no backward with dropout."
    ]
