"""Cards, figures and the script say what the rows say, and nothing of the user's runs as HTML."""

from __future__ import annotations

import ast
import json
import math
import os
import re
import subprocess
import sys
from html import unescape

import pytest

from explainer import figures, recorded, report, script, sweeps
from explainer.child import ROOT
from explainer.problem import Problem
from explainer.request import METHODS, RunRequest, Sweep


def live(**more) -> dict:
    """A run's result as the worker makes it, of made-up rows: the page computes from rows only."""
    counts = [0] * 44
    counts[12], counts[13] = 30, 10
    row = {
        "right": True, "error": 2e-7, "allowed": 1e-6, "relative": 1e-7, "bias": -3e-9,
        "histogram": {"exact": 0, "counts": counts}, "peak_bytes": 2**20, "flops": 2e9,
        "bytes": 10**7, "median_ms": 0.02, "p20_ms": 0.019, "p80_ms": 0.022, "runs": 30,
        "tflops": 100.0, "first_ms": 812.0,
    }  # fmt: skip
    same = {
        "against": "trace", "tiles": 10, "values": 80, "m_error": 0.0, "l_error": 1e-7,
        "tolerance": 1e-6, "agrees": True,
    }  # fmt: skip
    rows = [
        row | {"method": "naive", "median_ms": 0.08, "p80_ms": 0.09, "tflops": 25.0},
        row | {"method": "fa2", "same": same, "lse_error": 1e-7},
        {"method": "hopper", "refused": "The Hopper kernel needs <an H100>."},
    ]
    asked = RunRequest(Problem(dtype="bf16", inputs="random"), ("naive", "fa2", "hopper"))
    return {
        "query": asked.to_query(), "asked": asked.to_query(), "when": "2026-11-21 05:00:00 UTC",
        "machine": {"device": "NVIDIA H200", "interpreted": False, "versions": {"torch": "2.11"}},
        "heads_judged": 1, "naive_error": 2.4e-7, "naive_refused": None, "io_bytes": 4096,
        "tiles": {"fa2": 10}, "rows": rows,
        "ceilings": {"hbm_bytes_per_s": 4.2e12, "l2_bytes_per_s": 9e12, "flops": 7.8e14},
        "chooser": {"picked": "sdpa_cudnn", "reasons": {"sdpa_flash": "", "sdpa_math": "<no>"}},
    } | more  # fmt: skip


def text_of(html: str) -> str:
    return re.sub(r"\s+", " ", unescape(re.sub(r"<[^>]+>", " ", html)))


def test_what_the_cards_say():
    text = text_of(report.report(live()))
    assert "The kernel is right, and it is the picture." in text
    assert "20.0 µs 4 × 100 TF" in text, "speed-up over naive and TFLOP/s"
    assert "FA-2 reaches 10 % of the card's 989.4 TFLOP/s (bf16), data sheet." in text
    assert "FA-2 812 ms" in text, "the first call stands apart"
    assert "80 values of m and ℓ in 10 tiles" in text
    assert "The Hopper kernel needs <an H100>." in text


def test_unknown_card_is_said_to_be_unknown():
    machine = {"device": "NVIDIA GeForce <b>", "interpreted": False, "versions": {}}
    html = report.report(live(machine=machine))
    assert "NVIDIA GeForce &lt;b&gt; is not in the table of cards: its peak is not known" in html
    assert "GeForce <b>" not in html


def test_wrong_is_said_and_by_whom():
    result = live()
    result["rows"][1] |= {"right": False}
    html = report.report(result)
    assert 'data-right="false"' in html and "Not right here: FA-2." in text_of(html)
    result["rows"][1] |= {"right": True, "same": result["rows"][1]["same"] | {"agrees": False}}
    assert 'data-agrees="false"' in report.report(result)


def test_naive_that_does_not_fit_is_shown_as_what_it_is():
    sentence = "Its N × N matrices would need 32.0 GiB, this card has 24.0 GiB free."
    result = live(naive_error=None, naive_refused=sentence)
    result["rows"][0] = {"method": "naive", "refused": sentence}
    text = text_of(report.report(result))
    assert text.count(sentence) == 3, "beside its error, its time and its memory"
    assert "4 ×" not in text


def test_downloads_hold_every_figure():
    html = report.details(live())
    data = json.loads(unescape(re.search(r'data-rows="([^"]*)"', html)[1]))
    assert data["rows"] == live()["rows"]
    assert "hopper" in unescape(re.search(r'data-script="([^"]*)"', html)[1])
    assert "<no>" not in html
    table = text_of(html)
    assert "2.0 × 10⁻⁷" in table and "SDPA cuDNN" not in table.split("All figures")[1]


def test_histogram_is_the_counts_in_percent():
    figure = figures.histogram(live()["rows"])
    assert [trace.name for trace in figure.data] == ["Naive PyTorch", "FA-2"]
    assert list(figure.data[0].y) == [75.0, 25.0]
    assert math.isclose(figure.data[0].x[0], 10 ** (-10 + 12.5 / 4))
    assert figures.histogram([{"method": "fa2", "refused": "no"}]) is None


def test_roofline_has_a_dot_for_each_method_under_the_roofs():
    figure = figures.roofline(live())
    dots = {t.name: (t.x[0], t.y[0]) for t in figure.data if t.mode == "markers"}
    assert dots == {"Naive PyTorch": (200.0, 25.0), "FA-2": (200.0, 100.0)}
    roofs = [t for t in figure.data if t.mode == "lines"]
    for roof, rate in zip(roofs, (4.2e12, 9e12), strict=True):
        assert math.isclose(roof.y[0], rate * roof.x[0] / 1e12)
        assert roof.y[1] == roof.y[2] == 780.0
    assert figures.roofline(live(ceilings=None)) is None
    unknown = live()
    del unknown["rows"][1]["bytes"]
    names = [t.name for t in figures.roofline(unknown).data]
    assert "FA-2 (at most)" in names


def test_sweep_figures_are_the_rows():
    _, rows = recorded.swept(Sweep(64, "bf16", ("naive", "hopper")))
    drawn = figures.sweep(rows)
    assert len(drawn) == 3
    for figure, key in zip(drawn, ("median_ms", "tflops"), strict=False):
        for trace in figure.data:
            method, mask = trace.name.rsplit(", ", 1)
            mine = {r["n"]: r[key] for r in rows if key in r and METHODS[r["contender"]] == method
                    and r["mask"] == mask}  # fmt: skip
            assert dict(zip(trace.x, trace.y, strict=True)) == mine
    assert figures.sweep([]) == (None, None, None)


def test_sweep_sentences_are_computed():
    def row(method, n, mask, ms):
        return {"contender": method, "n": n, "mask": mask, "median_ms": ms}

    refused = {"contender": "naive", "n": 512, "mask": "full", "not_available": "Too much."}
    rows = [row("fa2", 256, "full", 2.0), row("fa2", 256, "causal", 1.1), refused]
    assert sweeps.findings(rows) == [
        "Causal takes this share of full's time: FA-2 0.55 (N = 256).",
        "Naive PyTorch from N = 512 on: Too much.",
    ]


@pytest.mark.parametrize("data", ["random", "rising"])
def test_the_script_runs_without_the_app(tmp_path, data):
    problem = Problem(n=20, d=8, block_q=8, block_k=6, dtype="fp16", inputs=data)
    text = script.script(RunRequest(problem, ("naive", "fa2", "hopper")).to_query())
    imports = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Import)]
    assert {name.name for node in imports for name in node.names} == {"os", "torch", "kernels"}
    file = tmp_path / "again.py"
    file.write_text(text)
    env = os.environ | {"PYTHONPATH": str(ROOT)}
    options = {"cwd": tmp_path, "env": env, "capture_output": True, "text": True}
    done = subprocess.run([sys.executable, str(file)], timeout=120, **options)
    assert done.returncode == 0, done.stderr
    assert "naive           error " in done.stdout and "fa2             error " in done.stdout
    assert ("standard normal here" in text) == (data == "rising")


def test_a_recorded_script_has_no_blocks_of_its_own():
    text = script.script(recorded.nearest(RunRequest(Problem()))["query"])
    assert "block_m=None, block_n=None" in text and ast.parse(text)
