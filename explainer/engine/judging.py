"""Is what a method computed right, and are its tiles the picture's? In the worker only."""

from collections.abc import Callable
from dataclasses import replace

import torch

import kernels
from explainer.algorithms.registry import ALGORITHMS
from explainer.base.texts import Texts
from explainer.engine import admission
from explainer.engine.agreement import compare, output_tolerance, tolerance
from explainer.engine.requests import STORE_S, YOURS
from explainer.engine.results import (
    A_DECADE,
    HIGHEST,
    LOWEST,
    SIGNED_N,
    SIGNED_VALUES,
    Figures,
    Histogram,
    Same,
    Signed,
    Terms,
    allowed_error,
)
from explainer.problem import Problem
from explainer.trace import trace
from kernels.checks import DTYPES
from kernels.measure.contenders import head_of
from kernels.reference import roundings
from kernels.spec.formats import FORMATS

t = Texts("engine")
BINS = (HIGHEST - LOWEST) * A_DECADE
Heads = list[tuple[int, int]]


FP32 = FORMATS["fp32"].unit_roundoff


class Truth:
    """Float64 attention of the judged heads, naive attention's error on them, and what rounding
    may do to them."""

    def __init__(self, q, k, v, problem: Problem, heads: Heads, with_naive: bool) -> None:
        rules = {**problem.rules, **problem.dropped}
        self.heads = heads
        outputs, naive, reaches = [], [], []
        for b, h in heads:
            part = head_of(q, k, v, b, h)
            how = {**rules, "of_heads": (h, q.shape[1], b)}
            outputs.append([x[0, 0] for x in kernels.reference_attention(*part, **how)])
            reaches.append(roundings(*part, **how))
            if with_naive:
                naive.append(kernels.naive_attention(*part, **how)[0, 0])
        self.o, self.lse = (torch.stack(x) for x in zip(*outputs, strict=True))
        self.largest = self.o.abs().max().item()
        self.reach = {key: max(r[key] for r in reaches) for key in reaches[0]}
        self.naive_error = None
        if naive:
            self.naive_error = (torch.stack(naive).double() - self.o).abs().max().item()

    def _judged(self, x: torch.Tensor) -> torch.Tensor:
        """Return a result's judged heads in float64, as the truth has them."""
        return torch.stack([x[b, h] for b, h in self.heads]).double()

    def judge(
        self, problem: Problem, name: str, o: torch.Tensor, lse: torch.Tensor | None
    ) -> Figures:
        """Errors of O (B, H, N, d) on the judged heads, and whether both rules allow them."""
        flat = (self._judged(o) - self.o).flatten()
        error = flat.abs().max().item()
        terms = self.terms(problem, name)
        allowed = allowed_error(terms)
        signed = self._signed(problem, name, flat)
        straight = not signed or signed["error"] <= signed["allowed"]
        found: Figures = {
            "error": error,
            "relative": error / self.largest if self.largest else 0.0,
            "bias": flat.mean().item(),
            "terms": terms,
            "allowed": allowed,
            "signed": signed,
            "right": bool(error <= allowed and straight),
            "histogram": histogram_of(flat.abs()),
        }
        if lse is not None:
            found["lse_error"] = _apart(self._judged(lse), self.lse)
        return found

    def terms(self, problem: Problem, name: str) -> Terms:
        """What the first rule allows, |O − truth| ≤ the sum of these; u is the unit roundoff of O's
        dtype: 2⁻²⁴ for fp32, 2⁻¹¹ for fp16, 2⁻⁸ for bf16.

        ``naive``: twice naive attention's error in the same dtype, the rule of flash-attention's
        tests. Where that error is not known (N × N does not fit), u·A stands in.

        ``rounding``: P and O are each rounded once, by at most u of themselves, which moves O by at
        most u·A, where A = max Σⱼ Pᵢⱼ|vⱼ|. FA-1 rounds O at every one of its Tc visits; the errors
        add up like a random walk, to √Tc.

        ``scores``: an error δᵢⱼ of the score (i, j) moves O by Σⱼ Pᵢⱼ δᵢⱼ (vⱼ − Oᵢ). In fp32, with
        u₃₂ = 2⁻²⁴ and σᵢⱼ = ‖qᵢ‖‖kⱼ‖/√d ≥ |Sᵢⱼ|: the partial sums of a product of unrelated vectors
        grow like √t, to σ/√d of themselves at the end, so rounding each of the d sums adds up to
        about u₃₂·σ; the scale (and log₂e) and the subtraction of m are one rounding of a number up
        to σ each; exp and the row's sum are good to a few u₃₂ of P. So δᵢⱼ = 3·u₃₂·(σᵢⱼ + 1).
        Methods that store S in 16 bits add δᵢⱼ = u·|Sᵢⱼ|.
        """
        unit = FORMATS[problem.dtype].unit_roundoff
        visits = _roundings(problem, name)
        largest = self.reach["weights"]
        scores = 3 * FP32 * self.reach["norms"]
        if name in (*STORE_S, YOURS) and unit > FP32:  # a learner's function may
            scores += unit * self.reach["scores"]
        naive = unit * largest if self.naive_error is None else self.naive_error
        return {
            "naive": 2 * naive,
            "rounding": (1 + visits) * unit * largest,
            "scores": scores,
        }

    def _signed(self, problem: Problem, name: str, flat: torch.Tensor) -> Signed | None:
        """The second rule: a mean error in the direction of O itself, b = Σ e·t / Σ t², t the
        truth, which many small errors of one sign add up to: a key too many makes O smaller, a
        truncated P as well. Roundings to nearest have no sign, so that b averages out:
        |b| ≤ u·(1/8 + 1/√(values of O)), for FA-1 √Tc times as much. What has one is the sum in a
        tensor core, truncated to fp32 after every 16 keys: 2⁻²⁴ of O each, N/16 times. And with
        dropout the largest weight of each row is 1/(1 − dropout), which rounds alike in all rows.

        None where it is not applied: with other data than random, or few values of O, the errors
        are not independent (equal rows round alike), and right kernels were seen at 1.7 times this;
        methods that store S and P round P after the division, and were seen at 2.1 times; in fp32
        the first rule is sharp enough.
        """
        truth = self.o.flatten()
        stores = name in (*STORE_S, YOURS)
        applies = problem.dtype != "fp32" and problem.inputs == "random" and not stores
        if not applies or problem.n < SIGNED_N or problem.n * problem.d < SIGNED_VALUES:
            return None
        unit = FORMATS[problem.dtype].unit_roundoff
        visits = _roundings(problem, name)
        keep_share = 1.0 - problem.dropout
        alike = (
            torch.tensor(1.0 / keep_share, dtype=DTYPES[problem.dtype]).double().item() * keep_share
            - 1.0
        )
        roundings = unit * visits * (1 / 8 + truth.numel() ** -0.5)
        return {
            "error": abs((flat @ truth).item() / (truth @ truth).item()),
            "allowed": roundings + abs(alike) + FP32 * problem.n / 16,
        }


def _roundings(problem: Problem, name: str) -> float:
    """By how much the errors of rounding O add up: √Tc where every visit rounds it, else 1."""
    rounds = name in ALGORITHMS and ALGORITHMS[name].output == "normalized"
    return problem.Tc**0.5 if rounds else 1.0


def _apart(a: torch.Tensor, b: torch.Tensor) -> float:
    """The largest difference; −∞, of a row that sees no key, is as far from −∞ as any number from
    itself."""
    return torch.where(a == b, 0.0, (a - b).abs()).max().item()


def histogram_of(sizes: torch.Tensor) -> Histogram:
    """Of sizes of errors, over the decades."""
    place = ((sizes[sizes > 0].log10() - LOWEST) * A_DECADE).floor().clamp(0, BINS - 1).long()
    counts = torch.bincount(place, minlength=BINS).tolist()
    return {"exact": int((sizes == 0).sum()), "counts": counts}


def agreement(
    problem: Problem, name: str, q, k, v, o: torch.Tensor, watched: Callable
) -> Same | None:
    """The kernel's m and l of every tile of the picture's head, in the first sequence of the batch,
    against the picture's; None if too many.

    Standard attention, which has none, is compared by its O. ``watched(function, stage)`` runs a
    kernel so that its progress is seen.
    """
    problem, h = replace(problem, order=name), problem.head
    if not ALGORITHMS[name].running:
        return _same_output(problem, o)
    if not admission.can_compare_tiles(problem):
        return None
    head = head_of(q, k, v, 0, h)
    if problem.score.by_head:  # where it stands among the others counts
        head = [x[:1] for x in (q, k, v)]
    at = h if problem.score.by_head else 0

    def kernel():
        return kernels.tile_states(*head, **problem.rules, order=name, **problem.blocks)

    def direct():
        m, l = kernels.reference_states(*head[:2], **problem.rules, **problem.blocks)
        return m[0, at].numpy(), l[0, at].numpy()

    m, l = (x[0, at].cpu().numpy() for x in watched(kernel, "tiles"))
    return compare(problem, m, l, direct)


def _same_output(problem: Problem, o: torch.Tensor) -> Same | None:
    try:
        traced = trace(problem)
    except ValueError:
        return None
    error = float(abs(o[0, problem.head].float().cpu().numpy() - traced.O).max())
    unit = FORMATS[problem.dtype].unit_roundoff
    allowed = output_tolerance(tolerance(problem), unit, traced.V) / (1 - problem.dropout)
    return {"against": "O", "o_error": error, "tolerance": allowed, "agrees": error <= allowed}
