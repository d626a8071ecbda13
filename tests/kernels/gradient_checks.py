"""The one rule by which gradients are judged: PyTorch's own, in the same dtype, and float64's."""

import torch

import kernels
from tests.kernels.attention_checks import UNIT_ROUNDOFF, score_error

NAMES = ("dQ", "dK", "dV", "dsink")


def like(x: torch.Tensor, seed: int = 7) -> torch.Tensor:
    """Standard normal numbers of this shape, dtype and device, drawn on the CPU."""
    drawn = torch.randn(x.shape, generator=torch.Generator().manual_seed(seed))
    return drawn.to(x.dtype).to(x.device)


def of_pytorch(q, k, v, grad_o, *, sink=None, **rules):
    """PyTorch's autograd of attention with S and P in the inputs' dtype."""
    leaves = [x.detach().clone().requires_grad_() for x in (q, k, v)]
    if sink is not None:
        sinks = torch.as_tensor(sink, dtype=q.dtype, device=q.device).expand(q.shape[1])
        leaves.append(sink := sinks.detach().clone().requires_grad_())
    with torch.enable_grad():
        o = kernels.naive_attention(*leaves[:3], sink=sink, **rules)
    return torch.autograd.grad(o, leaves, grad_o)


def assert_gradients(found, q, k, v, grad_o, *, order="fa2", **rules):
    """dQ, dK, dV and, if there is one, dsink: each error ≤ twice PyTorch's in the same dtype, plus
    what any correct kernel may lose.

    That is rounding the result, and to first order the errors of what it is a sum of: P and dS are
    rounded to the dtype, and an error δ of a score moves both by δ times themselves; D, which comes
    of a rounded O, moves dS by P times its own error. After a forward pass of ``order`` standard,
    lse is that of scores rounded to the dtype, while P comes of the exact ones: a whole row of P is
    off by the rounding of its largest score. All are summed by their sizes, in float64.
    """
    truth = kernels.reference_gradients(q, k, v, grad_o, **rules)
    other = of_pytorch(q, k, v, grad_o, **rules)
    unit = UNIT_ROUNDOFF[q.dtype]
    delta = score_error(q, k, rules) + 2.0**-24
    sizes = kernels.gradient_roundings(q, k, v, grad_o, **rules)
    rounded = unit * sizes["scores"] if order == "standard" else 0.0
    for name, mine, true, its in zip(NAMES, found, truth, other, strict=False):
        if true is None:
            assert mine is None, name
            continue
        assert mine.shape == true.shape
        relative = unit / 4 + 2 * delta + rounded
        small = 2 * unit * true.abs().max().item() + relative * sizes[name]
        allowed = 2 * (its.double() - true).abs().max().item() + small
        error = (mine.double() - true).abs().max().item()  # NaN fails
        assert error <= allowed, f"{name}: error {error:.3g}, allowed {allowed:.3g}, of {small:.3g}"
