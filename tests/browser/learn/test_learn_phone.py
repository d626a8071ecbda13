"""The Learn page on a phone: a sentence, the picture, the question a sheet, nothing too wide."""

import re

from explainer.learn.course import NUMBERS
from explainer.learn.registry import lessons
from explainer.views.learn_screens import keys
from tests.browser.harness import resize, settled
from tests.browser.learn.learning import open_page, shown, widget
from tests.browser.learn.test_learn_fits import GO

PHONE = {"width": 390, "height": 844}
SMALL = {"width": 360, "height": 740}
TOUCH = {"has_touch": True, "is_mobile": True}
# Words, keys and answers that a phone's edge, or what clips them, cuts off on either side; answers
# too small for a finger; what is written in a picture in type of less than 10 px; and arrows that
# a box hides.
CUT = """() => {
  const edges = (node) => {
    let [left, right] = [0, innerWidth];
    for (let at = node.parentElement; at; at = at.parentElement) {
      const { overflowX } = getComputedStyle(at), box = at.getBoundingClientRect();
      if (overflowX === "visible" || box.width < 2) continue; // for who cannot see
      [left, right] = [Math.max(left, box.left), Math.min(right, box.right)];
    }
    return [left - 1, right + 1];
  };
  const isCut = (node) => {
    const { left, right } = node.getBoundingClientRect(), [from, to] = edges(node);
    return left < from || right > to;
  };
  const isLow = (node) => node.matches(".fa-check button, .fa-click-grid button, " +
    ".fa-number-answer input") && node.getBoundingClientRect().height < 47.5;
  const isBelow = (svg) => {
    const box = svg.getBBox();
    return box.y + box.height > svg.viewBox.baseVal.height + 2;
  };
  const low = [...document.querySelectorAll(".fa-learn .fa-svg-canvas")].filter(isBelow);
  const all = [...document.querySelectorAll(".fa-learn :is(text, p, li, button, input, b)")]
    .filter((n) => n.checkVisibility() && !n.closest(".fa-scroll, .fa-sr"))
    .filter((n) => isCut(n) || isLow(n)).map((n) => n.outerHTML.slice(0, 90));
  const isSmall = (text) => { // a phone of 390 px has 10 px, in a cell's number 8
    const { a, b } = text.getScreenCTM(), least = /^[−0-9.]+$/.test(text.textContent) ? 8 : 10;
    const size = parseFloat(getComputedStyle(text).fontSize) * Math.hypot(a, b);
    return size < least * Math.min(1, innerWidth / 390);
  };
  const small = [...document.querySelectorAll(".fa-learn svg text")]
    .filter((n) => n.textContent.trim() && n.checkVisibility() && isSmall(n));
  const words = [...document.querySelectorAll(".fa-learn *")].filter((n) => n.checkVisibility());
  const isWritten = (n) => [...n.childNodes].some((c) => c.nodeType === 3 && c.textContent.trim());
  small.push(...words.filter((n) => !n.closest(".fa-sr, math, svg") && isWritten(n) &&
    parseFloat(getComputedStyle(n).fontSize) < 11));
  all.push(...words.filter((n) => !n.closest("svg, .fa-scroll, .fa-sr") &&
    n.getBoundingClientRect().right > innerWidth + 1).map((n) => n.outerHTML.slice(0, 90)));
  const crossed = [...document.querySelectorAll(".fa-kit-flow .fa-kit-over path:not(.fa-kit-tip)")]
    .filter((line) => line.checkVisibility()).filter((line) => {
      const boxes = [...line.closest(".fa-kit-flow").querySelectorAll("li")];
      return [.2, .35, .5, .65, .8].some((share) => {
        const at = line.getPointAtLength(share * line.getTotalLength());
        const { x, y } = at.matrixTransform(line.getScreenCTM());
        return boxes.some((box) => {
          const { left, right, top, bottom } = box.getBoundingClientRect();
          return x > left + 2 && x < right - 2 && y > top + 2 && y < bottom - 2;
        });
      });
    });
  return [...crossed.map((n) => `an arrow behind a box: ${n.getAttribute("d")}`),
    ...low.map((n) => `lower than its place: ${n.ariaLabel}`),
    ...small.map((n) => `small: ${n.textContent}`), ...all];
}"""


def test_no_screen_is_wider_than_a_phone_and_its_answers_are_large(apart):
    """Words and answers of all lessons and of what stands behind them, on two phones; also what a
    sheet or a picture cuts off, at the left or at the right, counts."""
    tab, found = apart(**PHONE, **TOUCH), {}
    page = open_page(tab, lessons()[0].key)
    for key in keys():
        page.evaluate(GO, key)
        shown(page, key)
        if page.locator(".fa-panel-handle").count():
            page.wait_for_function("document.querySelector('.fa-learn .fa-blocks > *')")
            page.evaluate("document.querySelector('.fa-panel-handle').click()")
        for phone in (SMALL, PHONE):
            page.set_viewport_size(phone)
            if wrong := settled(page).evaluate(CUT):
                found[f"{key}, {phone['width']}"] = wrong[:3]
        assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"], key
    assert not found, "\n".join(f"{name}: {wrong}" for name, wrong in found.items())


def test_on_a_phone_the_question_is_a_bar_that_opens(apart):
    page = open_page(apart(**PHONE, **TOUCH), "memory")
    page.evaluate("localStorage.setItem('fa-learn-path', 'quick')")
    page.reload()
    page.wait_for_selector(".fa-lesson .fa-blocks > *")
    place = widget(page, page.get_attribute("[data-widget]", "data-widget"))
    words = page.locator(".fa-lesson-body > .fa-lesson-text > p")
    lead, top = page.locator(".fa-lead").bounding_box(), place.bounding_box()["y"]
    assert lead["y"] + lead["height"] <= top < PHONE["height"] / 2, "words, then the picture"
    assert words.last.locator("span").last.bounding_box()["y"] > top
    assert page.inner_text(".fa-lesson-place") == "15 minutes · 2 of 4"
    assert page.inner_text(".fa-lesson-next") == f"{NUMBERS['online']} Online softmax"
    sheet = page.locator(".fa-question.is-panel")
    handle, options = sheet.locator(".fa-panel-handle"), sheet.locator(".fa-option")
    assert (handle.inner_text(), handle.get_attribute("aria-expanded")) == ("Question", "false")
    assert 44 <= sheet.bounding_box()["height"] <= 46 and not options.first.is_visible()
    page.tap(".fa-menu summary")
    head = page.locator(".fa-screen-head").bounding_box()
    at = {"x": 330, "y": head["y"] + head["height"] / 2}
    over = "({x, y}) => Boolean(document.elementFromPoint(x, y).closest('.fa-menu'))"
    assert page.evaluate(over, at), "the bar's menu covers the lesson's title"
    page.tap(".fa-menu summary")
    handle.tap()
    assert handle.get_attribute("aria-expanded") == "true"
    assert min(options.nth(k).bounding_box()["height"] for k in range(options.count())) >= 48
    box, bar = sheet.bounding_box(), page.locator(".fa-screen-foot").bounding_box()
    assert box["y"] + box["height"] <= bar["y"] + 1 and bar["y"] + bar["height"] <= 844 + 1
    question = next(lesson for lesson in lessons() if lesson.key == "memory").question
    options.nth((question.answer + 1) % len(question.options)).tap()
    said = sheet.locator(".fa-verdict", has_text="✗")
    assert box["y"] + 44 <= said.bounding_box()["y"] <= box["y"] + box["height"] - 48, "in sight"
    sheet.get_by_role("button", name=re.compile("Try again|Another")).tap()
    assert not sheet.locator(".fa-verdict", has_text="✗").count()
    handle.tap()
    assert sheet.bounding_box()["height"] <= 46, "put away, the picture is free"
    handle.tap()
    options.first.locator("input").press("Escape")
    assert sheet.bounding_box()["height"] <= 46, "as by a tap"
    assert handle.evaluate("(node) => node === document.activeElement")
    resize(page, 956, 440)  # the largest on its side
    box = sheet.bounding_box()
    assert box["y"] + 45 >= 440 and box["width"] == 956, "at the very bottom, all of it"
    page.evaluate("scrollTo(0, 400)")
    assert page.locator(".fa-screen-head").bounding_box()["y"] < -52, "it goes with the page"
    page.set_viewport_size(PHONE)
    page.tap(".fa-lesson-next")
    shown(page, "online")


def test_a_finger_drags_as_far_as_it_moves(apart):
    """Touches as the browser gets them from a screen: a drag that it takes for scrolling would
    end it with pointercancel after some px."""
    page = open_page(apart(**PHONE, **TOUCH), "dot")
    touch = page.context.new_cdp_session(page)

    def finger(kind: str, *at: float) -> None:
        points = [dict(zip("xy", at, strict=True))] if at else []
        touch.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

    page.evaluate(
        "window.ended = []; for (const name of ['pointercancel', 'pointerup'])"
        "document.addEventListener(name, () => ended.push(name), true)"
    )
    page.wait_for_function("document.querySelector('.fa-knob[role=slider]')")
    handle = page.locator(".fa-knob[role=slider]").first
    handle.evaluate("node => node.scrollIntoView({ block: 'center' })")
    box = settled(page) and handle.bounding_box()
    assert box["width"] >= 30 and box["height"] >= 43, box
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    finger("touchStart", x, y)
    for k in range(1, 7):
        finger("touchMove", x, y + 10 * k)
    finger("touchEnd")
    page.wait_for_function("ended.length")
    now = settled(page) and handle.bounding_box()
    assert page.evaluate("ended") == ["pointerup"]
    assert abs(now["y"] - box["y"] - 60) < 25, now


def test_a_line_is_dragged_in_a_sheet_that_scrolls_along(apart):
    page = open_page(apart(360, 560, **TOUCH), "online")
    widget(page, "online")
    sheet = page.locator(".fa-question.is-panel")
    sheet.locator(".fa-panel-handle").tap()
    assert sheet.get_by_text("Drag a line by its dots, or tap ▲ ▼.").is_visible()
    first = sheet.locator("li code").first.inner_text()
    grip, box = sheet.locator(".fa-handle").first.bounding_box(), sheet.bounding_box()
    page.mouse.move(grip["x"] + 20, grip["y"] + 20)
    page.mouse.down()
    page.mouse.move(grip["x"] + 20, box["y"] + box["height"] - 8, steps=4)
    page.wait_for_function(
        "(words) => [...document.querySelectorAll('.fa-lines code')].at(-1).innerText === words",
        arg=first,
    )
    page.mouse.up()
    assert sheet.evaluate("node => node.scrollTop") > 0
    for menu in sheet.locator("select").all():
        menu.select_option(index=1)
    sheet.get_by_role("button", name="Run").tap()
    sheet.locator(".fa-given > *").wait_for()
    said, given = (sheet.locator(x).bounding_box() for x in (".fa-verdict", ".fa-given > *"))
    assert box["y"] + 44 <= said["y"] < given["y"] < box["y"] + box["height"], "both are in sight"
