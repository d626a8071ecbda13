"""One lesson, one screen: nothing of it scrolls, in any size, theme or in presentation mode, where
a picture's words can be read from the last row.

``unfitting`` measures all of them on a page that goes from lesson to lesson.
"""

from explainer.learn.registry import lessons
from tests.browser.harness import keys, resize, settled
from tests.browser.learn.learning import open_page, shown

SIZES = ((1280, 720), (1440, 900))
# What of the screen is higher or wider than its place: {its class: px}. In presentation mode the
# page clips a picture, so each of its parts is compared with the picture's place; there, what is
# written has at least LEAST px (DIGITS in a cell), and no two words of a picture lie on each other.
# Elsewhere a field has RING px around it, so that the ring of what has the focus is whole.
LEAST, DIGITS = 19.5, 17.5
OVER = """([least, digits]) => {
  const RING = 4, found = {}, root = document.documentElement;
  const put = (name, by) => { if (by > 1) found[name] = Math.round(by); };
  const named = (node) => node.className.split?.(" ").at(0) || node.tagName;
  const parts = document.querySelectorAll(".fa-lesson, .fa-lesson-body > *, .fa-learn .fa-scroll");
  for (const node of [root, ...parts].filter((one) => one.checkVisibility())) {
    put(named(node), node.scrollHeight - node.clientHeight);
    put(named(node), node.scrollWidth - node.clientWidth);
  }
  const slide = document.querySelector(".is-presenting [data-part=picture] > .fa-lesson-body");
  const fields = ".fa-widget .fa-control :is(input[type=number], select)";
  for (const node of slide ? [] : document.querySelectorAll(fields)) {
    const widget = node.closest(".fa-widget");
    const at = node.getBoundingClientRect(), box = widget.getBoundingClientRect();
    if (at.width) put("ring", RING + Math.max(box.top - at.top, box.left - at.left));
  }
  if (!slide) return found;
  const place = slide.querySelector(":scope > .fa-widget"), box = place.getBoundingClientRect();
  for (const node of place.querySelectorAll("text, p, li, td, th, button, .fa-control")) {
    const at = node.getBoundingClientRect();
    if (!at.width || node.closest(".fa-sr") || !node.checkVisibility()) continue;
    put(named(node), Math.max(at.right - box.right, at.bottom - box.bottom) - 2);
    put(named(node), Math.max(box.left - at.left, box.top - at.top) - 2);
  }
  for (const node of place.querySelectorAll(".fa-kit-words button"))
    put(`cut: ${node.textContent}`, node.scrollWidth - node.clientWidth);
  const words = document.createTreeWalker(place, NodeFilter.SHOW_TEXT);
  const texts = [], line = document.createRange();
  for (let node; (node = words.nextNode());) {
    const of = node.parentElement, svg = of.closest("svg");
    line.selectNodeContents(node);
    const at = line.getBoundingClientRect();
    if (!node.data.trim() || at.width < 2 || !of.checkVisibility()) continue;
    const caption = of.closest("figcaption");
    if (of.closest(".fa-sr, option")) continue;
    if (caption && getComputedStyle(caption).clipPath !== "none") continue;
    const matrix = svg && of.getScreenCTM?.(), sheet = place.firstElementChild;
    const enlarged = sheet.getBoundingClientRect().width / sheet.offsetWidth;
    const zoom = matrix ? Math.hypot(matrix.a, matrix.b) : enlarged;
    const size = parseFloat(getComputedStyle(of).fontSize) * zoom;
    const wanted = /^[−0-9.∞]+$/.test(node.data) ? digits : least;
    put(`small: ${node.data}`, size < wanted ? 2 + wanted - size : 0);
    const isLevel = svg && !of.closest("text").getAttribute("transform");
    if (isLevel) texts.push([node, at.left, at.right, at.top, at.bottom, at.height / 5]);
  }
  for (const [k, [one, l, r, t, b, edge]] of texts.entries()) {
    for (const [other, left, right, top, bottom, rim] of texts.slice(k + 1)) {
      if (one.parentElement.closest("text").contains(other)) continue;
      const wide = Math.min(r, right) - Math.max(l, left);
      const high = Math.min(b - edge, bottom - rim) - Math.max(t + edge, top + rim);
      if (high > 1) put(`${one.data} on ${other.data}`, wide);
    }
  }
  for (const node of slide.querySelectorAll(".fa-headline *, .fa-slide li *")) {
    const size = (n) => parseFloat(getComputedStyle(n).fontSize);
    const [one, all] = [node, node.parentElement].map(size);
    put(`small: ${node.textContent}`, 2 * (all - one));
  }
  const end = (one) => slide.querySelector(one).getBoundingClientRect();
  put("lines", end(".fa-slide ul").bottom - end(".fa-ground").top);
  return found;
}"""
# Colours alone differ in the dark; a lecture hall is light in both.
BOTH = f"""(least) => {{
  const over = {OVER}, light = over(least);
  if (document.body.classList.contains("fa-present")) return light;
  document.body.classList.toggle("dark");
  const other = over(least);
  document.body.classList.toggle("dark");
  return {{ ...other, ...light }};
}}"""
# Where each part of the widget and the question stands: [its class, left, top, width, height].
BOXES = """() => [...document.querySelectorAll(".fa-lesson-body > .fa-widget *, .fa-question *")]
  .filter((node) => node.checkVisibility() && !node.closest(".fa-sr"))
  .map((node) => {
    const { left, top, width, height } = node.getBoundingClientRect();
    return [node.getAttribute("class"), ...[left, top, width, height].map(Math.round)];
  })"""
GO = """(key) => {
  const link = Object.assign(document.createElement("a"), { href: `?page=learn&lesson=${key}` });
  document.querySelector(".fa-learn").append(link);
  link.click();
}"""


def unfitting(tab, hall: bool) -> dict[str, dict]:
    """{lesson, slide, width: what is too large there}, each lesson after the other. Each is
    measured in one size as it comes there, then as the window takes the other, which stays for the
    next."""
    found, sizes = {}, [*SIZES]
    page = open_page(tab, lessons()[0].key, **({"mode": "present"} if hall else {}))
    for key in (lesson.key for lesson in lessons()):
        page.evaluate(GO, key)
        shown(page, key)
        page.wait_for_function("document.querySelector('.fa-learn .fa-blocks > *')")
        for slide in ("picture", "question") if hall else ("desk",):
            if slide == "question":
                keys(page, "PageDown")
            for width, height in sizes:
                resize(page, width, height)
                if over := settled(page).evaluate(BOTH, [LEAST, DIGITS]):
                    found[f"{key}, {slide}, {width}"] = over
            sizes.reverse()
        if not hall and (moved := after_the_hall(page)):
            found[f"{key}, after Present"] = moved
    return found


def after_the_hall(page) -> list:
    """What stands elsewhere once Present was pressed and Escape: the first few, before and then."""
    before = page.evaluate(BOXES)
    page.evaluate("document.querySelector('.fa-to-present').click()")
    page.wait_for_selector(".fa-learn.is-presenting [data-part]")
    settled(page)
    keys(page, "Escape")
    page.wait_for_function("!document.querySelector('.fa-learn.is-presenting')")
    after = page.evaluate(BOXES) if settled(page) else []
    if len(before) != len(after):
        return [f"{len(before)} parts, then {len(after)}"]
    pairs = zip(*(sorted(map(str, boxes)) for boxes in (before, after)), strict=True)
    return [pair for pair in pairs if pair[0] != pair[1]][:3]  # in any order: parts are used again


def test_every_lesson_fits_a_desk(apart):
    assert unfitting(apart(*SIZES[0], reduced_motion="reduce"), hall=False) == {}


def test_every_lesson_fits_a_hall(apart):
    assert unfitting(apart(*SIZES[0], reduced_motion="reduce"), hall=True) == {}


def on_the_way(page) -> None:
    """Half of a path is done: its card says most then, and nothing of the map may scroll away."""
    done = {lesson.question.key: "right" for lesson in lessons()[4:12]}
    page.evaluate(
        """(done) => { localStorage.setItem("fa-learn", JSON.stringify(done));
        localStorage.setItem("fa-learn-path", "hour"); }""",
        done,
    )
    page.reload()
    shown(page, "entrance")
    settled(page)
    assert "left" in page.inner_text(".fa-path.is-chosen .fa-path-done")
    cut = "(node) => [node.scrollHeight - node.clientHeight, node.scrollTop]"
    page.locator(".fa-halt").last.focus()
    assert page.locator(".fa-course-map").evaluate(cut) == [0, 0]


def test_the_frame_fits_and_only_bodies_may_scroll(tab):
    """Head, foot, entrance: in both sizes the page itself has nothing below its window."""
    for width, height in SIZES:
        resize(tab.page, width, height)
        for key in ("", "online", "claims", "handout"):
            page = open_page(tab, key)
            settled(page)
            over = page.evaluate(
                "document.documentElement.scrollHeight - document.documentElement.clientHeight"
            )
            assert over <= 0, (key, width, over)
            if not key:
                on_the_way(page)
                lowest = page.eval_on_selector_all(
                    ".fa-halt",
                    "(all) => Math.max(...all.map((n) => n.getBoundingClientRect().bottom))",
                )
                assert lowest < page.locator(".fa-screen-foot").bounding_box()["y"]
