"""/metrics: there when it is asked for, in Prometheus' form, and with nothing that was typed."""

import asyncio

import pytest
from prometheus_client.parser import text_string_to_metric_families
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Route
from starlette.testclient import TestClient

from explainer.web.middleware import app_kwargs

STATE = {"healthy": True, "running": 1, "waiting": 3, "faults": 2, "replaced": 4}


def client() -> TestClient:
    async def trace(request) -> PlainTextResponse:
        await asyncio.sleep(0)
        return PlainTextResponse("x", 400 if request.query_params else 200)

    kwargs = app_kwargs({}, {}, lambda: STATE)
    return TestClient(Starlette(routes=[Route("/fa/trace", trace)], **kwargs), "http://localhost")


def metrics(asked: TestClient) -> dict[tuple, float]:
    families = text_string_to_metric_families(asked.get("/metrics").text)
    return {
        (sample.name, *sample.labels.values()): sample.value
        for family in families
        for sample in family.samples
    }


@pytest.mark.parametrize("value", [None, "", "0"])
def test_off_unless_asked_for(monkeypatch, value):
    monkeypatch.delenv("METRICS", raising=False)
    if value is not None:
        monkeypatch.setenv("METRICS", value)
    with client() as asked:
        assert asked.get("/metrics").status_code == 404


def test_requests_seconds_the_engine_and_memory(monkeypatch):
    monkeypatch.setenv("METRICS", "1")
    with client() as asked:
        for path in ("/fa/trace", "/fa/trace?seed=Pl4nted", "/Pl4nted", "/fa/trace?seed=x"):
            asked.get(path)
        found = metrics(asked)
    assert found["fa_requests_total", "/fa/trace", "200"] == 1
    assert found["fa_requests_total", "/fa/trace", "400"] == 2
    assert found["fa_requests_total", "other", "404"] == 1
    assert found["fa_response_seconds_count", "/fa/trace"] == 3
    engine = {name: found[f"fa_engine_{name}",] for name in ("healthy", *list(STATE)[1:4])}
    assert engine == {"healthy": 1, "running": 1, "waiting": 3, "faults": 2}
    assert found["fa_engine_replaced_total",] == 4
    assert found["process_resident_memory_bytes",] > 1e6
    assert "Pl4nted" not in str(found) and not [k for k in found if k[0].endswith("_created")]


@pytest.mark.parametrize("host, status", [("lesson.example", 200), ("evil.example", 400)])
def test_allowed_hosts(monkeypatch, host, status):
    monkeypatch.setenv("ALLOWED_HOSTS", "lesson.example, *.uni.example")
    with client() as asked:
        assert asked.get("/fa/trace", headers={"Host": host}).status_code == status
        assert asked.get("/fa/trace", headers={"Host": "a.uni.example:80"}).status_code == 200
        assert asked.get("/fa/trace", headers={"Host": "127.0.0.1:7860"}).status_code == 200
