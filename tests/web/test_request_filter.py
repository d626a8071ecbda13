"""The door answers by itself where an endpoint takes nothing of this visitor."""

import pytest
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.testclient import TestClient
from starlette.types import Message

from explainer.web.request_filter import RequestFilter

FULL = "8 runs of yours are waiting already: ask again when one is done."


@pytest.fixture
def client() -> TestClient:
    def full(request: Request) -> str | None:
        return FULL if request.headers.get("x-forwarded-for") == "10.0.0.1" else None

    names = {"run": ("n",), "trace": ("n",)}
    return TestClient(RequestFilter(PlainTextResponse("Gradio's"), names, {}, {"run": full}))


@pytest.mark.parametrize("path", ["/gradio_api/call/run", "/gradio_api/call/v2/run"])
def test_who_has_enough_waiting_is_told_when_to_ask_again(client, path):
    body = {"n": 16} if "v2" in path else {"data": [16]}
    busy = client.post(path, json=body, headers={"x-forwarded-for": "10.0.0.1"})
    assert (busy.status_code, busy.json()) == (503, {"error": FULL})
    assert int(busy.headers["retry-after"]) > 0
    assert client.post(path, json=body).text == "Gradio's", "another address has its own share"


def test_other_endpoints_and_readers_are_let_in(client):
    far = {"x-forwarded-for": "10.0.0.1"}
    assert client.post("/gradio_api/call/trace", json={"data": [16]}, headers=far).is_success
    assert client.get("/config", headers=far).is_success


def test_a_malformed_request_is_told_so_first(client):
    far = {"x-forwarded-for": "10.0.0.1"}
    assert client.post("/gradio_api/call/run", json={"data": []}, headers=far).status_code == 422


@pytest.mark.anyio
async def test_a_body_is_as_long_as_all_of_its_pieces(client):
    pieces = [{"type": "http.request", "body": b"1" * 40_000, "more_body": k < 1} for k in range(2)]
    sent: list[Message] = []

    async def receive() -> Message:
        return pieces.pop(0)

    async def send(message: Message) -> None:
        sent.append(message)

    path = "/gradio_api/call/run"
    await client.app({"type": "http", "method": "POST", "path": path, "headers": []}, receive, send)
    assert b"too long" in sent[1]["body"]
