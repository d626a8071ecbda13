"""A cache that is bounded in bytes: what visitors choose may be small or huge, so that a number of
entries bounds nothing."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from functools import wraps
from threading import Lock


class Kept:
    """Values of at most ``most`` bytes together; the least recently used go first."""

    def __init__(self, most: int) -> None:
        self.most, self.nbytes = most, 0
        self._held: OrderedDict[Hashable, tuple[object, int]] = OrderedDict()
        self._lock = Lock()

    def get(self, key: Hashable) -> object:
        """The value kept under this key, or None."""
        with self._lock:
            if key not in self._held:
                return None
            self._held.move_to_end(key)
            return self._held[key][0]

    def put(self, key: Hashable, value: object, nbytes: int) -> None:
        """Keeps it, unless it alone is more than may be kept."""
        if nbytes > self.most:
            return
        with self._lock:
            self.nbytes += nbytes - self._held.pop(key, (None, 0))[1]
            self._held[key] = value, nbytes
            while self.nbytes > self.most:
                self.nbytes -= self._held.popitem(last=False)[1][1]

    def clear(self) -> None:
        with self._lock:
            self._held.clear()
            self.nbytes = 0


def kept(most: int, size: Callable[..., int]):
    """Decorator: like ``lru_cache``, for functions that never return None; ``size`` says how many
    bytes a value takes; a default said is a default unsaid. ``.cache`` is its :class:`Kept`."""

    def around(make: Callable):
        cache, defaults = Kept(most), make.__defaults__ or ()
        arguments = make.__code__.co_argcount

        @wraps(make)
        def ask(*key):
            key += defaults[len(defaults) + len(key) - arguments :]
            value = cache.get(key)
            if value is None:
                value = make(*key)
                cache.put(key, value, size(value))
            return value

        ask.cache, ask.cache_clear = cache, cache.clear
        return ask

    return around
