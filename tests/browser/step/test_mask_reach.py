"""The mask builder by touch, in a hall, and for who does not see it."""

from tests.browser.harness import focus, keys, query_of, resize, settled
from tests.browser.site.test_accessible import faults, serious
from tests.browser.step.test_mask_builder import MASK, builder, open_builder

TARGETS = """() => [...document.querySelectorAll(".fa-masks :is(button, summary)")]
  .filter((node) => node.checkVisibility()).map((node) => {
    node.scrollIntoView({ block: "center" });
    const { x, y, width, height } = node.getBoundingClientRect();
    const at = (dy) => document.elementFromPoint(x + width / 2, y + height / 2 + dy);
    return [node.contains(at(-21)) && node.contains(at(21)), node.ariaLabel || node.textContent];
  }).filter(([large]) => !large).map(([, name]) => name)"""


def test_a_finger_composes_a_mask_on_a_phone(phone):
    phone.page.emulate_media(reduced_motion="reduce")
    page = phone.open("n=16&d=8&br=4&bc=4")
    page.tap(".fa-word-mask")
    view = builder(page, "causal")
    view.get_by_role("button", name="and …").tap()
    view.get_by_role("menuitem", name="chunk").tap()
    builder(page, "causal&chunk:4")
    view.get_by_label("Remove causal").tap()
    builder(page, "chunk:4")
    box = view.locator(".fa-mask-box")
    box.scroll_into_view_if_needed()
    width = box.bounding_box()["width"]
    box.tap(position={"x": width * 0.95, "y": width * 0.05})
    assert "does not see key 15" in view.locator(".fa-mask-sentence").inner_text()
    assert page.evaluate(TARGETS) == []
    view.locator("[data-preset]").last.tap()  # at the end of what scrolls
    builder(page, "causal&window:4,0")
    seen = "node => node.getBoundingClientRect().top >= node.closest('.fa-masks').offsetTop"
    assert view.locator(".fa-mask-keys").evaluate(seen), "the map is there to be seen"
    view.get_by_label("The mask as text").fill("chunk:4")
    builder(page, "chunk:4")
    wide = page.evaluate("document.querySelector('.fa-mask-columns').scrollWidth")
    assert wide <= 390
    view.get_by_role("button", name="Use this mask").tap()
    page.wait_for_selector('[data-testid="player"][data-query*="chunk"]')
    settled(page)
    assert query_of(page)["mask"] == "chunk:4"


SMALL = """() => [...document.querySelectorAll(".fa-masks *")].filter((node) =>
  node.checkVisibility({ visibilityProperty: true })
  && [...node.childNodes].some((child) => child.nodeType === 3 && child.data.trim())
  && parseFloat(getComputedStyle(node).fontSize) < 24)
  .map((node) => node.className + node.textContent)"""


def test_it_is_legible_in_a_hall_and_escape_stays_there(tab):
    resize(tab.page)
    page = tab.open(f"n=16&d=8&br=4&bc=4&mode=present&mask={MASK.replace('&', '%26')}")
    focus(page)
    keys(page, "m")
    builder(page, MASK)
    assert page.evaluate(SMALL) == []
    keys(page, "Escape")
    assert page.evaluate("document.body.classList.contains('fa-present')")
    keys(page, "Escape")
    assert not page.evaluate("document.body.classList.contains('fa-present')")
    resize(page, 1440, 900)


def test_axe_finds_nothing_serious_in_it(tab):
    page = tab.open("n=16&d=8&br=4&bc=4&mask=causal|prefix:2|chunk:4|document:0,5,10")
    view = open_builder(page)
    view.locator("summary").click()
    view.get_by_role("button", name="and …").first.click()
    found = serious(page, ".fa-masks")
    tab.tolerate("400")
    view.get_by_label("The mask as text").fill("windw")
    view.get_by_role("alert").wait_for()
    assert found + faults(page, ".fa-masks") == []
