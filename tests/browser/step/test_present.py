"""Present mode: nothing but the picture, type from 24 px up, light, nothing to scroll."""

from tests.browser.harness import from_menu, keys, query_of, resize

SMALL = """
() => {
  const small = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const parent = node.parentElement;
    if (!node.textContent.trim() || parent.closest(".fa-sr, script, style, [hidden]")) continue;
    const range = document.createRange();
    range.selectNode(node);
    const box = range.getBoundingClientRect();
    const style = getComputedStyle(parent);
    if (!box.width || box.top > innerHeight || style.visibility === "hidden") continue;
    const words = node.textContent.trim().slice(0, 20);
    if (parseFloat(style.fontSize) < 24) small.push(`${words} ${style.fontSize}`);
  }
  const page = document.documentElement;
  return { small, down: page.scrollHeight - innerHeight, across: page.scrollWidth - innerWidth };
}
"""


def test_a_chapter_has_type_and_room(tab):
    """Of all else both are measured in test_sizes."""
    resize(tab.page)
    tab.page.emulate_media(color_scheme="dark")
    page = tab.open("mode=present&tour=4")
    assert page.evaluate(SMALL) == {"small": [], "down": 0, "across": 0}
    assert not page.evaluate("document.body.classList.contains('dark')")


LENS = """() => {
  const box = (selector) => document.querySelector(selector).getBoundingClientRect();
  const origin = box(".fa-lens");
  const ends = [...document.querySelectorAll(".fa-lens line")].flatMap((line) =>
    [["x1", "y1"], ["x2", "y2"]].map(([x, y]) =>
      [Number(line.getAttribute(x)) + origin.left, Number(line.getAttribute(y)) + origin.top]));
  const [cursor, tile] = [box(".fa-cursor"), box(".fa-frame-s")];
  const [[x1, y1], [x2, y2], [x3, y3], [x4, y4]] = ends;
  const from = [y1 - cursor.top, x3 - x1, y3 - cursor.bottom];
  const names = [...document.querySelectorAll(".fa-map-overlay text")];
  const clear = x1 - Math.max(...names.map((text) => text.getBoundingClientRect().right));
  return { off: [...from, y2 - tile.top, y4 - tile.bottom], short: tile.left - x2, clear };
}"""


def test_the_tile_on_the_map_is_joined_to_the_tile_magnified(tab):
    resize(tab.page)
    page = tab.open("mode=present&step=4&phase=exp")
    for names, name in (("k₄ k₅ k₆ k₇", "2, 1"), ("k₈ k₉ k₁₀ k₁₁", "2, 2")):
        found = page.evaluate(LENS)
        assert max(map(abs, found["off"])) <= 3 and found["short"] > 0, found
        assert found["clear"] > 0, "the lines cross no name of the map"
        assert page.locator(".fa-key-names b").all_inner_texts() == names.split()
        assert page.text_content(".fa-tile-name") == name
        keys(page, "ArrowRight")


def test_the_formula_is_the_largest_type(tab):
    resize(tab.page)
    page = tab.open("mode=present&step=4&phase=exp")
    formula = page.locator(".fa-formula")
    assert formula.inner_text() == "α = e0.41 − 1.26 = 0.43"
    sizes = page.evaluate(
        "() => [...document.querySelectorAll('.fa-player *')].filter((n) => n.checkVisibility())"
        ".map((n) => [parseFloat(getComputedStyle(n).fontSize), n.closest('.fa-formula') !== null])"
    )
    assert max(size for size, own in sizes if not own) < max(size for size, own in sizes if own)
    words = page.inner_text(".fa-progress")
    assert words.startswith("so far: 1.91 KiB") and "10.5 KiB in all" in words
    assert page.is_visible(".fa-hbm .fa-caption")  # that S is never stored


def test_a_lecture_says_why_and_its_picture_stays_where_it_is(tab):
    tops = set()
    for width, height in ((1280, 720), (1920, 1080)):
        resize(tab.page, width, height)
        for where, why in (
            ("step=4&phase=max", "Without m, scores"),
            ("step=4&phase=exp", ""),
            ("step=4&phase=output", "S and P are dropped now"),
            ("step=5&phase=store", "S is never written to HBM."),
        ):
            page = tab.open(f"mode=present&{where}")
            seen = "".join(page.locator(".fa-aside span:visible").all_inner_texts())
            assert why in seen if why else not seen, where
            tops.add((height, round(page.locator(".fa-sram").bounding_box()["y"])))
    assert len(tops) == 2, tops


def test_a_race_stays_in_the_hall_and_comes_back_from_its_address(tab):
    resize(tab.page)
    page = tab.open("mode=compare&clock=bytes&step=3")
    from_menu(page, "Present")
    for _ in range(2):
        assert page.locator('[data-testid="player"]:visible').count() == 3
        assert not page.get_by_role("tab", name="Run").is_visible()
        assert page.evaluate(SMALL) == {"small": [], "down": 0, "across": 0}
        keys(page, "PageDown")
        assert query_of(page)["mode"] == "present"
        page.reload()
        tab.settle()
    assert query_of(page)["step"] == "5"
    keys(page, "Escape")
    assert page.get_by_role("tab", name="Run").is_visible()
    assert query_of(page)["mode"] == "compare"


def test_r_leads_to_the_race_and_back_in_the_hall_too(tab):
    page = tab.open("mode=present&step=4")
    for lanes in (3, 1):
        keys(page, "r")
        page.wait_for_function(
            f"document.querySelectorAll('[data-testid=player]').length === {lanes}"
        )
        tab.settle()
        query = query_of(page)
        assert query["mode"] == "present" and ("clock" in query) == (lanes == 3)
    assert query["step"] == "4"
