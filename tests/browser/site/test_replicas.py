"""Two replicas behind a proxy: which of them answers shows nowhere, and one can go."""

import json
import urllib.request
from zlib import crc32

import httpx
import pytest
from starlette.background import BackgroundTask
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from tests.browser.harness import WAIT_MS, Server, settled
from tests.browser.run.running import run_result
from tests.web.test_connections import served

RUN = "page=run&run-n=128&run-d=16&run-br=16&run-bc=16&run-methods=naive,fa1,fa2"
LOST = "Connection to the server was lost"  # Gradio's; it then opens the page anew
OWN = ("app_id", "root")  # of one process
COOKIE = "replica"


class Proxy:
    """A balancer in front of replicas of the app, as small as can be: what nginx or HAProxy is to
    do.

    A browser stays with its replica by a cookie, anything else by its address: the two halves of a
    Gradio event, ``queue/join`` and ``queue/data``, must meet in one process. Where a replica
    cannot be reached, or goes before it has answered a byte, the next one is asked.
    """

    def __init__(self, *ports: int) -> None:
        self.ports, self.answered = ports, dict.fromkeys(ports, 0)
        self.retried = self.refused = 0
        self.client = httpx.AsyncClient(
            timeout=None, limits=httpx.Limits(max_keepalive_connections=0)
        )

    async def __call__(self, scope, receive, send) -> None:
        request = Request(scope, receive)
        await (await self._answer(request))(scope, receive, send)

    async def _answer(self, request: Request) -> Response:
        body, address = await request.body(), request.client.host
        first = int(request.cookies.get(COOKIE, crc32(address.encode())))
        headers = [*request.headers.raw, (b"x-forwarded-for", address.encode())]
        for tried in range(len(self.ports)):
            mine = (first + tried) % len(self.ports)
            url = str(request.url.replace(hostname="127.0.0.1", port=self.ports[mine]))
            asked = self.client.build_request(request.method, url, headers=headers, content=body)
            try:
                found = await self.client.send(asked, stream=True)
            except httpx.TransportError:
                continue
            self.retried += tried > 0
            self.answered[self.ports[mine]] += 1
            task = BackgroundTask(found.aclose)
            answer = StreamingResponse(found.aiter_raw(), found.status_code, background=task)
            answer.raw_headers = [(k.lower(), v) for k, v in found.headers.raw]
            answer.set_cookie(COOKIE, str(mine), httponly=True)
            return answer
        self.refused += 1
        return Response(status_code=502)


@pytest.fixture(scope="module")
def other():
    """A replica that may be killed."""
    with Server() as running:
        yield running


def test_replicas_serve_the_same_pages(other, server):
    def config(replica: Server) -> dict:
        with urllib.request.urlopen(f"{replica.url}/config") as answer:
            return json.load(answer)

    first, second = config(other), config(server)
    assert {k for k in first if first[k] != second[k]} <= {*OWN}


def test_a_replica_dies_during_a_run_and_the_next_press_works(browser, other, server):
    proxy = Proxy(other.port, server.port)
    context = browser.new_context(viewport={"width": 1280, "height": 720})
    page = context.new_page()
    page.set_default_timeout(WAIT_MS)
    with served(proxy) as (host, port):
        url = f"http://{host}:{port}"
        context.add_cookies([{"name": COOKIE, "value": "0", "url": url}])
        check_page(page, f"{url}/?{RUN}", other, proxy)
        context.close()


def check_page(page, url, other, proxy):
    page.goto(url)
    settled(page)
    assert set(proxy.answered.values()) == {0, proxy.answered[other.port]}, "one replica a browser"
    page.click(".fa-run-go")
    page.wait_for_selector(".fa-run-meter")
    page.evaluate("window.isOld = true")
    other._process.kill()
    page.get_by_text(LOST).first.wait_for()
    page.wait_for_function(
        "!window.isOld && document.readyState === 'complete'"
    )  # Gradio opened it anew
    settled(page)
    page.click(".fa-run-go")
    assert "n=128" in run_result(page)["query"]
    assert proxy.retried and not proxy.refused
