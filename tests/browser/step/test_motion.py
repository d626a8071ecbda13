"""A step shows how it came to be, and leaves behind what a page without motion shows."""

from collections.abc import Iterator

import pytest

from explainer.problem import Problem
from explainer.trace import trace
from kernels.spec.fields import ORDERS
from tests.browser.expected import phases
from tests.browser.harness import Watched, keys, press, read, settled

SCREEN = {"width": 1280, "height": 720}
PROBLEMS = {
    order: f"n=7&d=5&br=3&bc=4&mask=causal&order={order}&data=random&seed=9" for order in ORDERS
} | {"backward": "data=random&seed=9&pass=backward&step=9&phase=dS"}

# Presses keys within one task, so that nothing has ended when it is read: after each the ms that
# the page's own animations last, not those of style sheets.
PRESS = """
(keys) => keys.map(([key, repeat]) => {
  const event = new KeyboardEvent("keydown", { key, repeat, bubbles: true, cancelable: true });
  document.body.dispatchEvent(event);
  return [...document.querySelectorAll('[data-testid="player"]')].map((root) => {
    const own = (animation) => !(animation instanceof CSSTransition);
    const ends = root.getAnimations({ subtree: true }).filter(own)
      .map(({ effect }) => effect.getComputedTiming().endTime);
    const { moving, step, phase } = root.dataset;
    const names = [...root.querySelectorAll(".fa-flight-name")].map((node) => node.textContent);
    return { moving, step, phase, names, ms: Math.max(0, ...ends),
      layers: root.querySelectorAll(".fa-motion").length };
  });
})
"""
# The whole page's picture as text: every attribute, every canvas, but for what only moves.
STATE = """
() => {
  const player = document.querySelector(".fa-player");
  const copy = player.cloneNode(true);
  copy.querySelectorAll(".fa-motion").forEach((node) => node.remove());
  copy.removeAttribute("data-moving");
  const canvases = [...player.querySelectorAll("canvas:not(.fa-motion canvas)")];
  return [copy.outerHTML, ...canvases.map((canvas) => canvas.toDataURL())];
}
"""
END = """
() => {
  const root = document.querySelector('[data-testid="player"]');
  const own = root.getAnimations({ subtree: true }).filter((a) => !(a instanceof CSSTransition));
  own.forEach((animation) => animation.finish());
}
"""
OVER = '[data-testid="player"][data-moving=false]'


def page_of(browser, server, motion: str) -> Iterator[Watched]:
    context = browser.new_context(viewport=SCREEN, reduced_motion=motion)
    watched = Watched(context.new_page(), server)
    watched.open()
    yield watched
    context.close()


@pytest.fixture(scope="module")
def opened(browser, server) -> Iterator[Watched]:
    yield from page_of(browser, server, "no-preference")


@pytest.fixture(scope="module")
def still(browser, server) -> Iterator[Watched]:
    yield from page_of(browser, server, "reduce")


def presses(page, *keys: str, repeat: bool = False) -> list[dict]:
    """What the (first) player says after each key."""
    return [players[0] for players in page.evaluate(PRESS, [[key, repeat] for key in keys])]


@pytest.mark.parametrize("problem", PROBLEMS)
def test_the_state_after_a_motion_is_the_state_without_it(stage, still, problem):
    page, other = (watched.open(PROBLEMS[problem]) for watched in (stage, still))
    for key in ["ArrowDown"] * 9 + ["ArrowRight"] * 3:
        presses(page, key)
        presses(other, key)
        wanted = other.evaluate(STATE)
        page.evaluate(END)
        page.wait_for_selector(OVER)
        assert page.evaluate(STATE) == wanted, f"{key}, over: {read(page)}"
        assert page.locator(".fa-motion").count() == 0
    assert other.evaluate("document.getAnimations().length") == 0


# What is told at this moment, and how much the layer has still to show.
TOLD = """() => [".fa-words", ".fa-progress b", ".fa-row-view-lines"]
  .map((name) => document.querySelector(name).textContent)"""


def test_sentence_drawer_and_bytes_wait_for_the_motion(stage):
    """ST 13: drawer and bytes were final in a tile's first frame. Nothing is said before it is
    shown, and then in the order of the phases."""
    page = stage.show("step=3")
    before = page.evaluate(TOLD)
    told = page.evaluate(
        f"""async () => {{
          const told = [];
          const press = {PRESS};
          press([["ArrowRight", false]]);
          const root = document.querySelector('[data-testid="player"]');
          const look = () => {{
            const now = JSON.stringify(({TOLD})());
            if (told.at(-1) !== now) told.push(now);
          }};
          for (look(); root.dataset.moving === "true"; look())
            await new Promise((done) => requestAnimationFrame(done));
          look();
          return told.map((text) => JSON.parse(text));
        }}"""
    )
    assert told[0] == before, "what was said before, as long as nothing is shown"
    assert told[-1] == page.evaluate(TOLD) != before
    assert len({tuple(one) for one in told}) >= 3, told
    assert [one[1] for one in told] == sorted(
        (one[1] for one in told), key=lambda x: float(x.split()[0])
    )


def test_forty_fast_presses_lose_none_and_leave_nothing(stage):
    page = stage.show("step=0&phase=load")
    places = [(str(k), p) for k, v in enumerate(trace(Problem()).visits) for p in phases(v)]
    count = "document.querySelectorAll('*').length"
    asked, counts = len(stage.requests), []
    for _ in range(3):  # the drawer's parts are made when they are first shown
        keys(page, *["ArrowDown"] * 40)
        now = read(page)
        assert (now["step"], now["phase"]) == places[40]
        keys(page, *["ArrowRight"] * 5, *["ArrowLeft"] * 5)
        presses(page, "Home")
        settled(page)
        assert page.evaluate("document.getAnimations().length") == 0
        counts.append(page.evaluate(count))
    assert counts[2] <= counts[1]
    assert stage.requests[asked:] == []


def test_the_next_key_ends_what_moves_at_once(stage):
    page = stage.show("step=2&phase=load")
    now = page.evaluate(
        f"""() => {{
          const press = {PRESS};
          press([["ArrowRight", false]]);
          const root = document.querySelector('[data-testid="player"]');
          const running = root.getAnimations({{ subtree: true }});
          const first = running.filter((a) => !(a instanceof CSSTransition));
          const then = press([["ArrowDown", false]])[0][0];
          const left = first.filter(({{ playState }}) => playState !== "idle").length;
          return {{ ...then, first: first.length, left }};
        }}"""
    )
    assert (now["step"], now["phase"], now["layers"]) == ("4", "load", 1)
    assert now["first"] > 10 and now["left"] == 0


def test_nothing_moves_with_a_key_held_or_on_a_jump_or_back_or_if_unwanted(stage, still):
    page = stage.show("step=2&phase=load")
    held = presses(page, *["ArrowDown"] * 3, *["ArrowRight"] * 2, repeat=True)
    jumps = presses(page, "ArrowUp", "ArrowLeft", "Home", "End")
    reduced = presses(still.show("step=2&phase=load"), "ArrowDown", "ArrowRight")
    assert {(now["moving"], now["ms"], now["layers"]) for now in held + jumps + reduced} == {
        ("false", 0, 0)
    }
    assert presses(page, "ArrowLeft", "ArrowLeft", "ArrowRight")[-1]["moving"] == "true"


def test_a_picture_taken_meanwhile_is_one_of_the_state(stage):
    page = stage.show("step=4&phase=max")
    save = "document.dispatchEvent(new CustomEvent('fa:save', { detail: 'svg' }));"
    texts = []
    for begun in (f"({PRESS})([['ArrowDown', false]]);", ""):
        with page.expect_download() as download:
            page.evaluate(f"() => {{ {begun} {save} }}")
        texts.append(download.value.path().read_text("utf-8"))
        page.evaluate(END)
        page.wait_for_selector(OVER)
    assert texts[0] == texts[1]


def test_the_scrubber_and_the_phases_move_what_is_next(stage):
    page = stage.show("step=2&phase=load")
    scrub = page.get_by_label("Step", exact=True).and_(page.locator("input"))
    scrub.evaluate(
        "node => node.addEventListener('input', () => { window.seen = "
        "document.querySelector('[data-testid=player]').dataset.moving; })"
    )
    scrub.fill("3")
    assert page.evaluate("window.seen") == "true"
    scrub.fill("8")
    assert page.evaluate("window.seen") == "false"


def test_playing_tells_the_default_problem_to_its_result_at_the_pace_of_a_reader(stage):
    """ST 15: a phase stayed for 0.85 s."""
    page = stage.show("step=0&phase=load")
    ms = page.evaluate(
        """() => {
          const player = window.faPlayers.at(-1);
          let ms = player.transport.pace;
          while (player.beat()) ms += player.transport.pace;
          return ms;
        }"""
    )
    assert read(page)["step"] == "9" and page.get_by_test_id("result").is_visible()
    assert 120_000 <= ms <= 400_000, "time to read each sentence"
    press(page, "Home")
    settled(page)
