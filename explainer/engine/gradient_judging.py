"""Are the gradients of a method right, the same each time, and are its tiles the picture's? In the
worker only."""

from collections.abc import Callable

import torch

import kernels
from explainer.algorithms.inputs import make_gradient
from explainer.algorithms.registry import ALGORITHMS, RUN_BACKWARD
from explainer.base.fields import ProblemError
from explainer.base.texts import Texts
from explainer.engine import admission
from explainer.engine.gradient_agreement import NAMES, compare_gradients
from explainer.engine.judging import FP32, Heads, histogram_of
from explainer.engine.requests import STORE_S, RunRequest
from explainer.engine.results import Figures, Gradient, Repeat, Same, Terms, allowed_error
from kernels import gradients, hopper
from kernels.checks import DTYPES
from kernels.measure.contenders import NotAvailable
from kernels.reference import blind
from kernels.spec.formats import FORMATS

Grads = tuple[torch.Tensor, ...]
OURS = RUN_BACKWARD | {"hopper": "hopper"}  # method → which of `kernels.gradients`' it is
t = Texts("engine")


class Gradients:
    """Leaves q, k, v that want gradients, a random dO like q, and the float64 gradients of the key
    heads of the judged heads, each with all its query heads."""

    def __init__(self, q, k, v, request: RunRequest, heads: Heads, with_naive: bool) -> None:
        p = request.problem
        self.problem, self.rules = p, p.rules
        self.q, self.k, self.v = (x.detach().requires_grad_() for x in (q, k, v))
        random = torch.Generator(q.device).manual_seed(p.seed)
        self.grad_o = torch.randn(q.shape, device=q.device, dtype=q.dtype, generator=random)
        mine = torch.tensor(make_gradient(p).copy(), dtype=DTYPES[p.dtype])
        self.grad_o[0, p.head] = mine.to(q.device)
        self.group = q.shape[1] // k.shape[1]
        self.blind = blind(p.mask, q, k) is not None
        self.judged = list(dict.fromkeys((b, h // self.group) for b, h in heads))
        truth, sizes, naive = [], [], []
        for at in self.judged:
            tensors, rules = self._cut(*at)
            truth.append(kernels.reference_gradients(*tensors, **rules)[:3])
            sizes.append(kernels.gradient_roundings(*tensors, **rules))
            if with_naive and not self.blind:
                naive.append(_naive(*tensors, **rules))
        self.truth = _by_name(truth)
        self.sizes = {key: max(x[key] for x in sizes) for key in sizes[0]}
        self.naive_errors: dict[str, float | None] = dict.fromkeys(NAMES)
        if naive:
            self.naive_errors |= {x: _largest(apart) for x, apart in self._apart(naive).items()}

    def _cut(self, b: int, g: int) -> tuple[list[torch.Tensor], dict]:
        """q, k, v and dO of a key head and its query heads, with the judges' keywords."""
        of_heads = (g * self.group, self.q.shape[1])
        tensors = (self.q, self.k, self.v, self.grad_o)
        return [self._part(x.detach(), b, g) for x in tensors], {**self.rules, "of_heads": of_heads}

    def _part(self, x: torch.Tensor, b: int, g: int) -> torch.Tensor:
        """Return the part of a tensor that a key head or its query heads have."""
        each = x.shape[1] // self.k.shape[1]
        return x[b : b + 1, g * each : (g + 1) * each]

    def _apart(self, found: list[Grads]) -> dict[str, torch.Tensor]:
        """Return how far the gradients of the judged heads are from the truth, by name."""
        return {name: x - self.truth[name] for name, x in _by_name(found).items()}

    def function(self, name: str, forward: Callable, deterministic: bool = False) -> Callable:
        """Both passes of this method, () → (dQ, dK, dV); ``forward`` computes O of the leaves.
        ``deterministic``: of OURS alone. Raises NotAvailable with a sentence where there is no
        backward pass."""
        if name in ALGORITHMS and name not in RUN_BACKWARD:
            raise NotAvailable(t("gradients.of_fa2"))
        if name in ("naive", "naive_compiled") and self.blind:
            raise NotAvailable(t("gradients.blind"))
        if name == "hopper" and gradients.METHOD != "hopper":
            raise NotAvailable(t("gradients.off"))
        leaves = self.q, self.k, self.v
        if name not in OURS:
            return lambda: torch.autograd.grad(forward(), leaves, self.grad_o)
        p, (q, k, v) = self.problem, (x.detach() for x in leaves)
        blocks = p.blocks if name in ALGORITHMS else {}
        run = kernels.flash_attention if name in ALGORITHMS else hopper.flash_attention
        how = {"method": OURS[name], "deterministic": deterministic, **_without_sink(self.rules)}

        def both() -> Grads:  # as autograd calls them, but for which kernel there is no choice
            o, lse = run(q, k, v, return_lse=True, **self.rules, **blocks)
            return gradients.backward(self.grad_o, None, q, k, v, o, lse, **how, **blocks)[:3]

        return both

    def judge(self, name: str, grads: Grads) -> Figures:
        """Errors of dQ, dK, dV (B, H or Hk, N, d) on the judged heads, and whether the rule of the
        peers allows them."""
        apart = self._apart([tuple(self._part(x, *at) for x in grads) for at in self.judged])
        judged: dict[str, Gradient] = {}
        for key in NAMES:
            terms = self._terms(name, key)
            judged[key] = Gradient(
                error=_largest(apart[key]),
                naive_error=self.naive_errors[key],
                terms=terms,
                allowed=allowed_error(terms),
            )
        shares = {key: _share(g["error"], g["allowed"]) for key, g in judged.items()}
        worst = max(shares, key=shares.__getitem__)
        error, largest = judged[worst]["error"], _largest(self.truth[worst])
        flat = torch.cat([x.flatten() for x in apart.values()])
        return {
            **judged[worst],
            "gradients": judged,
            "relative": error / largest if largest else 0.0,
            "bias": flat.mean().item(),
            "signed": None,
            "right": all(g["error"] <= g["allowed"] for g in judged.values()),
            "histogram": histogram_of(flat.abs()),
        }

    def _terms(self, name: str, key: str) -> Terms:
        """What is allowed of a gradient: twice naive attention's error under PyTorch's autograd in
        the same dtype (u times the sum's size where that is not known); what rounding the result,
        and P and dS before their products, may do; and an error δ of each score, which moves P, and
        P and dP − D in dS, by δ of themselves. u and δ as in ``Truth.terms``, δ by the largest
        norms; the signs of roundings differ, so that of a sum's size a quarter of u is left."""
        unit = FORMATS[self.problem.dtype].unit_roundoff
        size, largest = self.sizes[key], _largest(self.truth[key])
        delta = 3 * FP32 * (self.sizes["norms"] + 1)
        if name in STORE_S and unit > FP32:
            delta += unit * self.sizes["scores"]
        known = self.naive_errors[key]
        return {
            "naive": 2 * (unit * size if known is None else known),
            "rounding": 2 * unit * largest + unit / 4 * size,
            "scores": 2 * delta * size,
        }

    def repeat(self, first: Grads, function: Callable, deterministic: Callable | None) -> Repeat:
        """The gradients once more, of some methods twice in deterministic mode: what differs."""
        found: Repeat = {
            "values": sum(x.numel() for x in first),
            "differ": differing(first, function()),
            "deterministic": None,
        }
        if deterministic:
            found["deterministic"] = differing(deterministic(), deterministic())
        return found

    def same(self, watched: Callable) -> Same | None:
        """The kernel's dQ, dK and dV of every tile of the picture's head against the picture's;
        None if there are too many, or if heads whose scores differ share keys, whose gradients the
        kernel adds up. ``watched(function, stage)`` runs a kernel so that its progress is seen."""
        p, by_head = self.problem, self.problem.score.by_head
        if not admission.can_compare_gradients(p) or (by_head and self.group > 1):
            return None
        heads = slice(None) if by_head else slice(p.head, p.head + 1)
        keys = slice(None) if by_head else slice(p.kv_head, p.kv_head + 1)
        q, grad_o = (x.detach()[:1, heads] for x in (self.q, self.grad_o))
        k, v = (x.detach()[:1, keys] for x in (self.k, self.v))

        def states():
            o, lse = kernels.flash_attention(q, k, v, return_lse=True, **self.rules, **p.blocks)
            how = _without_sink(self.rules)
            return kernels.gradient_states(grad_o, q, k, v, o, lse, **how, **p.blocks)

        at = p.head if by_head else 0
        found = tuple(x[0, at].cpu().numpy() for x in watched(states, "tiles"))
        try:
            return compare_gradients(p, found)
        except ProblemError:
            return None


def differing(first: Grads, again: Grads) -> dict[str, int]:
    """Of dQ, dK and dV each, how many numbers differ in at least one bit."""
    return {
        name: int((a.contiguous().view(_bits(a)) != b.contiguous().view(_bits(b))).sum())
        for name, a, b in zip(NAMES, first, again, strict=True)
    }


def _without_sink(rules: dict) -> dict:
    """Return the keywords of a backward kernel, without the sink, which is in lse."""
    return {key: value for key, value in rules.items() if key != "sink"}


def _bits(x: torch.Tensor) -> torch.dtype:
    return torch.int16 if x.itemsize == 2 else torch.int32


def _share(error: float, allowed: float) -> float:
    """Of what is allowed; a NaN is the worst."""
    if error != error:
        return float("inf")
    return error / allowed if allowed else float(error > 0)


def _by_name(parts: list[Grads]) -> dict[str, torch.Tensor]:
    """Join the gradients of several heads in float64, by their names."""
    each = zip(*parts, strict=True)
    return {name: torch.cat(x).double() for name, x in zip(NAMES, each, strict=True)}


def _largest(x: torch.Tensor) -> float:
    return x.abs().max().item()


def _naive(q, k, v, grad_o, **rules) -> Grads:
    """Naive attention's gradients by PyTorch's autograd, in the inputs' dtype."""
    leaves = [x.detach().requires_grad_() for x in (q, k, v)]
    return torch.autograd.grad(kernels.naive_attention(*leaves, **rules), leaves, grad_o)
