"""A small language model trained twice from one seed, with `kernels.attention` and with PyTorch's
SDPA: `python -m kernels.measure.training FILE` writes both loss curves.

A causal transformer that predicts the next character of this project's LICENSE. Only attention
differs between the runs: weights, batches and optimizer are the same. On a GPU heads have d = 64,
which the fastest kernels take. Without one it needs TRITON_INTERPRET=1, computes in fp32, is
smaller, and takes five minutes.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

import torch
from torch import nn
from torch.nn import functional

import kernels

from ..checks import DTYPES

TEXT = Path(__file__).resolve().parents[2] / "LICENSE"
SEED = 0
Attend = Callable[..., Any]  # q, k and v to O (B, H, N, d) of causal attention


@dataclass(frozen=True)
class Sizes:
    """Of the model, its batches and AdamW's steps; ``width`` is heads · d."""

    layers: int = 2
    width: int = 128
    heads: int = 2
    length: int = 256
    batch: int = 32
    rate: float = 1e-3  # at 3e-3 two runs of one attention end as far apart as those of two


SMALL = Sizes(width=64, heads=4, length=128, batch=2, rate=3e-3)


ATTENTIONS: dict[str, Attend] = {
    "kernels.attention": lambda q, k, v: kernels.attention(q, k, v, causal=True),
    "PyTorch SDPA": partial(functional.scaled_dot_product_attention, is_causal=True),
}


class Block(nn.Module):
    """Attention and a perceptron, each on a residual path behind a layer norm."""

    def __init__(self, sizes: Sizes, attend: Attend) -> None:
        super().__init__()
        self.heads, self.attend, wide = sizes.heads, attend, sizes.width
        self.norms = nn.ModuleList(nn.LayerNorm(wide) for _ in range(2))
        self.qkv, self.out = nn.Linear(wide, 3 * wide), nn.Linear(wide, wide)
        self.mlp = nn.Sequential(nn.Linear(wide, 4 * wide), nn.GELU(), nn.Linear(4 * wide, wide))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        parts = self.qkv(self.norms[0](x)).unflatten(-1, (3, self.heads, -1))
        q, k, v = parts.permute(2, 0, 3, 1, 4)  # each (B, H, N, d)
        x = x + self.out(self.attend(q, k, v).transpose(1, 2).flatten(2))
        return x + self.mlp(self.norms[1](x))


class Model(nn.Module):
    """Characters (B, N) to the scores of the next ones (B, N, characters)."""

    def __init__(self, characters: int, sizes: Sizes, attend: Attend) -> None:
        super().__init__()
        self.tokens = nn.Embedding(characters, sizes.width)
        self.places = nn.Parameter(0.02 * torch.randn(sizes.length, sizes.width))
        self.blocks = nn.Sequential(*(Block(sizes, attend) for _ in range(sizes.layers)))
        self.last = nn.Sequential(nn.LayerNorm(sizes.width), nn.Linear(sizes.width, characters))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.last(self.blocks(self.tokens(x) + self.places))


def losses(
    attend: Attend, steps: int, sizes: Sizes, dtype: torch.dtype, device: str
) -> list[float]:
    """Return the loss before each of ``steps`` updates, in nats per character.

    The products run in ``dtype``, by autocast where that is not fp32; the weights stay fp32.
    """
    torch.manual_seed(SEED)
    text = TEXT.read_text(encoding="utf-8")
    letters = sorted(set(text))
    data = torch.tensor([letters.index(c) for c in text])
    model = Model(len(letters), sizes, attend).to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=sizes.rate)
    window, found = torch.arange(sizes.length + 1), []
    for _ in range(steps):
        starts = torch.randint(len(data) - sizes.length, (sizes.batch, 1))
        batch = data[starts + window].to(device)
        with torch.autocast(device, dtype, enabled=dtype != torch.float32):
            scores = model(batch[:, :-1])
        loss = functional.cross_entropy(scores.float().flatten(0, 1), batch[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        found.append(loss.item())
    return found


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path)
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--dtype", choices=DTYPES, help="bf16 on a GPU, else fp32")
    args = parser.parse_args()
    works, why = kernels.available()
    if not works:
        raise SystemExit(why)
    from .recording import write_rows

    interpreted = kernels.INTERPRETED
    device, sizes = ("cpu", SMALL) if interpreted else ("cuda", Sizes())
    dtype = args.dtype or ("fp32" if interpreted else "bf16")
    environment = "TRITON_INTERPRET=1 " if interpreted else ""
    fields = {"device": "no GPU: Triton interpreter"} if interpreted else {}
    rows = []
    for name, attend in ATTENTIONS.items():
        curve = losses(attend, args.steps, sizes, DTYPES[dtype], device)
        rows.append({"attention": name, "losses": [round(x, 9) for x in curve]})
        print(f"{name}: {curve[0]:.4f} at first, {curve[-1]:.4f} at last", flush=True)
    write_rows(
        args.file, f"{environment}python -m kernels.measure.training FILE --dtype {dtype}", rows,
        **fields, dtype=dtype, seed=SEED, text=TEXT.name, sizes=asdict(sizes),
    )  # fmt: skip


if __name__ == "__main__":
    main()
