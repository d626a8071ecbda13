"""Plain HTTP beside Gradio: the trace of a Problem, and the browser's own files.

A Trace is a function of its Problem, so it is an ordinary cacheable GET and not a Gradio event:
a class of 300 asks for the same few bytes. A ProblemError on the way is answered by middleware.py:
400 with its sentence.
"""

from __future__ import annotations

import gzip
import hashlib
import re
from functools import lru_cache, partial

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles

from explainer.base.paths import ASSETS, ROOT
from explainer.engine.compiled_code import code
from explainer.engine.engine import Engine
from explainer.learn import glossary
from explainer.learn.registry import answer
from explainer.learn.tour import chapters
from explainer.parallel.warps import from_query, packed
from explainer.problem import Problem
from explainer.views.learn_report import page
from explainer.web.bundle import SCRIPTS, online
from explainer.web.export import animation, as_json, as_npz
from explainer.web.listings import listings
from explainer.web.wire import pack_visit, packed_gzip

PREFIX = "/fa"
SHEETS = (
    "tokens.css",
    "app.css",
    "player.css",
    "step.css",
    "hall.css",
    "embed.css",
    "motion.css",
    "story.css",
    "links.css",
    "tour.css",
    "terms.css",
    "run.css",
    "memory.css",
    "learn.css",
)
IMMUTABLE = "public, max-age=31536000, immutable"


@lru_cache(maxsize=1)
def build() -> str:
    """Fingerprint of everything a browser may cache: assets and the code that makes traces."""
    digest = hashlib.sha256()
    sources = [f for room in ("assets", "explainer", "kernels") for f in (ROOT / room).rglob("*")]
    for path in sorted(p for p in sources if p.suffix in {".js", ".css", ".py", ".json", ".md"}):
        digest.update(path.name.encode() + path.read_bytes())
    return digest.hexdigest()[:12]


def asset_url(name: str) -> str:
    """Relative address of a file of ``assets/``, new for every build."""
    return f"{PREFIX[1:]}/static/{build()}/{name}"


def trace(request: Request) -> Response:
    """``GET /fa/trace?n=…``: the packed trace, gzip.

    Synchronous on purpose: Starlette runs it on a thread, so computing blocks nobody's page.
    """
    return _gzipped(packed_gzip(Problem.from_query(dict(request.query_params))))


def _gzipped(body: bytes) -> Response:
    headers = {"Content-Encoding": "gzip", "Cache-Control": IMMUTABLE}
    return Response(body, media_type="application/octet-stream", headers=headers)


def visit(request: Request) -> Response:
    """``GET /fa/visit?…&at=…``: the numbers of one visit of a Problem too large to send whole."""
    query = dict(request.query_params)
    at = query.get("at", "")
    step = int(at) if at.isascii() and at.isdigit() and len(at) < 8 else -1
    return _gzipped(gzip.compress(pack_visit(Problem.from_query(query), step), 6, mtime=0))


def _computed(request: Request, make) -> Response:
    """What ``make`` computes of the address' query, as JSON."""
    body = make(dict(request.query_params))
    return JSONResponse(body, headers={"Cache-Control": IMMUTABLE})


def compiled(request: Request) -> Response:
    """``GET /fa/code?arch=…``: PTX or SASS of one tile.

    Synchronous: it may wait seconds for the compiler, on a thread of its own.
    """
    return _computed(request, code)


def warps(request: Request) -> Response:
    """``GET /fa/warps?n=…&i=…&j=…&warps=…``: one tile among its warps, both ways."""
    return _computed(request, lambda query: packed(*from_query(query)))


def learn(request: Request) -> Response:
    """``GET /fa/learn?w=…``: what a widget of the Learn page computes."""
    return _computed(request, answer)


def learn_page(request: Request) -> Response:
    """``GET /fa/learn.html``: the Learn page's cards."""
    return Response(page(), media_type="text/html", headers={"Cache-Control": IMMUTABLE})


def terms(request: Request) -> Response:
    """``GET /fa/glossary``: the entries, and how they are spelled in the pages' texts."""
    return JSONResponse(glossary.data(), headers={"Cache-Control": IMMUTABLE})


def listing(request: Request) -> Response:
    """``GET /fa/listing``: the code of trace and kernels, line by line, with its phases."""
    return JSONResponse(listings(), headers={"Cache-Control": IMMUTABLE})


def tour(request: Request) -> Response:
    """``GET /fa/tour``: the chapters of the guided tour."""
    return JSONResponse(chapters(), headers={"Cache-Control": IMMUTABLE})


def _attached(request: Request, make, kind: str, suffix: str) -> Response:
    """A file made of the Problem of the address, named after it."""
    query = dict(request.query_params)
    problem = Problem.from_query(query)
    body = make(problem, query)
    name = f"flashattention-{problem.order}-n{problem.n}-d{problem.d}.{suffix}"
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return Response(body, media_type=kind, headers=headers)


def export_html(request: Request) -> Response:
    """``GET /fa/export.html?…``: the animation as one page that plays offline."""

    def make(problem: Problem, query: dict) -> str:
        place = {k: query[k] for k in ("step", "phase", "mode", "clock") if k in query}
        return animation(problem, place)

    return _attached(request, make, "text/html", "html")


def export_json(request: Request) -> Response:
    """``GET /fa/export.json?…``: the trace, every number of it."""
    return _attached(request, lambda problem, _: as_json(problem), "application/json", "json")


def export_npz(request: Request) -> Response:
    """``GET /fa/export.npz?…``: the trace as NumPy arrays."""
    return _attached(request, lambda problem, _: as_npz(problem), "application/zip", "npz")


class Assets(StaticFiles):
    """``assets/`` under the build's fingerprint; the first path segment is the build's name."""

    def lookup_path(self, path: str):  # type: ignore[override]
        named, _, inside = path.partition("/")
        return super().lookup_path(inside) if named == build() else ("", None)

    def file_response(self, *args, **kwargs) -> Response:
        response = super().file_response(*args, **kwargs)
        response.headers["Cache-Control"] = IMMUTABLE
        return response


def modules(name: str, request: Request) -> Response:
    """``GET /fa/static/<build>/js/<name>.js``: our modules in one file, those of few visitors in
    another."""
    if request.path_params["build"] != build():
        return Response(status_code=404)
    return Response(
        online(name), media_type="text/javascript", headers={"Cache-Control": IMMUTABLE}
    )


def all_sheets(request: Request) -> Response:
    """``GET /fa/static/<build>/all.css``: our stylesheets in one file."""
    if request.path_params["build"] != build():
        return Response(status_code=404)
    sheets = [(ASSETS / "css" / name).read_text(encoding="utf-8") for name in SHEETS]
    headers = {"Cache-Control": IMMUTABLE}
    text = re.sub(r"/\*.*?\*/|^ +", "", "\n".join(sheets), flags=re.M | re.S)
    text = re.sub(r"\s*([{};])\s*", r"\1", text).replace(";}", "}")
    return Response(text, media_type="text/css", headers=headers)


def health(engine: Engine) -> Response:
    """``GET /healthz``: can kernels run, on what, how many wait; 503 and why where they cannot."""
    machine = engine.machine() or {}
    about = {"device": machine.get("device") or None, "interpreted": machine.get("interpreted")}
    state = engine.state()
    status = 200 if state["healthy"] else 503
    return JSONResponse(state | about, status, headers={"Cache-Control": "no-store"})


def routes(engine: Engine) -> list[BaseRoute]:
    """The routes that go in front of Gradio's own (``launch(app_kwargs={"routes": …})``)."""
    return [
        Route("/healthz", lambda request: health(engine), methods=["GET"]),
        Route(f"{PREFIX}/trace", trace, methods=["GET"]),
        Route(f"{PREFIX}/visit", visit, methods=["GET"]),
        Route(f"{PREFIX}/code", compiled, methods=["GET"]),
        Route(f"{PREFIX}/warps", warps, methods=["GET"]),
        Route(f"{PREFIX}/learn", learn, methods=["GET"]),
        Route(f"{PREFIX}/learn.html", learn_page, methods=["GET"]),
        Route(f"{PREFIX}/glossary", terms, methods=["GET"]),
        Route(f"{PREFIX}/listing", listing, methods=["GET"]),
        Route(f"{PREFIX}/tour", tour, methods=["GET"]),
        Route(f"{PREFIX}/export.html", export_html, methods=["GET"]),
        Route(f"{PREFIX}/export.json", export_json, methods=["GET"]),
        Route(f"{PREFIX}/export.npz", export_npz, methods=["GET"]),
        *(
            Route(
                f"{PREFIX}/static/{{build}}/js/{name}.js", partial(modules, name), methods=["GET"]
            )
            for name in SCRIPTS
        ),
        Route(f"{PREFIX}/static/{{build}}/all.css", all_sheets, methods=["GET"]),
        Mount(f"{PREFIX}/static", Assets(directory=ASSETS)),
    ]
