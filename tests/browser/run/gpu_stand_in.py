"""The app with an engine whose GPU is a recording: `python tests/browser/run/gpu_stand_in.py`.

Points of a sweep come from assets/recorded; who started this lets them go, by a line on stdin: so
many more, "all", or "none" from here on. A run is answered as seed says: 1 breaks every time, 2 is
let go as a point is, else it is one made of the record. What the page does with a live GPU's
answers can so be tested where there is none.
"""

import math
import sys
import threading
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))

from explainer import app
from explainer.engine import recorded
from explainer.engine.child import WorkerLost
from explainer.engine.engine import Engine
from explainer.engine.requests import Request, RunRequest, SweepPoint
from explainer.engine.results import unknown_machine


class Gate:
    """Holds whoever passes until a line on stdin lets so many through."""

    def __init__(self) -> None:
        self._free, self._changed = 0.0, threading.Condition()
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self) -> None:
        for line in sys.stdin:
            with self._changed:
                fixed = {"all": math.inf, "none": 0.0}.get(line.strip())
                self._free = self._free + int(line) if fixed is None else fixed
                self._changed.notify_all()

    def go_through(self) -> None:
        with self._changed:
            self._changed.wait_for(lambda: self._free > 0)
            self._free -= 1


GATE = Gate()


class Recording:
    """An engine's child that computes nothing."""

    admits = False

    def __init__(self) -> None:
        self.machine = unknown_machine("NVIDIA H200") | {"versions": {"torch": "2.11"}}
        self._request: Request | None = None

    def ask(self, request: Request, context: object = None) -> None:
        if isinstance(request, RunRequest) and request.problem.seed == 1:
            raise WorkerLost("by its seed")
        self._request = request

    def _point(self, point: SweepPoint) -> dict:
        key = tuple(getattr(point.case, key) for key in ("n", "d", "dtype", "mask"))
        rows = recorded.load()["rows"]
        found = [r for r in rows if (r["n"], r["d"], r["dtype"], r["mask"]) == key]
        GATE.go_through()
        return {"result": [r for r in found if r["method"] in point.methods]}

    def _run(self, request: RunRequest) -> dict:
        if request.problem.seed == 2:
            GATE.go_through()
        result = recorded.closest(request) | {
            "machine": self.machine,
            "asked": request.to_query(),
        }
        del result["recorded"], result["differs"]
        result |= {"query": request.to_query(), "when": "2026-11-21 12:00:00 UTC", "tiles": {}}
        result |= {"heads_judged": 1, "naive_refused": None, "chooser": None}
        for row in result["rows"]:
            row |= {"right": True, "allowed": 1.0, "relative": 0.0, "bias": 0.0, "signed": None}
            row["histogram"] = {"exact": 0, "counts": [0] * 20 + [9] + [0] * 23}
            row["terms"] = {"naive": 0.5, "rounding": 0.25, "scores": 0.25}
        return {"result": result}

    def next(self, deadline: float) -> dict:
        request = self._request
        return self._run(request) if isinstance(request, RunRequest) else self._point(request)

    def cancel(self) -> None:
        pass

    def alive(self) -> bool:
        return True

    def kill(self) -> None:
        pass


if __name__ == "__main__":
    app.serve(Engine(Recording, rest_s=2))
