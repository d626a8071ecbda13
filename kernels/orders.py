"""The algorithms by their keys: check the input, choose a configuration, launch."""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module
from typing import Any

import torch
from triton.runtime.errors import OutOfResources

from .checks import check_call, check_dropout, check_options, check_sink, check_tensors
from .configs import SHARED_KIB, Config, card_of, choose, pad
from .forward import ForwardInputs, Run
from .launching import Calls, empty_result, on_device, without_warnings
from .spec.algorithms import ORDERS as KEYS

ORDERS = {key: import_module(f".{key}", __package__).prepare for key in KEYS}


def run(q, k, v, sink, spans, options, score, dropout=0.0, seed=0):
    """O and lse, by the call that is kept for such input."""
    try:
        if score is None and sink is None and dropout == 0:
            return _calls(q, k, v, *options)
        check_tensors(q, k, v)
        more = () if sink is None else (check_sink(sink, q),)
        return _calls(q, k, v, *options, score, sink is not None, dropout, seed, more=more)
    except OutOfResources as error:
        config = config_for(q, *options[4:6])
        raise _too_large(q, config, error) from error


def tile_states(
    q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, *, order: str = "fa2",
    sink: float | torch.Tensor | None = None, **options: Any,
) -> tuple[torch.Tensor, torch.Tensor]:  # fmt: skip
    """m and l of every row after every tile, from the same kernel compiled with its trace flag.

    Arguments as `flash_attention`. Returns m and l, fp32, natural units, each
    (B, H, Tr, Tc, block_m), NaN where the tile is skipped and where the row is beyond Nq.
    Raises ValueError for order "standard", which keeps no running m and l.
    """
    if order == "standard":
        raise ValueError("order = 'standard' has no tile states: it keeps no running m and l.")
    sinks = () if sink is None else (check_sink(sink, q),)
    inputs = _inputs(q, k, v, order=order, has_sink=bool(sinks), keep_lse=False, **options)
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
    q, k, v, causal=False, mask=None, scale=None, order="fa2", block_m=None, block_n=None,
    precision="ieee", score=None, **more,
) -> ForwardInputs:  # fmt: skip
    """Return the inputs of an algorithm after every check of the tensors and of these options."""
    parsed, modified, scale = check_call(q, k, v, causal, mask, score, scale)
    check_options(order, tuple(ORDERS), block_m, block_n, precision)
    config = config_for(q, block_m, block_n)
    return ForwardInputs(q, k, v, parsed, scale, config, precision, modified, **more)


def prepare(
    q, k, v, causal=False, mask=None, scale=None, order="fa2",
    block_m=None, block_n=None, precision="ieee", keep_lse=True, score=None, has_sink=False,
    dropout=0.0, seed=0,
) -> Run:  # fmt: skip
    """Return a function as `forward.Run` says to O and lse for these options and tensors like
    these; arguments and errors as `flash_attention`. All checks but that of a sink and of spans,
    which `mask` = SPANS stands for, are here: `launching.Calls` asks once for such input."""
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
