"""Two replicas behind a proxy: which of them answers shows nowhere, and one can go."""

from __future__ import annotations

import asyncio
import json
import urllib.request
from threading import Event, Thread

import pytest

from tests.browser.harness import WAIT_MS, Server, settled
from tests.load.proxy import COOKIE, Proxy

RUN = "page=run&run-n=128&run-d=16&run-br=16&run-bc=16&run-methods=naive,fa1,fa2"
LOST = "Connection to the server was lost"  # Gradio's; it then opens the page anew
OWN = ("app_id", "root")  # of one process


@pytest.fixture(scope="module")
def other():
    """A replica that may be killed."""
    with Server() as running:
        yield running


@pytest.fixture(scope="module")
def proxy(other, server):
    """Asks the other replica first."""
    made, ready = Proxy([other.port, server.port]), Event()

    async def run() -> None:
        nonlocal loop, over
        loop, over = asyncio.get_running_loop(), asyncio.Event()
        async with made:
            ready.set()
            await over.wait()

    loop = over = None
    thread = Thread(target=lambda: asyncio.run(run()))
    thread.start()
    ready.wait()
    yield made
    loop.call_soon_threadsafe(over.set)
    thread.join()


def test_replicas_serve_the_same_pages(other, server):
    def config(replica: Server) -> dict:
        with urllib.request.urlopen(f"{replica.url}/config") as answer:
            return json.load(answer)

    first, second = config(other), config(server)
    assert {k for k in first if first[k] != second[k]} <= {*OWN}


def test_a_replica_dies_during_a_run_and_the_next_press_works(browser, other, proxy):
    context = browser.new_context(viewport={"width": 1280, "height": 720})
    context.add_cookies([{"name": COOKIE, "value": "0", "url": proxy.url}])
    page = context.new_page()
    page.set_default_timeout(WAIT_MS)
    page.goto(f"{proxy.url}/?{RUN}")
    settled(page)
    assert set(proxy.answered.values()) == {0, proxy.answered[other.port]}, "one replica a browser"
    page.locator(".fa-go .fa-primary").click()
    page.locator("#run-result .fa-run-meter").wait_for()
    page.evaluate("window.isOld = true")
    other._process.kill()
    page.get_by_text(LOST).first.wait_for()
    page.wait_for_function(
        "!window.isOld && document.readyState === 'complete'"
    )  # Gradio opened it anew
    settled(page)
    page.locator(".fa-go .fa-primary").click()
    page.locator('[data-testid="run-result"]').wait_for()
    assert "n=128" in page.locator('[data-testid="run-result"]').get_attribute("data-query")
    assert proxy.retried and not proxy.refused
    context.close()
