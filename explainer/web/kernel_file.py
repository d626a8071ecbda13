"""The learner's file that whoever started the app has named: checked again whenever it changes. No
request names a file or brings code; without one there is a recorded example."""

from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import Any

from explainer.base.paths import ASSETS

POLL_S = 0.5
EXAMPLE = ASSETS / "check" / "example.json"


class KernelFile:
    """``state()`` is what the page shows: the picture of a verdict, ``live`` and ``checks``, how
    many there have been; ``checking`` while one is on its way."""

    def __init__(self, path: Path | None) -> None:
        self.path = path
        example = {} if path else json.loads(EXAMPLE.read_text(encoding="utf-8"))
        self._state: dict[str, Any] = {"live": bool(path), "checks": 0, "checking": bool(path)}
        self._state |= example

    def watch(self) -> None:
        """Check the file now, and whenever it is saved, in a thread that ends with the app."""
        if self.path:
            threading.Thread(target=self._watch, daemon=True).start()

    def state(self) -> dict[str, Any]:
        """Return the newest picture."""
        return self._state

    def _watch(self) -> None:
        seen: object = None
        pause = threading.Event()
        while not pause.wait(POLL_S):
            if (now := self._stamp()) != seen:
                seen = now
                self._check()

    def _stamp(self) -> object:
        assert self.path
        try:
            found = self.path.stat()
        except OSError:
            return "missing"
        return found.st_mtime_ns, found.st_size

    def _check(self) -> None:
        from explainer.check.page import picture  # NumPy's work begins where it is wanted
        from explainer.check.verdict import check

        assert self.path
        self._state = {**self._state, "checking": True}
        found = picture(check(self.path))
        checks = self._state["checks"] + 1
        self._state = {"live": True, "checks": checks, "checking": False, **found}
