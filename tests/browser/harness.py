"""The app as a process, Chromium, and a page that remembers everything that went wrong in it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

from playwright.sync_api import (
    Browser,
    ConsoleMessage,
    Error,
    Locator,
    Page,
    Playwright,
    Request,
    Route,
)

ROOT = Path(__file__).resolve().parents[2]
WAIT_MS = int(os.environ.get("WAIT_MS", 240_000))  # ends a test that hangs, and no other
CHROMIUM_FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-quic",
    "--no-first-run",
    # Where a debugger listens, V8 reads a whole script once more for the first error that it makes:
    # a second for each page with a chart, whose library is one of 4 MB.
    "--js-flags=--no-enable-lazy-source-positions",
)
NO_CHROMIUM = (
    "Chromium is missing: install it with `apt-get install chromium`, or Playwright's own with "
    "`python -m playwright install chromium`; the browser tests cannot run without it."
)


class Server:
    """``python app.py`` on a free port; a context manager that answers before it is entered."""

    def __init__(self, script: str = "app.py", *arguments: str, worker_nice: str = "0") -> None:
        self.script, self.arguments, self.worker_nice = script, arguments, worker_nice

    def __enter__(self) -> Server:
        self._log = tempfile.TemporaryFile("w+", errors="replace")
        env = os.environ | {
            "GRADIO_SERVER_NAME": "127.0.0.1",
            "GRADIO_SERVER_PORT": "0",
            "PYTHONUNBUFFERED": "1",
            # 0: what runs beside the tests may be endless, and the worker is not behind it
            "WORKER_NICE": self.worker_nice,
        }
        command = [sys.executable, self.script, *self.arguments]
        self._process = subprocess.Popen(
            command,
            cwd=ROOT,
            env=env,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            text=True,
        )
        try:
            self.url = self._said().rstrip("/")
        except BaseException:
            self.__exit__()
            raise
        self.host = urlsplit(self.url).netloc
        self.port = urlsplit(self.url).port
        return self

    def _said(self) -> str:
        """The address that the app names once it answers."""
        for line in self._process.stdout:
            if line.startswith('{"serving": '):
                return json.loads(line)["serving"]
        status = self._process.wait()
        raise RuntimeError(f"{self.script} ended with {status} before it answered:\n{self.log()}")

    def tell(self, line: str) -> None:
        """One line to the script's stdin, which app.py itself does not read."""
        self._process.stdin.write(f"{line}\n")
        self._process.stdin.flush()

    def log(self, most: int = 8_000) -> str:
        """The last characters that the server wrote to stderr, where it logs."""
        self._log.seek(0)
        return self._log.read()[-most:]

    def __exit__(self, *exception: object) -> None:
        self._process.terminate()
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process.stdin.close()
        self._process.stdout.close()
        self._log.close()


def launch(playwright: Playwright, *flags: str) -> Browser:
    """Headless Chromium: the system's where there is one, its headless shell first (a third less to
    compute for the same pages), otherwise Playwright's own."""
    path = shutil.which("chromium-headless-shell") or shutil.which("chromium")
    try:
        return playwright.chromium.launch(executable_path=path, args=[*CHROMIUM_FLAGS, *flags])
    except Error as error:
        if "Executable doesn't exist" in str(error):
            raise RuntimeError(NO_CHROMIUM) from None
        raise


class Watched:
    """A page with a record of its console errors, page errors and requests."""

    def __init__(self, page: Page, server: Server) -> None:
        self.page, self.server = page, server
        page.set_default_timeout(WAIT_MS)
        self.problems: list[str] = []
        self.requests: list[str] = []
        self.tolerated: list[str] = []
        self._heard = {
            "console": self._console,
            "pageerror": lambda error: self.problems.append(f"page error: {error}"),
            "request": self._request,
            "websocket": lambda socket: self.requests.append(socket.url),
        }
        for event, heard in self._heard.items():
            page.on(event, heard)

    def _console(self, message: ConsoleMessage) -> None:
        if message.type == "error":
            self.problems.append(f"console error: {message.text} ({message.location['url']})")

    def _request(self, request: Request) -> None:
        self.requests.append(request.url)

    def tolerate(self, text: str) -> None:
        """Declares one console error that the test provokes on purpose; it must then occur."""
        self.tolerated.append(text)

    def verdict(self) -> list[str]:
        """What this page did wrong: one line each, none for a clean page."""
        found = list(self.problems)
        for text in self.tolerated:
            match = next((f for f in found if text in f), None)
            if match is None:
                found.append(f"expected in the console and not there: {text}")
            else:
                found.remove(match)
        for url in self.requests:
            parts = urlsplit(url)
            if parts.scheme not in ("data", "blob") and parts.netloc != self.server.host:
                found.append(f"request to another host: {url}")
        return found

    def leave(self) -> Page:
        """Watches no longer; the page is blank, and nothing of this visit is left in it."""
        for event, heard in self._heard.items():
            self.page.remove_listener(event, heard)
        self.page.evaluate("() => location.origin === 'null' || sessionStorage.clear()")
        self.page.goto("about:blank")
        self.page.unroute_all(behavior="ignoreErrors")
        self.page.mouse.move(-1, -1)
        return self.page

    def goto(self, query: str = "") -> Page:
        """Loads the app at this query string."""
        self.page.goto(f"{self.server.url}/{'?' if query else ''}{query}")
        return self.page

    def open(self, query: str = "", rests: bool = True) -> Page:
        """Loads the app at this query string and waits for the player to show a trace."""
        self.goto(query)
        self.settle(rests)
        return self.page

    def show(self, query: str) -> Page:
        """Another Problem and place in the page that is open, the way the tour shows one."""
        self.page.evaluate(
            "(query) => document.dispatchEvent(new CustomEvent('fa:show', { detail: query }))",
            query,
        )
        self.settle()
        return self.page

    def settle(self, rests: bool = True) -> None:
        """Waits until the player shows the Problem that was asked for last, and the page rests."""
        self.page.wait_for_selector('[data-testid="player"][data-step][aria-busy="false"]')
        if rests:
            settled(self.page)


class Held:
    """What the server answers, if nothing else is said to Gradio's events, kept until ``go``."""

    def __init__(self, page: Page, where: str = "**/gradio_api/run/predict*") -> None:
        self.waiting: list[Route] | None = []
        page.route(where, self._hold)

    def _hold(self, route: Route) -> None:
        if self.waiting is None:
            route.continue_()
        else:
            self.waiting.append(route)

    def go(self) -> None:
        held, self.waiting = self.waiting, None
        for route in held:
            route.continue_()


# Everything that the player states about itself, in one round trip.
READ = """
() => {
  const root = document.querySelector('[data-testid="player"]');
  const rows = {};
  for (const tr of root.querySelectorAll("[data-row]")) {
    rows[tr.dataset.row] = {};
    for (const cell of tr.querySelectorAll("[data-stat]"))
      rows[tr.dataset.row][cell.dataset.stat] = cell.dataset.value;
  }
  return { ...root.dataset, rows };
}
"""


def read(page: Page) -> dict:
    """The player's attributes as strings, and ``rows``: {row: {stat: data-value}}."""
    return page.evaluate(READ)


def keys(page: Page, *names: str) -> None:
    """Presses these keys."""
    for name in names:
        page.keyboard.press(name)


def press(page: Page, key: str) -> dict:
    """One key press, and what the player states after it."""
    page.keyboard.press(key)
    return read(page)


def open_controls(page: Page) -> Page:
    """Shows all controls of the Step page."""
    page.get_by_test_id("player").first.wait_for()
    if not page.locator(".fa-step-controls").is_visible():
        if page.locator(".fa-more:visible:not([open]) .fa-word-all").count():
            page.locator(".fa-more summary").click()
        page.locator(".fa-word-all:visible").click()
    return page


def from_menu(page: Page, name: str) -> None:
    """Clicks an entry of the bar's menu, More."""
    page.locator(".fa-menu summary").click()
    page.locator(".fa-menu").get_by_role("button", name=name, exact=True).click()


def click(page: Page | Locator, name: str, role: str = "button") -> None:
    """Clicks the button, tab or whatever has this role and this name."""
    page.get_by_role(role, name=name, exact=True).click()


def field(page: Page, name: str, role: str = "combobox") -> Locator:
    """The field of this label that is on screen: several pages have one."""
    return page.get_by_role(role, name=name).locator("visible=true")


def focused(page: Page) -> str:
    """Return the name of what has the keyboard."""
    named = "(({ ariaLabel, innerText }) => ariaLabel || innerText)(document.activeElement)"
    return page.evaluate(named)


def spot(place: Locator, across: float = 0.5, down: float = 0.5) -> tuple[float, float]:
    """Where on screen something is, at these shares of its width and height."""
    box = place.bounding_box()
    return box["x"] + across * box["width"], box["y"] + down * box["height"]


def resize(page: Page, width: int = 1280, height: int = 720) -> None:
    page.set_viewport_size({"width": width, "height": height})


def focus(page: Page) -> None:
    """Gives the player the keyboard."""
    page.locator('[data-testid="player"]').focus()


# The page rests: it waits for nothing that it names, nothing on screen is busy or moves, every
# colour is half way. Seen in three frames on end, for what follows from
# layout.
SETTLED = """() => {
  const all = (selector) =>
    [...document.querySelectorAll(selector)].filter((node) => node.checkVisibility());
  const changing = ({ playState, effect }) =>
    playState === "running" && effect.getComputedTiming().endTime < Infinity;
  const rests = document.documentElement.dataset.pending === ""
    && !all("[aria-busy=true], [data-moving=true]").length
    && !document.getAnimations().some(changing);
  window.restedFor = rests ? (window.restedFor ?? 0) + 1 : 0;
  return window.restedFor > 2 && ((window.restedFor = 0), true);
}"""
# Whatever handlers have begun without the server, and the layout that follows from it, is over.
FRAME = """() => new Promise((done) =>
  requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done))))"""


def settled(page: Page) -> Page:
    """Waits until the page rests."""
    page.wait_for_function(SETTLED)
    return page


def frame(page: Page) -> None:
    """Lets the page do what it has begun by itself; for what must not happen while it waits."""
    page.evaluate(FRAME)


def query_of(page: Page) -> dict[str, str]:
    """The query of the address bar, once all is written."""
    page.wait_for_function("!document.documentElement.dataset.pending.includes('address')")
    return {k: v[0] for k, v in parse_qs(page.evaluate("location.search")[1:]).items()}
