"""What the bar of the Run page says before a run: whether it runs here, on what, for how long."""

from __future__ import annotations

from typing import Any

from explainer.engine import admission
from explainer.engine.engine import Engine
from explainer.engine.requests import RunRequest
from explainer.engine.results import has_gpu
from explainer.views import run_state
from explainer.views.run_values import NOTHING_KNOWN


def note(engine: Engine, request: RunRequest) -> dict[str, Any]:
    """Return ``device`` and ``gpu`` (None while the kernel's process still starts), ``expected_s``
    where it can be said, as ``refused`` the sentence why the request is not run, and as ``link``
    (text, address) of the nearest one that is."""
    machine = engine.machine()
    if machine is None:
        return NOTHING_KNOWN
    refused = admission.refuse(request, machine)
    return {
        "gpu": has_gpu(machine),
        "device": machine["device"],
        "expected_s": None if has_gpu(machine) or refused else engine.expected_s(request),
        "refused": refused,
        "link": run_state.refused(refused, request, machine)["link"] if refused else None,
    }
