"""The requests of the engine: a run of a Problem by several methods, a point of a sweep over N, a
placement of programs. A request is parsed once and is what the worker gets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from explainer.algorithms.registry import ALGORITHMS, LABELS, PLACED
from explainer.base.fields import (
    FIELDS,
    FieldValues,
    Parsed,
    ProblemError,
    accept_causal,
    parse,
    parse_choice,
    parse_mask,
    parse_score,
    parse_whole,
    refuse,
    refused,
    stripped,
)
from explainer.base.texts import Texts
from explainer.memory.workload import Workload
from explainer.problem import Problem, check_heads
from kernels.spec.cases import BenchmarkCase
from kernels.spec.fields import MAX_HEADS, PASSES, default
from kernels.spec.masks import Mask
from kernels.spec.methods import NAMES, OTHERS, WHOLE
from kernels.spec.scores import Score

t = Texts("engine")

YOURS = "yours"  # a learner's function, where the app was started with one (explainer/check)
# name in a query and in kernels/measure/contenders.py → what the page calls it
METHODS = {name: LABELS.get(name) or OTHERS[name].label for name in NAMES} | {YOURS: t(YOURS)}
# These keep S and P in memory, in the dtype; all others have S in fp32 and round P alone.
STORE_S = (*WHOLE, *(key for key, a in ALGORITHMS.items() if a.stores_scores))
ORDERS = tuple(reversed(LABELS))  # the kernels that have tiles to be compared with the picture
MAX_N_DROPPED = 4_096
EACH = "each"  # key heads: one for each query head
MAX_ELEMENTS = 2**28  # of Q; K, V and O are as large
AUTO = "auto"
AUTO_BLOCKS = (64, 64)  # stand in until the worker, which knows the card, says what its table has

TOKENS, WIDTH = 16_384, 2048  # of a sweep: batch × N and heads × d, as papers have it
SHORTEST = int(FIELDS["longest"].low)


def _parse_methods(value: object) -> tuple[str, ...]:
    names = value.replace(".", ",").split(",") if isinstance(value, str) else value
    if names in ([], (), [""]):
        raise ProblemError(t("methods.none", methods=", ".join(METHODS.values())))
    if not isinstance(names, (list, tuple)) or not 1 <= len(names) <= 32:
        raise refuse("methods", value, t("methods", methods=", ".join(METHODS)))
    chosen = {parse_choice("methods", stripped(name), tuple(METHODS)) for name in names}
    return tuple(name for name in METHODS if name in chosen)


def _check_dropout(key: str, n: int, dropout: float) -> None:
    """Raise ProblemError where the judges would draw too many factors."""
    if dropout and n > MAX_N_DROPPED:
        why = t("dropped", most=MAX_N_DROPPED)
        raise refused({key: n, "dropout": dropout}, why, t("dropped.where"))


@dataclass(frozen=True)
class RunRequest:
    """Attention of ``batch`` × ``heads`` heads, by each of ``methods``; ``problem`` is one of the
    heads, in the first sequence of the batch, and says all the rest.

    ``heads``: those of the problem; where that is one alone, 1…128, each with keys of its own.
    ``auto_q``, ``auto_k``: Br or Bc is what the kernel's own table has for the card. ``batch``
    1…64, B·H·N·d at most 2²⁸, N at most 4,096 with dropout. ``pass_`` "backward": both passes, the
    gradients judged; without dropout. ``problem.order`` is made the first of the methods that has
    tiles, and its K and V are contiguous. Raises :class:`ProblemError` on construction.
    """

    problem: Problem
    methods: tuple[str, ...] = ("naive", "fa2")
    batch: int = default("batch")
    heads: int = 0  # those of the problem
    auto_q: bool = False
    auto_k: bool = False
    pass_: str = default("pass")

    def __post_init__(self) -> None:
        p, put = self.problem, object.__setattr__
        put(self, "methods", _parse_methods(self.methods))
        put(self, "batch", parse("batch", self.batch))
        put(self, "pass_", parse("pass", self.pass_))
        most = min(MAX_HEADS, MAX_ELEMENTS // (self.batch * p.n * p.d))
        if most < 1:
            allowed = t("batch", most=MAX_ELEMENTS // (p.n * p.d), n=p.n, d=p.d)
            raise refuse("batch", self.batch, allowed)
        here = partial(t, "here.sizes", batch=self.batch, n=p.n, d=p.d)
        within = 1, most, here if most < MAX_HEADS else None
        put(self, "heads", parse("heads", self.heads or p.q_heads, within))
        parse("dtype", p.dtype)  # e4m3 is Step's alone
        if self.pass_ == "backward" and p.dropout:
            raise refuse("dropout", p.dropout, t("no_dropout"))
        order = next((name for name in ORDERS if name in self.methods), "fa2")
        own = {} if self.heads == p.q_heads else {"q_heads": self.heads, "kv_heads": self.heads}
        if own and p.q_heads > 1:
            raise refuse("heads", self.heads, t("heads", heads=p.q_heads))
        put(self, "problem", replace(p, order=order, cache=default("cache"), **own))
        _check_dropout("n", p.n, p.dropout)

    @classmethod
    def from_query(cls, query: Mapping[str, object]) -> RunRequest:
        """Keys of :meth:`Problem.from_query`, ``b h methods pass``; ``br``, ``bc`` may be "auto".

        Without ``methods``: naive attention and the loop order of ``order``. ``h`` is ``hq`` under
        an older name, beside which a ``hk`` that is missing or empty means as many. Any other
        field that is empty has its default, but for ``methods``.
        """
        given = {key: stripped(value) for key, value in query.items()}
        given = {key: value for key, value in given.items() if value != "" or key == "methods"}
        if "h" in given and "hq" not in given:
            given["hq"] = heads = parse_whole("heads", given["h"])
            if given.get("data") == "own" and heads > 1:
                raise refuse("heads", heads, t("own_data"))
            if given.get("hk") in (None, "", EACH):
                given["hk"] = heads
        n = parse_whole("n", given["n"]) if "n" in given else Problem.n
        auto = {key: given.get(key) == AUTO for key in ("br", "bc")}
        for key, block in zip(auto, AUTO_BLOCKS, strict=True):
            if auto[key]:
                given[key] = min(block, n)
        problem = Problem.from_query(given)
        own: dict[str, Any] = {
            "methods": given.get("methods", ("naive", problem.order)),
            "batch": given.get("b", cls.batch),
            "heads": given.get("h", problem.q_heads),
            "pass_": given.get("pass", cls.pass_),
        }
        return cls(problem, auto_q=auto["br"], auto_k=auto["bc"], **own)

    def to_query(self) -> dict[str, str]:
        """Write the request as a query; ``from_query`` gives it back."""
        query = self.problem.to_query()
        for key in ("hq", "hk"):  # here it is h; as many key heads are left out
            query.pop(key, None)
        if self.problem.shares:
            query["hk"] = str(self.problem.kv_heads)
        for key, auto in (("br", self.auto_q), ("bc", self.auto_k)):
            if auto:
                query[key] = AUTO
        more = {"b": str(self.batch), "h": str(self.heads), "methods": ",".join(self.methods)}
        if self.pass_ != PASSES[0]:
            more["pass"] = self.pass_
        return query | more

    def with_blocks(self, block_q: int, block_k: int) -> RunRequest:
        """The same with these in place of "auto", as far as the sequence is that long."""
        n = self.problem.n
        blocks = {"block_q": min(block_q, n)} if self.auto_q else {}
        blocks |= {"block_k": min(block_k, n)} if self.auto_k else {}
        return replace(self, problem=replace(self.problem, **blocks), auto_q=False, auto_k=False)


@dataclass(frozen=True)
class SweepPoint:
    """One length of a sweep: random normal q, k, v of ``case``, by each of ``methods``."""

    case: BenchmarkCase
    methods: tuple[str, ...]


@dataclass(frozen=True)
class PlacementRequest:
    """The real schedule of one launch: an order of PLACED on the workload's heads."""

    workload: Workload
    order: str

    def __post_init__(self) -> None:
        parse_choice("order", self.order, PLACED)


Request = RunRequest | SweepPoint | PlacementRequest


@accept_causal
@dataclass(frozen=True)
class Sweep(FieldValues):
    """Time, TFLOP/s and memory of ``methods`` over N = 256, 512, … ``longest``, of ``mask`` beside
    full; ``score``, ``sink`` and ``dropout`` as a Problem's; ``kv_heads`` divides the heads (None:
    as many).

    The number of tokens B·N stays 16,384 (B = 1 beyond) and H·d 2,048 (or just below), so every
    length has the same Q, K and V to move. Raises :class:`ProblemError`.
    """

    d: int = 64
    dtype: str = "bf16"
    methods: tuple[str, ...] = ("naive", "fa2", "sdpa_flash")
    longest: int = default("longest")
    mask: Parsed[Mask] = Parsed(parse_mask, default("mask"))
    score: Parsed[Score] = Parsed(parse_score, default("score"))
    sink: float | None = default("sink")
    kv_heads: int | None = None
    dropout: float = default("dropout")

    def __post_init__(self) -> None:
        if self.kv_heads in ("", EACH):
            self._set("kv_heads", None)
        super().__post_init__()
        chosen = _parse_methods(self.methods)  # a learner's function is run, and not swept
        self._set("methods", _parse_methods([name for name in chosen if name != YOURS]))
        check_heads(self.heads, self.kv_heads or self.heads, "random")
        if self.kv_heads == self.heads:
            self._set("kv_heads", None)  # the same sweep
        _check_dropout("longest", self.longest, self.dropout)

    @property
    def heads(self) -> int:
        """Query heads."""
        return WIDTH // self.d

    @property
    def name(self) -> str:
        """“d = 64, bf16”, and its rules beside causal and full."""
        rules = {k: v for k, v in self.rules.items() if (k, v) != ("mask", "causal")}
        return f"d = {self.d}, {self.dtype}" + "".join(f", {k} = {v}" for k, v in rules.items())

    @property
    def rules(self) -> dict[str, str]:
        """Its mask, and what else it has of scores and heads, as an address has it."""
        query = self.to_query()
        return {
            key: query[key] for key in ("mask", "score", "sink", "dropout", "hk") if key in query
        }

    @property
    def masks(self) -> tuple[str, ...]:
        """Full, and the sweep's own."""
        return tuple(dict.fromkeys(("full", str(self.mask))))

    def points(self) -> tuple[SweepPoint, ...]:
        """Short ones first, full before the other mask at each length."""
        lengths = [SHORTEST]
        while 2 * lengths[-1] <= self.longest:
            lengths.append(2 * lengths[-1])
        seed = {"seed": default("seed")} if self.dropout else {}
        return tuple(
            SweepPoint(
                BenchmarkCase(
                    n=n,
                    d=self.d,
                    mask=mask,
                    dtype=self.dtype,
                    batch=max(1, TOKENS // n),
                    heads=self.heads,
                    score=str(self.score),
                    sink=self.sink,
                    kv_heads=self.kv_heads,
                    dropout=self.dropout,
                    **seed,
                ),
                self.methods,
            )
            for n in lengths
            for mask in self.masks
        )
