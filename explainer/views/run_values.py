"""What the words of the Run page show of a request, and what its bar says of the machine."""

from dataclasses import fields
from typing import Any

from explainer.base.fields import KEYS as KEY_OF
from explainer.engine.requests import EACH, RunRequest
from explainer.views.words import OF_RUN, RARE
from kernels.spec.fields import PASSES

KEYS = (*OF_RUN, *RARE)  # of a request, in the order of the page's words
# Before the machine is known; pages/run.py says what they mean.
NOTHING_KNOWN: dict[str, Any] = dict.fromkeys(("gpu", "device", "expected_s", "refused", "link"))


def run_values(request: RunRequest) -> dict[str, str]:
    """Return {key: what its word shows}."""
    p = request.problem
    plain = {KEY_OF[field.name]: getattr(p, field.name) for field in fields(p)}
    plain |= {"hk": EACH, "pass": PASSES[0], "sink": "" if p.sink is None else p.sink}
    found = {key: f"{x:g}" if isinstance(x, float) else str(x) for key, x in plain.items()}
    found |= request.to_query()
    return {key: found[key] for key in KEYS}


def plain_values() -> dict[str, str]:
    """Return those of an address that says nothing."""
    return run_values(RunRequest.from_query({}))
