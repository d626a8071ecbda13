"""Our routes and error handlers in an app without Gradio; the event loop of async tests."""

import asyncio
from collections.abc import Iterator
from contextlib import suppress

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from explainer.engine.engine import Engine
from explainer.web import middleware, routes


@pytest.fixture
def processes(monkeypatch) -> list[asyncio.subprocess.Process]:
    """The processes that asyncio starts. Their pipes belong to its loop, before which they end."""
    started, real = [], asyncio.create_subprocess_exec

    async def start(*command, **options) -> asyncio.subprocess.Process:
        started.append(await real(*command, **options))
        return started[-1]

    monkeypatch.setattr(asyncio, "create_subprocess_exec", start)
    return started


async def end(processes: list[asyncio.subprocess.Process]) -> None:
    for process in processes:
        with suppress(ProcessLookupError):
            process.kill()
        await process.wait()


@pytest.fixture
def client(processes) -> Iterator[TestClient]:
    handlers = middleware.app_kwargs({}, {}, dict)["exception_handlers"]
    app = Starlette(routes=routes.routes(Engine()), exception_handlers=handlers)
    with TestClient(app) as made:
        yield made
        made.portal.call(end, processes)


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"
