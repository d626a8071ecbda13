"""The README's moving picture, filmed from the app: ``python -m tests.browser.picture``."""

import io
from base64 import b64decode
from itertools import pairwise

from PIL import Image
from playwright.sync_api import Page, sync_playwright

from tests.browser.harness import ROOT, Server, Watched, launch

OUT = ROOT / "assets" / "step.webp"
SCREEN, SIZE = {"width": 1280, "height": 720}, (960, 540)
FIRST_MS, TILE_MS, PHASE_MS, LAST_MS = 1800, 900, 1150, 2600
# The first minute, three tiles, then a tile in which a maximum rises and the one that ends its rows
KEYS = [("ArrowRight", TILE_MS)] * 3 + [("ArrowDown", PHASE_MS)] * 14


def film(page: Page) -> list[tuple[float, bytes]]:
    """Every picture that the browser draws while the keys are pressed, and when, in seconds."""
    session = page.context.new_cdp_session(page)
    drawn = []

    def keep(event: dict) -> None:
        drawn.append((event["metadata"]["timestamp"], b64decode(event["data"])))
        session.send("Page.screencastFrameAck", {"sessionId": event["sessionId"]})

    session.on("Page.screencastFrame", keep)
    session.send("Page.startScreencast", {"format": "png", "everyNthFrame": 2})
    page.wait_for_timeout(FIRST_MS)
    for key, ms in KEYS:
        page.keyboard.press(key)
        page.wait_for_timeout(ms)
    session.send("Page.stopScreencast")
    return sorted(drawn)


def save(drawn: list[tuple[float, bytes]]) -> None:
    """An animation that shows each picture for as long as the browser did."""
    images = [Image.open(io.BytesIO(png)).convert("RGB") for _, png in drawn]
    images = [image.resize(SIZE, Image.Resampling.LANCZOS) for image in images]
    times = [time for time, _ in drawn]
    shown = [max(20, round(1000 * (b - a))) for a, b in pairwise(times)] + [LAST_MS]
    images[0].save(
        OUT, save_all=True, append_images=images[1:], duration=shown, loop=0, quality=55, method=4
    )


def main() -> None:
    with Server() as server, sync_playwright() as playwright:
        browser = launch(playwright)
        save(film(Watched(browser.new_page(viewport=SCREEN), server).open()))
        browser.close()
    print(f"{OUT}: {OUT.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main()
