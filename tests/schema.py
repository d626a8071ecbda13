"""Holds plain values to their types: what a TypedDict only promises."""

from __future__ import annotations

import types
from typing import Union, get_args, get_origin, get_type_hints, is_typeddict


def misfit(value: object, kind, at: str = "it") -> str:
    """Where and how ``value`` is not of this type, keys included; "" when it is."""
    origin, inner = get_origin(kind), get_args(kind)
    if origin in (Union, types.UnionType):
        found = [misfit(value, one, at) for one in inner]
        return "" if "" in found else "; or ".join(found)
    if is_typeddict(kind):
        kinds = get_type_hints(kind)
        if not isinstance(value, dict):
            return f"{at} is no {kind.__name__}"
        missing, unknown = kind.__required_keys__ - set(value), set(value) - set(kinds)
        if missing or unknown:
            return f"{at}: missing {sorted(missing)}, unknown {sorted(unknown)}"
        parts = [(x, kinds[key], f"{at}.{key}") for key, x in value.items()]
    elif origin is list and isinstance(value, list):
        parts = [(x, inner[0], f"{at}[{k}]") for k, x in enumerate(value)]
    elif origin is dict and isinstance(value, dict):
        parts = [(key, inner[0], f"a key of {at}") for key in value]
        parts += [(x, inner[1], f"{at}.{key}") for key, x in value.items()]
    else:
        return "" if type(value) is (origin or kind) else f"{at} is {value!r}, not {kind}"
    return next(filter(None, (misfit(*part) for part in parts)), "")
