"""A widget's answer for the browser: what is still as HTML, in which words are only words."""

from explainer.learn import blocks
from explainer.views.learn_blocks import block_data


def test_a_still_block_is_html_and_its_words_are_escaped():
    said = block_data(blocks.text("a < b", "good"))
    assert said["words"] == "a < b" and "a &lt; b" in said["html"] and "✓" in said["html"]
    assert block_data(blocks.text("small", "fine"))["words"] == ""
    code = block_data(blocks.code("<i>", "x = 1\ny < 2"))["html"]
    assert "<span>x = 1\n</span><span>y &lt; 2</span>" in code and "<i>" not in code
