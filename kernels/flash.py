"""`flash_attention`: attention by an algorithm and in tiles that the caller chooses."""

from __future__ import annotations

from functools import partial

import torch

from . import gradients
from .checks import check_options, is_traced, is_uneven, widen
from .dispatch import traced
from .orders import ORDERS, run


def flash_attention(
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    *,
    causal: bool = False,
    mask: str | None = None,
    score: str | None = None,
    sink: float | torch.Tensor | None = None,
    scale: float | None = None,
    order: str = "fa2",
    block_m: int | None = None,
    block_n: int | None = None,
    return_lse: bool = False,
    precision: str = "ieee",
    dropout: float = 0.0,
    seed: int = 0,
    deterministic: bool | None = None,
) -> torch.Tensor | tuple[torch.Tensor, torch.Tensor]:
    """Exact attention: O = softmax(scale · Q Kᵀ) V, computed tile by tile.

    `order` is the algorithm: "fa2" (rows outside, keys inside), "fa2_split" (the same with the keys
    in parts, combined by lse), "fa1" (keys outside, O, m, l in HBM) or "standard" (three kernels, S
    and P in HBM).
    q (B, H, Nq, d), k and v (B, Hk, Nk, d) with Hk dividing H; fp16, bf16 or fp32; d 1 to 256, of
    v also another; any strides. CUDA tensors run on the GPU, CPU tensors in Triton's interpreter
    when TRITON_INTERPRET=1 was set before import. `causal` is aligned bottom-right: row m sees the
    keys n ≤ m + Nk − Nq; a row that sees none gives 0 and lse = −inf. `mask` is the text of any
    mask of masks.py, such as "causal&window:256,0"; `score` of scores.py, such as "softcap:30",
    what becomes of the scaled scores; `sink` a logit without a value that belongs to each row's
    softmax, a number or a tensor (H,). `scale` defaults to 1/√d.
    `block_m` and `block_n` are Br and Bc, any number from 1 (None: the table of configs.py).
    `precision` is that of fp32 products: "ieee", "tf32" or "tf32x3" (the interpreter always
    computes true fp32). `dropout`: so many weights of P, on average, are 0 when they meet V, the
    others 1/(1 − dropout) times as large, by `seed` and position (dropout.py); lse is of all.
    Gradients of q, k, v and of a sink that is a tensor are recorded where PyTorch asks for them, of
    every order by FlashAttention-2's backward, by the same bits each time if `deterministic`; None
    asks torch.are_deterministic_algorithms_enabled() in the backward. Not with dropout.

    Returns O (B, H, Nq, d) in q's dtype; with `return_lse` also lse (B, H, Nq), fp32, natural log.
    Raises TypeError, ValueError or RuntimeError with one sentence for input that cannot run.
    """
    d_v = None
    if is_uneven(q, k, v):
        d_v = v.shape[-1]
        q, k, v, scale = widen(q, k, v, scale)
    options = causal, mask, scale, order, block_m, block_n, precision
    is_recorded = is_traced() or gradients.wanted(q, k, v, sink)
    if is_recorded and dropout:
        raise ValueError(
            f"dropout = {dropout} is not allowed where a gradient is recorded, nor under "
            "torch.compile and torch.vmap: call it under torch.no_grad(), or detach q, k and v."
        )
    if not is_recorded:
        o, lse = run(q, k, v, sink, None, (*options, return_lse), score, dropout, seed)
    elif is_traced():
        check_options(order, tuple(ORDERS), block_m, block_n, precision)
        rules = {"causal": causal, "mask": mask, "score": score, "scale": scale}
        tiling = f"{order},{block_m or ''},{block_n or ''},{precision}"
        o, lse = traced(q, k, v, sink, rules, deterministic, tiling=tiling)
    else:
        how = {
            "causal": causal, "mask": mask, "score": score, "scale": scale, "block_m": block_m,
            "block_n": block_n, "precision": precision, "deterministic": deterministic,
        }  # fmt: skip
        call = partial(run, options=(*options, True), score=score)
        o, lse = gradients.Recorded.apply(q, k, v, sink, None, call, how)
    o = o if d_v is None else o[..., :d_v]
    return (o, lse) if return_lse else o
