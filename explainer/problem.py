"""One attention problem, validated, and its form in a URL.

``python -m explainer.problem`` writes what the browser needs of its fields.
"""

import json
import math
import random
from dataclasses import dataclass, fields
from functools import partial
from typing import Any

from explainer.base import own_data
from explainer.base.fields import (
    FIELDS,
    FieldValues,
    Parsed,
    Range,
    accept_causal,
    parse_mask,
    parse_score,
    refuse,
    to_text,
)
from explainer.base.paths import ASSETS
from explainer.base.texts import Texts
from kernels.spec.fields import DTYPES, FP8, MAX_N, MAX_N_MADE, STORED, default
from kernels.spec.masks import Mask
from kernels.spec.scores import Score

t = Texts("fields")
DECLARED = ASSETS / "js" / "model" / "fields.json"


def _text(value: object, inputs: str, n: int, d: int) -> str:
    """The user's own data, checked; "" where the inputs need none."""
    if not isinstance(value, str) or len(value) > own_data.MAX_CHARACTERS:
        raise refuse("text", value, t("characters", most=own_data.MAX_CHARACTERS))
    try:
        if inputs == "sentence" and value.strip():
            return " ".join(own_data.words(value))
        if inputs == "own":
            q, _, _ = own_data.matrices(value)
            if (len(q), len(q[0])) != (n, d):
                raise ValueError(t("blocks", n=n, d=d, lines=len(q), numbers=len(q[0])))
            return value.strip().replace("\r\n", "\n")
    except ValueError as error:
        raise refuse("text", value, str(error)) from None
    return ""


def check_heads(q_heads: int, kv_heads: int, inputs: str) -> None:
    """Raises ProblemError unless Hk divides H, and for several heads of data that are of one."""
    if q_heads % kv_heads:
        divisors = ", ".join(str(x) for x in range(1, q_heads + 1) if q_heads % x == 0)
        raise refuse("kv_heads", kv_heads, t("kv_heads", divisors=divisors, heads=q_heads))
    if q_heads > 1 and inputs == "own":
        raise refuse("q_heads", q_heads, t("own_data"))


@accept_causal
@dataclass(frozen=True)
class Problem(FieldValues):
    """One head of attention, S = Q Kᵀ/√d, P = softmax S, O = P V, and how it is tiled.

    ``n`` rows of Q, K and V (1…65,536, beyond 16,384 only ``random``); ``d`` head dimension
    (1…256); ``block_q`` = Br and ``block_k`` = Bc (1…n, independent, need not divide n);
    ``mask`` what a query sees, a text of :mod:`kernels.spec.masks` or its Mask (``causal=True`` and
    ``False`` stay keywords for "causal" and "full");
    ``order`` one of ORDERS; ``dtype`` fp32 | fp16 | bf16, or e4m3 with scales, as
    `kernels.attention_fp8` rounds Q, K, V and P; ``inputs`` names a generator of
    :mod:`explainer.algorithms.inputs`; ``seed`` 0…2³¹−1; ``text`` the sentence, or Q, K
    and V as CSV, for the inputs that take one; ``gain`` multiplies the logits (0.01…10,000);
    ``score`` what is done to S after scaling, a text of :mod:`kernels.spec.scores` or its Score;
    ``sink`` a logit that belongs to every row's softmax and has no value (−10,000…10,000, None for
    none). It is ``head`` h (from 0) of ``q_heads`` H (1…128); ``kv_heads`` Hk divides H: h reads K
    and V of key head ⌊h·Hk/H⌋ (GQA, arXiv 2305.13245; Hk = 1 is MQA, Hk = H each its own).
    ``dropout`` p (0…0.999) of the weights of P are dropped (:mod:`kernels.spec.dropout`);
    ``rope`` the base by which Q and K are rotated before anything else, d even (0: not at all).
    ``cache`` "paged": K and V lie in pages of Bc keys anywhere in a pool, which changes no number.
    Raises :class:`ProblemError` on construction.
    """

    n: int = default("n")
    d: int = default("d")
    block_q: int = default("block_q")
    block_k: int = default("block_k")
    mask: Parsed[Mask] = Parsed(parse_mask, default("mask"))
    order: str = default("order")
    dtype: str = default("dtype")
    inputs: str = default("inputs")
    seed: int = default("seed")
    text: str = default("text")
    gain: float = default("gain")
    score: Parsed[Score] = Parsed(parse_score, default("score"))
    sink: float | None = default("sink")
    q_heads: int = default("q_heads")
    kv_heads: int = default("kv_heads")
    head: int = default("head")
    dropout: float = default("dropout")
    rope: float = default("rope")
    cache: str = default("cache")

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.n > MAX_N_MADE and self.inputs != "random":
            raise refuse("n", self.n, t("made", made=MAX_N_MADE, all=MAX_N))
        self._set("text", _text(self.text, self.inputs, self.n, self.d))
        if self.rope and (self.rope < 1 or self.d % 2):  # a pair of dimensions rotates
            raise refuse("rope", to_text(self.rope), t("rope", d=self.d))
        check_heads(self.q_heads, self.kv_heads, self.inputs)

    def _range_of(self, name: str) -> Range | tuple[str, ...] | None:
        if name == "dtype":
            return (*DTYPES, FP8)
        if name in ("block_q", "block_k"):
            return 1, self.n, partial(t, "here.n", n=self.n)
        if name == "head":
            return 0, self.q_heads - 1, partial(t, "here.heads", heads=self.q_heads)
        return None

    @property
    def Tr(self) -> int:
        """Number of row blocks, ⌈N/Br⌉."""
        return -(-self.n // self.block_q)

    @property
    def Tc(self) -> int:
        """Number of key blocks, ⌈N/Bc⌉."""
        return -(-self.n // self.block_k)

    @property
    def pages(self) -> int:
        """Number of pages in the pool of a paged cache: its own, and half as many of others."""
        return self.Tc + -(-self.Tc // 2)

    @property
    def block_table(self) -> tuple[int, ...] | None:
        """The page of each key block in a paged cache, drawn from the seed."""
        if self.cache != "paged":
            return None
        draw = random.Random(f"block table {self.seed}").random
        return tuple(sorted(range(self.pages), key=lambda _: draw())[: self.Tc])

    @property
    def scale(self) -> float:
        """1/√d, the factor on Q Kᵀ."""
        return 1.0 / math.sqrt(self.d)

    @property
    def stored_dtype(self) -> str:
        """What O, and S and P where they are stored, are rounded to."""
        return STORED.get(self.dtype, self.dtype)

    @property
    def kv_head(self) -> int:
        """The key head that ``head`` reads: ⌊h / (H/Hk)⌋."""
        return self.head // (self.q_heads // self.kv_heads)

    @property
    def is_causal(self) -> bool:
        """Whether the mask is "causal" itself."""
        return self.mask.text == "causal"

    @property
    def shares(self) -> bool:
        """Whether several query heads read one key head."""
        return self.kv_heads < self.q_heads

    @property
    def rules(self) -> dict[str, Any]:
        """The keyword arguments of a kernel for the scores: mask, and score and sink if any."""
        rules: dict[str, Any] = {"mask": str(self.mask)}
        if self.score.changes:
            rules["score"] = str(self.score)
        return rules if self.sink is None else rules | {"sink": self.sink}

    @property
    def blocks(self) -> dict[str, Any]:
        """The keyword arguments of a kernel for its tiles."""
        return {"block_m": self.block_q, "block_n": self.block_k}

    @property
    def dropped(self) -> dict[str, Any]:
        """The keyword arguments of a kernel for dropout, if any."""
        return {"dropout": self.dropout, "seed": self.seed} if self.dropout else {}


def declared() -> str:
    """Write what the browser reads as JSON: the keys of a Problem in their order, those whose
    values are always numbers, and the defaults of those that an address need not have."""
    own = [FIELDS[field.name] for field in fields(Problem)]
    numbers = [x.key for x in own if x.kind in ("whole", "number") and not x.is_optional]
    optional = {x.key: "" if x.default is None else x.default for x in own if not x.is_written}
    content = {"keys": [x.key for x in own], "numbers": numbers, "optional": optional}
    return json.dumps(content, ensure_ascii=False, indent=1) + "\n"


if __name__ == "__main__":
    DECLARED.write_text(declared(), encoding="utf-8")
