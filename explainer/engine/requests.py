"""What the Run page asks for: a Problem with batch, heads and methods, or a sweep over N."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace

from explainer.algorithms.registry import ALGORITHMS, LABELS, PLACED
from explainer.base.fields import (
    FIELDS,
    MAX_HEADS,
    MAX_N,
    PASSES,
    ProblemError,
    choice,
    pass_of,
    refuse,
    refused,
    stripped,
    whole,
)
from explainer.base.texts import Texts
from explainer.memory.workload import Workload
from explainer.problem import Problem, causal_keyword, check_heads, mask_of, score_of, sink_of
from kernels.spec.masks import Mask
from kernels.spec.scores import Score

say = Texts("engine")

# name in a query and in kernels/measure/contenders.py → what the page calls it
METHODS = {
    "naive": "Naive PyTorch",
    **LABELS,
    "hopper": "FA-2 Hopper",
    "sdpa_flash": "SDPA flash",
    "sdpa_cudnn": "SDPA cuDNN",
    "sdpa_efficient": "SDPA efficient",
    "sdpa_math": "SDPA math",
    "sdpa_dense": "SDPA dense",
    "naive_compiled": "Naive compiled",
    "flex": "FlexAttention",
    "fa4": "FA-4",
}
COMPILED = ("naive_compiled", "flex", "fa4")  # in seconds, for every problem anew
# These keep S and P in memory, in the dtype; all others have S in fp32 and round P alone.
STORE_S = (
    *("naive", "sdpa_math", "naive_compiled"),
    *(key for key, a in ALGORITHMS.items() if a.stores_scores),
)
ORDERS = tuple(reversed(LABELS))  # the kernels that have tiles to be compared with the picture
MAX_N_DROPPED = 4_096
EACH = "each"  # key heads: one for each query head
MAX_ELEMENTS = 2**28  # of Q; K, V and O are as large
AUTO = "auto"
AUTO_BLOCKS = (64, 64)  # stand in until the worker, which knows the card, says what its table has

TOKENS, WIDTH = 16_384, 2048  # of a sweep: batch × N and heads × d, as papers have it
SHORTEST = FIELDS["longest"].low


def _methods(value: object) -> tuple[str, ...]:
    names = value.replace(".", ",").split(",") if isinstance(value, str) else value
    if names in ([], (), [""]):
        raise ProblemError(say("methods.none", methods=", ".join(METHODS.values())))
    if not isinstance(names, (list, tuple)) or not 1 <= len(names) <= 32:
        raise refuse("methods", value, say("methods", methods=", ".join(METHODS)))
    chosen = {choice("methods", name, tuple(METHODS)) for name in names}
    return tuple(name for name in METHODS if name in chosen)


def _check_dropped(key: str, n: int, dropout: float) -> None:
    """Raises ProblemError where the judges would draw too much."""
    if dropout and n > MAX_N_DROPPED:
        why = say("dropped", most=MAX_N_DROPPED)
        raise refused({key: n, "dropout": dropout}, why, say("dropped.where"))


@dataclass(frozen=True)
class RunRequest:
    """Attention of ``batch`` × ``heads`` heads, by each of ``methods``; ``problem`` is one of the
    heads, in the first sequence of the batch, and says all the rest.

    ``heads``: those of the problem; where that is one alone, 1…128, each with keys of its own.
    ``auto_q``, ``auto_k``: Br or Bc is what the kernel's own table has for the card. ``batch``
    1…64, B·H·N·d at most 2²⁸, N at most 4,096 with dropout. ``pass_`` "backward": both passes, the
    gradients judged; without dropout. ``problem.order`` is made the first of the methods that has
    tiles. Raises :class:`ProblemError` on construction.
    """

    problem: Problem
    methods: tuple[str, ...] = ("naive", "fa2")
    batch: int = 1
    heads: int | None = None
    auto_q: bool = False
    auto_k: bool = False
    pass_: str = PASSES[0]
    kind: str = field(default="run", init=False, repr=False)

    def __post_init__(self) -> None:
        def put(name: str, value: object) -> None:
            object.__setattr__(self, name, value)

        put("methods", _methods(self.methods))
        put("batch", whole("batch", self.batch))
        p = self.problem
        most = min(MAX_HEADS, MAX_ELEMENTS // (self.batch * p.n * p.d))
        if most < 1:
            allowed = say("batch", most=MAX_ELEMENTS // (p.n * p.d), n=p.n, d=p.d)
            raise refuse("batch", self.batch, allowed)
        few = most < MAX_HEADS
        here = say("here.sizes", batch=self.batch, n=p.n, d=p.d) if few else ""
        heads = p.q_heads if self.heads is None else self.heads
        put("heads", whole("heads", heads, 1, most, here))
        put("pass_", choice("pass", self.pass_))
        if self.pass_ == "backward" and p.dropout:
            raise refuse("dropout", p.dropout, say("no_dropout"))
        order = next((name for name in ORDERS if name in self.methods), "fa2")
        own = {} if self.heads == p.q_heads else {"q_heads": self.heads, "kv_heads": self.heads}
        if own and p.q_heads > 1:
            raise refuse("heads", self.heads, say("heads", heads=p.q_heads))
        put("problem", replace(p, order=order, **own))
        _check_dropped("n", p.n, p.dropout)

    @classmethod
    def from_query(cls, query: Mapping[str, object]) -> RunRequest:
        """Keys of :meth:`Problem.from_query`, ``b h methods pass``; ``br``, ``bc`` may be "auto".

        Without ``methods``: naive attention and the loop order of ``order``. ``h`` is ``hq`` under
        an older name, beside which a ``hk`` that is missing or empty means as many.
        """
        given = {key: stripped(value) for key, value in query.items()}
        if "h" in given and "hq" not in given:
            given["hq"] = heads = whole("heads", given["h"])
            if given.get("data") == "own" and heads > 1:
                raise refuse("heads", heads, say("own_data"))
            if given.get("hk") in (None, "", EACH):
                given["hk"] = heads
        auto = []
        n = whole("n", given["n"]) if "n" in given else Problem.n
        for key, block in zip(("br", "bc"), AUTO_BLOCKS, strict=True):
            auto.append(given.get(key) == AUTO)
            if auto[-1]:
                given[key] = min(block, n)
        problem = Problem.from_query(given)
        methods = given.get("methods", ("naive", problem.order))
        sizes = given.get("b", 1), given.get("h", problem.q_heads)
        return cls(problem, methods, *sizes, *auto, pass_of(given))  # type: ignore[arg-type]

    def to_query(self) -> dict[str, str]:
        """``from_query`` gives the same request back."""
        query = self.problem.to_query()
        for key in ("hq", "hk"):  # here it is h, and as many key heads are not said
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


CANARY = RunRequest(
    Problem(n=24, d=16, block_q=8, block_k=6, inputs="random", seed=24), ("naive", "fa2")
)


@dataclass(frozen=True)
class SweepPoint:
    """One length of a sweep: random normal q, k, v (batch, heads, n, d), and ``methods``."""

    n: int
    d: int
    mask: str
    dtype: str
    batch: int
    heads: int
    methods: tuple[str, ...]
    score: str = "none"
    sink: float | None = None
    kv_heads: int | None = None
    dropout: float = 0.0
    kind: str = field(default="point", init=False, repr=False)

    @property
    def rules(self) -> dict[str, str | float]:
        """As a Problem's."""
        return Problem(mask=self.mask, score=self.score, sink=self.sink).rules

    @property
    def dropped(self) -> dict[str, float | int]:
        """As a Problem's."""
        return Problem(dropout=self.dropout).dropped

    def to_query(self) -> dict[str, object]:
        """Plain values for the worker."""
        said = {f.name: getattr(self, f.name) for f in fields(self) if f.init}
        return said | {"methods": list(self.methods)}


@dataclass(frozen=True)
class PlacementRequest:
    """The real schedule of one launch: an order of PLACED on the workload's heads."""

    workload: Workload
    order: str
    kind: str = field(default="placed", init=False, repr=False)

    def __post_init__(self) -> None:
        choice("order", self.order, PLACED)

    @classmethod
    def from_query(cls, query: Mapping[str, object]) -> PlacementRequest:
        """Keys of :meth:`Workload.from_query` and ``order``."""
        return cls(Workload.from_query(query), query.get("order", "fa2"))  # type: ignore[arg-type]

    def to_query(self) -> dict[str, str]:
        """``from_query`` gives the same back."""
        return self.workload.to_query() | {"order": self.order}


@causal_keyword
@dataclass(frozen=True)
class Sweep:
    """Time, TFLOP/s and memory of ``methods`` over N = 256, 512, … ``longest``, of ``mask`` beside
    full; ``score``, ``sink`` and ``dropout`` as a Problem's; ``kv_heads`` divides the heads (None:
    as many).

    The number of tokens B·N stays 16,384 (B = 1 beyond) and H·d 2,048 (or just below), so every
    length has the same Q, K and V to move. Raises :class:`ProblemError`.
    """

    d: int = 64
    dtype: str = "bf16"
    methods: tuple[str, ...] = ("naive", "fa2", "sdpa_flash")
    longest: int = MAX_N
    mask: Mask | str = "causal"
    score: Score | str = "none"
    sink: float | None = None
    kv_heads: int | None = None
    dropout: float = 0.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "d", whole("d", self.d))
        object.__setattr__(self, "dtype", choice("dtype", self.dtype))
        object.__setattr__(self, "methods", _methods(self.methods))
        longest = whole("longest", self.longest)
        object.__setattr__(self, "longest", longest)
        for name, of in (("mask", mask_of), ("score", score_of), ("sink", sink_of)):
            object.__setattr__(self, name, of(getattr(self, name)))
        heads = WIDTH // self.d
        kv_heads = heads if self.kv_heads in (None, "", EACH) else whole("kv_heads", self.kv_heads)
        check_heads(heads, kv_heads, "random")
        object.__setattr__(self, "kv_heads", kv_heads if kv_heads < heads else None)
        object.__setattr__(self, "dropout", Problem(dropout=self.dropout).dropout)
        _check_dropped("longest", longest, self.dropout)

    @property
    def name(self) -> str:
        """“d = 64, bf16”, and what it asks beside causal and full."""
        said = {k: v for k, v in self.said.items() if (k, v) != ("mask", "causal")}
        return f"d = {self.d}, {self.dtype}" + "".join(f", {k} = {v}" for k, v in said.items())

    @property
    def said(self) -> dict[str, str]:
        """Its mask, and whatever else of scores and heads it has, as an address has it."""
        names = ("mask", "score", "sink", "dropout")
        query = Problem(**{name: getattr(self, name) for name in names}).to_query()
        said = {key: query[key] for key in names if key in query}
        return said | ({"hk": str(self.kv_heads)} if self.kv_heads else {})

    @property
    def masks(self) -> tuple[str, ...]:
        """Full, and the one asked for."""
        return tuple(dict.fromkeys(("full", str(self.mask))))

    def points(self) -> tuple[SweepPoint, ...]:
        """Short ones first, full before the other mask at each length."""
        lengths = [SHORTEST]
        while 2 * lengths[-1] <= self.longest:
            lengths.append(2 * lengths[-1])
        return tuple(
            SweepPoint(
                n,
                self.d,
                mask,
                self.dtype,
                max(1, TOKENS // n),
                WIDTH // self.d,
                self.methods,
                str(self.score),
                self.sink,
                self.kv_heads,
                self.dropout,
            )
            for n in lengths
            for mask in self.masks
        )
