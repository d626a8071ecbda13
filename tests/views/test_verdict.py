"""What the Run page says of its own rules: what is right, what was timed, what is comparable."""

from __future__ import annotations

import re

import pytest

from explainer.engine import recorded
from explainer.engine.requests import RunRequest, Sweep
from explainer.problem import Problem
from explainer.views import run_details, run_report, sweep_report, times
from tests.views.test_run_report import live, text_of


def test_the_rule_is_said_with_every_number_of_it():
    text = text_of(run_report.render_report(live()))
    assert "2.0 × 10⁻⁷ 0.83 × ✓" in text, "error, and how many times naive's"
    assert "FA-2: 4.8 × 10⁻⁷ + 3.0 × 10⁻⁷ + 2.2 × 10⁻⁷." in text
    text = text_of(run_details.render_details(live()))
    assert "≤ 2 × naive's error + u (1 + √visits) max Σ P|V|" in text and "u = 2⁻⁸" in text
    assert "FA-1 rounds O at each of its 4 visits, the others once" in text
    assert "Naive PyTorch keeps S in bf16: + u max Σ P|S|(|V| + |O|)." in text
    head = "error ÷ naive's 2 × naive's P and O S allowed ÷ allowed"
    terms = "2.0 × 10⁻⁷ 0.83 × 4.8 × 10⁻⁷ 3.0 × 10⁻⁷ 2.2 × 10⁻⁷ 1.0 × 10⁻⁶ 0.20"
    assert head in text and f"FA-2 {terms}" in text
    assert "is judged for fused methods in fp16 and bf16 on random data, from N = 64" in text


def test_the_signed_error_is_said_where_it_is_judged():
    result = live()
    result["rows"][1] |= {"signed": {"error": 1e-4, "allowed": 5e-4}}
    text = text_of(run_details.render_details(result))
    assert "|Σ e·t / Σ t²| ≤ u √visits (1/8 + 1/√(values of O)) + N/16 · 2⁻²⁴" in text
    assert "FA-2 comes nearest, at 0.20 of it." in text
    assert "÷ allowed along O allowed" in text and "0.20 1.0 × 10⁻⁴ 5.0 × 10⁻⁴" in text


def test_what_is_timed_how_often_and_at_which_clock():
    text = text_of(run_report.render_report(live()))
    assert "of 30 interleaved runs, by CUDA events" in text
    clocks = (
        "Clocks: left to the driver. Right after timing: 1,815 MHz (memory 3,201 MHz), at 668 W."
    )
    assert clocks in text
    said = ["1965 MHz, 3201 MHz, 603.00 W, 52", "1545 MHz, 3201 MHz, 690.4 W, 58", "[N/A]"]
    text = times.describe_times([live()["rows"][0]], said)[-1]
    assert "1,545 to 1,965 MHz (memory 3,201 MHz), at 603 to 690 W" in text
    text = times.describe_times([live()["rows"][0]], ["nvidia-smi is not there"])[-1]
    assert "did not report" in text
    near, rows = recorded.swept(Sweep(64, "bf16", ("naive", "hopper")))
    note = text_of(
        sweep_report.render_note("Done.", rows=rows, sweep=near, clocks=recorded.clocks_of(rows))
    )
    assert "of 9 interleaved runs" in note and "of 5 loops" not in note
    assert re.search(r"[Rr]ight after timing:? 1,\d{3} to 1,\d{3} MHz", note)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (("", 0, 1, 2), "Waiting: 2 ahead of this one. 0 s so far."),
        (("running FA-2", 3, 8, 0, 4.0, 6.2), "program 3 of 8. 4 s so far, about 6 s expected."),
        (("timing", 0, 1, 0, 12.0, None), "Timing. 12 s so far."),
        (("", 0, 1, 0, 9.0, 5.0), "9 s so far: more than the 5 s expected. This machine is busy."),
    ],
)
def test_a_run_on_its_way_says_how_long(given, words):
    assert words in text_of(run_report.render_progress(*given))


def test_a_record_says_how_it_differs():
    problem = Problem(5000, 64, 64, 64, dtype="bf16", inputs="rising")
    asked = RunRequest(problem, ("naive", "fa2"), 1, 32)
    text = text_of(run_report.render_recorded(recorded.nearest(asked)))
    assert "What differs from your problem: N = 4,096 instead of 5,000, B × H = 4 × 32" in text
    assert "B × H = 4 × 32 instead of 1 × 32" in text
    assert "random normal numbers instead of “Rising maximum”" in text
    assert "tiles from the kernels' own tables instead of yours" in text
    exact = recorded.nearest(recorded.measured_like(asked))
    assert "Your problem was measured there" in text_of(run_report.render_recorded(exact))


def test_without_a_comparable_record_the_rule_and_a_way_are_said():
    asked = RunRequest(Problem())
    near = recorded.measured_like(asked)
    html = run_report.render_no_record(asked.to_query(), near.to_query(), "?page=run&run-n=256")
    text = text_of(html)
    assert "Nothing like N = 16, d = 8, causal, fp32, B × H = 1 × 1 was measured on a GPU" in text
    assert "On record: d = 64 and 128, bf16 and fp16, N = 256 to 65,536." in text
    assert "The nearest one measured is N = 256, d = 64, causal, bf16, B × H = 64 × 32." in text
    assert 'href="?page=run&amp;run-n=256"' in html
