"""Cache results within a bound in bytes: what visitors choose may be small or huge, so that a
number of entries bounds nothing."""

import inspect
import os
from collections.abc import Callable, Hashable
from threading import Lock
from typing import Any, ParamSpec, TypeVar

import cachetools

P = ParamSpec("P")
T = TypeVar("T")
# A process that computes for a short time caches so many times as much.
SCALE = int(os.environ.get("FA_CACHE_SCALE", "1"))


def cached(most: int, size: Callable[[Any], int]) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Decorate a function: ``lru_cache`` bounded by ``most`` bytes; ``size`` gives the bytes of a
    result."""

    def decorate(function: Callable[P, T]) -> Callable[P, T]:
        signature = inspect.signature(function)
        defaults = [parameter.default for parameter in signature.parameters.values()]

        def key(*args: P.args, **kwargs: P.kwargs) -> Hashable:
            # A default that is passed and one that is left out are one key.
            if not kwargs:
                return (*args, *defaults[len(args) :])
            call = signature.bind(*args, **kwargs)
            call.apply_defaults()
            return tuple(call.arguments.values())  # those by keyword alone too

        cache = cachetools.LRUCache(SCALE * most, getsizeof=size)
        return cachetools.cached(cache, key, Lock())(function)

    return decorate
