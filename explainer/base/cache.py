"""Cache results within a bound in bytes: what visitors choose may be small or huge, so that a
number of entries bounds nothing."""

from __future__ import annotations

import inspect
from collections import OrderedDict
from collections.abc import Callable, Hashable
from functools import update_wrapper
from threading import Lock
from typing import Any, Generic, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


class ByteCache:
    """Values of at most ``most`` bytes together; the least recently used go first."""

    def __init__(self, most: int) -> None:
        self.most, self.nbytes = most, 0
        self._entries: OrderedDict[Hashable, tuple[Any, int]] = OrderedDict()
        self._lock = Lock()

    def get(self, key: Hashable) -> Any:
        """Return the value under this key, or None."""
        with self._lock:
            if key not in self._entries:
                return None
            self._entries.move_to_end(key)
            return self._entries[key][0]

    def put(self, key: Hashable, value: object, nbytes: int) -> None:
        """Store the value, unless it alone is larger than the whole cache."""
        if nbytes > self.most:
            return
        with self._lock:
            self.nbytes += nbytes - self._entries.pop(key, (None, 0))[1]
            self._entries[key] = value, nbytes
            while self.nbytes > self.most:
                self.nbytes -= self._entries.popitem(last=False)[1][1]

    def clear(self) -> None:
        """Forget all values."""
        with self._lock:
            self._entries.clear()
            self.nbytes = 0


class CachedFunction(Generic[P, T]):
    """A function with the results that its ``cache`` holds."""

    def __init__(self, function: Callable[P, T], most: int, size: Callable[[Any], int]) -> None:
        self.cache = ByteCache(most)
        self.cache_clear = self.cache.clear
        self._function, self._size = function, size
        self._parameters = inspect.signature(function)
        update_wrapper(self, function)

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> T:
        call = self._parameters.bind(*args, **kwargs)
        call.apply_defaults()  # a default that is passed and one that is left out are one key
        value = self.cache.get(call.args)
        if value is None:
            value = self._function(*call.args, **call.kwargs)
            self.cache.put(call.args, value, self._size(value))
        return value


def cached(
    most: int, size: Callable[[Any], int]
) -> Callable[[Callable[P, T]], CachedFunction[P, T]]:
    """Decorate a function that never returns None: ``lru_cache`` bounded by ``most`` bytes;
    ``size`` gives the bytes of a result."""
    return lambda function: CachedFunction(function, most, size)
