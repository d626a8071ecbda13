"""What the user asked: one attention problem, validated, and its form in a URL."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields

from explainer.base import own_data
from explainer.base.fields import (  # noqa: F401  (those not used below are imported from here)
    DTYPES,
    INPUT_NAMES,
    MASKS,
    MAX_D,
    MAX_N,
    MAX_N_MADE,
    NAMES,
    ORDERS,
    ProblemError,
    choice,
    number,
    refuse,
    refused,
    stripped,
    whole,
)
from explainer.base.texts import Texts
from kernels.spec.masks import Mask, MaskError, of
from kernels.spec.masks import parse as mask_from
from kernels.spec.scores import Score, ScoreError
from kernels.spec.scores import parse as score_from
from kernels.spec.texts import short

say = Texts("fields")

DEFAULT_BLOCK = 4
# Left out of an address where they are plain.
UNSAID = ("text", "gain", "score", "sink", "q_heads", "kv_heads", "head", "dropout", "rope")


def _text(value: object, inputs: str, n: int, d: int) -> str:
    """The user's own data, checked; "" where the inputs need none."""
    if not isinstance(value, str) or len(value) > own_data.MAX_CHARACTERS:
        raise refuse("text", value, say("characters", most=own_data.MAX_CHARACTERS))
    try:
        if inputs == "sentence" and value.strip():
            return " ".join(own_data.words(value))
        if inputs == "own":
            q, _, _ = own_data.matrices(value)
            if (len(q), len(q[0])) != (n, d):
                raise ValueError(say("blocks", n=n, d=d, lines=len(q), numbers=len(q[0])))
            return value.strip().replace("\r\n", "\n")
    except ValueError as error:
        raise refuse("text", value, str(error)) from None
    return ""


def mask_of(value: object) -> Mask:
    """The Mask of a text, or the Mask that it is already. Raises ProblemError for any other."""
    if isinstance(value, Mask):
        return value
    try:
        return mask_from(value)  # type: ignore[arg-type]
    except MaskError as error:
        raise refused({"mask": value}, str(error)) from None


def score_of(value: object) -> Score:
    """The Score of a text, or the Score that it is already. Raises ProblemError for any other."""
    if isinstance(value, Score):
        return value
    try:
        return score_from(value)  # type: ignore[arg-type]
    except ScoreError as error:
        raise refused({"score": value}, str(error)) from None


def sink_of(value: object) -> float | None:
    """The logit of a sink; None, or a field left empty, for none. Raises ProblemError."""
    if value is None or stripped(value) == "":
        return None
    return number("sink", value) + 0.0  # −0 is 0


def causal_keyword(cls: type) -> type:
    """``causal=`` is a keyword for ``mask=``, True or False in its place means the same, and
    ``.causal`` says whether the mask is "causal"."""
    made = cls.__init__

    def init(self, *args: object, causal: object = None, **fields: object) -> None:
        if causal is not None:
            if not isinstance(causal, bool):
                raise refuse("mask", causal, say("causal"))
            fields["mask"] = of(causal)
        made(self, *(of(x) if isinstance(x, bool) else x for x in args), **fields)

    cls.__init__ = init
    cls.causal = property(lambda self: self.mask.text == "causal")
    return cls


def rope_of(value: object, d: int) -> float:
    """The base of RoPE, 0 for none. Raises ProblemError, also for an odd d, which has no pairs."""
    base = number("rope", value) + 0.0
    if base and (base < 1 or d % 2):
        raise refuse("rope", value, say("rope", d=d))
    return base


def check_heads(q_heads: int, kv_heads: int, inputs: str) -> None:
    """Raises ProblemError unless Hk divides H, and for several heads of data that are of one."""
    if q_heads % kv_heads:
        divisors = ", ".join(str(x) for x in range(1, q_heads + 1) if q_heads % x == 0)
        raise refuse("kv_heads", kv_heads, say("kv_heads", divisors=divisors, heads=q_heads))
    if q_heads > 1 and inputs == "own":
        raise refuse("q_heads", q_heads, say("own_data"))


def _said(value: object) -> str:
    return short(value) if isinstance(value, float) else str(value)


@causal_keyword
@dataclass(frozen=True)
class Problem:
    """One head of attention, S = Q Kᵀ/√d, P = softmax S, O = P V, and how it is tiled.

    ``n`` rows of Q, K and V (1…65,536, beyond 16,384 only ``random``); ``d`` head dimension
    (1…256); ``block_q`` = Br and ``block_k`` = Bc (1…n, independent, need not divide n);
    ``mask`` what a query sees, a text of :mod:`kernels.spec.masks` or its Mask (``causal=True`` and
    ``False`` stay keywords for "causal" and "full");
    ``order`` standard | fa1 | fa2; ``dtype`` fp32 | fp16 | bf16; ``inputs`` names a generator of
    :mod:`explainer.algorithms.inputs`; ``seed`` 0…2³¹−1; ``text`` the sentence, or Q, K
    and V as CSV, for the inputs that take one; ``gain`` multiplies the logits (0.01…10,000);
    ``score`` what is done to S after scaling, a text of :mod:`kernels.spec.scores` or its Score;
    ``sink`` a logit that belongs to every row's softmax and has no value (−10,000…10,000, None for
    none). It is ``head`` h (from 0) of ``q_heads`` H (1…128); ``kv_heads`` Hk divides H: h reads K
    and V of key head ⌊h·Hk/H⌋ (GQA, arXiv 2305.13245; Hk = 1 is MQA, Hk = H each its own).
    ``dropout`` p (0…0.999) of the weights of P are dropped (:mod:`kernels.spec.dropout`);
    ``rope`` the base by which Q and K are rotated before anything else, d even (0: not at all).
    Raises :class:`ProblemError` on construction.
    """

    n: int = 16
    d: int = 8
    block_q: int = DEFAULT_BLOCK
    block_k: int = DEFAULT_BLOCK
    mask: Mask | str = "causal"
    order: str = "fa2"
    dtype: str = "fp32"
    inputs: str = "random"
    seed: int = 9
    text: str = ""
    gain: float = 1.0
    score: Score | str = "none"
    sink: float | None = None
    q_heads: int = 1
    kv_heads: int = 1
    head: int = 0
    dropout: float = 0.0
    rope: float = 0.0

    def __post_init__(self) -> None:
        def put(field: str, value: object) -> None:
            object.__setattr__(self, field, value)

        put("n", whole("n", self.n))
        put("d", whole("d", self.d))
        here = say("here.n", n=self.n)
        put("block_q", whole("block_q", self.block_q, 1, self.n, here))
        put("block_k", whole("block_k", self.block_k, 1, self.n, here))
        put("mask", mask_of(self.mask))
        put("order", choice("order", self.order))
        put("dtype", choice("dtype", self.dtype))
        put("inputs", choice("inputs", self.inputs))
        if self.n > MAX_N_MADE and self.inputs != "random":
            raise refuse("n", self.n, say("made", made=MAX_N_MADE, all=MAX_N))
        put("seed", whole("seed", self.seed))
        put("text", _text(self.text, self.inputs, self.n, self.d))
        put("gain", number("gain", self.gain))
        put("score", score_of(self.score))
        put("sink", sink_of(self.sink))
        put("q_heads", whole("q_heads", self.q_heads))
        put("kv_heads", whole("kv_heads", self.kv_heads))
        here = say("here.heads", heads=self.q_heads)
        put("head", whole("head", self.head, 0, self.q_heads - 1, here))
        put("dropout", number("dropout", self.dropout) + 0.0)
        put("rope", rope_of(self.rope, self.d))
        check_heads(self.q_heads, self.kv_heads, self.inputs)

    @property
    def Tr(self) -> int:
        """Number of row blocks, ⌈N/Br⌉."""
        return -(-self.n // self.block_q)

    @property
    def Tc(self) -> int:
        """Number of key blocks, ⌈N/Bc⌉."""
        return -(-self.n // self.block_k)

    @property
    def scale(self) -> float:
        """1/√d, the factor on Q Kᵀ."""
        return 1.0 / math.sqrt(self.d)

    @property
    def kv_head(self) -> int:
        """The key head that ``head`` reads: ⌊h / (H/Hk)⌋."""
        return self.head // (self.q_heads // self.kv_heads)

    @property
    def shares(self) -> bool:
        """Do several query heads read one key head?"""
        return self.kv_heads < self.q_heads

    @property
    def rules(self) -> dict[str, str | float]:
        """What a kernel is told of the scores: its mask, and score and sink where there are any."""
        said = {"mask": str(self.mask)}
        said |= {"score": str(self.score)} if self.score.changes else {}
        return said if self.sink is None else said | {"sink": self.sink}

    @property
    def dropped(self) -> dict[str, float | int]:
        """What a kernel is told of dropout, where there is any."""
        return {"dropout": self.dropout, "seed": self.seed} if self.dropout else {}

    @classmethod
    def from_query(cls, query: Mapping[str, object]) -> Problem:
        """The Problem of a query string; unknown keys are ignored, missing ones take the default.

        Missing block sizes default to min(4, N), so that ``?n=2`` alone is a valid address.
        """
        known = {f.name: query[NAMES[f.name][0]] for f in fields(cls) if NAMES[f.name][0] in query}
        if "n" in known:
            known["n"] = whole("n", known["n"])
            for block in ("block_q", "block_k"):
                known.setdefault(block, min(DEFAULT_BLOCK, known["n"]))
        return cls(**known)  # type: ignore[arg-type]

    def to_query(self) -> dict[str, str]:
        """The fields under their query keys; ``from_query`` gives the same Problem back.

        What says nothing is left out: those of ``UNSAID`` at their defaults.
        """
        said = {f.name: (_said(getattr(self, f.name)), _said(f.default)) for f in fields(self)}
        plain = {name for name in UNSAID if said[name][0] == said[name][1]}
        return {NAMES[name][0]: said[name][0] for name in said if name not in plain}
