"""Fixed addresses against images that somebody looked at.

Compared at a quarter of the size, so that smoothing of glyphs does not count; what counts is where
things are and what colour they have. After a wanted change: ``UPDATE_SHOTS=1 pytest
tests/browser/site/test_visual.py``, then look at every image before it is committed.
"""

import io
import json
import os
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from tests.browser.harness import resize, settled
from tests.browser.learn.learning import IDLE
from tests.browser.learn.learning import SHOWN as SCREEN
from tests.browser.site.test_accessible import SHOWN

SHOTS = Path(__file__).parent / "shots"
MEAN_ALLOWED = 2.0  # of 255, over the whole image
SHARE_ALLOWED = 0.02  # of the pixels may differ by more than
STRONG = 40  # of 255

# name → (address, width, height, colour scheme)
PAGES = json.loads((SHOTS / "pages.json").read_text())


def small(png: bytes) -> np.ndarray:
    image = Image.open(io.BytesIO(png)).convert("RGB")
    size = (image.width // 4, image.height // 4)
    return np.asarray(image.resize(size, Image.Resampling.BOX), np.int16)


@pytest.mark.parametrize("name", PAGES)
def test_looks_as_it_did(context, server, watch, name):
    query, width, height, scheme = PAGES[name]
    page = watch(context).page
    resize(page, width, height)
    page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
    page.goto(f"{server.url}/?{query}")
    page.wait_for_selector(SHOWN)
    if "lesson=" in query:
        lesson = query.rpartition("=")[2]
        page.wait_for_function(IDLE, arg=lesson)
        settled(page)
        page.wait_for_function(SCREEN, arg=lesson)
    settled(page)
    png = page.screenshot()
    kept = SHOTS / f"{name}.png"
    if os.environ.get("UPDATE_SHOTS"):
        image = Image.open(io.BytesIO(png)).convert("P", palette=Image.Palette.ADAPTIVE)
        image.save(kept, optimize=True)
        return
    now, then = small(png), small(kept.read_bytes())
    assert now.shape == then.shape
    difference = np.abs(now - then)
    share = (difference.max(axis=2) > STRONG).mean()
    assert difference.mean() <= MEAN_ALLOWED and share <= SHARE_ALLOWED, (
        f"mean {difference.mean():.2f}, {share:.1%} of the pixels differ strongly"
    )
