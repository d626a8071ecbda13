"""What the Run page shows of a run at a moment: plain JSON that ``assets/js/run/result.js`` draws.

Every state has ``state``, ``headline``, ``sentence`` and ``provenance``; ``note``, one or two lines
beside the page's button, and ``button``, what it reads; ``progress`` from 0 to 1; and "refused" a
``link`` (text, address) that sets the nearest Problem that fits. "running" and "done" have the
``html`` of what they show, "done" also what run_result.py adds.
"""

from collections.abc import Mapping
from itertools import product
from typing import Any, Literal
from urllib.parse import urlencode

from explainer.base.texts import Texts
from explainer.engine import admission
from explainer.engine.job import Job
from explainer.engine.requests import METHODS, RunRequest
from explainer.views import run_lanes
from explainer.views.templates import render

t = Texts("run_result")
State = dict[str, Any]
PREFIX = "run-"  # of the request's keys in the address
Name = Literal["waiting", "running", "canceled", "refused", "done"]


def state_of(state: Name, headline: str, sentence: str = "", **more: object) -> State:
    """Make a state; what is not given is empty."""
    plain = {"provenance": "", "note": [], "button": t("button.again"), "progress": 0.0}
    return {"state": state, "headline": headline, "sentence": sentence, **plain, **more}


def waiting(position: int, wait_s: float | None) -> State:
    """A run that waits for ``position`` others, its turn in ``wait_s`` seconds."""
    place = ordinal(position + 1)
    if wait_s is None:
        button = t("button.place", place=place)
    else:
        button = t("button.wait", place=place, seconds=max(1, round(wait_s)))
    return state_of("waiting", t("waiting.headline", place=place), t("waiting"), button=button)


def ordinal(k: int) -> str:
    """“1st”, “2nd”, “3rd”, “11th”."""
    ends = {1: "st", 2: "nd", 3: "rd"}
    return f"{k}{'th' if 10 <= k % 100 <= 20 else ends.get(k % 10, 'th')}"


def canceled(elapsed_s: float) -> State:
    """A run that the visitor ended."""
    return state_of("canceled", t("canceled"), t("canceled.why", elapsed=elapsed_s))


def refused(sentence: str, request: RunRequest | None, machine: Mapping | None) -> State:
    """A run that is not done: why, and the nearest Problem that fits."""
    near = nearest_that_fits(request, machine) if request and machine else None
    link = None
    if near:
        query = {"page": "run"} | {PREFIX + key: value for key, value in near.to_query().items()}
        link = (_describe(near), f"?{urlencode(query)}")
    return state_of("refused", t("refused"), sentence, link=link)


def _describe(request: RunRequest) -> str:
    p = request.problem
    heads = request.batch * request.heads
    key = "fits.heads" if heads > 1 else "fits"
    more = {"heads": heads} if heads > 1 else {}
    return t(key, n=p.n, br=p.block_q, bc=p.block_k, **more)


def nearest_that_fits(request: RunRequest, machine: Mapping) -> RunRequest | None:
    """Return the request with one head, then larger tiles, then fewer tokens, the first of these
    that is admitted; None where nothing of it is, or where its size is not why it was refused."""
    if admission.refuse(request, machine) is None:
        return None
    n = request.problem.n
    lengths = [n, *(1 << k for k in reversed(range(4, (n - 1).bit_length())))]
    heads = ({}, {"b": "1", "h": "1"})
    for length, block, one in product(lengths, (0, 64, 128), heads):
        query = request.to_query() | {"n": str(length)} | one
        for key in ("br", "bc"):
            if query[key].isdecimal():
                query[key] = str(min(length, max(block, int(query[key]))))
        try:
            near = RunRequest.from_query(query)
        except ValueError:
            continue
        if admission.refuse(near, machine) is None:
            return near
    return None


def running(
    job: Job,
    seconds: Mapping[str, float],
    elapsed_s: float,
    expected_s: float | None,
    machine: Mapping | None,
) -> State:
    """A run on its way; ``seconds`` by method, ``expected_s`` of all where it is known."""
    is_gpu = bool(machine and not machine["interpreted"])
    request = job.request
    if job.blocks and isinstance(request, RunRequest):
        request = request.with_blocks(*job.blocks)
    assert isinstance(request, RunRequest)
    lanes = run_lanes.make_lanes(request, job.lanes.copy(), seconds, is_gpu)
    name = METHODS.get(job.method, "")
    stages, sentences = t.named("stages"), t.named("stages.why")
    headline = stages.get(job.stage or "start", stages["start"]).replace("{method}", name)
    here = next((x for x in lanes if x["name"] == name and x["cells"]), None)
    if job.stage == "running" and here:
        headline = t("running.tiles", method=name, status=here["status"])
    key = "running.gpu" if job.stage == "running" and is_gpu else job.stage or "start"
    note = [t("clock", elapsed=elapsed_s), "" if is_gpu else t("clock.interpreter")]
    if expected_s and elapsed_s > 2 * expected_s + 2:
        note[1] = t("clock.late", expected=max(1.0, expected_s))
    share = min(0.97, elapsed_s / expected_s) if expected_s else 0.0
    more = {"note": [x for x in note if x], "button": t("button.stop"), "progress": share}
    html = render("run/lanes", lanes=lanes)
    return state_of("running", headline, sentences.get(key, ""), html=html, **more)
