"""Gradients by PyTorch's autograd in float64, what a correct computation may be off by, and the
judge of a backward trace by both. The mask is by definition (by_hand)."""

import math
from types import SimpleNamespace

import numpy as np
import torch

from explainer.trace import BackwardTrace
from kernels.spec.formats import round_to
from tests import by_hand

NAMES = ("dQ", "dK", "dV")
UNIT = {"fp32": 2.0**-24, "fp16": 2.0**-11, "bf16": 2.0**-8}


def autograd(t: BackwardTrace) -> SimpleNamespace:
    """dQ, dK, dV, and dsink, by PyTorch's autograd, and S, P, dP, D, dS, all float64, of the very
    operands; ``sunk``: each row's weight of its sink."""
    p = t.problem
    Q, K, V, dO = (torch.tensor(x, dtype=torch.float64) for x in (t.Q, t.K, t.V, t.dO))
    leaves = [x.requires_grad_() for x in (Q, K, V)]
    rows, keys = torch.arange(p.n)[:, None], torch.arange(p.n)[None, :]
    products = Q @ K.T / math.sqrt(p.d)
    s = p.score.apply(products, rows, keys, p.head, p.q_heads)
    seen = torch.tensor(by_hand.seen(p))
    s = s.masked_fill(~seen, -torch.inf)
    logit = torch.tensor(-math.inf if p.sink is None else p.sink, dtype=torch.float64)
    whole = torch.cat((s, logit.requires_grad_().expand(p.n, 1)), 1)
    blind = torch.isneginf(whole).all(1, keepdim=True)
    weights = torch.softmax(whole.masked_fill(blind, 0.0), 1)
    P = weights[:, : p.n].masked_fill(~seen, 0.0)
    O = P @ V
    names = (*NAMES, "dP", "dS", "dsink")
    found = torch.autograd.grad(O, (*leaves, P, products, logit), dO)
    named = dict(zip(names, (x.numpy() for x in found), strict=True))
    D = (dO * O).sum(1).detach().numpy()
    sunk = weights[:, p.n].detach().numpy()
    return SimpleNamespace(**named, D=D, S=s.detach().numpy(), P=P.detach().numpy(), sunk=sunk)


def allowed(t: BackwardTrace, true: SimpleNamespace) -> SimpleNamespace:
    """What any correct computation in the dtype may be off by, of every gradient and of what leads
    to it: δ of a score moves P and dS by themselves; u is rounding to the dtype, of P and dS before
    their products, of O before D, and of all that standard attention stores."""
    p = t.problem
    u, stored = UNIT[p.dtype], UNIT[p.dtype] if p.order == "standard" else 0.0
    finite = np.abs(true.S[np.isfinite(true.S)]).max(initial=abs(p.sink or 0))
    delta = 2e-6 + finite * (stored + 8 * p.d**0.5 * 2.0**-24)
    Q, K, V, dO = (np.abs(x.astype(np.float64)) for x in (t.Q, t.K, t.V, t.dO))
    visits = p.Tc**0.5 if p.order == "fa1" else 1
    O = V.max(initial=0) * (3 * u * (visits + 1) + 3 * delta)
    P, dP, D = np.abs(true.P), np.abs(true.dP), np.abs(true.D)
    of_P = P * (4 * delta + 2 * u) + stored
    of_dP = dO @ V.T * (1e-6 + 2 * stored)
    of_D = dO.sum(1) * O + 1e-6 * (dO @ V.T).max(initial=0)
    of_D += (of_P * dP + P * of_dP).sum(1) if stored else 0.0
    steep = math.prod(abs(x[0]) for name, x in p.score.steps if name == "scale")
    bent = steep + delta * sum(2 * steep**2 / x[0] for n, x in p.score.steps if n == "softcap")
    of_dS = steep * (P * (of_dP + of_D[:, None]) + of_P * (dP + D[:, None]))
    of_dS += (bent - steep + 4 * delta * steep) * P * (dP + D[:, None]) + 2 * u * np.abs(true.dS)
    back = p.Tc if p.order == "fa1" else 1  # FA-1 rounds dQ at every visit
    dS = np.abs(true.dS)
    dQ = p.scale * (of_dS @ K + (1e-6 + back * u) * dS @ K)
    dK = p.scale * (of_dS.T @ Q + (1e-6 + u) * dS.T @ Q)
    dV = of_P.T @ dO + (1e-6 + u) * P.T @ dO
    dsink = (true.sunk * (of_D + (4 * delta + 2e-6) * D)).sum()
    return SimpleNamespace(P=of_P, dP=of_dP, D=of_D, dS=of_dS, dQ=dQ, dK=dK, dV=dV, dsink=dsink)


def judge(t: BackwardTrace) -> tuple[SimpleNamespace, SimpleNamespace]:
    true = autograd(t)
    limits = allowed(t, true)
    for name in NAMES:
        mine, truth, limit = (getattr(x, name) for x in (t, true, limits))
        assert np.isfinite(mine).all(), f"{name} is not finite"
        over = np.abs(mine - truth) - limit
        assert over.max(initial=0) <= 1e-7, f"{name}: {over.max():.3g} beyond {limit.max():.3g}"
        np.testing.assert_array_equal(mine, round_to(mine, t.problem.dtype))
    assert (t.dsink is None) == (t.problem.sink is None)
    if t.dsink is not None:
        assert abs(t.dsink - true.dsink) <= limits.dsink, (t.dsink, true.dsink, limits.dsink)
    return true, limits
