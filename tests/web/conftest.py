"""Our routes and error handlers in an app without Gradio; the event loop of async tests."""

from __future__ import annotations

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from explainer.engine.engine import Engine
from explainer.web import middleware, routes


@pytest.fixture
def client() -> TestClient:
    handlers = middleware.app_kwargs({}, {}, dict)["exception_handlers"]
    return TestClient(Starlette(routes=routes.routes(Engine()), exception_handlers=handlers))


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"
