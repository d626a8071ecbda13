"""The fields that are asked for: key in a query, words, what is allowed; and the one sentence that
refuses a value. Every “… is not allowed: …” of the app is written by :func:`refused`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import reduce

from explainer.base.cards import CARDS
from explainer.base.texts import Texts
from kernels.spec.algorithms import ORDERS
from kernels.spec.formats import DTYPES
from kernels.spec.masks import PLAIN

PASSES = ("forward", "backward")
INPUT_NAMES = ("rising", "random", "spike", "sentence", "own")
MASKS = PLAIN  # of the menus; the field takes any text of kernels.spec.masks

MAX_N = 65_536
MAX_N_MADE = 16_384  # beyond it the data can only be random: the others look at all N² scores
MAX_D = 256
MAX_SEED = 2**31 - 1
MIN_GAIN, MAX_GAIN = 0.01, 10_000.0
MAX_SINK = 10_000.0
MAX_BATCH, MAX_HEADS = 64, 128
WARPS = (2, 4, 8)

say = Texts("fields")
_NAMED = say.named("names")


@dataclass(frozen=True)
class Field:
    """``key`` in a query; ``name`` in a sentence; the ``choices``, or numbers from ``low`` to
    ``high``, unless who asks says another range (a tile may not be longer than the sequence)."""

    key: str
    name: str
    low: float = 0
    high: float = 0
    choices: tuple[str, ...] = ()


FIELDS = {
    "n": Field("n", _NAMED["n"], 1, MAX_N),
    "d": Field("d", _NAMED["d"], 1, MAX_D),
    "block_q": Field("br", _NAMED["block_q"], 1, MAX_N),
    "block_k": Field("bc", _NAMED["block_k"], 1, MAX_N),
    "mask": Field("mask", _NAMED["mask"]),
    "order": Field("order", _NAMED["order"], choices=ORDERS),
    "dtype": Field("dtype", _NAMED["dtype"], choices=DTYPES),
    "inputs": Field("data", _NAMED["inputs"], choices=INPUT_NAMES),
    "seed": Field("seed", _NAMED["seed"], 0, MAX_SEED),
    "text": Field("text", _NAMED["text"]),
    "gain": Field("gain", _NAMED["gain"], MIN_GAIN, MAX_GAIN),
    "score": Field("score", _NAMED["score"]),
    "sink": Field("sink", _NAMED["sink"], -MAX_SINK, MAX_SINK),
    "q_heads": Field("hq", _NAMED["q_heads"], 1, MAX_HEADS),
    "kv_heads": Field("hk", _NAMED["kv_heads"], 1, MAX_HEADS),
    "head": Field("head", _NAMED["head"], 0, MAX_HEADS - 1),
    "rope": Field("rope", _NAMED["rope"], 0, 1e9),
    "dropout": Field("dropout", _NAMED["dropout"], 0, 0.999),
    "batch": Field("b", _NAMED["batch"], 1, MAX_BATCH),
    "heads": Field("h", _NAMED["heads"], 1, MAX_HEADS),
    "methods": Field("methods", _NAMED["methods"]),
    "longest": Field("longest", _NAMED["longest"], 256, MAX_N),
    "card": Field("card", _NAMED["card"], choices=tuple(CARDS)),
    "step": Field("step", _NAMED["step"]),
    "pass": Field("pass", _NAMED["pass"], choices=PASSES),
    "warps": Field("warps", _NAMED["warps"], choices=tuple(map(str, WARPS))),
}
# field → (key in a query, what the field is called in a sentence)
NAMES = {field: (f.key, f.name) for field, f in FIELDS.items()}


class ProblemError(ValueError):
    """A value outside its range; the text is one sentence naming field, value and range."""


def _shown(value: object) -> str:
    if value is None:
        return say("nothing")
    text = str(value) if isinstance(value, (str, int, float)) else type(value).__name__
    text = "".join(c if c.isprintable() else "?" for c in text[:41])
    return (text if len(text) <= 40 else text[:40] + "…") or say("nothing")


def refused(given: Mapping[str, object] | str, why: str, where: str = "") -> ProblemError:
    """“br = 4 and bc = 4 are not allowed here: why.” of {key: value}, or of a key alone."""
    pairs = {} if isinstance(given, str) else given
    said = [say("given", key=key, value=_shown(value)) for key, value in pairs.items()]
    told = reduce(lambda first, second: say("both", first=first, second=second), said or [given])
    if where:
        key = "several_where" if len(pairs) > 1 else "one_where"
        return ProblemError(say(key, given=told, where=where, why=why))
    return ProblemError(say("several" if len(pairs) > 1 else "one", given=told, why=why))


def refuse(field: str | Field, value: object, allowed: str) -> ProblemError:
    """The error for this field, of :data:`FIELDS` or another: key, value and what is allowed."""
    field = FIELDS[field] if isinstance(field, str) else field
    return refused({field.key: value}, say("must", name=field.name, allowed=allowed))


def stripped(value: object) -> object:
    """Text without the blanks around it, which nobody sees; anything else as it is."""
    return value.strip() if isinstance(value, str) else value


def whole(
    field: str | Field,
    value: object,
    low: int | None = None,
    high: int | None = None,
    here: str = "",
) -> int:
    """``value`` as an int in [low, high], or in the field's range; 16.0 and " 16 " count as whole,
    True and 7.5 do not. ``here``: what the range depends on, for the sentence that refuses."""
    field = FIELDS[field] if isinstance(field, str) else field
    low, high = field.low if low is None else low, field.high if high is None else high
    found = _whole(value)
    if found is None or not low <= found <= high:
        allowed = say("whole", low=low, high=high)
        if here:
            allowed = say("whole_here", low=low, high=high, here=here)
        raise refuse(field, value, allowed)
    return found


def _whole(value: object) -> int | None:
    """None for what is no whole number, or too long to be meant as one."""
    if isinstance(value, bool):
        return None
    if isinstance(value, str):
        value = stripped(value)
        digits = value.isascii() and value.removeprefix("-").isdigit() and len(value) <= 12
        return int(value) if digits else None
    if isinstance(value, float):
        return int(value) if value.is_integer() else None  # NaN and infinities are not either
    try:
        return value.__index__()  # type: ignore[attr-defined]
    except AttributeError:
        return None


def number(field: str | Field, value: object) -> float:
    """``value`` as a finite float in the field's range; text is read as a decimal number."""
    field = FIELDS[field] if isinstance(field, str) else field
    found = _number(value)
    if found is None or not field.low <= found <= field.high:  # NaN fails too
        raise refuse(field, value, say("number", low=field.low, high=field.high))
    return found


def _number(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        return None
    if isinstance(value, str) and (not value.isascii() or len(value) > 40):
        return None
    try:
        return float(value)
    except (ValueError, OverflowError):
        return None


def choice(field: str | Field, value: object, allowed: tuple[str, ...] = ()) -> str:
    """``value`` if it is one of the allowed words, which are the field's choices if not given."""
    field = FIELDS[field] if isinstance(field, str) else field
    allowed = allowed or field.choices
    if not isinstance(value, str) or value not in allowed:
        raise refuse(field, value, say("choice", choices=", ".join(allowed)))
    return value


def pass_of(query: Mapping[str, object]) -> str:
    """The pass that an address asks for, forward where it does not say. Raises ProblemError."""
    return choice("pass", query.get("pass", PASSES[0]))
