"""The lesson as files: a plain file server under a sub-path, the browser offline but for it."""

import re
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from urllib.parse import urlencode

import pytest

from explainer.learn.claims import CLAIMS
from explainer.learn.registry import lessons
from explainer.learn.tour import CHAPTERS
from explainer.problem import Problem
from explainer.trace import trace
from explainer.views.learn_screens import keys as screens
from explainer.web.export import LACKS, PRESETS, site
from tests.browser.expected import complaints, phases
from tests.browser.harness import Watched, click, keys, press, read, settled
from tests.browser.learn.learning import SHOWN
from tests.browser.run.running import PAGE as RUN
from tests.browser.story import story

UNDER = "/course/fa"


class Quiet(SimpleHTTPRequestHandler):
    """Files and nothing else."""

    def log_message(self, *said: object) -> None:
        pass


class Files:
    """What ``Watched`` knows a server by."""

    def __init__(self, port: int) -> None:
        self.host = f"127.0.0.1:{port}"
        self.url = f"http://{self.host}{UNDER}"


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    root = tmp_path_factory.mktemp("host")
    site(root / UNDER[1:])
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=root)) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield Files(server.server_port)
        server.shutdown()


@pytest.fixture(scope="module")
def opened(browser, files):
    """One page for all tests; what leaves the host or fails there is a complaint."""
    context = browser.new_context(
        viewport={"width": 1280, "height": 720}, reduced_motion="reduce", service_workers="block"
    )
    watched = Watched(context.new_page(), files)
    context.route(lambda url: not url.startswith(files.url), lambda route: route.abort())
    page = watched.page
    page.on("requestfailed", lambda r: watched.problems.append(f"failed: {r.url}"))
    page.on("response", lambda r: r.ok or watched.problems.append(f"{r.status}: {r.url}"))
    page.set_default_timeout(20_000)
    yield watched
    context.close()


@pytest.fixture
def lesson(opened):
    yield opened
    assert opened.verdict() == []


def test_the_step_page_plays_by_keyboard(lesson):
    page = lesson.open()
    true = trace(Problem())
    for step, visit in enumerate(true.visits):
        found = press(page, "ArrowRight") if step else press(page, "End") and press(page, "Home")
        assert complaints(true, step, phases(visit)[-1] if step else found["phase"], found) == []
    assert found["step"] == str(len(true.visits) - 1)
    click(page, "Compare", "tab")
    page.wait_for_function("document.querySelectorAll('[data-testid=player]').length === 3")
    click(page, "Code", "tab")
    page.wait_for_selector(".fa-code :is(li, tr, code)")
    assert "step=" in page.url


def test_the_word_of_the_mask_offers_the_problems_that_are_here(lesson):
    """No server answers what a mask means: the list of Problems, and no builder."""
    page = lesson.open("step=1")
    page.click(".fa-word-mask")
    assert page.is_visible(".fa-step-controls a")
    keys(page, "Escape", "m")
    assert not page.locator(".fa-masks").count() and not page.locator("dialog[open]").count()


def at(lesson: Watched, query: str):
    """The page, opened at this address, at rest."""
    lesson.page.goto(f"{lesson.server.url}/?{query}")
    return settled(lesson.page)


# Shows one place after the other; {place: what the player said instead}.
SHOW = """async (places) => {
  const said = {};
  for (const query of places) {
    document.dispatchEvent(new CustomEvent("fa:show", { detail: query }));
    while (!document.querySelector("[data-testid=player][data-step][aria-busy=false]"))
      await new Promise((done) => requestAnimationFrame(done));
    const notice = document.querySelector(".fa-player .fa-notice");
    if (notice.checkVisibility()) said[query] = notice.textContent;
  }
  return said;
}"""


def test_the_tour_and_every_place_that_the_lesson_leads_to(lesson):
    page = lesson.open()
    page.click(".fa-start-tour")
    for k, chapter in enumerate(CHAPTERS):
        page.wait_for_selector(f'[data-testid="tour"][data-chapter="{k + 1}"]')
        where = f'[data-order="{chapter.problem.order}"][aria-busy="false"]'
        if chapter.mode is None:
            page.wait_for_selector(f'[data-testid="player"][data-step="{chapter.step}"]{where}')
        keys(page, "Space")
    places = [link.query for lesson in lessons() for link in lesson.links if link.page == "step"]
    places += [urlencode(problem.to_query()) for _, problem in PRESETS]
    assert page.evaluate(SHOW, places) == {}
    assert LACKS["trace"] in page.evaluate(SHOW, ["n=17"])["n=17"]
    keys(page, "c")
    page.get_by_role("link", name=PRESETS[1][0]).click()
    page.wait_for_url("**/?*data=sentence*")
    settled(page)
    assert read(page)["step"] == "0"


# To another screen, as Back and Forward go: the page stays.
GO = """(to) => {
  history.pushState(null, '', to);
  dispatchEvent(new PopStateEvent('popstate'));
}"""
# Every widget is brought into view; then, all side by side, each control is moved, the others as
# they are at first. The answer: {widget: what it said instead}.
WIDGETS = """async () => {
  const frame = () => new Promise((done) => requestAnimationFrame(done));
  for (const fold of document.querySelectorAll(".fa-learn details")) fold.open = true;
  const all = [...document.querySelectorAll("[data-widget]")];
  const seen = all.filter((one) => one.checkVisibility());
  for (const root of seen) {
    root.scrollIntoView();
    await frame();
  }
  const wrong = {};
  const rested = async (root) => {
    while (!root.querySelector(".fa-widget-body:not([aria-busy]) .fa-blocks > *")) await frame();
    const said = root.querySelector(".fa-widget-error");
    if (!said.hidden) wrong[root.dataset.widget] = said.textContent;
  };
  const moved = [
    ["[type=range]", "input", (range) => { range.value = range.max; }],
    ["select", "change", (menu) => { menu.selectedIndex = menu.options.length - 1; }],
    ["label:last-child > [type=radio]", "change", (radio) => { radio.checked = true; }],
    ["[type=checkbox]", "change", (box) => { box.checked = !box.checked; }],
  ];
  await Promise.all(seen.map(async (root) => {
    await rested(root);
    for (const [which, event, move] of moved)
      for (const control of root.querySelectorAll(which)) {
        root.querySelector(".fa-reset").click();
        move(control);
        control.dispatchEvent(new Event(event));
        await rested(root);
      }
  }));
  return { wrong, widgets: seen.length };
}"""


def test_every_screen_and_all_that_it_holds(lesson):
    page = at(lesson, "page=learn")
    stops = page.locator(".fa-learn .fa-halt")
    assert stops.evaluate_all("(all) => all.map((one) => one.dataset.lesson)") == [
        lesson.key for lesson in lessons()
    ]
    widgets = 0
    for key in screens():
        page.evaluate(GO, f"?page=learn&lesson={key}")
        page.wait_for_function(SHOWN, arg=key)
        settled(page)
        for _ in CLAIMS if key == "claims" else (0,):
            if key == "claims":  # decided, so that its proof runs
                keys(page, "t")
                settled(page)
            found = page.evaluate(WIDGETS)
            assert found["wrong"] == {}, key
            widgets += found["widgets"]
    assert widgets > 60
    at(lesson, "page=learn&lesson=softmax")
    page.click("#learn-softmax .fa-run-link")
    page.wait_for_url(re.compile(r"/course/fa/\?n=16.*order=standard"))
    settled(page)
    assert read(page)["order"] == "standard"


@pytest.mark.parametrize("name", ["memory", "parallel"])
def test_a_story_is_drawn_with_its_switches_and_refuses_another_workload(lesson, name):
    chapter = {"memory": "where", "parallel": "schedule"}[name]
    page = at(lesson, f"page={name}&{name[:3]}-view={chapter}")
    root = page.locator(f'{story(name)}[data-chapter="{chapter}"]')
    root.wait_for()
    before = root.locator("h2").inner_text()
    root.locator("[role=radio][aria-checked=false]").last.click()
    root.locator("h2").filter(has_not_text=before).wait_for()
    at(lesson, f"page={name}&{name[:3]}-n=512")
    page.wait_for_selector(f"{story(name)} .fa-notice:has-text('has no server')")
    assert page.locator(f"{story(name)} .fa-svg-canvas > *").count(), "the page's own, meanwhile"


def test_run_shows_what_was_recorded_and_runs_nothing(lesson):
    page = at(lesson, "page=run")
    said = page.locator(f"{RUN} h2")
    assert "times as fast" in said.inner_text() and not page.locator(".fa-run-go:visible").count()
    click(page, "full", "radio")
    settled(page)
    before = said.inner_text()
    keys(page, "Escape")
    page.get_by_role("slider", name="Sequence length N").press("End")
    said.filter(has_not_text=before).wait_for()
    click(page, "Masks", "radio")
    said.filter(has_text="FlexAttention").wait_for()
    page.click(f'{RUN} .fa-story-words [data-word="mask"]')
    page.locator(f"{RUN} .fa-words-choices button").last.click()
    page.locator(".fa-words-refusal").filter(has_text="Only the app runs kernels").wait_for()
