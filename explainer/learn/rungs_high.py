"""The words of rungs 10 to 14: fusion, versions, recomputation, formats, when it does not help."""

from __future__ import annotations

from explainer.algorithms.traffic import requested
from explainer.learn.content import CHOICE, CLICK, NUMBER, ORDER, Question, Rung

ASKED_N, ASKED_D, ASKED_SIDE = 1024, (32, 64, 128), (16, 32, 64)  # rung 14's question, fp16


def loses(d: int, side: int) -> bool:
    """Whether FA-2 in square tiles moves more bytes than standard attention."""
    tiled = requested(ASKED_N, d, "full", "fp16", "fa2", side, side)
    return tiled > requested(ASKED_N, d, "full", "fp16", "standard", side, side)


FUSION = Rung(
    "fusion",
    "Kernel fusion",
    "A kernel reads its input from HBM and writes its result back. Three small kernels in a row, "
    "scale, mask, softmax, move the whole matrix three times each way, though each does only a few "
    "operations a number. Fused into one launch, a row is read once, stays on chip for all three, "
    "and is written once. FlashAttention goes further: it fuses the two matrix products as well, "
    "so that S and P are never written at all. The price: K and V are read again for every row "
    "block. So fusing does not always move less.",
    "fusion",
    Question(
        "fusion_ratio",
        NUMBER,
        "S has 1,024 × 1,024 numbers. Scale, causal mask (made from the indices, nothing is read "
        "for it) and softmax run as three launches. How many times fewer bytes does one fused "
        "launch move?",
        answer=3.0,
        tolerance=0.01,
        reasons=(
            "Three launches read and write S three times; the fused one reads and writes it once.",
            "Count reads and writes of S: each launch has one of either.",
        ),
    ),
    "n=16&d=8&br=4&bc=4&mask=full&order=standard&step=16&phase=load",
    "See S come back from HBM for the softmax",
)

VERSIONS = Rung(
    "versions",
    "FA-1 → FA-2 → FA-3",
    "All three compute the same sums. FA-1 walks keys outside, rows inside: O, m and ℓ of a row "
    "block go to HBM and back at every visit, O divided by ℓ each time. FA-2 swaps the loops: a "
    "row block stays on chip until it is done, one division at the end, and every row block is a "
    "program of its own. Inside a tile FA-1 splits the keys among its warps, which must exchange "
    "partial sums; FA-2 splits the queries, so they exchange nothing. FA-3 keeps FA-2's loops "
    "and makes loads, products and softmax overlap on Hopper.",
    "versions",
    Question(
        "versions_writes",
        CLICK,
        "No mask, several key blocks. Click every tensor whose row blocks FA-1 writes to HBM "
        "again and again, and FA-2 does not.",
        cells=(("Q", "K", "V"), ("O", "m", "ℓ")),
        answer=((1, 0), (1, 1), (1, 2)),
        reasons=(
            "FA-1 writes O, m and ℓ at every visit. FA-2 writes O and lse once.",
            "Q, K and V are only read. Which results does FA-1's inner loop leave half done?",
        ),
    ),
    "n=16&d=8&br=4&bc=4&mask=causal&order=fa1&step=6&phase=store",
    "See FA-1 write O, m and ℓ in the middle of its work",
)

RECOMPUTE = Rung(
    "recompute",
    "Recomputation for the backward pass",
    "The backward pass needs P. Standard attention keeps it, N × N numbers. FlashAttention keeps "
    "one number a row, lse = m + log ℓ, and computes any tile of P again when it is needed: "
    "P = exp(S − lse), with S = Q Kᵀ/√d from Q and K. No maximum, no sum, no second pass: lse "
    "already holds both. That is one product more: five in place of four, 10·N²·d FLOPs against "
    "the forward pass's 4·N²·d. More FLOPs, far fewer bytes.",
    "recompute",
    Question(
        "recompute_order",
        ORDER,
        "Tile (i, j) of the backward pass. dP = dO Vᵀ and D, the row sums of dO ∘ O, are there "
        "already. Order the lines and fill the gap.",
        options=(
            ("load Q_i, K_j and lse_i", "Nothing of S or P was kept: they start from Q and K."),
            ("S = Q_i K_jᵀ / √d", "The product that is computed a second time."),
            ("P = exp(S − ___)", "lse = m + log ℓ: subtracting it divides by ℓ as well."),
            ("dS = P ∘ (dP − D)", "The derivative of softmax needs P."),
            ("dQ_i = dQ_i + dS K_j / √d", "Last: it needs dS."),
        ),
        gaps=((2, ("m", "ℓ", "lse"), "lse"),),
        reasons=(
            "Each line uses what the one before it made.",
            "Ask of each line what it needs: dS needs P, P needs S, S needs Q and K.",
        ),
    ),
    "n=16&d=8&br=4&bc=4&mask=causal&order=fa2&step=9&phase=store",
    "See lse written with the last tile of a row block",
)

FORMATS = Rung(
    "formats",
    "Formats and matrix units",
    "Tensor cores multiply small matrices: one instruction takes m × k and k × n numbers and adds "
    "the product to m × n sums in fp32. From Volta's 8 × 8 × 4 it grew to Hopper's 64 × 256 × 16. "
    "Half the bits, twice the k: fp8 is twice as fast as fp16, fp16 twice as fast as TF32. There "
    "is no fp32: TF32 keeps fp32's range but 10 mantissa bits, and Triton's tl.dot uses it for "
    "fp32 unless told otherwise. Attention keeps m, ℓ and O in fp32 and rounds only what goes into "
    "a product.",
    "formats",
    Question(
        "formats_dot",
        CHOICE,
        "On a GPU since Ampere, q and k are fp32 tensors and a Triton kernel says tl.dot(q, k). "
        "How many mantissa bits of each number enter the product?",
        options=(
            ("23", "fp32 has 23, but by default they do not all enter."),
            (
                "10",
                "TF32 is the default: fp32's exponent, 10 mantissa bits. "
                'input_precision="ieee" asks for all 23.',
            ),
            ("7", "That is bf16. Nothing converts to it unasked."),
            ("3", "That is fp8 e4m3."),
        ),
        answer=1,
    ),
    "n=16&d=8&br=4&bc=4&mask=causal&order=fa2&dtype=bf16&step=3&phase=scores",
    "See a tile's scores with bf16 operands",
)

WHEN_NOT = Rung(
    "when_not",
    "When it does not help",
    "FlashAttention trades S and P, N² numbers each, for repeated reads of K and V. With small N "
    "or small tiles the trade is bad: FA-2 can move more than standard attention, and more than "
    "FA-1. In decoding there is one query: S is a single row, and K and V must be read anyway. "
    "With tiny heads the exponentials cost more time than the products. And in a short sequence "
    "attention is a small part of the layer: the weights rule. Measure before you choose. FLOPs "
    "hardly fall: the backward pass even computes S again.",
    "when_not",
    Question(
        "when_not_cells",
        CLICK,
        f"N = {ASKED_N:,}, fp16, no mask, square tiles. Click every case in which FA-2 moves more "
        "bytes than standard attention.",
        cells=tuple(
            tuple(f"d = {d}, tile {side} × {side}" for d in ASKED_D) for side in ASKED_SIDE
        ),
        answer=tuple(
            (row, col)
            for row, side in enumerate(ASKED_SIDE)
            for col, d in enumerate(ASKED_D)
            if loses(d, side)
        ),
        reasons=(
            "A score costs FA-2 about 2·d ÷ Br numbers, and standard attention 4. They balance "
            "near Br = d ÷ 2.",
            "Compare 2·d ÷ Br numbers a score, for K and V, with 4 for S and P.",
        ),
    ),
    "n=1024&d=64&br=32&bc=32&mask=full&order=fa1&step=745&mode=compare&clock=bytes",
    "Race the three orders by bytes, tiles of 32 × 32",
)

SYSTEMS = (FUSION, FORMATS, WHEN_NOT)
HISTORY = (VERSIONS, RECOMPUTE)
