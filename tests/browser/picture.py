"""The looping picture of the README, made from the app: ``python -m tests.browser.picture``."""

from __future__ import annotations

import io
from pathlib import Path

from PIL import Image
from playwright.sync_api import sync_playwright

from tests.browser.harness import ROOT, Server, Watched, focus, launch, settled

OUT = ROOT / "assets" / "step.gif"
START, PHASES, BEAT_MS, LAST_MS = "step=3&phase=load", 22, 700, 2400
SIZE = (960, 540)


def frames(page) -> list[Image.Image]:
    """One image a phase, from the first tile of a row block to its last."""
    found = []
    for _ in range(PHASES):
        settled(page)
        image = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
        found.append(image.resize(SIZE, Image.Resampling.LANCZOS))
        page.keyboard.press("ArrowDown")
    return found


def save(images: list[Image.Image], path: Path) -> None:
    """An animated GIF with one palette, so that nothing flickers."""
    sheet = Image.new("RGB", (SIZE[0], SIZE[1] * 3))
    for k, image in enumerate((images[0], images[len(images) // 2], images[-1])):
        sheet.paste(image, (0, k * SIZE[1]))
    palette = sheet.quantize(224, dither=Image.Dither.NONE)
    flat = [image.quantize(palette=palette, dither=Image.Dither.NONE) for image in images]
    durations = [BEAT_MS] * (len(flat) - 1) + [LAST_MS]
    flat[0].save(
        path, save_all=True, append_images=flat[1:], duration=durations, loop=0, optimize=True
    )


def main() -> None:
    with Server() as server, sync_playwright() as playwright:
        browser = launch(playwright)
        page = Watched(browser.new_page(viewport={"width": 1280, "height": 720}), server).open(
            START
        )
        focus(page)
        save(frames(page), OUT)
        browser.close()
    print(f"{OUT}: {OUT.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main()
