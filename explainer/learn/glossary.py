"""The glossary: every symbol as it stands on the pages, and the words beside them, 40 at most."""

from __future__ import annotations

from dataclasses import asdict
from functools import lru_cache

from explainer.learn.content import Term

# key, symbol ("" for a word), name, words
_SYMBOLS = (
    ("N", "N", "sequence length", "How many rows Q, K and V have: one a token. S has N × N "
     "scores."),
    ("d", "d", "head dimension", "How many numbers a row of Q, K or V has, in one head. Often 64 "
     "or 128."),
    ("B", "B", "batch size", "How many sequences are computed at once. Each has its own "
     "attention."),
    ("H", "H", "number of heads", "How many independent attentions a layer has side by side. "
     "All B × H of them can run in parallel."),
    ("Br", "Br", "rows of a query block", "How many rows of Q a tile takes; the field block_q, "
     "in Triton BLOCK_M. Need not divide N, need not equal Bc."),
    ("Bc", "Bc", "keys of a key block", "How many rows of K and V a tile takes; the field "
     "block_k, in Triton BLOCK_N."),
    ("BLOCK_M", "BLOCK_M", "Br in a Triton kernel", "The compile-time number of query rows of a "
     "tile. The kernel pads it to a power of two of at least 16 and masks what is beyond."),
    ("BLOCK_N", "BLOCK_N", "Bc in a Triton kernel", "The compile-time number of keys of a tile. "
     "Padded keys are masked with −∞, so that they never enter the sum."),
    ("Tr", "Tr", "number of row blocks", "N / Br, rounded up. FA-2 gives each row block a "
     "program of its own."),
    ("Tc", "Tc", "number of key blocks", "N / Bc, rounded up. FA-1 loads each key block once; "
     "FA-2 loads it once for every row block."),
    ("i", "i", "index of the row block", "From 0 to Tr − 1. Tile (i, j) pairs row block i with "
     "key block j."),
    ("j", "j", "index of the key block", "From 0 to Tc − 1, in the order in which the keys are "
     "visited."),
    ("Q", "Q", "queries", "N × d. What each token looks for."),
    ("K", "K", "keys", "N × d. What each token is found by: a query's score is its dot product "
     "with a key."),
    ("V", "V", "values", "N × d. What each token gives: the output of a row is a weighted mean of "
     "rows of V."),
    ("S", "S", "scores", "Q Kᵀ / √d, with −∞ where the mask hides a key. N × N: standard "
     "attention writes it to HBM, FlashAttention holds one tile of it."),
    ("P", "P", "probabilities, or weights", "Standard attention: softmax of the rows of S. Inside "
     "a tile of FlashAttention: exp(S − m), not divided by ℓ yet."),
    ("O", "O", "output", "P V, N × d. In a Triton kernel the running value is called acc. FA-2 "
     "divides it by ℓ once, after the last key block."),
    ("m", "m", "running maximum", "The largest score of a row among the keys seen so far; m_i "
     "in Triton. m_old before a tile, m_new after it. Starts at −∞."),
    ("l", "ℓ", "running sum", "The sum of exp(S − m) of a row over the keys seen so far; l_i in "
     "Triton. l_old before a tile, l_new after it. Starts at 0."),
    ("alpha", "α", "rescaling factor", "exp(m_old − m_new), at most 1. What was summed under the "
     "old maximum is multiplied by it: ℓ, and the accumulated O."),
    ("lse", "lse", "log-sum-exp", "m + log ℓ, natural logarithm, one number a row. With it "
     "P = exp(S − lse) can be computed again, and parts of the keys combined. FA-1's paper keeps "
     "m and ℓ for that; its code already kept lse."),
    ("M", "M", "size of on-chip memory", "In the paper's bounds: how many numbers fit the SRAM "
     "that one thread block may use. Per SM, not summed over the card."),
)  # fmt: skip

_PHASES = (
    ("load", "", "phase load", "Blocks come from HBM: K and V of the tile; Q where the row block "
     "begins (FA-2) or at every visit (FA-1)."),
    ("scores", "", "phase scores", "S = Q Kᵀ / √d of the tile: the first of the two matrix "
     "products."),
    ("mask", "", "phase mask", "Scores of keys that the row must not see become −∞. A full tile "
     "needs no such step."),
    ("max", "", "phase max", "The tile's largest score of each row; m becomes the larger of it "
     "and the old m."),
    ("exp", "", "phase exp", "P = exp(S − m) and α = exp(m_old − m_new). No exponent is above 0, "
     "so nothing overflows."),
    ("sum", "", "phase sum", "ℓ = α ℓ + the sum of the row of P."),
    ("output", "", "phase output", "O = α O + P V: the second matrix product. FA-1 also divides "
     "by ℓ here, every time."),
    ("store", "", "phase store", "Results go to HBM: O and lse after the last key block (FA-2); "
     "O, m and ℓ at every visit (FA-1)."),
)  # fmt: skip

_IDEAS = (
    ("tile", "", "tile", "One pairing of a row block with a key block: Br × Bc scores, all of "
     "them on chip at once."),
    ("full", "", "full tile", "Every row of it sees every key: no mask is needed."),
    ("partial", "", "partial tile", "Crossed by the causal diagonal, or reaching beyond N: some "
     "of its scores are masked."),
    ("skipped", "", "skipped tile", "Wholly above the causal diagonal: never loaded, never "
     "computed."),
    ("causal", "", "causal mask", "Query r sees the keys up to r only. With T square tiles a side "
     "(T + 1)/2T of the tiles are computed: more than half."),
    ("softmax", "", "softmax", "exp of every number of a row, divided by the sum of them: "
     "positive weights that add up to 1."),
    ("safe-softmax", "", "safe softmax", "Softmax with the row's maximum subtracted first. The "
     "result is the same, and exp cannot overflow."),
    ("online-softmax", "", "online softmax", "Softmax of numbers that arrive block by block: keep "
     "m and ℓ, and rescale by α whenever the maximum rises (Milakov and Gimelshein, 2018)."),
    ("tiling", "", "tiling", "Cutting matrices into blocks that fit on chip, and finishing all "
     "work on a block while it is there."),
    ("fusion", "", "kernel fusion", "Doing several operations in one kernel, so that what lies "
     "between them never goes to HBM."),
    ("recomputation", "", "recomputation", "The backward pass computes S and P again, from Q, K "
     "and lse, rather than reading a stored N × N matrix."),
    ("standard", "", "standard attention", "Three kernels: S = Q Kᵀ / √d, softmax, P V. S and P "
     "are written to HBM and read back."),
    ("fa1", "", "FA-1", "FlashAttention (2022). Keys outside, rows inside; O, m and ℓ travel to "
     "HBM and back at every visit."),
    ("fa2", "", "FA-2", "FlashAttention-2 (2023). Rows outside, keys inside; a row block stays on "
     "chip until it is finished. Parallel over row blocks too."),
    ("fa3", "", "FA-3", "FlashAttention-3 (2024), for Hopper: FA-2's loops with TMA, producer and "
     "consumer warps, softmax overlapped with products, fp8."),
    ("sdpa", "", "SDPA", "scaled_dot_product_attention of PyTorch: one call, several backends "
     "behind it (flash, cuDNN, memory-efficient, math)."),
    ("cudnn", "", "cuDNN", "NVIDIA's library of neural-network kernels; one of SDPA's backends."),
    ("split-k", "", "split-K", "The warps of a tile share out its keys (FA-1). Each has a partial "
     "sum of O, which they exchange through shared memory."),
    ("split-q", "", "split-Q", "The warps of a tile share out its rows (FA-2). Each finishes its "
     "own rows and needs nothing from the others."),
    ("flash-decoding", "", "flash decoding", "One query, many keys: the keys are shared out among "
     "programs, and lse puts the parts together exactly."),
    ("gqa", "", "GQA", "Grouped-query attention: several query heads share one head of K and V, "
     "so the cache of keys and values is smaller."),
)  # fmt: skip

_MACHINE = (
    ("hbm", "", "HBM", "High-bandwidth memory: the card's large memory, off the chip. Tens of "
     "gigabytes, and slow beside what is on the chip."),
    ("l2", "", "L2 cache", "Tens of megabytes that all SMs share. It answers many requests to "
     "HBM, so DRAM moves fewer bytes than kernels request."),
    ("sram", "", "SRAM, shared memory", "Fast memory inside an SM, shared by the threads of one "
     "block: up to 227 KiB for a block on Hopper, 163 KiB on A100."),
    ("register", "", "register", "A thread's own 4 bytes, the fastest place. O, m, ℓ and the "
     "tile's scores live there."),
    ("spill", "", "spill", "A kernel wants more registers than a thread may have; the rest goes "
     "to memory and back. Slow."),
    ("sm", "", "SM", "Streaming multiprocessor: one of the card's processors, with its own "
     "registers, shared memory and matrix units. An H100 SXM has 132."),
    ("program", "", "program, thread block", "What Triton calls one instance of a kernel and CUDA "
     "a thread block: it runs on one SM and works on its own tile."),
    ("warp", "", "warp", "32 threads that execute together."),
    ("warpgroup", "", "warpgroup", "Four warps in a row, 128 threads: what Hopper's wgmma "
     "instruction needs."),
    ("occupancy", "", "occupancy", "Warps that an SM holds at once, as a share of the most it can "
     "hold. Registers and shared memory of a block limit it."),
    ("wave", "", "wave", "As many programs as the card holds at once. A launch takes its number "
     "of programs divided by that, rounded up."),
    ("tail", "", "tail", "The end of a launch, when too few programs are left to keep all SMs "
     "busy."),
    ("tensor-core", "", "tensor core", "A unit that multiplies small matrices in one instruction, "
     "many times faster than the ordinary units."),
    ("fp16", "", "fp16", "5 exponent bits, 10 of mantissa. Ends at 65,504; exp overflows above "
     "11.09."),
    ("fp32", "", "fp32", "8 exponent bits, 23 of mantissa. m, ℓ and the sums of the products are "
     "kept in it."),
    ("bf16", "", "bf16", "8 exponent bits, 7 of mantissa: fp32's range with fewer digits. exp "
     "overflows above 88.72."),
    ("fp8", "", "fp8", "8 bits: e4m3 (4 exponent bits, 3 of mantissa, to 448) or e5m2 (5 and 2, to "
     "57,344). Half of fp16's bytes, twice its rate, and a scale for each block of numbers."),
    ("logit", "", "logit", "A number that a softmax is taken of. In attention: a score."),
    ("tf32", "", "TF32", "fp32's 8 exponent bits with 10 of mantissa: what tensor cores make of "
     "fp32 operands. Triton's tl.dot uses it unless asked otherwise."),
    ("intensity", "", "arithmetic intensity", "Operations for each byte moved. Standard attention "
     "has little of it, a fused kernel much."),
    ("roofline", "", "roofline", "The bound on speed: the smaller of the peak rate and intensity "
     "times bandwidth (Williams, Waterman and Patterson, 2009)."),
    ("tma", "", "TMA", "Tensor Memory Accelerator, from Hopper on: one thread asks, and a whole "
     "tile is copied to shared memory while the warps compute."),
    ("wgmma", "", "wgmma", "Hopper's matrix instruction: a warpgroup multiplies, asynchronously, "
     "operands that may lie in shared memory."),
    ("ping-pong", "", "ping-pong", "FA-3's turn-taking: one warpgroup does softmax while the "
     "other has the matrix units, then they swap."),
    ("producer", "", "producer and consumer", "Warp specialisation: some warps only load tiles, "
     "the others only compute on them."),
)  # fmt: skip

TERMS = tuple(Term(*entry) for entry in (*_SYMBOLS, *_PHASES, *_IDEAS, *_MACHINE))
# How the pages write some of them beside their names.
_ALSO = {
    "Causal": "causal", "Standard": "standard", "logsumexp": "lse", "head dim": "d",
    "matrix unit": "tensor-core", "Matrix unit": "tensor-core", "multiprocessor": "sm",
    "DRAM": "hbm", "fp8 e4m3": "fp8", "e4m3": "fp8", "e5m2": "fp8", "score": "S",
}  # fmt: skip
# Names that mean something else as often: shown for a symbol beside them, never found in a text.
_TOO_PLAIN = {"weights", "values", "keys", "output", "index of the row block"}


@lru_cache(maxsize=1)
def spelled() -> dict[str, str]:
    """{as it stands in a text: key}: names, also at the beginning of a sentence, and symbols of two
    letters and more or of none that is Latin. One Latin letter is found everywhere, so a symbol is
    told by its surroundings (assets/js/site/terms.js)."""
    found: dict[str, str] = {}
    for term in TERMS:
        if len(term.symbol) > 1 or term.symbol in ("α", "ℓ"):
            found[term.symbol] = term.key
    for term in TERMS:
        for name in term.name.replace(" or ", "").split(","):
            name = name.strip()
            plain = name in _TOO_PLAIN or name.startswith("phase ")
            if plain or (term.symbol and " in a Triton" in name):
                continue
            found.setdefault(name, term.key)
            found.setdefault(name[0].upper() + name[1:], term.key)
    return found | _ALSO


def data() -> dict[str, object]:
    """What the browser looks words up in: ``terms`` and ``spelled``."""
    return {"terms": [asdict(term) for term in TERMS], "spelled": spelled()}
