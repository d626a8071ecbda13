"""kernels.register(): small random models of Transformers against its own eager attention."""

import importlib.util
import os
from pathlib import Path

import pytest
import torch

import kernels
from kernels.spec import masks
from tests.kernels.attention_checks import DEVICE, assert_attention, make_qkv
from tests.kernels.gradient_checks import assert_gradients
from tests.kernels.test_dispatch import run_beside
from tests.kernels.test_interface import of_transformers
from tests.tables import table

with_transformers = pytest.mark.skipif(
    importlib.util.find_spec("transformers") is None, reason="Transformers is not installed"
)
FAMILIES, ENCODERS = table(__file__).values()  # how small each model is
TOKENS = torch.randint(3, 61, (2, 13), generator=torch.Generator().manual_seed(0))
LEFT, RIGHT = torch.ones_like(TOKENS), torch.ones_like(TOKENS)
LEFT[0, :4] = RIGHT[1, -5:] = 0


def make(kind: str, head: str, **config):
    """A small random model on the device of the tests."""
    import transformers

    kernels.register()
    torch.manual_seed(0)
    made = getattr(transformers, f"{kind}Config")(**config)
    return getattr(transformers, f"{kind}{head}")(made).to(DEVICE).eval()


def compare(model, *calls) -> None:
    """Each call of the model gives the same by our attention as by eager attention."""
    found = []
    for name in ("eager", "tiled"):
        model.set_attn_implementation(name)
        found.append([call(model) for call in calls])
    torch.testing.assert_close(*found, atol=1e-4, rtol=1e-4)


def logits(padding: torch.Tensor):
    """A call to the logits of all tokens but padding."""
    padding = padding.to(DEVICE)
    return lambda model: model(TOKENS.to(DEVICE), attention_mask=padding).logits[padding == 1]


def packed(model):
    """Logits of one row of two sequences, which position ids tell apart."""
    places = torch.cat((torch.arange(5), torch.arange(8)))[None].to(DEVICE)
    return model(TOKENS[:1].to(DEVICE), position_ids=places, use_cache=False).logits


def in_chunks(model):
    """Logits of a prefill in two calls."""
    from transformers import DynamicCache

    cache, tokens, padding = DynamicCache(config=model.config), TOKENS.to(DEVICE), LEFT.to(DEVICE)
    parts = [
        model(tokens[:, start:stop], attention_mask=padding[:, :stop], past_key_values=cache).logits
        for start, stop in ((0, 7), (7, 13))
    ]
    return torch.cat(parts, 1)[padding == 1]


def words(padding: torch.Tensor, **how):
    """A call to the words that a model goes on with."""
    how |= {"max_new_tokens": 2, "do_sample": False, "pad_token_id": 0}
    return lambda model: model.generate(TOKENS.to(DEVICE), attention_mask=padding.to(DEVICE), **how)


def trained(padding: torch.Tensor):
    """A call to the loss and its gradients by all weights."""
    labels = TOKENS.masked_fill(padding == 0, -100).to(DEVICE)
    labels[0, 4] = -100  # it would be predicted from padding

    def call(model):
        model.zero_grad()
        loss = model(TOKENS.to(DEVICE), attention_mask=padding.to(DEVICE), labels=labels).loss
        loss.backward()
        return loss, *[p.grad for p in model.parameters() if p.grad is not None]

    return call


@with_transformers
@pytest.mark.filterwarnings("ignore:TensorFloat32 tensor cores:UserWarning")
@pytest.mark.filterwarnings("ignore:`past_key_values` is deprecated:FutureWarning")
# A static cache is compiled: PyTorch begins its pool of CUDA graphs with one that is empty, and its
# own softmax, of the eager attention beside ours, is not always the online one.
@pytest.mark.filterwarnings("ignore:The CUDA Graph is empty:UserWarning")
@pytest.mark.filterwarnings("ignore:\\s*Online softmax is disabled:UserWarning")
@pytest.mark.parametrize("kind", FAMILIES)
def test_a_family_is_its_eager_self(kind):
    head = "LMHeadModel" if kind == "GPT2" else "ForCausalLM"
    with torch.no_grad():
        model = make(kind, head, **FAMILIES[kind])
        compare(model, *(logits(x) for x in (torch.ones_like(TOKENS), LEFT, RIGHT)), packed)
        compare(model, in_chunks, words(LEFT), words(LEFT, cache_implementation="static"))
    compare(model, trained(LEFT), trained(RIGHT))


@with_transformers
def test_bert_is_its_eager_self():
    model = make("Bert", "ForMaskedLM", **ENCODERS["Bert"])
    with torch.no_grad():
        compare(model, *(logits(x) for x in (torch.ones_like(TOKENS), LEFT, RIGHT)))
    compare(model, trained(RIGHT))


@with_transformers
def test_an_encoder_and_a_decoder_are_their_eager_selves():
    model = make("Bart", "ForConditionalGeneration", **ENCODERS["Bart"])
    with torch.no_grad():
        compare(model, words(RIGHT))


@with_transformers
def test_what_is_not_run_is_refused():
    tokens = TOKENS.to(DEVICE)
    biased = make("T5", "ForConditionalGeneration", **ENCODERS["T5"])
    biased.encoder.set_attn_implementation("tiled")  # Transformers 5.17 leaves it at its own.
    with pytest.raises(ValueError, match="position_bias is not allowed"):
        biased.encoder(input_ids=tokens)
    dropping = make("Bert", "Model", **ENCODERS["Bert, with dropout"]).train()
    dropping.set_attn_implementation("tiled")
    with pytest.raises(ValueError, match=r"dropout = 0\.1 is not allowed"):
        dropping(tokens)


@with_transformers
def test_without_the_function_for_masks_nothing_is_silently_wrong():
    import transformers

    model = make("Llama", "ForCausalLM", **FAMILIES["Llama"])
    transformers.AttentionInterface.register("half", kernels.transformers_attention)
    model.set_attn_implementation("half")
    with pytest.raises(ValueError, match=r"call kernels\.register"):
        model(TOKENS.to(DEVICE), attention_mask=LEFT.to(DEVICE))


@with_transformers
def test_torch_compile_sees_a_padded_model_whole():
    torch.compiler.reset()  # On a GPU, generate() with a static cache has compiled every family.
    model = make("Llama", "ForCausalLM", **FAMILIES["Llama"])
    tokens, padding = TOKENS.to(DEVICE), LEFT.to(DEVICE)

    def call(model):
        return model(tokens, attention_mask=padding, use_cache=False).logits[:, 4:]

    with torch.no_grad():
        want = call(model)
        model.set_attn_implementation("tiled")
        found = call(torch.compile(model, fullgraph=True, backend="aot_eager"))
    torch.testing.assert_close(found, want, atol=1e-4, rtol=1e-4)


def test_what_transformers_asks_is_mapped():
    q, k, v = make_qkv(12, 16, n_k=20, heads=2)
    sink = torch.linspace(-1, 1, 2, device=DEVICE)
    how = {"mask": "causal&window:3,0", "score": "softcap:7", "sink": sink}
    dense = torch.tensor(masks.parse(how["mask"]).keep(12, 20), device=DEVICE)[None, None]
    want = kernels.flash_attention(q, k, v, **how)
    added = torch.zeros(dense.shape, device=DEVICE).masked_fill(~dense, -torch.inf)
    for given in (None, dense, dense, added):
        found, _ = of_transformers(q, k, v, given, softcap=7, sliding_window=4, s_aux=sink)
        torch.testing.assert_close(found.transpose(1, 2), want, atol=2e-6, rtol=1e-5)
    dense[..., 0, :] = False  # a mask that has changed is read again
    found, _ = of_transformers(q, k, v, dense)
    assert not found[:, 0].any() and found[:, 1].all()


def test_a_padded_batch_is_each_sequence_alone():
    """On a Hopper card it is one row for the fast kernel, since its rows follow each other."""
    on_card = DEVICE == "cuda"
    n, d, dtype = (700, 64, "bf16") if on_card else (20, 16, "fp32")
    pads, shape = (n // 3, 0), (2, n, 4, d)
    q, k, v = (
        x.view(shape).transpose(1, 2).detach().requires_grad_()
        for x in make_qkv(n, d, batch=2, heads=4, dtype=dtype)
    )
    rows = torch.arange(n)
    starts = torch.tensor(pads)[:, None].expand(2, n)
    mask = torch.stack((starts, torch.maximum(starts, rows + 1)), -1).to(torch.int32).to(DEVICE)
    vars(mask)["is_rising"] = True
    given = mask[:, None]
    vars(given)["_spans"] = mask
    o = of_transformers(q, k, v, given)[0].transpose(1, 2)
    grad_o = make_qkv(n, d, batch=2, heads=4, dtype=dtype, seed=5)[0]
    grads = torch.autograd.grad(o, (q, k, v), grad_o)
    for b, pad in enumerate(pads):
        one = [x[b : b + 1, :, pad:].detach() for x in (q, k, v)]
        assert not o[b, :, :pad].any() and not any(x[b, :, :pad].any() for x in grads)
        _, lse = kernels.attention(*one, causal=True, return_lse=True)
        mine = o[b : b + 1, :, pad:].detach(), lse
        assert_attention(*one, lambda *_, mine=mine, **more: mine, causal=True)
        found = [x[b : b + 1, :, pad:] for x in grads]
        assert_gradients(found, *one, grad_o[b : b + 1, :, pad:], causal=True)


@pytest.mark.parametrize(("start", "n"), [(5, 12), (110, 220)], ids=["two lengths", "one length"])
def test_offsets_of_packed_sequences_are_taken_from_the_model(start, n):
    q, k, v = make_qkv(n, 16, heads=2)
    ends = torch.tensor([0, start, n], device=DEVICE)
    found, _ = of_transformers(q, k, v, cu_seq_lens_q=ends, cu_seq_lens_k=ends)
    want = kernels.flash_attention(q, k, v, mask=f"causal&document:0,{start}")
    torch.testing.assert_close(found.transpose(1, 2), want, atol=2e-6, rtol=1e-5)
    with pytest.raises(ValueError, match="cu_seq_lens_q is not allowed with a sliding window"):
        of_transformers(q, k, v, cu_seq_lens_q=ends, sliding_window=4)


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
