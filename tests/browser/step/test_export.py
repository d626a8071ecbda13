"""What the Export menu saves, opened again: offline, from disk."""

import base64
import io
import re
import xml.dom.minidom
from urllib.parse import urlencode

import numpy as np
import pytest
from PIL import Image

from explainer.problem import Problem
from explainer.trace import trace
from explainer.web.wire import KIND
from tests.browser.expected import complaints, phases
from tests.browser.harness import click, keys, query_of, read, resize, settled
from tests.browser.step.test_sizes import MEASURE
from tests.tables import table

PROBLEM = Problem(n=11, d=6, block_q=4, block_k=3, order="fa1", inputs="random")


SMALL = Problem(n=8, d=4, block_q=4, block_k=4)
ALIKE = 0.98
SCALE = 2  # pixels of a PNG to a CSS px, and of the screen that it is compared with
SCREENS = table(__file__)


def save(page, kind: str, folder):
    page.click(".fa-menu summary")
    return saved(page, kind, folder, lambda: page.click(f"[data-save={kind}]"))


def saved(page, kind: str, folder, act=None):
    """The file; asked for as the menu does, which the hall hides."""
    ask = "(kind) => document.dispatchEvent(new CustomEvent('fa:save', { detail: kind }))"
    with page.expect_download() as event:
        (act or (lambda: page.evaluate(ask, kind)))()
    path = folder / event.value.suggested_filename
    event.value.save_as(path)
    return path


def pixels(png: bytes) -> np.ndarray:
    return np.asarray(Image.open(io.BytesIO(png)).convert("RGB"), float)


def similarity(a: np.ndarray, b: np.ndarray, side: int = 8) -> float:
    """Structural similarity of two pictures (rows, columns, 3) of 0 to 255: the mean over squares
    of ``side`` pixels, of the colour channel where they are least alike."""

    def mean(x):
        rows, columns = x.shape[0] // side, x.shape[1] // side
        whole = x[: rows * side, : columns * side]
        return whole.reshape(rows, side, columns, side, 3).mean((1, 3))

    assert a.shape == b.shape
    x, y = mean(a), mean(b)
    spread = mean(a * a) - x * x + mean(b * b) - y * y
    both = mean(a * b) - x * y
    c1, c2 = (0.01 * 255) ** 2, (0.03 * 255) ** 2
    alike = (2 * x * y + c1) * (2 * both + c2) / ((x * x + y * y + c1) * (spread + c2))
    return alike.mean((0, 1)).min()


def inner(svg) -> tuple[float, float, float]:
    """Where the page's own picture lies in a saved one, and how high it is, in CSS px."""
    place = xml.dom.minidom.parse(str(svg)).getElementsByTagName("foreignObject")[0]
    return tuple(float(place.getAttribute(name) or 0) for name in ("x", "y", "height"))


def both(screen: np.ndarray, box: dict, picture: np.ndarray, at, scale: int = SCALE):
    """What the screen and a picture show of the same element: as much as is on the screen."""
    left, top = round(box["x"] * scale), round(box["y"] * scale)
    x, y = (round(side * scale) for side in at[:2])
    wide = min(int(box["width"] * scale), screen.shape[1] - left, picture.shape[1] - x)
    high = min(int(box["height"] * scale), screen.shape[0] - top, picture.shape[0] - y)
    return screen[top : top + high, left : left + wide], picture[y : y + high, x : x + wide]


@pytest.fixture
def offline(browser):
    """A page of a browser without network, and everything that it asked for or complained of."""
    context = browser.new_context(viewport={"width": 1280, "height": 720}, offline=True)
    page = context.new_page()
    page.complaints = []
    page.on("pageerror", lambda error: page.complaints.append(str(error)))
    page.on("console", lambda m: m.type == "error" and page.complaints.append(m.text))
    page.on(
        "request",
        lambda r: r.url.startswith(("file:", "data:", "blob:")) or page.complaints.append(r.url),
    )
    yield page
    assert page.complaints == []
    context.close()


def settle(page):
    page.wait_for_selector('[data-testid="player"][data-step][aria-busy="false"]')


def test_animation_steps_from_disk_with_the_network_off(tab, offline, tmp_path):
    """ST 3: the cards cut its headline."""
    page = tab.open(urlencode(PROBLEM.to_query() | {"step": "4"}))
    path = save(page, "html", tmp_path)
    offline.goto(path.as_uri())
    settle(offline)
    for size in ((1280, 720), (1920, 1080)):
        resize(offline, *size)
        assert offline.evaluate(MEASURE, 12) == []
        assert offline.locator(".fa-hero").bounding_box()["height"] == 0, "its heading is cut"
    true = trace(PROBLEM)
    for step in range(4, len(true.visits)):
        visit = true.visits[step]
        phase = phases(visit)[-1]
        assert complaints(true, step, phase, read(offline)) == []
        keys(offline, "ArrowRight")
        settle(offline)
        offline.wait_for_selector('[data-testid="player"]:not([data-moving="true"])')
    keys(offline, "ArrowLeft")  # from the result, which has no tabs
    click(offline, "Compare", "tab")
    offline.wait_for_function(
        "() => document.querySelectorAll('[data-testid=player]').length === 3"
    )
    click(offline, "Row", "tab")
    settle(offline)
    assert read(offline)["order"] == "fa1"


# A table or a listing may have been scrolled, and a picture shows it so.
SCROLL = "(root) => { for (const node of root.querySelectorAll('*')) node.scrollTop = 20; }"


@pytest.fixture(scope="module")
def sharp(browser):
    """A browser on a screen with as many pixels as a saved picture has."""
    context = browser.new_context(device_scale_factor=SCALE)
    yield context
    context.close()


# What a picture for a slide leaves out, its place kept.
NO_BUTTONS = ".fa-drawer-tabs, .fa-word-all { visibility: hidden }"


@pytest.mark.parametrize("name", SCREENS)
def test_a_picture_looks_like_the_screen(sharp, server, watch, tmp_path, name):
    query, width, height, scheme = SCREENS[name]
    page = watch(sharp).page
    resize(page, width, height)
    page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
    page.goto(f"{server.url}/?{query}")
    player = page.locator(".fa-player:not(.fa-tour)").first
    page.wait_for_selector('[data-testid="player"][data-step][aria-busy="false"]')
    page.evaluate(SCROLL, player.element_handle())
    settled(page)
    page.add_style_tag(content=NO_BUTTONS)
    screen, box = pixels(page.screenshot()), player.bounding_box()
    png, svg = saved(page, "png", tmp_path), saved(page, "svg", tmp_path)
    at, text = inner(svg), svg.read_text(encoding="utf-8")

    picture = pixels(png.read_bytes())
    assert not re.search(r">(Next|Compare|Row|⋯)<", text), "no buttons"
    last = ".fa-present .fa-progress, body:not(.fa-present) .fa-problem"
    words = page.locator(last).locator("visible=true").bounding_box()
    below = box["y"] + at[2] - words["y"] - words["height"]
    assert 0 <= below < 60, "down to the Problem's words, or to the hall's last line"
    box["height"] = at[2]
    assert picture.shape[1] >= box["width"] * SCALE, "nothing is cut off"
    assert similarity(*both(screen, box, picture, at)) >= ALIKE

    # The SVG alone, without the page's sheets.
    assert "http://127" not in text, "a picture that asks nobody for anything"
    assert "n=" in text and "step=" in text and str(KIND) in text, "where it is from"
    alone = sharp.new_page()
    resize(alone, width, height)
    alone.goto(svg.as_uri())
    assert similarity(*both(screen, box, pixels(alone.screenshot()), at)) >= ALIKE
    alone.close()


# Plays a video to its end, then looks at it from place to place.
WATCH = """async ([data, looks]) => {
  const bytes = Uint8Array.from(atob(data), (sign) => sign.charCodeAt(0));
  const video = document.createElement("video");
  const once = (name) => new Promise((done, fail) => {
    video.addEventListener(name, done, { once: true });
    video.addEventListener("error", () => fail(video.error.message), { once: true });
  });
  video.muted = true;
  video.src = URL.createObjectURL(new Blob([bytes], { type: "video/webm" }));
  await once("loadeddata");
  const { videoWidth: width, videoHeight: height, duration } = video;
  video.playbackRate = 16;
  const ended = once("ended");
  await video.play();
  await ended;
  const canvas = Object.assign(document.createElement("canvas"), { width, height });
  const frames = new Set();
  for (let k = 0.5; k < looks; k++) {
    const there = once("seeked");
    video.currentTime = (k / looks) * duration;
    await there;
    canvas.getContext("2d").drawImage(video, 0, 0);
    frames.add(canvas.toDataURL());
  }
  return { width, height, duration, frames: [...frames] };
}"""


def test_a_video_shows_the_whole_run(tab, offline, tmp_path):
    """ST 4: it had no motion, dead buttons, and ended before the last write."""
    last = len(trace(SMALL).visits) - 1
    page = tab.open(urlencode(SMALL.to_query() | {"step": str(last)}))
    page.emulate_media(reduced_motion="no-preference")
    before, address = read(page), query_of(page)
    svg = saved(page, "svg", tmp_path)
    assert svg.name == f"flashattention-n8-tile{last + 1}.svg", "ST 23: tile 5 was saved as step4"
    at, box = inner(svg), page.locator('[data-testid="player"]').bounding_box()
    root = xml.dom.minidom.parse(str(svg)).documentElement
    keys(page, "ArrowRight")  # to the result, the film's end
    settled(page)
    screen = pixels(page.screenshot())
    keys(page, "ArrowLeft")
    video = save(page, "webm", tmp_path)
    assert read(page) == before and query_of(page) == address, "back where the visitor was"

    data = base64.b64encode(video.read_bytes()).decode()
    every = [phase for visit in trace(SMALL).visits for phase in phases(visit)]
    seen = offline.evaluate(WATCH, [data, 6 * len(every)])
    assert seen["width"] == (int(root.getAttribute("width")) + 1) // 2 * 2
    assert abs(seen["height"] - box["height"]) <= 108, "the picture without buttons, words below"
    assert 2 * len(every) < len(seen["frames"]), "motion between the phases"
    end = pixels(base64.b64decode(seen["frames"][-1].partition(",")[2]))
    assert similarity(*both(screen, box, end, at, 1)) >= 0.9, "video, and not lossless"


def test_a_video_too_long_is_refused_in_words(tab):
    page = tab.open("n=256&d=4&br=4&bc=4&mask=full")
    page.click(".fa-menu summary")
    page.click("[data-save=webm]")
    notice = page.locator(".fa-player .fa-notice")
    notice.wait_for()
    assert "at most 400 tiles, and this run has" in notice.inner_text()
    assert "larger Br or Bc" in notice.inner_text()
