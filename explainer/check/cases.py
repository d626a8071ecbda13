"""What a function is tried on: the first Problem, the hard cases, and the truth of each."""

import math
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from explainer.algorithms.inputs import make_gradient, make_inputs
from explainer.base.texts import Texts
from explainer.engine.agreement import output_tolerance, score_tolerance
from explainer.problem import Problem
from kernels.spec.formats import FORMATS

t = Texts("check")


@dataclass(frozen=True)
class Part:
    """What rows know of some keys: m, l, lse (rows,) and O (rows, d), normalized, in float64, or
    with the heads before the rows; rows without a visible key have m = lse = −∞, l = 0 and O = 0.
    """

    m: np.ndarray
    l: np.ndarray
    O: np.ndarray

    @property
    def lse(self) -> np.ndarray:
        with np.errstate(divide="ignore"):
            return self.m + np.log(self.l)


@dataclass(frozen=True, eq=False)
class Case:
    """One problem: ``name``; q (B, H, Nq, d), k and v (B, H, Nk, d) float32 holding values of the
    dtype; and what a function must take beyond squares of whole tiles for it, ``needs``."""

    name: str
    q: np.ndarray
    k: np.ndarray
    v: np.ndarray
    block_q: int
    block_k: int
    causal: bool
    dtype: str = "fp32"
    scale: float | None = None
    needs: frozenset[str] = frozenset()
    problem: Problem | None = field(default=None)  # of which it is made
    rounds: bool = False  # a function rounds the float32 operands of its products to TF32

    @property
    def n_q(self) -> int:
        return self.q.shape[2]

    @property
    def n_k(self) -> int:
        return self.k.shape[2]

    @property
    def offset(self) -> int:
        """Row i sees the keys up to i + offset under the causal mask."""
        return self.n_k - self.n_q

    @property
    def title(self) -> str:
        """The problem in words."""
        tokens = f"{self.n_q}" if not self.offset else f"{self.n_q} × {self.n_k}"
        mask = t("causal") if self.causal else t("full")
        sizes = {"d": self.q.shape[3], "br": self.block_q, "bc": self.block_k}
        return t("problem", tokens=tokens, mask=mask, dtype=self.dtype, **sizes)

    @property
    def factor(self) -> float:
        """The factor on Q Kᵀ: the scale, or 1/√d."""
        return self.scale or self.q.shape[3] ** -0.5

    @property
    def is_tf32(self) -> bool:
        return self.rounds and self.dtype == "fp32"

    @property
    def rules(self) -> dict:
        """The keyword arguments of a function."""
        sizes = {"block_q": self.block_q, "block_k": self.block_k}
        return {"causal": self.causal, "scale": self.scale, **sizes}

    @cached_property
    def delta(self) -> float:
        """How far two correct scores may lie apart: in 16 bits a function may store them so."""
        delta = score_tolerance(self.q, self.k, self.factor)
        if self.is_tf32:  # operands round like a random walk of d steps
            norms = (np.linalg.norm(x, axis=-1).max() for x in (self.q, self.k))
            delta += 4 * self.unit * math.prod(norms) * self.factor / self.q.shape[3] ** 0.5
        if self.dtype != "fp32":
            largest = np.abs(self.scores(0, 0)).max(initial=0, where=np.isfinite(self.scores(0, 0)))
            delta += 2 * self.unit * float(largest)
        return delta

    @property
    def unit(self) -> float:
        """The unit roundoff of the dtype, as often as every tile may round m, l and O."""
        if self.dtype == "fp32":
            return FORMATS["tf32" if self.rounds else "fp32"].unit_roundoff
        tiles = -(-self.n_k // self.block_k)
        return FORMATS[self.dtype].unit_roundoff * tiles**0.5

    @cached_property
    def allowed(self) -> float:
        """How far O may lie from the truth."""
        return output_tolerance(self.delta, self.unit, self.v)

    @cached_property
    def _scores(self) -> np.ndarray:
        S = self.q.astype(np.float64) @ self.k.astype(np.float64).swapaxes(2, 3) * self.factor
        i, j = np.ogrid[: self.n_q, : self.n_k]
        return np.where(i + self.offset >= j, S, -np.inf) if self.causal else S

    def scores(self, *head: int) -> np.ndarray:
        """S of a head in float64, −inf where the mask hides a key."""
        return self._scores[head]

    def part(
        self, rows: Any = slice(None), keys: Any = slice(None), head: tuple[int, ...] = (0, 0)
    ) -> Part:
        """Compute by definition, without tiles, what these rows know of these keys."""
        S = self.scores(*head)[..., rows, :][..., keys]
        m = S.max(axis=-1, initial=-np.inf)
        P = np.exp(S - np.where(np.isneginf(m), 0, m)[..., None])
        l = P.sum(axis=-1)
        V = self.v[head][..., keys, :].astype(np.float64)
        return Part(m, l, P @ V / np.where(l > 0, l, 1)[..., None])

    @cached_property
    def whole(self) -> Part:
        """Return what all rows of all heads know of all keys."""
        return self.part(head=())


def case_of(name: str, p: Problem, needs: str = "", scale: float | None = None) -> Case:
    """The case of a Problem of the app, with the app's own inputs."""
    q, k, v = (x[None, None] for x in make_inputs(p))
    own = (p.block_q, p.block_k, p.is_causal, p.dtype, scale)
    return Case(name, q, k, v, *own, frozenset(needs.split()), p)


def _cut(name: str, n_q: int, n_k: int, d: int, block: int) -> Case:
    """A causal case of ``n_q`` queries and ``n_k`` keys."""
    q, k, v = (x[None, None] for x in make_inputs(Problem(n=max(n_q, n_k), d=d)))
    needs = frozenset({"unequal"})
    return Case(name, q[:, :, :n_q], k[:, :, :n_k], v[:, :, :n_k], block, block, True, needs=needs)


def _large(name: str, p: Problem) -> Case:
    """A case of scores of some hundreds: those of the first row block rise from tile to tile, those
    of the last lie far below 0, the others are random."""
    case = case_of(name, p)
    q, k = case.q.copy(), case.k.copy()
    q[..., :2], k[..., 0] = 0, -4 - np.abs(k[..., 0])
    k[..., 1] = np.arange(p.n) // p.block_k
    for rows, dim in ((slice(0, p.block_q), 1), (slice(-p.block_q, None), 0)):
        q[..., rows, :] = 0
        q[..., rows, dim] = p.gain
    return replace(case, q=q, k=k, problem=None)


def _heads(name: str, more: int = 0) -> Case:
    """A case of two sequences with three heads, and ``more`` keys than queries."""
    rng = np.random.default_rng(7)
    q, k, v = rng.standard_normal((3, 2, 3, 32 + more, 16), dtype=np.float32)
    needs = {"heads", "unequal"} if more else {"heads"}
    return Case(name, q[:, :, :32], k, v, 16, 16, True, needs=frozenset(needs))


TILES16: dict[str, Any] = {"n": 150, "d": 16, "block_q": 16, "block_k": 16}
GRADIENTS = ("tiles", "full", "ragged", "rectangular_tiles", "long", "more_keys")  # cases of them


def _squares(whole: bool) -> Problem:
    """Return the first Problem; with ``whole`` tiles of 16, for tensor cores and for assignments
    that promise no other."""
    size, d = (16, 16) if whole else (4, 8)
    return Problem(n=4 * size, d=d, block_q=size, block_k=size)


def cases(whole: bool, problem: Problem | None = None) -> list[Case]:
    """All cases in their order, the given Problem's first; ``whole`` as `_squares`. The long ones
    are longer than any tile of a function's own, and a multiple of none."""
    squares = _squares(whole)
    size, d = squares.block_q, squares.d

    def made(name: str, needs: str = "", scale: float | None = None, **changes: Any) -> Case:
        return case_of(name, replace(squares, **changes), needs, scale)

    return [
        case_of("tiles", problem or squares),
        made("full", mask="full"),
        made("rectangular_tiles", "small", n=6 * size, block_q=2 * size),
        made("ragged", "ragged", n=13 * size // 4, mask="full"),
        made("ragged_causal", "ragged", n=11 * size // 2, block_k=2 * size),
        made("long", **{**TILES16, "n": 160 if whole else 150}),
        made("long_full", "ragged", **TILES16, mask="full"),
        _cut("more_keys", 2 * size, 5 * size, d, size),
        _cut("rows_without_keys", 5 * size, 3 * size, d, size),
        _large("large_scores", replace(squares, mask="full", gain=300.0)),
        made("scale", "scale", 0.2),
        _heads("heads"),
        _heads("heads_more_keys", 16),
        made("fp16", "half", **{**TILES16, "n": 64}, dtype="fp16"),
        made("bf16", "bfloat", **{**TILES16, "n": 64}, dtype="bf16"),
    ]


def gradient_cases(whole: bool) -> list[tuple[Case, np.ndarray]]:
    """The cases of gradients, each with its dO (B, H, Nq, d)."""
    known = {case.name: case for case in cases(whole)}
    large = case_of("large_scores", replace(_squares(whole), gain=100.0))
    made = [*(known[name] for name in GRADIENTS), large, known["scale"]]
    every = [make_gradient(Problem(n=max(x.n_q, x.n_k), d=x.q.shape[3])) for x in made]
    alone = [(case, do[None, None, : case.n_q]) for case, do in zip(made, every, strict=True)]
    heads = known["heads"]
    return [*alone, (heads, heads.q[::-1, ::-1])]
