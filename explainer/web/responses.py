"""Compute the bytes of each response that depends only on its address.

``python -m explainer.web.responses`` reads a request a line, as a worker of worker_pool.py.
"""

import gc
import json
import os
import signal
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from explainer.base.fields import ProblemError
from explainer.base.lines import from_line
from explainer.engine.compiled_code import TIMEOUT_S, code
from explainer.views.learn_blocks import answer_data
from explainer.views.stories.pages import CHAPTERS, make_chapter
from explainer.web import mask_map
from explainer.web.files import animation, as_json, as_npz
from explainer.web.requests import AnswerRequest
from explainer.web.wire import compressed, pack_visit, pack_visit_backward, packed_gzip
from kernels.spec.fields import PASSES

NICE = 10  # the web process comes first
MAX_S = TIMEOUT_S + 10  # of any response


def _visit(request: AnswerRequest) -> bytes:
    pack = pack_visit if request.pass_ == PASSES[0] else pack_visit_backward
    at = request.query.get("at", "")
    step = int(at) if at.isascii() and at.isdigit() and len(at) < 8 else -1
    return compressed(pack(request.problem, step))


def _json(made: object) -> bytes:
    return json.dumps(made, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()


MAKERS: dict[str, Callable[[AnswerRequest], bytes]] = {
    "trace": lambda request: packed_gzip(request.problem, request.pass_),
    "visit": _visit,
    "learn": lambda request: _json(answer_data(request.query)),
    **dict.fromkeys(CHAPTERS, lambda request: _json(make_chapter(request.kind, request.query))),
    "code": lambda request: _json(code(request.query)),
    "mask": lambda request: _json(mask_map.mask_map(request.problem)),
    "presets": lambda request: _json(mask_map.palette(request.problem)),
    "export.html": lambda request: animation(request.problem, request.query).encode(),
    "export.json": lambda request: as_json(request.problem, request.pass_),
    "export.npz": lambda request: as_npz(request.problem, request.pass_),
}


def make(request: AnswerRequest) -> bytes:
    """Compute the answer to a request. Raises ProblemError."""
    return MAKERS[request.kind](request)


def _set_alarm(seconds: int) -> None:
    """End this process after so many seconds, 0: not at all. Windows has no such alarm."""
    if hasattr(signal, "alarm"):
        signal.alarm(seconds)


def main() -> None:
    """Write each response after a line of JSON with its length, or with the reason of a refusal."""
    if hasattr(os, "nice"):
        os.nice(NICE)
    with suppress(OSError):  # Linux divides the processor among sessions first
        Path("/proc/self/autogroup").write_text(str(NICE))
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the web process ends this one
    gc.disable()  # no circles, much data, and a short life
    out = sys.stdout.buffer
    sys.stdout = sys.stderr
    for line in sys.stdin.buffer:
        _set_alarm(MAX_S)
        try:
            refusal, body = "", make(from_line(line))
        except ProblemError as error:
            refusal, body = str(error), b""
        _set_alarm(0)
        head = {"refused": refusal, "bytes": len(body)}
        out.write(json.dumps(head).encode() + b"\n" + body)
        out.flush()


if __name__ == "__main__":
    main()
