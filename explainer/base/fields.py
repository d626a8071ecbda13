"""The fields that are asked for: key in a query, words, what is allowed; and the one sentence that
refuses a value. Every “… is not allowed: …” of the app is written by :func:`refused`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from explainer.base.cards import CARDS
from explainer.base.formats import DTYPES
from kernels.masks import PLAIN

ORDERS = ("standard", "fa1", "fa2")
PASSES = ("forward", "backward")
INPUT_NAMES = ("rising", "random", "spike", "sentence", "own")
MASKS = PLAIN  # of the menus; the field takes any text of kernels.masks

MAX_N = 65_536
MAX_N_MADE = 16_384  # beyond it the data can only be random: the others look at all N² scores
MAX_D = 256
MAX_SEED = 2**31 - 1
MIN_GAIN, MAX_GAIN = 0.01, 10_000.0
MAX_SINK = 10_000.0
MAX_BATCH, MAX_HEADS = 64, 128
WARPS = (2, 4, 8)


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
    "n": Field("n", "the sequence length N", 1, MAX_N),
    "d": Field("d", "the head dimension d", 1, MAX_D),
    "block_q": Field("br", "the query block Br", 1, MAX_N),
    "block_k": Field("bc", "the key block Bc", 1, MAX_N),
    "mask": Field("mask", "the mask"),
    "order": Field("order", "the loop order", choices=ORDERS),
    "dtype": Field("dtype", "the precision", choices=DTYPES),
    "inputs": Field("data", "the data", choices=INPUT_NAMES),
    "seed": Field("seed", "the seed", 0, MAX_SEED),
    "text": Field("text", "the text"),
    "gain": Field("gain", "the factor on the logits", MIN_GAIN, MAX_GAIN),
    "score": Field("score", "the change of the scores"),
    "sink": Field("sink", "the sink", -MAX_SINK, MAX_SINK),
    "q_heads": Field("hq", "the number of query heads H", 1, MAX_HEADS),
    "kv_heads": Field("hk", "the number of key heads Hk", 1, MAX_HEADS),
    "head": Field("head", "the head shown", 0, MAX_HEADS - 1),
    "rope": Field("rope", "the base of RoPE", 0, 1e9),
    "dropout": Field("dropout", "the dropout", 0, 0.999),
    "batch": Field("b", "the batch size B", 1, MAX_BATCH),
    "heads": Field("h", "the number of heads H", 1, MAX_HEADS),
    "methods": Field("methods", "the methods"),
    "longest": Field("longest", "the longest sequence", 256, MAX_N),
    "card": Field("card", "the card", choices=tuple(CARDS)),
    "step": Field("step", "the step"),
    "pass": Field("pass", "the pass", choices=PASSES),
    "warps": Field("warps", "the number of warps", choices=tuple(map(str, WARPS))),
}
# field → (key in a query, what the field is called in a sentence)
NAMES = {field: (f.key, f.name) for field, f in FIELDS.items()}


class ProblemError(ValueError):
    """A value outside its range; the text is one sentence naming field, value and range."""


def _shown(value: object) -> str:
    if value is None:
        return "(empty)"
    text = str(value) if isinstance(value, (str, int, float)) else type(value).__name__
    text = "".join(c if c.isprintable() else "?" for c in text[:41])
    return (text if len(text) <= 40 else text[:40] + "…") or "(empty)"


def refused(given: Mapping[str, object] | str, why: str, where: str = "") -> ProblemError:
    """“br = 4 and bc = 4 are not allowed here: why.” of {key: value}, or of a key alone."""
    pairs = {} if isinstance(given, str) else given
    said = " and ".join(f"{key} = {_shown(value)}" for key, value in pairs.items()) or given
    where = f" {where}" if where else ""
    return ProblemError(f"{said} {'are' if len(pairs) > 1 else 'is'} not allowed{where}: {why}.")


def refuse(field: str | Field, value: object, allowed: str) -> ProblemError:
    """The error for this field, of :data:`FIELDS` or another: key, value and what is allowed."""
    field = FIELDS[field] if isinstance(field, str) else field
    return refused({field.key: value}, f"{field.name} must be {allowed}")


def stripped(value: object) -> object:
    """Text without the blanks around it, which nobody sees; anything else as it is."""
    return value.strip() if isinstance(value, str) else value


def whole(
    field: str | Field,
    value: object,
    low: int | None = None,
    high: int | None = None,
    note: str = "",
) -> int:
    """``value`` as an int in [low, high], or in the field's range; 16.0 and " 16 " count as whole,
    True and 7.5 do not."""
    field = FIELDS[field] if isinstance(field, str) else field
    low, high = field.low if low is None else low, field.high if high is None else high
    error = refuse(field, value, f"a whole number from {low} to {high:,}{note}")
    if isinstance(value, bool):
        raise error
    if isinstance(value, str):
        value = stripped(value)
        if not value.isascii() or not value.removeprefix("-").isdigit() or len(value) > 12:
            raise error
        value = int(value)
    elif isinstance(value, float):
        if not value.is_integer():  # NaN and infinities are not integers either
            raise error
        value = int(value)
    else:
        try:
            value = value.__index__()  # type: ignore[attr-defined]
        except AttributeError:
            raise error from None
    if not low <= value <= high:
        raise error
    return value


def number(field: str | Field, value: object) -> float:
    """``value`` as a finite float in the field's range; text is read as a decimal number."""
    field = FIELDS[field] if isinstance(field, str) else field
    error = refuse(field, value, f"a number from {field.low:,g} to {field.high:,g}")
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        raise error
    if isinstance(value, str) and (not value.isascii() or len(value) > 40):
        raise error
    try:
        found = float(value)
    except (ValueError, OverflowError):
        raise error from None
    if not field.low <= found <= field.high:  # NaN fails too
        raise error
    return found


def choice(field: str | Field, value: object, allowed: tuple[str, ...] = ()) -> str:
    """``value`` if it is one of the allowed words, which are the field's choices if not given."""
    field = FIELDS[field] if isinstance(field, str) else field
    allowed = allowed or field.choices
    if not isinstance(value, str) or value not in allowed:
        raise refuse(field, value, "one of " + ", ".join(allowed))
    return value


def pass_of(query: Mapping[str, object]) -> str:
    """The pass that an address asks for, forward where it does not say. Raises ProblemError."""
    return choice("pass", query.get("pass", PASSES[0]))
