"""The lesson: parts merged by lse are the whole; times are the record's."""

import numpy as np
import pytest

from explainer.base.cards import CARDS
from explainer.base.records import load
from explainer.learn.example import K, Q, V
from explainer.learn.lessons.decode import lesson
from tests.learn.scenes import find_mark, sdpa


@pytest.mark.parametrize("parts", (1, 2, 4, 8))
def test_the_parts_merge_to_attention_over_all_keys(parts):
    flow = find_mark("decode", "flow", parts=parts)
    weights = [x["amount"] for x in flow["arrows"] if x["end"] == "O"]
    halves = zip(np.split(K, parts), np.split(V, parts), strict=True)
    outputs = [sdpa(Q[-1:], k, v)[0] for k, v in halves]
    merged = sum(w * o for w, o in zip(weights, outputs, strict=True))
    np.testing.assert_allclose(merged, sdpa(Q[-1:], K, V)[0], atol=1e-5)
    shown = [float(x) for x in flow["columns"][-1][0]["remark"].replace("−", "-").split(", ")]
    np.testing.assert_allclose(shown, sdpa(Q[-1:], K, V)[0], atol=0.005)


def test_the_times_are_the_record_s_and_reading_takes_longer():
    rows = {
        r["splits"]: r
        for r in load("decode_nvidia_h200")["rows"]
        if (r["n_k"], r["heads"]) == (16_384, 16) and "splits" in r
    }
    us, rule = lesson.times()
    assert rows[rule]["rule"] and rule == 2 * CARDS["h200"].sms // 16
    assert us == {k: 1e3 * r["median_ms"] for k, r in rows.items()}
    bytes_us, flops_us = lesson.bound()
    assert bytes_us == pytest.approx(2 * 16_384 * 128 * 2 / 4.8e12 * 1e6, rel=0.01)
    assert bytes_us > 100 * flops_us
