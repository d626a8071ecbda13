"""Is what a method computed right, and are its tiles the picture's? In the worker only."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import torch

import kernels
from explainer.base.formats import FORMATS
from explainer.engine import admission
from explainer.engine.agreement import compare, tolerance
from explainer.engine.results import A_DECADE, HIGHEST, LOWEST, Histogram, Same
from explainer.problem import Problem
from explainer.trace import trace
from kernels.masks import Mask

BINS = (HIGHEST - LOWEST) * A_DECADE
Heads = list[tuple[int, int]]


class Truth:
    """Float64 attention of the judged heads, and naive attention's error on them."""

    def __init__(self, q, k, v, mask: Mask, heads: Heads, with_naive: bool) -> None:
        self.heads, self.o, self.lse = heads, [], []
        naive = []
        for b, h in heads:
            part = [x[b : b + 1, h : h + 1] for x in (q, k, v)]
            o, lse = kernels.reference_attention(*part, mask=str(mask))
            self.o.append(o[0, 0])
            self.lse.append(lse[0, 0])
            if with_naive:
                naive.append(kernels.naive_attention(*part, mask=str(mask))[0, 0])
        self.largest = max(o.abs().max().item() for o in self.o)
        self.naive_error = self._worst(naive) if naive else None

    def _worst(self, outputs: list[torch.Tensor]) -> float:
        pairs = zip(outputs, self.o, strict=True)
        return max((o.double() - truth).abs().max().item() for o, truth in pairs)

    def judge(self, problem: Problem, name: str, o: torch.Tensor, lse: torch.Tensor | None) -> dict:
        """Errors of O (B, H, N, d) on the judged heads, and the rule of flash-attention's tests.

        Allowed: twice naive attention's error in the same dtype, plus what rounding O may cost.
        """
        differences = [
            o[b, h].double() - truth for (b, h), truth in zip(self.heads, self.o, strict=True)
        ]
        flat = torch.cat([x.flatten() for x in differences])
        error = flat.abs().max().item()
        unit = FORMATS[problem.dtype].unit_roundoff
        visits = problem.Tc**0.5 if name == "fa1" else 1.0  # FA-1 rounds O at every visit
        slack = 2 * (unit * visits + tolerance(problem)) * self.largest
        base = self.naive_error if self.naive_error is not None else unit * self.largest
        allowed = slack + 2 * base
        found = {
            "error": error,
            "relative": error / self.largest if self.largest else 0.0,
            "bias": flat.mean().item(),
            "allowed": allowed,
            "right": bool(error <= allowed),
            "histogram": _histogram(flat.abs()),
        }
        if lse is not None:
            found["lse_error"] = max(
                (lse[b, h].double() - truth).abs().max().item()
                for (b, h), truth in zip(self.heads, self.lse, strict=True)
            )
        return found


def _histogram(sizes: torch.Tensor) -> Histogram:
    positive = sizes[sizes > 0]
    place = ((positive.log10() - LOWEST) * A_DECADE).floor().clamp(0, BINS - 1).long()
    counts = torch.bincount(place, minlength=BINS).tolist()
    return {"exact": int((sizes == 0).sum()), "counts": counts}


def agreement(
    problem: Problem, name: str, q, k, v, o: torch.Tensor, watched: Callable
) -> Same | None:
    """The kernel's m and l of every tile of head (0, 0) against the picture's; None if too many.

    Standard attention, which has none, is compared by its O. ``watched(function, stage)`` runs a
    kernel so that its progress is seen.
    """
    problem = replace(problem, order=name)
    if name == "standard":
        return _same_output(problem, o)
    if not admission.can_compare_tiles(problem):
        return None
    head = [x[:1, :1] for x in (q, k, v)]
    blocks = {"block_m": problem.block_q, "block_n": problem.block_k}

    def kernel():
        return kernels.tile_states(*head, mask=str(problem.mask), order=name, **blocks)

    def direct():
        pair = kernels.reference_states(*head[:2], mask=str(problem.mask), **blocks)
        return tuple(x[0, 0].numpy() for x in pair)

    m, l = (x[0, 0].cpu().numpy() for x in watched(kernel, "tile states"))
    return compare(problem, m, l, direct)


def _same_output(problem: Problem, o: torch.Tensor) -> Same | None:
    try:
        traced = trace(problem)
    except ValueError:
        return None
    error = float(abs(o[0, 0].float().cpu().numpy() - traced.O).max())
    unit = FORMATS[problem.dtype].unit_roundoff
    allowed = (4 * unit + tolerance(problem)) * float(abs(traced.V).max())
    return {"against": "O", "o_error": error, "tolerance": allowed, "agrees": error <= allowed}
