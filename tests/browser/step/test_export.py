"""What the Export menu saves, opened again: offline, from disk."""

from __future__ import annotations

import xml.dom.minidom
from urllib.parse import urlencode

import pytest

from explainer.learn.tour import CHAPTERS
from explainer.problem import Problem
from explainer.trace import trace
from explainer.web.export import site
from explainer.web.wire import KIND
from tests.browser.expected import complaints, phases
from tests.browser.harness import focus, press, read

PROBLEM = Problem(n=11, d=6, block_q=4, block_k=3, order="fa1", inputs="random")


def save(page, kind: str, folder):
    page.locator(".fa-menu summary").click()
    with page.expect_download() as event:
        page.locator(f"[data-save={kind}]").click()
    path = folder / event.value.suggested_filename
    event.value.save_as(path)
    return path


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
        lambda r: r.url.startswith(("file:", "data:")) or page.complaints.append(r.url),
    )
    yield page
    assert page.complaints == []
    context.close()


def settle(page):
    page.wait_for_selector('[data-testid="player"][data-step][aria-busy="false"]')


def test_animation_steps_from_disk_with_the_network_off(tab, offline, tmp_path):
    page = tab.open(urlencode(PROBLEM.to_query() | {"step": "4"}))
    path = save(page, "html", tmp_path)
    offline.goto(path.as_uri())
    settle(offline)
    true = trace(PROBLEM)
    for step in range(4, len(true.visits)):
        visit = true.visits[step]
        phase = phases(visit)[-1]
        assert complaints(true, step, phase, read(offline)) == []
        offline.keyboard.press("ArrowRight")
    offline.get_by_role("tab", name="Compare").click()
    offline.wait_for_function(
        "() => document.querySelectorAll('[data-testid=player]').length === 3"
    )
    offline.get_by_role("tab", name="Triton").count()
    offline.get_by_role("tab", name="Row").click()
    settle(offline)
    assert read(offline)["order"] == "fa1"


def test_site_plays_the_tour_from_disk(offline, tmp_path):
    site(tmp_path)
    offline.goto((tmp_path / "index.html").as_uri())
    settle(offline)
    for k, chapter in enumerate(CHAPTERS):
        offline.wait_for_selector(f'[data-testid="tour"][data-chapter="{k + 1}"]')
        if chapter.mode is None:
            offline.wait_for_selector(
                f'[data-testid="player"][data-step="{chapter.step}"]'
                f'[data-order="{chapter.problem.order}"][aria-busy="false"]'
            )
        offline.keyboard.press("Space")
    offline.goto((tmp_path / "sentence.html").as_uri())
    settle(offline)
    focus(offline)
    assert press(offline, "ArrowRight")["step"] == "1"


def test_frame_as_picture_and_trace_as_file(tab, tmp_path):
    page = tab.open(urlencode(PROBLEM.to_query() | {"step": "4"}))
    png = save(page, "png", tmp_path)
    assert png.read_bytes()[:8] == b"\x89PNG\r\n\x1a\n" and png.stat().st_size > 50_000
    svg = save(page, "svg", tmp_path)
    document = xml.dom.minidom.parse(str(svg))
    words = document.documentElement.toxml()
    assert document.documentElement.tagName == "svg" and "Step 5 of 12" in words
    assert str(KIND) in words and "--fa-q: " in words, "its kind, and its colours"
    assert "http://127" not in words, "a picture that asks nobody for anything"
    assert save(page, "json", tmp_path).stat().st_size > 5_000
    assert save(page, "npz", tmp_path).read_bytes()[:2] == b"PK"
