"""Said often: what holds and what does not, each with its demonstration or its source."""

from __future__ import annotations

from explainer.base import records
from explainer.base.cards import CARDS
from explainer.learn import claim_costs as costs
from explainer.learn import claim_demos as demos
from explainer.learn.blocks import Control, Widget
from explainer.learn.content import Claim
from explainer.learn.wild import speed_ratio

FA1 = "FlashAttention, arXiv 2205.14135"
FA2 = "FlashAttention-2, arXiv 2307.08691"
FA3 = "FlashAttention-3, arXiv 2407.08608"
HERE = "computed here"

CLAIMS = (
    Claim(
        "exact",
        "FlashAttention is exact attention, not an approximation.",
        True,
        "In real arithmetic it is the same formula in another order. Only rounding differs, and "
        "with more digits the difference goes away.",
        "claim_exact",
        f"{FA1}, Theorem 1; {HERE}",
    ),
    Claim(
        "bits",
        "FlashAttention's result is bit-identical to standard attention.",
        False,
        "Sums in another order round in another way. In fp32 most outputs differ in a last bit, "
        "and both ways are about equally near the truth.",
        "claim_bits",
        HERE,
    ),
    Claim(
        "history",
        "Online softmax has been known since the 1960s.",
        False,
        "Milakov and Gimelshein published it in 2018; Rabe and Staats used it for attention in "
        "2021. Welford's running variance of 1962 is a cousin, not the same.",
        "",
        "Milakov & Gimelshein, arXiv 1805.02867; Rabe & Staats, arXiv 2112.05682",
    ),
    Claim(
        "io",
        "FlashAttention reduces memory traffic from O(N²) to O(N).",
        False,
        "Extra memory is O(N). Traffic stays quadratic, Θ(N²d²/M): double a large N and it "
        "quadruples. The factor in front of N² is what shrinks.",
        "claim_io",
        f"{FA1}, Theorem 2; bytes {HERE}",
    ),
    Claim(
        "memory",
        "FlashAttention's extra memory grows with N, not with N².",
        True,
        "Off chip it keeps one number a row, lse. S and P never leave the chip. Double N and the "
        "extra memory doubles; for standard attention it quadruples.",
        "claim_kept",
        f"{FA1}, Theorem 1; {HERE}",
    ),
    Claim(
        "trips",
        "K and V make one round trip to memory in all.",
        False,
        "They are read once for every row block: Tr times in all. A larger Br means fewer "
        "readings. The L2 cache may serve most of them.",
        "claim_trips",
        f"{FA2}, Algorithm 1; bytes {HERE}",
    ),
    Claim(
        "overflow",
        "exp overflows above 88, in fp16 too.",
        False,
        "88.7 belongs to fp32 and bf16, which have 8 exponent bits. fp16 has 5: its exp overflows "
        "above 11.09.",
        "claim_overflow",
        HERE,
    ),
    Claim(
        "sram",
        "An A100 has 20 MB of SRAM for the tiles.",
        False,
        "That is 192 KiB times 108 SMs. One thread block sees one SM, and of it at most 163 KiB. "
        "M in the paper's formulas is per SM.",
        "claim_sram",
        f"Ampere architecture whitepaper; {CARDS['a100'].source}",
    ),
    Claim(
        "flops",
        "FlashAttention is fast because it does fewer FLOPs.",
        False,
        "The products are the same. Rescaling adds a little, dividing O in place of P takes a "
        "little away, and backward computes S again: a quarter more products. Bytes are saved.",
        "claim_flops",
        f"{FA1}, section 1; operations counted here",
    ),
    Claim(
        "kept",
        "FlashAttention keeps 32 KB instead of 64 MB per head.",
        False,
        "This compares tiles on chip with a matrix off chip. Any kernel has tiles. Off chip it is "
        "S and P against lse, and that grows with N.",
        "claim_kept",
        HERE,
    ),
    Claim(
        "bound",
        "Attention is memory-bound, full stop.",
        False,
        "The naive one is. A fused one on Hopper is held up by matrix units and exp: FA-3's paper "
        "counts 3.9 T exponentials a second against 989 TFLOP/s of products.",
        "claim_bound",
        f"{FA3}, section 3; rates: {CARDS['h100'].source}",
    ),
    Claim(
        "fa3",
        "On Hopper, PyTorch's attention runs FlashAttention-3.",
        False,
        "The flash backend of scaled_dot_product_attention is FA-2. FA-3 must be installed and "
        "chosen. The cuDNN backend was {:.1f} to {:.1f} times as fast on an H200.".format(
            *speed_ratio()
        ),
        "",
        f"PyTorch, torch.nn.attention (activate_flash_attention_impl); {records.about()}",
    ),
    Claim(
        "order",
        "The key blocks may be visited in any order.",
        True,
        "m is a maximum and ℓ and O are sums; α keeps them on one scale. No order is special, "
        "and parts can even be computed apart and put together by lse.",
        "claim_order",
        HERE,
    ),
    Claim(
        "tf32",
        "With fp32 tensors, tensor cores compute in fp32.",
        False,
        "They take TF32: 10 mantissa bits of the operands, sums in fp32. In Triton, tl.dot does so "
        "by default; ask for ieee to get fp32.",
        "claim_tf32",
        f"Triton documentation, tl.dot (input_precision); {HERE}",
    ),
    Claim(
        "half",
        "Skipping masked tiles makes causal attention twice as fast.",
        False,
        "Tiles on the diagonal stay: (T + 1)/2T of the work for T tiles a side. It comes near ½ "
        "for large T; small N gains less.",
        "claim_half",
        f"tiles counted here; {FA2}, section 3.1",
    ),
    Claim(
        "padded",
        "Keys padded with zeros do no harm: zeros add nothing.",
        False,
        "Such a key scores 0, and exp(0 − m) enters ℓ. O becomes too small; when all true scores "
        "are far below 0, O is almost 0. The kernel of the course note does this.",
        "claim_padded",
        f"the course note's kernel (Day 24), its loop in NumPy; {HERE}",
    ),
    Claim(
        "minus",
        "Masking with −10⁹ is as good as −∞.",
        False,
        "A row that sees no key then returns an average of V. Where the true scores are lower "
        "still, the masked keys win. −∞ with a guard for ℓ = 0 gives O = 0.",
        "claim_minus",
        f"the course note's kernel (Day 24); {HERE}",
    ),
    Claim(
        "topleft",
        "The causal mask is the lower triangle, counted from the top left.",
        False,
        "Only when Nq = Nk. New queries stand at the end of the keys, so the last query must see "
        "the last key: the triangle is aligned bottom-right.",
        "claim_topleft",
        f"flash-attention, changelog of version 2.1; {HERE}",
    ),
)


def _choice(key: str, label: str, value: int | str, *allowed: int | str) -> Control:
    named = tuple((str(x), f"{x:,}" if isinstance(x, int) else x) for x in allowed)
    return Control(key, label, "choice", str(value), choices=named)


def _cards() -> Control:
    named = tuple((key, card.name) for key, card in CARDS.items())
    return Control("card", "Card", "choice", "h100", choices=named)


SEED = Control("seed", "Seed of the random numbers", "range", 0, 0, 20)

WIDGETS = (
    Widget("claim_exact", "The same, but for rounding", (
        _choice("n", "Length N", 256, 64, 256, 512),
        _choice("bc", "Key block Bc", 32, 8, 32, 64),
    ), demos.exact),
    Widget("claim_bits", "How many outputs agree in every bit", (
        _choice("n", "Length N", 256, 64, 256, 512), SEED,
    ), demos.bits),
    Widget("claim_io", "Bytes over N", (
        _choice("d", "Head dimension d", 64, 32, 64, 128),
        _choice("block", "Tile's side, Br = Bc", 64, 32, 64, 128, 256),
    ), costs.io),
    Widget("claim_kept", "On chip and off chip", (
        _choice("n", "Length N", 4096, 1024, 2048, 4096, 8192, 16384),
        _choice("block", "Tile's side, Br = Bc", 32, 16, 32, 64, 128),
    ), costs.kept),
    Widget("claim_trips", "How often K is read", (
        _choice("n", "Length N", 4096, 256, 1024, 4096, 16384),
    ), costs.trips),
    Widget("claim_overflow", "exp in every format", (
        Control("x", "Score x", "range", 12.0, 0.0, 100.0, 0.25),
    ), demos.overflow),
    Widget("claim_sram", "One SM and all SMs", (
        _choice("d", "Head dimension d", 64, 32, 64, 128, 256),
        _choice("dtype", "Precision", "fp16", "fp16", "bf16", "fp32"),
    ), costs.on_chip),
    Widget("claim_flops", "Operations, counted", (
        _choice("n", "Length N", 1024, 256, 1024, 4096),
        _choice("d", "Head dimension d", 64, 32, 64, 128),
        _choice("block", "Tile's side, Br = Bc", 64, 32, 64, 128),
    ), costs.flops),
    Widget("claim_bound", "Memory, products or exp", (
        _cards(),
        _choice("n", "Length N", 4096, 256, 1024, 4096, 16384),
        _choice("d", "Head dimension d", 64, 32, 64, 128, 256),
    ), costs.bound),
    Widget("claim_order", "Key blocks shuffled", (SEED,), demos.order),
    Widget("claim_tf32", "What the operands become", (
        _choice("d", "Head dimension d", 64, 16, 64, 256),
    ), demos.tf32),
    Widget("claim_half", "Tiles that causal skipping leaves", (
        Control("tiles", "Tiles a side, T", "range", 4, 1, 32),
    ), costs.half),
    Widget("claim_padded", "Padded keys in the sum", (
        _choice("n", "Length N", 65, 64, 65, 100, 128, 1023),
        _choice("block", "Block", 64, 16, 32, 64, 128),
        Control("data", "Scores", "choice", "random",
                choices=(("random", "random"), ("negative", "all far below 0"))),
        SEED,
    ), demos.padded),
    Widget("claim_minus", "A mask of −10⁹", (
        Control("masked", "Keys masked, of 4", "range", 4, 0, 4),
        Control("score", "Other scores", "choice", "1",
                choices=(("1", "1"), ("-2e9", "−2·10⁹"))),
    ), demos.hidden_keys),
    Widget("claim_topleft", "Two causal masks", (
        Control("nq", "Queries, Nq", "range", 2, 1, 8),
        Control("nk", "Keys, Nk", "range", 5, 1, 8),
    ), demos.top_left),
)  # fmt: skip
