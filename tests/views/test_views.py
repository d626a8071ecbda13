"""The views of Memory and Parallel escape what an address holds, and refuse it in a sentence."""

from __future__ import annotations

from html import unescape

import pytest

from explainer.base.fields import ProblemError
from explainer.pages import memory, parallel
from explainer.pages.workload import parse
from tests.strict_html import Strict

PAGES = {"memory": memory, "parallel": parallel}
VIEWS = [(name, view) for name, page in PAGES.items() for view in page.VIEWS]
EVIL = "<script>alert(1)</script>\"'&"


@pytest.mark.parametrize("key", ["n", "d", "br", "bc", "b", "h", "mask", "dtype", "card"])
@pytest.mark.parametrize("page", PAGES)
@pytest.mark.parametrize("value", [EVIL, "", "-1", "nan", "9" * 400], ids=range(5))
def test_a_bad_value_is_one_escaped_sentence(page, key, value):
    views = {"memory": "capacity", "parallel": "decode"}
    head, left, right, tail = PAGES[page].render({"view": views[page], key: value})
    assert (left["visible"], right["visible"], tail) == (False, False, "")
    assert "<script" not in head and 'role="alert"' in head
    sentence = "".join(Strict(head).words)
    assert sentence.startswith(f"{key} = ") and sentence.endswith(".")
    with pytest.raises(ProblemError) as caught:
        parse({key: value}, PAGES[page].PLAIN)
    assert sentence == str(caught.value)


@pytest.mark.parametrize(("page", "view"), [*VIEWS, ("memory", EVIL), ("parallel", EVIL)])
def test_what_else_an_address_holds_never_reaches_the_page(page, view):
    others = dict.fromkeys(("show", "case", "pass", "mode", "seed", EVIL), EVIL)
    head, _, _, tail = PAGES[page].render({"view": view} | others)
    assert "alert(1)" not in unescape(head + tail)
