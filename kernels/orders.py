"""The functions that callers use: check the input, choose a configuration, launch."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from importlib import import_module

import torch
from triton.runtime.errors import OutOfResources

from . import gradients
from .checks import (
    check_device,
    check_dropout,
    check_options,
    check_score,
    check_sink,
    check_tensors,
    scale_of,
)
from .configs import SHARED_KIB, Config, card_of, choose, pad
from .forward import ForwardInputs, Run
from .launching import Calls, empty_result, on_device, without_warnings
from .spec import masks
from .spec.algorithms import ORDERS as KEYS

ORDERS = {key: import_module(f".{key}", __package__).prepare for key in KEYS}


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
    q (B, H, Nq, d), k and v (B, Hk, Nk, d) with Hk dividing H; fp16, bf16 or fp32; d 1 to 256; any
    strides. CUDA tensors run on the GPU, CPU tensors in Triton's interpreter when
    TRITON_INTERPRET=1 was set before import. `causal` is aligned bottom-right: row m sees the keys
    n ≤ m + Nk − Nq; a row that sees none gives 0 and lse = −inf. `mask` is the text of any mask of
    masks.py, such as "causal&window:256,0"; `score` of scores.py, such as "softcap:30", what
    becomes of the scaled scores; `sink` a logit without a value that belongs to each row's softmax,
    a number or a tensor (H,). `scale` defaults to 1/√d.
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
    options = causal, mask, scale, order, block_m, block_n, precision
    if not gradients.wanted(q, k, v, sink):
        o, lse = _run(q, k, v, sink, (*options, return_lse), score, dropout, seed)
        return (o, lse) if return_lse else o
    if dropout:
        raise ValueError(
            f"dropout = {dropout} is not allowed where a gradient is recorded: the backward pass "
            "has none; call it under torch.no_grad(), or detach q, k and v."
        )
    how = {
        "causal": causal, "mask": mask, "score": score, "scale": scale, "block_m": block_m,
        "block_n": block_n, "precision": precision, "deterministic": deterministic,
    }  # fmt: skip
    run = partial(_run, options=(*options, True), score=score)
    o, lse = gradients.Recorded.apply(q, k, v, sink, run, how)
    return (o, lse) if return_lse else o


def _run(q, k, v, sink, options, score, dropout=0.0, seed=0):
    """O and lse, by the call that is kept for such input."""
    try:
        if score is None and sink is None and dropout == 0:
            return _calls(q, k, v, *options)
        check_tensors(q, k, v)
        sink = None if sink is None else check_sink(sink, q)
        return _calls(q, k, v, *options, score, sink is not None, dropout, seed, sink=sink)
    except OutOfResources as error:
        config = config_for(q, *options[4:6])
        raise _too_large(q, config, error) from error


def tile_states(
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
) -> tuple[torch.Tensor, torch.Tensor]:
    """m and l of every row after every tile, from the same kernel compiled with its trace flag.

    Arguments as `flash_attention`. Returns m and l, fp32, natural units, each
    (B, H, Tr, Tc, block_m), NaN where the tile is skipped and where the row is beyond Nq.
    Raises ValueError for order "standard", which keeps no running m and l.
    """
    if order == "standard":
        raise ValueError("order = 'standard' has no tile states: it keeps no running m and l.")
    sinks = () if sink is None else (check_sink(sink, q),)
    inputs = _inputs(
        q, k, v, causal, mask, scale, order, block_m, block_n, score=score, has_sink=bool(sinks),
        keep_lse=False,
    )  # fmt: skip
    config = inputs.config
    tiles = -(-q.shape[2] // config.block_m), -(-k.shape[2] // config.block_n), config.block_m
    states = torch.full((2, *q.shape[:2], *tiles), float("nan"), device=q.device)
    if states.numel():
        call = without_warnings(ORDERS[order](replace(inputs, states=states)))
        try:
            on_device(call, q, k, v, *sinks)
        except OutOfResources as error:
            raise _too_large(q, config, error) from error
    return states[0], states[1]


def _inputs(
    q, k, v, causal, mask, scale, order, block_m, block_n, precision="ieee", score=None, **more
) -> ForwardInputs:  # fmt: skip
    """Return the inputs of an algorithm after every check of the tensors and of these options."""
    check_tensors(q, k, v)
    check_options(order, tuple(ORDERS), block_m, block_n, precision)
    check_device(q.device)
    scale = scale_of(scale, q.shape[-1])
    config, parsed = config_for(q, block_m, block_n), masks.from_keywords(causal, mask)
    return ForwardInputs(q, k, v, parsed, scale, config, precision, check_score(score), **more)


def prepare(
    q, k, v, causal=False, mask=None, scale=None, order="fa2",
    block_m=None, block_n=None, precision="ieee", keep_lse=True, score=None, has_sink=False,
    dropout=0.0, seed=0,
) -> Run:  # fmt: skip
    """Return a function of (q, k, v), with `has_sink` of (q, k, v, sink), to O and lse for these
    options and tensors like these; arguments and errors as `flash_attention`. All checks but that
    of a sink are here: `launching.Calls` asks once for such input."""
    inputs = _inputs(
        q, k, v, causal, mask, scale, order, block_m, block_n, precision, score,
        has_sink=has_sink, dropout=(dropout, seed), keep_lse=keep_lse,
    )  # fmt: skip
    check_dropout(dropout, seed)
    if 0 in q.shape or 0 in k.shape:
        return empty_result
    return without_warnings(ORDERS[order](inputs))


def _too_large(q, config: Config, error: OutOfResources) -> RuntimeError:
    return RuntimeError(
        f"block_m = {config.block_m} and block_n = {config.block_n} do not fit this GPU at "
        f"d = {q.shape[-1]}: {error.name} needed {error.required:,}, limit {error.limit:,}."
    )


_calls = Calls(prepare)


def config_for(q: torch.Tensor, block_m: int | None = None, block_n: int | None = None) -> Config:
    """The configuration that `flash_attention` runs for this q (B, H, Nq, d) on its device.

    Raises ValueError for blocks that cannot fit; others may still fail to, once compiled.
    """
    arch = card_of(q.device)
    config = choose(arch, q.shape[-1], q.element_size(), block_m, block_n)
    largest = pad(max(config.block_m, config.block_n)) * pad(q.shape[-1]) * q.element_size()
    if (
        arch in SHARED_KIB and largest > SHARED_KIB[arch] * 1024
    ):  # compiling such a tile can take minutes
        raise ValueError(
            f"block_m = {config.block_m} and block_n = {config.block_n} do not fit this GPU at "
            f"d = {q.shape[-1]}: one tile takes {largest:,} bytes, a program may use "
            f"{SHARED_KIB[arch] * 1024:,}."
        )
    return config
