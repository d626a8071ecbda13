"""Attention in the wild: code to copy, and which of PyTorch's backends takes which input.

Every snippet is run by tests/learn/test_wild.py in a process of its own; those that need a GPU or
a package that is not installed say so in ``needs`` and in their words.
"""

from __future__ import annotations

from explainer.base import records
from explainer.learn.blocks import Block, table
from explainer.learn.content import Snippet

# Where the checks of BACKENDS were asked (can_use_…, 2026-11-21), and the GPU's snippets were run.
CHECKED = "asked on an H200, torch 2.11, cuDNN 9.19"


def speed_ratio() -> tuple[float, float]:
    """Least and most that SDPA's cuDNN backend was faster than its flash backend, in the recorded
    benchmark: every N, d, mask and 16-bit format that both ran."""
    keys = ("dtype", "n", "d", "mask")
    rows = [r for r in records.load()["rows"] if r.get("tflops")]
    speed = {(r["method"], *(r[k] for k in keys)): r["tflops"] for r in rows}
    ratios = [
        fast / speed[("sdpa_flash", *rest)]
        for (name, *rest), fast in speed.items()
        if name == "sdpa_cudnn" and ("sdpa_flash", *rest) in speed
    ]
    return min(ratios), max(ratios)


SPEED = "{:.1f} to {:.1f} × flash".format(*speed_ratio())
BACKENDS: Block = table(
    "Which backend of SDPA takes which input, forward, on an NVIDIA GPU",
    ("Input", "flash (FA-2)", "cuDNN", "memory-efficient", "math", "Source"),
    (
        ("GPU", "sm_80 and newer (A100, RTX 30)", "sm_80 and newer", "sm_50 and newer",
         "any, and CPUs", "sdp_utils.cpp: hardware checks"),
        ("tried", "first; second where cuDNN is first",
         "first on Hopper and B200 with cuDNN above 9.15; elsewhere last, behind math",
         "after flash", "after memory-efficient", f"sdp_utils.cpp: priority_order; {CHECKED}"),
        ("fp16, bf16", "yes (bf16 from sm_80)", "yes", "yes (bf16 from sm_80)", "yes",
         "sdp_utils.cpp: check_dtypes_low_precision"),
        ("fp32", "no", "no", "yes", "yes", f"the same; {CHECKED}"),
        ("head dimension d", "up to 256, the same for Q, K, V",
         "a multiple of 8, up to 128 (256 on Hopper)", "a multiple of 8 (fp32: of 4)", "any",
         f"sdp_utils.cpp: the checks of head_dim; {CHECKED}"),
        ("is_causal, Nq = Nk", "yes", "yes", "yes", "yes", CHECKED),
        ("is_causal, Nq ≠ Nk (top-left)", "no: pass causal_lower_right(Nq, Nk)", "yes", "yes",
         "yes", f"sdp_utils.cpp: check_flash_causal_non_square_seqlens; {CHECKED}"),
        ("any other attn_mask", "no", "yes", "yes", "yes",
         f"sdp_utils.cpp: check_for_attn_mask; {CHECKED}"),
        ("dropout", "yes", "yes (newer PyTorch: in steps of 1/16)", "yes", "yes",
         f"sdp_utils.cpp: check_cudnn_dropout; {CHECKED}"),
        ("fewer heads in K and V (GQA)", "yes", "yes", "no (newer PyTorch: yes)", "yes",
         f"sdp_utils.cpp: check_batch_size_and_num_heads_dense; {CHECKED}"),
        ("deterministic algorithms only", "yes", "no", "yes", "yes",
         f"sdp_utils.cpp: check_cudnn_deterministic; {CHECKED}"),
        ("extra memory", "O(N)", "O(N)", "O(N)", "S and P: O(N²)", records.about()),
        ("speed on an H200", "1 ×", SPEED, "—", "—", records.about()),
    ),
)  # fmt: skip

TORCH = "import torch\nimport torch.nn.functional as F\n"  # how most snippets begin

SNIPPETS = (
    Snippet(
        "sdpa", "The one call",
        "PyTorch's attention. Shapes are (B, H, N, d); the factor 1/√d is applied for you. It "
        "picks a fused kernel where one takes your input.",
        TORCH + """
device = "cuda" if torch.cuda.is_available() else "cpu"
dtype = torch.bfloat16 if device == "cuda" else torch.float32
q, k, v = (torch.randn(2, 8, 256, 64, device=device, dtype=dtype) for _ in range(3))
o = F.scaled_dot_product_attention(q, k, v, is_causal=True)
print(o.shape)  # torch.Size([2, 8, 256, 64])
"""),
    Snippet(
        "sdpa-kernel", "Insist on a backend",
        "Inside sdpa_kernel only the named backends may run. If none can, the call raises "
        "RuntimeError (No available kernel on a GPU, No viable backend on a CPU) rather than "
        "falling back in silence. A CPU has flash and math; fp32 on a GPU has no flash.",
        TORCH + """\
from torch.nn.attention import SDPBackend, sdpa_kernel

q = k = v = torch.randn(1, 8, 128, 64)
backends = {"flash": SDPBackend.FLASH_ATTENTION, "cuDNN": SDPBackend.CUDNN_ATTENTION,
            "efficient": SDPBackend.EFFICIENT_ATTENTION, "math": SDPBackend.MATH}
for name, backend in backends.items():
    try:
        with sdpa_kernel(backend):
            F.scaled_dot_product_attention(q, k, v)
        print(name, "ran")
    except RuntimeError as error:
        print(name, "refused:", error)
"""),
    Snippet(
        "why-not", "Ask who can run, and why not",
        "Each fused backend answers True or False for your tensors; debug=True writes its reason "
        "to stderr as a warning. On a CPU all three say False: they are the GPU's.",
        """\
import torch
from torch.backends import cuda

device = "cuda" if torch.cuda.is_available() else "cpu"
q = k = v = torch.randn(1, 8, 128, 64, device=device)  # fp32: no flash, no cuDNN
mask, dropout, causal, gqa = None, 0.0, False, False
params = cuda.SDPAParams(q, k, v, mask, dropout, causal, gqa)
print("flash    ", cuda.can_use_flash_attention(params, debug=True))
print("cuDNN    ", cuda.can_use_cudnn_attention(params, debug=True))
print("efficient", cuda.can_use_efficient_attention(params, debug=True))
"""),
    Snippet(
        "version", "Which FlashAttention is behind flash?",
        "FA-2, unless you activate another: None means the built-in one. FA3 and FA4 are names "
        "that PyTorch knows; their packages are not part of it.",
        """\
from torch.nn.attention import current_flash_attention_impl, list_flash_attention_impls

print("known: ", list_flash_attention_impls())
print("active:", current_flash_attention_impl())  # None: the built-in FA-2
# torch.nn.attention.activate_flash_attention_impl("FA3"), with its package, on a Hopper GPU
"""),
    Snippet(
        "causal", "is_causal, a mask, and the corner",
        "With fewer queries than keys (decoding from a cache) is_causal aligns the triangle "
        "top-left: query 0 sees key 0 only. You want the last query to see every key: "
        "causal_lower_right. A mask says True where a score counts.",
        TORCH + """\
from torch.nn.attention.bias import causal_lower_right

q, k, v = torch.randn(1, 4, 2, 16), torch.randn(1, 4, 5, 16), torch.randn(1, 4, 5, 16)
top_left = F.scaled_dot_product_attention(q, k, v, is_causal=True)
lower_right = F.scaled_dot_product_attention(q, k, v, attn_mask=causal_lower_right(2, 5))
mask = torch.ones(2, 5, dtype=torch.bool).tril(diagonal=5 - 2)
by_hand = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
print(mask.int())
print("lower right = by hand:", torch.allclose(lower_right, by_hand, atol=1e-6))
print("top left differs:     ", not torch.allclose(top_left, lower_right, atol=1e-3))
"""),
    Snippet(
        "gqa", "Fewer heads for K and V",
        "Grouped-query attention: here 8 query heads share 2 of K and V, four each. "
        "enable_gqa=True saves you the repeated copy.",
        TORCH + """
q = torch.randn(1, 8, 128, 64)
k, v = torch.randn(1, 2, 128, 64), torch.randn(1, 2, 128, 64)
o = F.scaled_dot_product_attention(q, k, v, enable_gqa=True)
many_k, many_v = (x.repeat_interleave(4, dim=1) for x in (k, v))
same = F.scaled_dot_product_attention(q, many_k, many_v)
print("the same:", torch.allclose(o, same, atol=1e-5))
"""),
    Snippet(
        "flex", "A mask of your own: flex_attention",
        "You write which key a query sees; a block mask skips the tiles where none is seen. "
        "Under torch.compile it becomes one fused kernel. Called plainly, as here, it computes "
        "the whole of S and warns so: right, but slow.",
        TORCH + """\
from torch.nn.attention.flex_attention import create_block_mask, flex_attention

def causal(batch, head, query, key):
    return key <= query

q, k, v = (torch.randn(1, 2, 256, 16) for _ in range(3))
tiles = create_block_mask(causal, None, None, 256, 256, device="cpu", BLOCK_SIZE=64)
print(tiles.to_string())  # the map of tiles: six of sixteen are skipped
o = flex_attention(q, k, v, block_mask=tiles)  # torch.compile(flex_attention) on a GPU
same = F.scaled_dot_product_attention(q, k, v, is_causal=True)
print("the same:", torch.allclose(o, same, atol=1e-5))
"""),
    Snippet(
        "profiler", "Which kernels ran, and for how long",
        "Runs on a CPU; with a GPU its kernels and their times are listed too. The rows "
        "are nested: the hand-made version runs bmm, div, softmax and bmm one after the other, "
        "under SDPA one fused operator does the work.",
        TORCH + """\
from torch.profiler import ProfilerActivity, profile

device = "cuda" if torch.cuda.is_available() else "cpu"
kinds = [ProfilerActivity.CPU] + [ProfilerActivity.CUDA] * (device == "cuda")
dtype = torch.float16 if device == "cuda" else torch.float32
q, k, v = (torch.randn(1, 8, 512, 64, device=device, dtype=dtype) for _ in range(3))
for _ in range(2):  # the first round is for warming up
    with profile(activities=kinds, profile_memory=True) as seen:
        F.scaled_dot_product_attention(q, k, v)
        torch.softmax(q @ k.transpose(-1, -2) / 64**0.5, dim=-1) @ v
print(seen.key_averages().table(sort_by=f"self_{device}_time_total", row_limit=10))
"""),
    Snippet(
        "memory", "Peak memory",
        "Needs an NVIDIA GPU. Beside its inputs the hand-made version holds S and P, N × N each; "
        "the fused one holds O and one number a row.",
        TORCH + """
q, k, v = (torch.randn(1, 16, 4096, 64, device="cuda", dtype=torch.float16) for _ in range(3))

def peak_mib(function):
    torch.cuda.reset_peak_memory_stats()
    before = torch.cuda.memory_allocated()
    function()
    return (torch.cuda.max_memory_allocated() - before) / 2**20

print("naive", peak_mib(lambda: torch.softmax(q @ k.transpose(-1, -2) / 8, dim=-1) @ v), "MiB")
print("SDPA ", peak_mib(lambda: F.scaled_dot_product_attention(q, k, v)), "MiB")
""", needs="gpu"),
    Snippet(
        "timing", "Time it properly",
        "Needs an NVIDIA GPU. A launch returns at once, so a clock in Python times nothing: use "
        "CUDA events. Warm up, empty the L2 cache before each run, take the median of many.",
        "import statistics\n" + TORCH + """
q, k, v = (torch.randn(1, 16, 4096, 64, device="cuda", dtype=torch.float16) for _ in range(3))
flush = torch.empty(256 * 2**20, dtype=torch.uint8, device="cuda")  # more than any L2

def one_ms(function):
    start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    flush.zero_()  # also keeps the GPU busy while Python launches
    start.record()
    function()
    end.record()
    torch.cuda.synchronize()
    return start.elapsed_time(end)

times = [one_ms(lambda: F.scaled_dot_product_attention(q, k, v)) for _ in range(60)][10:]
flops = 4 * 16 * 4096**2 * 64  # 4 · B · H · N² · d
ms = statistics.median(times)
print(f"{ms:.3f} ms, {flops / ms / 1e9:.0f} TFLOP/s")
""", needs="gpu"),
    Snippet(
        "ours", "This app's kernel beside SDPA",
        "Run it in this app's folder. Without a GPU the Triton kernel runs in Triton's "
        "interpreter: set the variable before the import.",
        "import os\n" + TORCH + """
device = "cuda" if torch.cuda.is_available() else "cpu"
if device == "cpu":
    os.environ["TRITON_INTERPRET"] = "1"
from kernels import flash_attention

q, k, v = (torch.randn(1, 2, 100, 32, device=device) for _ in range(3))
o, lse = flash_attention(q, k, v, causal=True, block_m=32, block_n=32, return_lse=True)
sdpa = F.scaled_dot_product_attention(q, k, v, is_causal=True)
print("largest difference", (o - sdpa).abs().max().item())
"""),
    Snippet(
        "error", "Is the error right? Ask float64",
        "Two fp16 results differ in their last bits, and neither is the truth. Compare both with "
        "float64 of the same inputs: a good kernel errs at most twice as much as plain attention "
        "in the same format, plus the rounding of its output.",
        TORCH + """
def plain(q, k, v):
    return torch.softmax(q @ k.transpose(-1, -2) / q.shape[-1] ** 0.5, dim=-1) @ v

torch.manual_seed(0)
q, k, v = (torch.randn(1, 4, 256, 64).half() for _ in range(3))
truth = plain(q.double(), k.double(), v.double())
error = (F.scaled_dot_product_attention(q, k, v) - truth).abs().max().item()
naive = (plain(q, k, v) - truth).abs().max().item()
rounding = truth.abs().max().item() * torch.finfo(torch.float16).eps / 2
print(f"SDPA {error:.1e}, plain {naive:.1e}, allowed {2 * naive + rounding:.1e}")
assert error <= 2 * naive + rounding
"""),
    Snippet(
        "transformers", "Transformers: attn_implementation",
        "Needs the package transformers (5.17 was tried). sdpa is the usual default; eager "
        "computes S and P in plain operators and is the one that can return them; "
        "flash_attention_2 needs the package flash-attn (or the package kernels, which fetches a "
        "build), a GPU and fp16 or bf16. "
        "from_pretrained takes the same argument.",
        """\
import torch
from transformers import AutoModelForCausalLM, LlamaConfig

config = LlamaConfig(hidden_size=64, intermediate_size=128, num_hidden_layers=2, vocab_size=100,
                     num_attention_heads=4, num_key_value_heads=2)
model = AutoModelForCausalLM.from_config(config, attn_implementation="sdpa").eval()
tokens = torch.arange(12)[None]
with torch.no_grad():
    sdpa = model(tokens).logits
    model.set_attn_implementation("eager")  # or "flash_attention_2"
    eager = model(tokens).logits
print("the same:", torch.allclose(sdpa, eager, atol=1e-4))
""", needs="transformers"),
    Snippet(
        "vllm", "vLLM: attention_backend",
        "Needs the package vllm and a GPU; as vLLM 0.25 documents it, not run by us. Without the "
        "argument vLLM chooses for your GPU and model. The environment variable "
        "VLLM_ATTENTION_BACKEND of older texts was deprecated by 0.13; version 0.26 ignores it "
        "without a word (vLLM issue 50292).",
        """\
from vllm import LLM, SamplingParams

# on the command line: vllm serve Qwen/Qwen3-0.6B --attention-backend FLASH_ATTN
llm = LLM(model="Qwen/Qwen3-0.6B", attention_backend="FLASH_ATTN")
answers = llm.generate(["Attention is"], SamplingParams(max_tokens=16))
print(answers[0].outputs[0].text)
""", needs="vllm"),
)  # fmt: skip
