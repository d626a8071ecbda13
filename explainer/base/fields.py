"""Parse the values of fields, and refuse them: every “… is not allowed: …” of the app is written
here. The table itself is :mod:`kernels.spec.fields`, to which this adds what only pages have."""

from collections.abc import Callable, Mapping
from dataclasses import fields
from functools import reduce
from typing import Any, Generic, TypeVar

from explainer.base.cards import CARDS
from explainer.base.texts import Texts
from kernels.spec import fields as spec
from kernels.spec.fields import PASSES, Field
from kernels.spec.masks import Mask, MaskError
from kernels.spec.masks import parse as mask_from
from kernels.spec.scores import Score, ScoreError
from kernels.spec.scores import parse as score_from
from kernels.spec.texts import short

WARPS = (2, 4, 8)
t = Texts("fields")
_TITLES = t.named("names")

FIELDS = spec.FIELDS | spec.by_name(
    Field("card", "card", "choice", "h200", choices=tuple(CARDS)),
    Field("step", "step"),
    Field("warps", "warps", "choice", "4", choices=tuple(map(str, WARPS))),
)
KEYS = {name: field.key for name, field in FIELDS.items()}
BY_KEY = {field.key: field for field in FIELDS.values()}
# Low, high, and what says in words what they depend on, where they do.
Range = tuple[float, float, Callable[[], str] | None]


class ProblemError(ValueError):
    """A value outside its range; the text is one sentence naming field, value and range."""


def title_of(field: Field) -> str:
    """What a sentence calls the field."""
    return field.title or _TITLES[field.name]


def _quote(value: object) -> str:
    if value is None:
        return t("nothing")
    text = str(value) if isinstance(value, (str, int, float)) else type(value).__name__
    text = "".join(c if c.isprintable() else "?" for c in text[:41])
    return (text if len(text) <= 40 else text[:40] + "…") or t("nothing")


def refused(given: Mapping[str, object] | str, why: str, where: str = "") -> ProblemError:
    """Make the error “br = 4 and bc = 4 are not allowed here: why.” of {key: value}, or of a key
    alone."""
    pairs = {} if isinstance(given, str) else given
    parts = [t("given", key=key, value=_quote(value)) for key, value in pairs.items()]
    parts = [given] if isinstance(given, str) else parts
    subject = reduce(lambda first, second: t("both", first=first, second=second), parts)
    if where:
        key = "several_where" if len(pairs) > 1 else "one_where"
        return ProblemError(t(key, given=subject, where=where, why=why))
    return ProblemError(t("several" if len(pairs) > 1 else "one", given=subject, why=why))


def refuse(field: str | Field, value: object, allowed: str) -> ProblemError:
    """Make the error for this field: its key, the value and what is allowed."""
    field = FIELDS[field] if isinstance(field, str) else field
    return refused({field.key: value}, t("must", name=title_of(field), allowed=allowed))


def stripped(value: object) -> object:
    """Strip the blanks around a text, which nobody sees; return anything else as it is."""
    return value.strip() if isinstance(value, str) else value


def parse_whole(field: str | Field, value: object, within: Range | None = None) -> int:
    """Parse ``value`` as an int ``within`` this range, or the field's; 16.0 and " 16 " count as
    whole, True and 7.5 do not."""
    field = FIELDS[field] if isinstance(field, str) else field
    low, high, here = within or (field.low, field.high, None)
    found = _int_of(value)
    if found is None or not low <= found <= high:
        allowed = t("whole", low=int(low), high=int(high))
        if here:
            allowed = t("whole_here", low=int(low), high=int(high), here=here())
        raise refuse(field, value, allowed)
    return found


def _int_of(value: Any) -> int | None:
    """None for what is no whole number, or too long to be meant as one."""
    if isinstance(value, bool):
        return None
    if isinstance(value, str):
        value = value.strip()
        digits = value.isascii() and value.removeprefix("-").isdigit() and len(value) <= 12
        return int(value) if digits else None
    if isinstance(value, float):
        return int(value) if value.is_integer() else None  # NaN and infinities are not either
    try:
        return value.__index__()
    except AttributeError:
        return None


def parse_number(field: str | Field, value: object) -> float:
    """Parse ``value`` as a finite float in the field's range; text is a decimal number."""
    field = FIELDS[field] if isinstance(field, str) else field
    found = _float_of(value)
    if found is None or not field.low <= found <= field.high:  # NaN fails too
        raise refuse(field, value, t("number", low=field.low, high=field.high))
    return found + 0.0  # −0 is 0


def _float_of(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        return None
    if isinstance(value, str) and (not value.isascii() or len(value) > 40):
        return None
    try:
        return float(value)
    except (ValueError, OverflowError):
        return None


def parse_choice(field: str | Field, value: object, allowed: tuple[str, ...] = ()) -> str:
    """Return ``value`` if it is one of the allowed words, by default the field's choices."""
    field = FIELDS[field] if isinstance(field, str) else field
    allowed = allowed or field.choices
    if not isinstance(value, str) or value not in allowed:
        raise refuse(field, value, t("choice", choices=", ".join(allowed)))
    return value


def parse_pass(query: Mapping[str, object]) -> str:
    """Parse the pass of an address, forward where it has none. Raises ProblemError."""
    return parse_choice("pass", query.get("pass", PASSES[0]))


def parse_mask(value: Any) -> Mask:
    """Parse the text of a mask; a Mask is returned as it is. Raises ProblemError."""
    try:
        return value if isinstance(value, Mask) else mask_from(value)
    except MaskError as error:
        raise refused({"mask": value}, str(error)) from None


def parse_score(value: Any) -> Score:
    """Parse the text of a score; a Score is returned as it is. Raises ProblemError."""
    try:
        return value if isinstance(value, Score) else score_from(value)
    except ScoreError as error:
        raise refused({"score": value}, str(error)) from None


def parse(field: str | Field, value: object, within: Any = None) -> Any:
    """Parse the value of any field by its kind, ``within`` a Range or choices of its own.
    Raises ProblemError."""
    field = FIELDS[field] if isinstance(field, str) else field
    if field.is_optional and (value is None or stripped(value) == ""):
        return None
    if field.kind == "whole":
        return parse_whole(field, value, within)
    if field.kind == "choice" and within:
        return parse_choice(field, value, within)
    return PARSERS[field.kind](field, value) if field.kind in PARSERS else value


PARSERS: dict[str, Callable[[Field, object], object]] = {
    "number": parse_number,
    "choice": parse_choice,
    "mask": lambda _, value: parse_mask(value),
    "score": lambda _, value: parse_score(value),
}


def to_text(value: object) -> str:
    """Write a value as an address has it: 1 and not 1.0."""
    return short(value) if isinstance(value, float) else str(value)


V = TypeVar("V")


class Parsed(Generic[V]):
    """Attribute of a dataclass that takes a text, or what that text stands for, and holds the
    latter: ``mask: Parsed[Mask] = Parsed(parse_mask, "causal")``."""

    def __init__(self, parse: Callable[[object], V], default: object) -> None:
        self._parse, self._default = parse, parse(default)

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, instance: object, owner: type) -> V:
        return self._default if instance is None else instance.__dict__[self._name]

    def __set__(self, instance: object, value: V | str) -> None:
        instance.__dict__[self._name] = self._parse(value)


def causal_text(causal: bool) -> str:
    """The text of the mask that True or False for ``causal`` means."""
    return "causal" if causal else "full"


C = TypeVar("C", bound="FieldValues")


class FieldValues:
    """Base of frozen dataclasses whose attributes are fields of the table.

    Each attribute is parsed when an object is made, in order; one whose default is None may be
    None. Raises ProblemError.
    """

    def __post_init__(self) -> None:
        for field in fields(self):  # type: ignore[arg-type]  # every subclass is a dataclass
            value = getattr(self, field.name)
            is_none = value is None and field.default is None
            if not is_none and FIELDS[field.name].kind not in ("mask", "score"):
                self._set(field.name, parse(field.name, value, self._range_of(field.name)))

    def _range_of(self, name: str) -> Range | tuple[str, ...] | None:
        """The range of a whole number, where the attributes before it narrow the field's, or the
        choices of this class."""

    def _set(self, name: str, value: object) -> None:
        object.__setattr__(self, name, value)

    @classmethod
    def from_query(cls: type[C], query: Mapping[str, object]) -> C:
        """Parse a query; unknown keys are ignored, missing ones take the default.

        Missing block sizes default to N where that is less, so that ``?n=2`` alone is valid.
        """
        own: dict[str, Any] = {f.name: f.default for f in fields(cls)}  # type: ignore[arg-type]
        found = {name: query[KEYS[name]] for name in own if KEYS[name] in query}
        if "block_q" in own and (n := _int_of(found.get("n"))):
            for block in ("block_q", "block_k"):
                found.setdefault(block, min(own[block], n))
        return cls(**found)

    def to_query(self) -> dict[str, str]:
        """Write the fields under their keys; ``from_query`` gives the same object back. A field
        that an address need not have is left out at its default."""
        query = {}
        for field in fields(self):  # type: ignore[arg-type]
            text = to_text(getattr(self, field.name))
            if FIELDS[field.name].is_written or text != to_text(field.default):
                query[KEYS[field.name]] = text
        return query


def accept_causal(cls: type[C]) -> type[C]:
    """Decorate a class with a ``mask``: the keyword ``causal``, True or False, stands for it, and
    so does True or False in its place."""
    make: Callable[..., None] = cls.__init__

    def __init__(self: C, *args: object, causal: object = None, **given: object) -> None:
        if causal is not None:
            if not isinstance(causal, bool):
                raise refuse("mask", causal, t("causal"))
            given["mask"] = causal_text(causal)
        make(self, *(causal_text(x) if isinstance(x, bool) else x for x in args), **given)

    cls.__init__ = __init__
    return cls
