"""What is computed from an address: the bytes of each answer. In a process of its own:
``python -m explainer.web.responses`` answers one line of JSON after the other (see lanes.py)."""

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

NICE = 10  # behind the web process, whatever the machine does
MOST_S = TIMEOUT_S + 10  # the longest that anything may take
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
    """Each answer is a line that says how long it is, and then it; or why it is refused."""
    os.nice(NICE)
    with suppress(OSError):  # Linux shares the machine out among sessions first, and this is one
        Path("/proc/self/autogroup").write_text(str(NICE))
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the web process ends this one
    for cache in (made.cache, schedule.cache):  # one answer asks for them several times
        cache.most = LARGE_BYTES
    gc.disable()  # what it makes has no circles, is large, and this process is short-lived
    out = sys.stdout.buffer
    sys.stdout = sys.stderr
    for line in sys.stdin.buffer:
        kind, query = json.loads(line)
        signal.alarm(MOST_S)
        try:
            body, told = MAKERS[kind](query), {}
        except ProblemError as error:
            body, told = b"", {"refused": str(error)}
        signal.alarm(0)
        out.write(json.dumps(told | {"bytes": len(body)}).encode() + b"\n" + body)
        out.flush()


if __name__ == "__main__":
    main()
