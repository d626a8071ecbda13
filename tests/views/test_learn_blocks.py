"""A widget's answer for the browser: what is still as HTML, in which words are only words."""

import pytest

from explainer.learn import blocks
from explainer.views.learn_blocks import bars_scale, block_data, timeline_scale


@pytest.mark.parametrize(
    ("values", "log", "at", "shares"),
    [
        ([0.0, 10.0], False, [0, 5, 10, 99], [0, 0.5, 1, 1]),
        ([-5.0, 5.0], False, [-5, 0], [0, 0.5]),
        ([10.0, 100.0], True, [0, 1, 100], [0, 0, 1]),
    ],
)
def test_bars_start_at_zero_or_a_decade(values, log, at, shares):
    scale = bars_scale(values, log)
    assert [scale.share(x) for x in at] == shares
    assert scale.bar("∞")[1] == ("100.00%" if values[0] >= 0 else "50.00%")


def test_ticks_of_a_timeline_are_round():
    assert timeline_scale([("lane", [(0, 12.5, "", "q", "", "")])]).ticks == [0, 5, 10]


def test_a_still_block_is_html_and_its_words_are_escaped():
    said = block_data(blocks.text("a < b", "good"))
    assert said["words"] == "a < b" and "a &lt; b" in said["html"] and "✓" in said["html"]
    assert block_data(blocks.text("small", "fine"))["words"] == ""
    code = block_data(blocks.code("<i>", "x = 1\ny < 2"))["html"]
    assert "<span>x = 1\n</span><span>y &lt; 2</span>" in code and "<i>" not in code
