"""Holds plain values to their types: what a TypedDict only promises."""

from typing import Any

from pydantic import ConfigDict, TypeAdapter, ValidationError

CONFIG = ConfigDict(extra="forbid", strict=True)


def misfit(value: object, kind: Any) -> str:
    """Where and how ``value`` is not of this type, keys included; "" when it is."""
    try:
        # A TypedDict alone takes no configuration from here, one inside of a list does.
        TypeAdapter(list[kind], config=CONFIG).validate_python([value])
    except ValidationError as error:
        first = error.errors()[0]
        return f"{'.'.join(map(str, first['loc'][1:]))}: {first['msg']}"
    return ""
