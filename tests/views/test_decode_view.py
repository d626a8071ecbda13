"""Decoding on the Parallel page, from a record that has SDPA beside ours and from one without."""

from __future__ import annotations

import pytest

from explainer.pages import parallel
from explainer.parallel import split_keys
from tests.views.test_view_numbers import listed, text_of

TIMES = {"p20_ms": 0.011, "p80_ms": 0.014, "error": 1e-4, "runs": 15}
AT = {"n_k": 4096, "heads": 16, "d": 64}
OURS = [
    {**AT, **TIMES, "method": "decode", "splits": s, "rule": s == 16, "median_ms": 0.1 / s}
    for s in split_keys.SPLITS
]
FLASH = {**AT, **TIMES, "method": "sdpa_flash", "median_ms": 0.0198, "loop_ms": 0.0571}
CUDNN = {**AT, **TIMES, "method": "sdpa_cudnn", "median_ms": 0.0143, "loop_ms": 0.0482}
REFUSED = {**AT, "method": "sdpa_cudnn", "refused": "No available kernel."}
OLD = [{k: v for k, v in r.items() if k not in ("method", "rule")} for r in OURS]


@pytest.fixture
def shown(monkeypatch):
    """Renders the view from these recorded rows: (text, chart, rows of the table)."""

    def render(rows: list[dict], **query: str):
        monkeypatch.setattr(split_keys, "load", lambda name: {"rows": rows})
        head, plot, _, tail = parallel.render({"view": "decode", "card": "h200"} | query)
        return text_of(head + tail), plot["value"], listed(tail)

    return render


def names(chart) -> list[str]:
    return [trace.name for trace in chart.data]


@pytest.mark.parametrize("ours", [OLD, OURS], ids=["old", "new"])
def test_the_rule_and_what_it_chooses_are_said(ours, shown):
    text, chart, rows = shown(ours)
    assert (
        "2 programs, at most one part for every 128 keys, and at most 256 parts. Here: 16 parts."
        in text
    )
    assert [r["splits"] for r in rows if r["rule"]] == [16] and len(rows) == len(ours)
    assert ours is OURS or "SDPA" not in text + " ".join(names(chart))
    assert "as many as the rule chooses" in names(chart)
    for query in ({"n": "200"}, {"b": "4", "h": "66"}):
        assert "Here: 1 part." in shown(ours, **query)[0]


def test_sdpa_is_a_line_and_a_row(shown):
    with_loop = [r | {"loop_ms": 0.03} if r["rule"] else r for r in OURS]
    text, chart, rows = shown([*with_loop, FLASH, CUDNN])
    for words in ("split keys, 16 parts", "SDPA flash", "19.8 µs", "57.1 µs", "14.3 µs", "30.0 µs"):
        assert words in text
    by_name = {trace.name: trace for trace in chart.data}
    assert set(by_name["SDPA cuDNN, measured (µs)"].y) == {14.3}
    assert set(by_name["SDPA flash, measured (µs)"].y) == {19.8}
    assert [r["median_ms"] for r in rows if "splits" not in r] == [0.0198, 0.0143]


def test_a_backend_that_refuses_says_why(shown):
    text, chart, rows = shown([*OURS, FLASH, REFUSED])
    assert "No available kernel." in text
    assert "SDPA flash, measured (µs)" in names(chart)
    assert "SDPA cuDNN, measured (µs)" not in names(chart)
    assert [r["method"] for r in rows if "splits" not in r] == ["SDPA flash"]
