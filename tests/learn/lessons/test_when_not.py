"""The lesson: speeds and shares are the records', bytes are the loops'."""

import numpy as np
import pytest

from explainer.algorithms import traffic
from explainer.base.records import load
from explainer.learn.lessons.when_not import lesson
from tests.learn.scenes import LESSONS, asked


def test_speeds_are_the_records():
    rate = {
        (r["method"], r["n"]): r["tflops"]
        for r in load()["rows"]
        if (r["d"], r["mask"], r["dtype"]) == (64, "full", "fp16")
        and "tflops" in r
        and r.get("pass", "forward") == "forward"
    }
    for n, gain in lesson.faster().items():
        assert gain == pytest.approx(rate["fa2", n] / rate["naive", n], rel=0.02)
    weights = 24 * 4096**2 * 32 * 256 / 761.7e12  # 64 sequences of 32 heads of 64 are 32 of 4,096
    for method, ms in (("naive", 0.456), ("fa2", 0.1353)):
        share = 1e-3 * ms / (1e-3 * ms + weights)
        assert lesson.time_share(method, 256) == pytest.approx(share, rel=1e-3)
        assert f"{share:.0%}" in LESSONS["when_not"].more
    tiles = {
        r["block_m"]: r["tflops"]
        for r in load("tiles_nvidia_h200")["rows"]
        if r["d"] == 64 and not r["causal"] and r["block_m"] == r["block_n"]
    }
    assert lesson.speeds() == tiles


def test_the_least_of_cross_attention_is_that_of_the_loops():
    whole, once = lesson.least(4096, 4096)
    assert once == traffic.compulsory_bytes(4096, 64, "fp16", "fa2") == 4 * 4096 * 64 * 2 + 4096 * 4
    assert whole == traffic.compulsory_bytes(4096, 64, "fp16", "standard")
    apart, fused = lesson.least(4096, 77)
    assert apart - fused == 4 * 4096 * 77 * 2 - 4096 * 4  # S and P, out and back; no lse
    few = asked("when_not")[1]
    assert few.options[few.answer][0] == f"About {apart / fused:.1f}" == "About 3.3"


def test_scattered_scores_touch_the_tiles():
    rng = np.random.default_rng(0)
    for share in (0.0001, 0.0005, 0.05):
        keep = rng.random((1024, 1024)) < share
        found = keep.reshape(16, 64, 16, 64).any(axis=(1, 3)).mean()
        assert found == pytest.approx(lesson.touched(share), abs=0.08)
    first = asked("when_not")[0]
    assert first.options[first.answer][0] == "Hardly any" and 1 - lesson.touched(0.05) < 1e-9


def test_the_share_of_a_layer_by_counting_flops():
    n, h = 4096, lesson.HIDDEN
    attention, projections, feed_forward = 4 * n * n * h, 4 * 2 * n * h * h, 2 * 2 * n * h * 4 * h
    share = attention / (attention + projections + feed_forward)
    assert lesson.layer_share(n) == pytest.approx(share)
