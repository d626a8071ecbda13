"""The learner's file that whoever started the app has named: checked again whenever it changes, and
its tiles compared on any Problem. No request names a file or brings code; without one there is a
recorded example."""

import json
import sys
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from explainer.base.fields import ProblemError
from explainer.base.paths import ASSETS
from explainer.base.texts import Texts
from explainer.check.method import Learner, stamp
from explainer.problem import Problem

t = Texts("check")
POLL_S = 0.5
EXAMPLE = ASSETS / "check" / "example.json"


def worker(path: Path) -> Sequence[str]:
    """Return the command of an engine's worker that runs this file's function as well."""
    return sys.executable, "-m", "explainer.check.worker", str(path.resolve())


class KernelFile:
    """``state()`` is what the page shows: the picture of a verdict, ``live`` and ``checks``, how
    many there have been; ``checking`` while one is on its way."""

    def __init__(self, path: Path | None) -> None:
        self.path = path
        self.learner = Learner(path) if path else None
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

    def tiles(self, query: Mapping[str, str]) -> dict[str, Any]:
        """Return the ``map`` of the function's tiles on the Problem of a query, or one sentence why
        there is none, ``refused``; {} without a file. Raises ProblemError for no Problem."""
        problem = Problem.from_query(query)
        if not self.learner:
            return {}
        try:
            same = self.learner.tiles(problem)
        except ProblemError as error:
            return {"refused": str(error)}
        return {"map": same["map"]} if same and "map" in same else {"refused": t("method.tiles")}

    def _watch(self) -> None:
        assert self.path
        seen: object = None
        pause = threading.Event()
        while not pause.wait(POLL_S):
            if (now := stamp(self.path)) != seen:
                seen = now
                self._check()

    def _check(self) -> None:
        from explainer.check.page import picture  # NumPy's work begins where it is wanted
        from explainer.check.verdict import check

        assert self.path
        self._state = {**self._state, "checking": True}
        found = picture(check(self.path))
        checks = self._state["checks"] + 1
        self._state = {"live": True, "checks": checks, "checking": False, **found}
