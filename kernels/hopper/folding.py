"""Fold a score and a sink into numbers of the Hopper kernel's own arithmetic."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch

from ..spec import scores

LOG2E = math.log2(math.e)


@dataclass(frozen=True)
class Folded:
    """The arguments of `hopper_kernel` for scores.

    scale_log2: of the result of `variants.altered`, times log2 e. slopes (H,) fp32, of ALiBi
    in units of Q Kᵀ, or None. sinks (H,) fp32, logits, or None. inner: σ(2 s/c) of a soft cap is
    1 / (1 + 2^(inner · Q Kᵀ)).
    """

    scale_log2: float
    slopes: torch.Tensor | None
    sinks: torch.Tensor | None
    inner: float

    @property
    def rest(self) -> tuple:
        """All fields but the scale, in the kernel's order."""
        return self.slopes, self.sinks, self.inner


def kind(score: scores.Score) -> str | None:
    """Return "none", "softcap" or "alibi", by which the kernel computes this score; None if it does
    not."""
    names = [name for name, _ in score.steps if name != "scale"]
    positive = all(numbers[0] > 0 for name, numbers in score.steps if name == "scale")
    if not positive or len(names) > 1 or names not in ([], ["softcap"], ["alibi"]):
        return None
    return names[0] if names else "none"


def sinks(sink: float | Sequence[float] | None, heads: int) -> list[float] | None:
    """Return a sink's logit by head. Raises ValueError with one sentence for what is none."""
    if sink is None:
        return None
    found = [float(sink)] * heads if isinstance(sink, (int, float)) else [float(x) for x in sink]
    if len(found) != heads or not all(map(math.isfinite, found)):
        raise ValueError(
            f"sink = {str(sink)[:40]} is not allowed: a finite number, or one for each of "
            f"{heads} heads."
        )
    return found


def fold(score: scores.Score, sink, scale: float, heads: int, device: torch.device) -> Folded:
    """Return the kernel's arguments for this score, of a `kind`, and this sink; scale > 0."""
    outer, slopes, inner = scale, None, 0.0
    for name, numbers in score.steps:
        if name == "scale":
            outer *= numbers[0]
        elif name == "softcap":  # c·tanh(s/c) = 2c·σ(2 s/c) − c
            inner, outer = -2.0 * LOG2E * outer / numbers[0], 2.0 * numbers[0]
        else:
            slopes = [scores.slope(head, heads) / outer for head in range(heads)]
    slopes, logits = (
        None if x is None else torch.tensor(x, dtype=torch.float32, device=device)
        for x in (slopes, sinks(sink, heads))
    )
    return Folded(outer * LOG2E, slopes, logits, inner)
