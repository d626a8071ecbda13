"""Key press to painted frame: ``python -m tests.browser.bench_frames [--profile]``.

Real key presses, timed inside the page: from the capture of ``keydown`` to the end of its last
handler (script), to the first task after the next frame was painted (key to frame), and how much
of that was work: script plus the frame's own style, layout and paint, without the wait for the
screen's clock. A press falls anywhere within a frame, so key to frame holds up to 16.7 ms of wait:
the press makes the very next frame exactly when work is below one frame, and that is the target.
"""

from __future__ import annotations

import argparse
import random
from collections import Counter

from playwright.sync_api import Page, sync_playwright

from tests.browser.harness import Server, Watched, focus, launch

PRESSES = 200
# Chromium otherwise holds back other tasks after a key press, also the one that takes the time.
NO_DEFERRAL = "--disable-features=DeferRendererTasksAfterInput"
FRAME_MS = 1000 / 60
PROBLEMS = {
    "Br=Bc=16": "n=64&d=64&br=16&bc=16",
    "Br=Bc=4": "n=64&d=64&br=4&bc=4",
    "Br=Bc=4 full": "n=64&d=64&br=4&bc=4&mask=full",
    "standard, 4": "n=64&d=64&br=4&bc=4&order=standard",
}

RECORD = """
() => {
  const times = (window.keyTimes = []);
  let now = null;
  window.addEventListener("keydown", () => { now = { start: performance.now() }; }, true);
  window.addEventListener("keydown", () => {
    const press = now;
    press.handled = performance.now();
    requestAnimationFrame(() => {
      press.frame = performance.now();
      const { port1, port2 } = new MessageChannel();
      port1.onmessage = () => { press.painted = performance.now(); times.push(press); };
      port2.postMessage(null);
    });
  });
}
"""
TIMES = """
() => window.keyTimes.splice(0).map((t) => {
  const script = t.handled - t.start;
  return [script, script + t.painted - t.frame, t.painted - t.start];
})
"""


def keys(kind: str, steps: int) -> list[str]:
    """Presses that keep moving: to the end, back, and again."""
    forwards, back = ("ArrowRight", "ArrowLeft") if kind == "tile" else ("ArrowDown", "ArrowUp")
    leg = steps - 1 if kind == "tile" else PRESSES
    return [(forwards, back)[(k // leg) % 2] for k in range(PRESSES)]


def measure(page: Page, kind: str) -> list[list[float]]:
    """[script, work, key to frame] in ms of every press."""
    steps = int(page.locator('[data-testid="player"]').get_attribute("data-steps"))
    focus(page)
    page.keyboard.press("Home")
    page.wait_for_timeout(400)
    page.evaluate(TIMES)
    for key in keys(kind, steps):
        page.keyboard.press(key)
        page.wait_for_timeout(random.uniform(20, 60))
    page.wait_for_timeout(100)
    times = page.evaluate(TIMES)
    assert len(times) == PRESSES, f"{len(times)} presses were painted, not {PRESSES}"
    return times


def percentile(values: list[float], share: float) -> float:
    return sorted(values)[min(len(values) - 1, int(share * len(values)))]


def profile(page: Page, kind: str) -> list[tuple[str, float]]:
    """The functions of the player with most time of their own, in ms per press."""
    session = page.context.new_cdp_session(page)
    session.send("Profiler.enable")
    session.send("Profiler.setSamplingInterval", {"interval": 100})
    session.send("Profiler.start")
    measure(page, kind)
    found = session.send("Profiler.stop")["profile"]
    session.detach()
    nodes = {node["id"]: node["callFrame"] for node in found["nodes"]}
    own: Counter[str] = Counter()
    for node, us in zip(found["samples"], found["timeDeltas"], strict=True):
        frame = nodes[node]
        place = f"{frame['url'].rsplit('/', 1)[-1]}:{frame['lineNumber'] + 1}"
        if frame["functionName"] != "(idle)":
            own[f"{frame['functionName'] or '(anonymous)'} {place}"] += us / 1000 / PRESSES
    return own.most_common(12)


def main() -> None:
    parser = argparse.ArgumentParser(description="Key press to painted frame.")
    parser.add_argument("--profile", action="store_true", help="list the costliest functions")
    wanted = parser.parse_args()
    with Server() as server, sync_playwright() as playwright:
        browser = launch(playwright, NO_DEFERRAL)
        print(f"Chromium {browser.version}, headless, 1440 × 900; N = 64, d = 64; ms per press")
        heads = ("script p50", "p95", "work p50", "p95", "key to frame p50", "p95")
        print(f"{'problem':14}{'keys':7}" + "".join(f"{h:>{len(h) + 2}}" for h in heads))
        for name, query in PROBLEMS.items():
            context = browser.new_context(viewport={"width": 1440, "height": 900})
            page = Watched(context.new_page(), server).open(query)
            page.evaluate(RECORD)
            for kind in ("tile", "phase"):
                columns = list(zip(*measure(page, kind), strict=True))
                figures = [percentile(c, share) for c in columns for share in (0.5, 0.95)]
                cells = [f"{x:>{len(h) + 2}.1f}" for x, h in zip(figures, heads, strict=True)]
                late = sum(work > FRAME_MS for work in columns[1])
                print(f"{name:14}{kind:7}" + "".join(cells) + f"   {late} above one frame")
                if wanted.profile:
                    for function, ms in profile(page, kind):
                        print(f"    {ms:6.2f} ms  {function}")
            context.close()
        browser.close()


if __name__ == "__main__":
    main()
