"""Compute the bytes of each response that depends only on its address.

``python -m explainer.web.responses`` does so for one line of JSON after the other, as a worker of
worker_pool.py.
"""

from __future__ import annotations

import gc
import json
import os
import signal
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path

from explainer.algorithms.inputs import made
from explainer.algorithms.schedule import schedule
from explainer.base.fields import ProblemError, parse_pass
from explainer.engine.compiled_code import TIMEOUT_S, code
from explainer.learn.registry import answer
from explainer.parallel.warps import from_query, packed
from explainer.problem import Problem
from explainer.web import mask_map
from explainer.web.files import animation, as_json, as_npz
from explainer.web.wire import compressed, pack_visit, pack_visit_backward, packed_gzip
from kernels.spec.fields import PASSES

NICE = 10  # the web process comes first
MAX_S = TIMEOUT_S + 10  # of any response
LARGE_BYTES = 64 << 20
PLACE = ("pass", "step", "phase", "mode", "clock")

Query = Mapping[str, str]


def _visit(query: Query) -> bytes:
    pack = pack_visit if parse_pass(query) == PASSES[0] else pack_visit_backward
    at = query.get("at", "")
    step = int(at) if at.isascii() and at.isdigit() and len(at) < 8 else -1
    return compressed(pack(Problem.from_query(query), step))


def _html(query: Query) -> bytes:
    place = {key: query[key] for key in PLACE if key in query}
    return animation(Problem.from_query(query), place).encode()


def _json(made: object) -> bytes:
    return json.dumps(made, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()


MAKERS: dict[str, Callable[[Query], bytes]] = {
    "trace": lambda query: packed_gzip(Problem.from_query(query), parse_pass(query)),
    "visit": _visit,
    "warps": lambda query: _json(packed(*from_query(query))),
    "learn": lambda query: _json(answer(query)),
    "code": lambda query: _json(code(query)),
    "mask": lambda query: _json(mask_map.mask_map(query)),
    "presets": lambda query: _json(mask_map.palette(query)),
    "export.html": _html,
    "export.json": lambda query: as_json(Problem.from_query(query), parse_pass(query)),
    "export.npz": lambda query: as_npz(Problem.from_query(query), parse_pass(query)),
}


def main() -> None:
    """Write each response after a line of JSON with its length, or with the reason of a refusal."""
    os.nice(NICE)
    with suppress(OSError):  # Linux divides the processor among sessions first
        Path("/proc/self/autogroup").write_text(str(NICE))
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the web process ends this one
    for cache in (made.cache, schedule.cache):  # a response uses them several times
        cache.most = LARGE_BYTES
    gc.disable()  # no circles, much data, and a short life
    out = sys.stdout.buffer
    sys.stdout = sys.stderr
    for line in sys.stdin.buffer:
        kind, query = json.loads(line)
        signal.alarm(MAX_S)
        try:
            head, body = {}, MAKERS[kind](query)
        except ProblemError as error:
            head, body = {"refused": str(error)}, b""
        signal.alarm(0)
        out.write(json.dumps(head | {"bytes": len(body)}).encode() + b"\n" + body)
        out.flush()


if __name__ == "__main__":
    main()
