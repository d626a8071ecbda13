"""One server and one browser for these tests; every page must end without a complaint.

The fixtures live as long as this package and no longer: Playwright's synchronous interface keeps
an event loop running in the main thread, where later tests may want their own.
"""

from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright

from tests.browser.harness import Server, Watched, launch

STEP_SCREEN = {"width": 1440, "height": 900}
MEDIA = {"reduced_motion": "reduce", "color_scheme": "light"}
SERVER: pytest.StashKey[Server] = pytest.StashKey()


@pytest.fixture(scope="package")
def server(request: pytest.FixtureRequest) -> Iterator[Server]:
    with Server() as running:
        request.config.stash[SERVER] = running
        yield running
        del request.config.stash[SERVER]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo) -> Iterator[None]:
    report = yield
    running = item.config.stash.get(SERVER, None)
    if report.failed and running is not None:
        report.sections.append(("app.py stderr", running.log()))
    return report


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        chromium = launch(playwright)
        yield chromium
        chromium.close()


@pytest.fixture(scope="module")
def context(browser: Browser) -> Iterator[BrowserContext]:
    """Shared by the pages of a file: Gradio's own files are fetched once, and what one file answers
    or chooses no other one sees. Nothing moves: a step is where it leads; step/test_motion.py tests
    the way there."""
    shared = browser.new_context(viewport=STEP_SCREEN, **MEDIA)
    yield shared
    shared.close()


@pytest.fixture(scope="module")
def blank(context: BrowserContext) -> list[Page]:
    """Pages of ``context`` that tests have left as they found them: what Chromium has compiled for
    one test it need not compile for the next, a third to a half of what opening a page takes."""
    return []


@pytest.fixture
def watch(
    server: Server, context: BrowserContext, blank: list[Page], request: pytest.FixtureRequest
) -> Iterator[Callable[..., Watched]]:
    """Opens watched pages in a given context; at the end each must be clean."""
    opened: list[Watched] = []
    failed = request.session.testsfailed

    def start(where: BrowserContext) -> Watched:
        page = blank.pop() if where is context and blank else where.new_page()
        opened.append(Watched(page, server))
        return opened[-1]

    yield start
    verdicts = [line for watched in opened for line in watched.verdict()]
    clean = not verdicts and request.session.testsfailed == failed
    for watched in opened:
        if watched.page.context is context and clean and not watched.page.is_closed():
            page = watched.leave()
            page.set_viewport_size(STEP_SCREEN)
            page.emulate_media(media="null", **MEDIA)
            blank.append(page)
        else:
            watched.page.close()
    assert not verdicts, "\n".join(verdicts)


@pytest.fixture
def apart(browser: Browser, watch: Callable[..., Watched]) -> Iterator[Callable[..., Watched]]:
    """Opens a watched page in a window of its own kind: of this size, with these options."""
    contexts: list[BrowserContext] = []

    def start(width: int = 1280, height: int = 720, **options: object) -> Watched:
        viewport = {"width": width, "height": height}
        contexts.append(browser.new_context(viewport=viewport, **options))
        return watch(contexts[-1])

    yield start
    for context in contexts:
        context.close()


@pytest.fixture(scope="module")
def touch(browser: Browser) -> Iterator[BrowserContext]:
    """A phone, shared by the pages of a file."""
    viewport = {"width": 390, "height": 844}
    shared = browser.new_context(viewport=viewport, is_mobile=True, has_touch=True)
    yield shared
    shared.close()


@pytest.fixture
def phone(watch: Callable[..., Watched], touch: BrowserContext) -> Watched:
    """One watched page on a phone."""
    return watch(touch)


@pytest.fixture(scope="module")
def opened(context: BrowserContext, server: Server) -> Iterator[Watched]:
    watched = Watched(context.new_page(), server)
    watched.open()
    yield watched
    watched.page.close()


@pytest.fixture
def stage(opened: Watched) -> Iterator[Watched]:
    """The Step page, open for all tests of a file that only ``show`` something there; each must
    leave it clean."""
    opened.problems.clear()
    opened.requests.clear()
    yield opened
    verdict = opened.verdict()
    assert not verdict, "\n".join(verdict)


@pytest.fixture
def tab(watch: Callable[..., Watched], context: BrowserContext) -> Watched:
    """One watched page at 1440 × 900, light."""
    return watch(context)
