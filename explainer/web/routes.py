"""Plain HTTP beside Gradio: the trace of a Problem, and the browser's own files.

A Trace is a function of its Problem, so it is an ordinary cacheable GET and not a Gradio event:
a class of 300 asks for the same few bytes. A ProblemError on the way is answered by middleware.py:
400 with its sentence.
"""

import hashlib
from collections.abc import AsyncIterator, Callable, Mapping
from functools import cache, partial
from types import MappingProxyType

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles

from explainer.algorithms.listings import listings
from explainer.base.paths import ASSETS, ROOT
from explainer.engine import record_rows
from explainer.engine.engine import Engine
from explainer.learn import glossary
from explainer.learn.tour import chapters
from explainer.views import run_masks
from explainer.views.learn_screens import keys, outline, screen
from explainer.views.words import words
from explainer.web import cost
from explainer.web.bundle import SCRIPTS, online
from explainer.web.kernel_file import KernelFile
from explainer.web.requests import AnswerRequest, parse_request
from explainer.web.responses import MAKERS, make
from explainer.web.stylesheets import APP, LATER, join_stylesheets
from explainer.web.worker_pool import Busy, ClientDisconnected, WorkerPool
from kernels.spec.fields import PASSES

PREFIX = "/fa"
MEDIA_TYPES = {  # of the kinds of answers that are no JSON
    "trace": "application/octet-stream",
    "visit": "application/octet-stream",
    "export.html": "text/html",
    "export.npz": "application/zip",
}
# which screens Learn has and its paths; the entries and how texts spell them; the code of trace and
# kernels with its phases; the masks on record; every recorded time; the chapters of the guided
# tour; what the words of a problem offer
CONSTANT: dict[str, Callable[[], object]] = {
    "course": outline,
    "glossary": glossary.data,
    "listing": listings,
    "record_masks": run_masks.view,
    "records": record_rows.table,
    "tour": chapters,
    "words": words,
}
Opened = Mapping[str, Callable[[dict[str, str]], object]]
PIECE = 256 << 10  # bytes of a large answer
FOREVER = {"Cache-Control": "public, max-age=31536000, immutable"}
KINDS = {
    ".js",
    ".css",
    ".py",
    ".json",
    ".yaml",
    ".html",
    ".txt",
    ".md",
}  # of files that answers are made of


@cache
def build() -> str:
    """Fingerprint of everything a browser may cache: assets and the code that makes traces."""
    digest = hashlib.sha256()
    folders = (ASSETS, ROOT / "explainer", ROOT / "kernels")
    sources = [file for folder in folders for file in folder.rglob("*")]
    for path in sorted(p for p in sources if p.suffix in KINDS):
        digest.update(path.name.encode() + path.read_bytes())
    return digest.hexdigest()[:12]


def asset_url(name: str) -> str:
    """Relative address of a file of ``assets/``, new for every build."""
    return f"{PREFIX[1:]}/static/{build()}/{name}"


async def _gone(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


def _headers(wanted: AnswerRequest) -> dict[str, str]:
    """Make the headers of an answer."""
    if not wanted.kind.startswith("export."):
        packed = {"Content-Encoding": "gzip"} if wanted.kind in ("trace", "visit") else {}
        return packed | FOREVER
    problem, suffix = wanted.problem, wanted.kind.removeprefix("export.")
    back = "" if wanted.pass_ == PASSES[0] else "-backward"
    name = f"flashattention-{problem.order}{back}-n{problem.n}-d{problem.d}.{suffix}"
    # With an encoding of its own, else Gradio compresses tens of megabytes in the web process.
    return {
        "Content-Disposition": f'attachment; filename="{name}"',
        "Content-Encoding": "identity",
    }


async def _pieces(body: bytes) -> AsyncIterator[bytes]:
    """The next when the last is on its way: in one, each layer would hold a copy of it all."""
    for start in range(0, len(body), PIECE):
        yield body[start : start + PIECE]


async def answer(pool: WorkerPool, kind: str, request: Request) -> Response:
    """Answer ``GET /fa/<kind>?…``."""
    wanted = parse_request(kind, dict(request.query_params))
    seconds = cost.seconds(wanted)
    try:
        if seconds <= cost.CHEAP_S:
            body = await run_in_threadpool(make, wanted)
        else:
            body = await pool.compute(wanted, seconds, partial(_gone, request))
    except ClientDisconnected:
        return Response(status_code=499)  # nobody reads it
    except Busy as busy:
        headers = {"Retry-After": str(busy.after), "Cache-Control": "no-store"}
        return JSONResponse({"error": str(busy)}, 503, headers)
    headers, media_type = _headers(wanted), MEDIA_TYPES.get(kind, "application/json")
    if len(body) <= PIECE:
        return Response(body, media_type=media_type, headers=headers)
    headers |= {"Content-Length": str(len(body))}
    return StreamingResponse(_pieces(body), media_type=media_type, headers=headers)


def learn_screen(request: Request) -> Response:
    """``GET /fa/learn/<key>.html``: one screen of the Learn page."""
    key = request.path_params["key"]
    if key not in keys():
        return Response(status_code=404)
    return Response(screen(key), media_type="text/html", headers=FOREVER)


def constant(make: Callable[[], object], request: Request) -> Response:
    """Answer with JSON that depends on the build alone."""
    return JSONResponse(make(), headers=FOREVER)


def opened(parts: Opened, request: Request) -> Response:
    """``GET /fa/opened?…``: what the address of the page asks of each part of it."""
    query = dict(request.query_params)
    headers = {"Cache-Control": "no-cache"}
    return JSONResponse({name: part(query) for name, part in parts.items()}, headers=headers)


class Assets(StaticFiles):
    """``assets/`` under the build's fingerprint; the first path segment is the build's name."""

    def lookup_path(self, path: str):  # type: ignore[override]
        named, _, inside = path.partition("/")
        return super().lookup_path(inside) if named == build() else ("", None)

    def file_response(self, *args, **kwargs) -> Response:
        response = super().file_response(*args, **kwargs)
        response.headers.update(FOREVER)
        return response


def built_file(make: Callable[[], str], media_type: str, request: Request) -> Response:
    """``GET /fa/static/<build>/…``: several of our modules or stylesheets as one file."""
    if request.path_params["build"] != build():
        return Response(status_code=404)
    return Response(make(), media_type=media_type, headers=FOREVER)


def health(engine: Engine) -> Response:
    """``GET /healthz``: can kernels run, on what, how many wait; 503 and why where they cannot."""
    machine = engine.machine() or {}
    about = {"device": machine.get("device") or None, "interpreted": machine.get("interpreted")}
    state = engine.state()
    status = 200 if state["healthy"] else 503
    return JSONResponse(state | about, status, headers={"Cache-Control": "no-store"})


def yours(kernel: KernelFile) -> Response:
    """``GET /fa/yours``: the verdict on a learner's file, or an example. Takes nothing."""
    return JSONResponse(kernel.state(), headers={"Cache-Control": "no-store"})


def yours_tiles(kernel: KernelFile, request: Request) -> Response:
    """``GET /fa/yours/tiles?…``: the tiles of a learner's function on the Problem of the query."""
    found = kernel.tiles(dict(request.query_params))
    return JSONResponse(found, headers={"Cache-Control": "no-store"})


def routes(
    engine: Engine, parts: Opened = MappingProxyType({}), kernel: KernelFile | None = None
) -> list[BaseRoute]:
    """The routes that go in front of Gradio's own (``launch(app_kwargs={"routes": …})``);
    ``parts`` of the page read its address, each for itself; ``kernel`` is a learner's file."""
    file = kernel or KernelFile(None)
    pool = WorkerPool()
    sheets = {"all": APP, **{f"css/{name}": (name,) for name in LATER}}
    files = {f"js/{name}.js": (partial(online, name), "text/javascript") for name in SCRIPTS}
    files |= {f"{x}.css": (partial(join_stylesheets, sheets[x]), "text/css") for x in sheets}
    return [
        Route("/healthz", lambda request: health(engine)),
        *(Route(f"{PREFIX}/{kind}", partial(answer, pool, kind)) for kind in MAKERS),
        Route(f"{PREFIX}/learn/{{key}}.html", learn_screen),
        Route(f"{PREFIX}/yours", lambda request: yours(file)),
        Route(f"{PREFIX}/yours/tiles", partial(yours_tiles, file)),
        Route(f"{PREFIX}/opened", partial(opened, parts)),
        *(Route(f"{PREFIX}/{name}", partial(constant, make)) for name, make in CONSTANT.items()),
        *(
            Route(f"{PREFIX}/static/{{build}}/{path}", partial(built_file, *made))
            for path, made in files.items()
        ),
        Mount(f"{PREFIX}/static", Assets(directory=ASSETS)),
    ]
