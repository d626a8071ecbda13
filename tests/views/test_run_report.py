"""Cards and figures say what the rows say, and nothing of the user's runs as HTML."""

from __future__ import annotations

import json
import math
import re
from html import unescape

import pytest

from explainer.base.kinds import measured
from explainer.engine import record_rows, recorded
from explainer.engine.requests import METHODS, TOKENS, WIDTH, RunRequest, Sweep
from explainer.engine.results import Result, unknown_machine
from explainer.problem import Problem
from explainer.views import downloads, figures, run_details, run_report, sweep_report, times
from explainer.views.templates import render
from tests.schema import misfit

KIND = measured("NVIDIA H200")


def test_every_method_has_a_style_in_the_charts():
    assert set(figures.METHOD_STYLES) == set(METHODS)


def live(**more) -> dict:
    """A run's result as the worker makes it, of made-up rows: the page computes from rows only."""
    counts = [0] * 44
    counts[12], counts[13] = 30, 10
    row = {
        "right": True,
        "error": 2e-7,
        "relative": 1e-7,
        "bias": -3e-9,
        "allowed": 1e-6,
        "terms": {"naive": 4.8e-7, "rounding": 3e-7, "scores": 2.2e-7},
        "signed": None,
        "histogram": {"exact": 0, "counts": counts},
        "peak_bytes": 2**20,
        "flops": 2e9,
        "bytes": 10**8,
        "least_bytes": 10**7,
        "median_ms": 0.02,
        "p20_ms": 0.019,
        "p80_ms": 0.022,
        "runs": 30,
        "tflops": 100.0,
        "first_ms": 812.0,
    }
    same = {
        "against": "trace",
        "tiles": 10,
        "values": 80,
        "m_error": 0.0,
        "l_error": 1e-7,
        "tolerance": 1e-6,
        "agrees": True,
    }
    rows = [
        row | {"method": "naive", "median_ms": 0.08, "p80_ms": 0.09, "tflops": 25.0},
        row | {"method": "fa2", "same": same, "lse_error": 1e-7},
        {"method": "hopper", "refused": "The Hopper kernel needs <an H100>."},
    ]
    asked = RunRequest(Problem(dtype="bf16", inputs="random"), ("naive", "fa2", "hopper"))
    return {
        "query": asked.to_query(),
        "asked": asked.to_query(),
        "when": "2026-11-21 05:00:00 UTC",
        "machine": unknown_machine("NVIDIA H200") | {"versions": {"torch": "2.11"}},
        "heads_judged": 1,
        "naive_error": 2.4e-7,
        "naive_refused": None,
        "io_bytes": 4096,
        "tiles": {"fa2": 10},
        "rows": rows,
        "after_timing": ["1815 MHz, 3201 MHz, 667.69 W, 50"],
        "ceilings": {"hbm_bytes_per_s": 4.2e12, "l2_bytes_per_s": 9e12, "flops": 7.8e14},
        "chooser": {"picked": "sdpa_cudnn", "reasons": {"sdpa_flash": "", "sdpa_math": "<no>"}},
    } | more


MEASURED = RunRequest(
    Problem(4096, 64, 64, 64, dtype="bf16", inputs="random"), ("naive", "fa2"), 4, 32
)


def text_of(html: str) -> str:
    return re.sub(r"\s+", " ", unescape(re.sub(r"<[^>]+>", " ", html)))


def test_what_is_made_up_here_keeps_to_the_type():
    assert not misfit([live(), interpreted("naive", "fa2", refused=GPU)], list[Result])


def test_the_time_of_a_call_stands_beside_gpu_time():
    result = live()
    looped = {
        "loop_ms": 0.125,
        "loop_p20_ms": 0.12,
        "loop_p80_ms": 0.13,
        "loop_runs": 5,
        "loop_calls": 100,
        "host_us": 31.4,
        "host_p20_us": 30.0,
        "host_p80_us": 33.0,
        "host_runs": 100,
    }
    result["rows"][1] |= looped
    assert not misfit(result, Result)
    html = run_report.render_report(result)
    text = text_of(html)
    assert "GPU time, ▏call in a loop, × naive, TFLOP/s · NVIDIA H200" in text
    assert "20.0 µs ▏0.125 ms 4 × 100 TF" in text and "80.0 µs ▏– 1 × 25 TF" in text
    assert "of 30 interleaved runs" in text and "of 5 loops of 100 calls" in text
    assert html.count("fa-limit") == 3, "of two errors, and of the one call that was timed"
    assert "width:16.00%" in html, "bars share the scale of the longest call"
    details = text_of(run_details.render_details(result))
    assert "call in a loop on the host" in details and "31.4 µs" in details
    assert "in a CUDA graph" not in details
    line = downloads.run_rows(result)[1]
    assert (line["call_in_a_loop_ms"], line["host_us"]) == (0.125, 31.4)


def interpreted(*methods: str, refused: tuple[str, ...] = (), same: bool | None = True) -> dict:
    """A run on a machine without a GPU; ``same`` None: the tiles were too many to be compared."""
    fa2 = live()["rows"][1]
    kept = {k: v for k, v in fa2.items() if "_ms" not in k and k not in ("tflops", "runs")}
    rows = []
    for name in methods:
        row = {k: v for k, v in kept.items() if k not in ("same", "lse_error")}
        if name in ("fa1", "fa2", "standard"):
            row |= {"same": None if same is None else fa2["same"], "interpreter_s": 0.25}
        rows.append(row | {"method": name})
    rows += [{"method": name, "refused": "It needs an NVIDIA GPU."} for name in refused]
    counts = {"standard": 512, "fa1": 272, "fa2": 272}
    machine = unknown_machine("CPU, Triton interpreter") | {"interpreted": True}
    more = {"tiles": {m: counts[m] for m in methods if m in counts}, "machine": machine}
    return live(rows=rows, ceilings=None, chooser=None, **more)


GPU = ("hopper", "sdpa_flash", "sdpa_cudnn", "sdpa_efficient", "sdpa_math")


def changed(method: int, **figures) -> dict:
    """A live run whose row of this number has these figures instead."""
    result = live()
    result["rows"][method] = result["rows"][method] | figures
    return result


LONG = "Its N × N matrices would need 32.0 GiB, this card has 24.0 GiB free."
NO_NAIVE = live(naive_error=None, naive_refused=LONG)
NO_NAIVE["rows"][0] = {"method": "naive", "refused": LONG}
OTHER_TILES = changed(1, same=live()["rows"][1]["same"] | {"agrees": False})
TWO_HEADS = live(query=live()["query"] | {"h": "2"}, heads_judged=2)
SENTENCE = live(query=live()["query"] | {"data": "sentence", "text": "<b>a</b> dog", "gain": "2.0"})
ALL = ("naive", "standard", "fa1", "fa2")
# A result, whether its tiles are said to be the picture's, what its report says, and how often.
REPORTS = [
    (
        live(),
        "true",
        {
            "The kernel is right, and it is the picture; 1 did not run.": 1,
            "bf16 · Random normal, seed 9 · 10 tiles per head": 1,
            "20.0 µs 4 × 100 TF": 1,  # speed-up over naive and TFLOP/s
            "2.0 × 10⁻⁷ 0.83 × ✓": 2,  # error, and how many times naive's
            "FA-2: 4.8 × 10⁻⁷ + 3.0 × 10⁻⁷ + 2.2 × 10⁻⁷.": 1,
            "FA-2 reaches 10 % of the card's 989.4 TFLOP/s (bf16)": 1,
            "FA-2 812 ms": 1,  # the first call stands apart
            "80 values of m and ℓ in 10 tiles": 1,
            "FA-2 Hopper The Hopper kernel needs <an H100>.": 3,  # Right? Fast? and Small?
            "30 interleaved runs": 1,
            "1,815 MHz (memory 3,201 MHz), at 668 W": 1,
            "For the only head.": 1,
            "▏Call": 0,
        },
    ),
    (changed(1, right=False), "true", {"Not right here: FA-2.": 1}),
    (OTHER_TILES, "false", {"Right, but FA-2 differs from the picture.": 1}),
    (
        live(machine=unknown_machine("GeForce <b>")),
        "true",
        {"GeForce <b> is not in the table of cards, so its peak is unknown": 1},
    ),
    (NO_NAIVE, "true", {LONG: 3, "4 ×": 0}),  # beside its error, its time and its memory
    (
        interpreted("naive"),
        "",
        {
            "Naive PyTorch is right; no kernel with tiles ran.": 1,
            "No kernel ran": 1,
            "tiles per head": 0,
            "0.00 s": 0,
        },
    ),
    (
        interpreted("naive", "fa2"),
        "true",
        {"The kernel is right, and it is the picture.": 1, "FA-2 0.25 s": 1},
    ),
    (
        interpreted(*ALL),
        "true",
        {
            "Every method is right, and the kernels are the picture.": 1,
            "272 tiles per head (Standard: 512)": 1,
        },
    ),
    (
        interpreted(*ALL, refused=GPU),
        "true",
        {"All 4 methods that ran are right, and the kernels are the picture; 5 need a GPU.": 1},
    ),
    (
        interpreted("naive", "fa2", same=None),
        "",
        {"Every method is right; there were too many tiles to compare one by one.": 1},
    ),
    (
        interpreted("naive", refused=("hopper",)),
        "",
        {"no kernel with tiles ran; 1 needs a GPU.": 1},
    ),
    (interpreted("standard"), "true", {"512 tiles per head": 1}),
    (
        TWO_HEADS,
        "true",
        {"For the first and the last head.": 1, "kernel against trace, the first head": 1},
    ),
    (SENTENCE, "true", {"Sentence “<b>a</b> dog”, seed 9, logits × 2": 1}),
]


@pytest.mark.parametrize(("result", "agrees", "words"), REPORTS)
def test_what_a_report_says(result, agrees, words):
    html = run_report.render_report(result)
    text = text_of(html)
    assert {x: text.count(x) for x in words} == words
    assert f'data-agrees="{agrees}"' in html and "<b>a" not in html and "GeForce <b>" not in html
    wrong = any(not row.get("right", True) for row in result["rows"])
    assert f'data-right="{json.dumps(not wrong)}"' in html


def test_tiles_of_one_method_that_differ_are_enough():
    result = live()
    result["rows"].append(OTHER_TILES["rows"][1] | {"method": "fa1"})
    assert 'data-agrees="false"' in run_report.render_report(result)


def test_the_rules_are_said_with_their_numbers():
    text = text_of(run_details.render_details(live()))
    assert "u = 2⁻⁸" in text and "FA-1 rounds O at each of its 4 visits" in text
    assert "FA-2 2.0 × 10⁻⁷ 0.83 × 4.8 × 10⁻⁷ 3.0 × 10⁻⁷ 2.2 × 10⁻⁷ 1.0 × 10⁻⁶ 0.20" in text
    assert "÷ allowed along O" not in text
    text = text_of(run_details.render_details(changed(1, signed={"error": 1e-4, "allowed": 5e-4})))
    assert "FA-2 comes nearest, at 0.20 of it." in text and "0.20 1.0 × 10⁻⁴ 5.0 × 10⁻⁴" in text


def test_clocks_of_several_points_are_a_range():
    given = ["1965 MHz, 3201 MHz, 603.00 W, 52", "1545 MHz, 3201 MHz, 690.4 W, 58", "[N/A]"]
    text = times.describe_times([live()["rows"][0]], given)[-1]
    assert "1,545 to 1,965 MHz (memory 3,201 MHz), at 603 to 690 W" in text
    text = times.describe_times([live()["rows"][0]], ["nvidia-smi is not there"])[-1]
    assert "did not report" in text


IDLE = {"stage": "", "done": 0, "total": 1, "position": 0, "elapsed_s": 0.0, "wait_s": None}
RUNNING = {"stage": "Running FA-2", "done": 3, "total": 8, "elapsed_s": 4.0, "expected_s": 6.2}
LATE = "9 s so far: more than the 5 s expected. This machine is busy."


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"position": 2}, "Waiting: 2 ahead of this one. 0 s so far."),
        (RUNNING, "program 3 of 8. 4 s so far, about 6 s expected."),
        ({"stage": "Timing", "elapsed_s": 12.0}, "Timing. 12 s so far."),
        ({"elapsed_s": 9.0, "expected_s": 5.0}, LATE),
    ],
)
def test_a_run_on_its_way_says_how_long(given, words):
    assert words in text_of(render("run/progress", **IDLE | {"expected_s": None} | given))


def test_a_record_says_how_it_differs():
    problem = Problem(5000, 64, 64, 64, dtype="bf16", inputs="rising")
    request = RunRequest(problem, ("naive", "fa2"), 1, 32)
    text = text_of(run_report.render_recorded(recorded.nearest(request)))
    assert "N = 4,096 instead of 5,000, B × H = 4 × 32 instead of 1 × 32" in text
    assert "random normal numbers instead of “Rising maximum”" in text
    assert "tiles from the kernels' own tables instead of yours" in text
    exact = recorded.nearest(recorded.measured_like(request))
    assert "Your problem was measured there" in text_of(run_report.render_recorded(exact))


@pytest.mark.parametrize("name", record_rows.RECORDS)
def test_every_record_is_shown_whole(name):
    point = record_rows.KEYS[:-1]  # all but the method
    rows = {tuple(row[key] for key in point): row for row in record_rows.rows_in(name)}
    for row in rows.values():
        query = {key: row[key] for key in ("n", "d", "mask", "score", "dtype")}
        query |= {"b": row["batch"], "h": row["heads"], "br": "auto", "bc": "auto"}
        is_backward = name == record_rows.BACKWARD
        query |= {"data": "random"} | ({"pass": "backward"} if is_backward else {})
        found = recorded.nearest(RunRequest.from_query(query))
        assert found
        text = text_of(run_report.render_recorded(found))
        assert ("backward pass alone, 2.5 ×" in text) == is_backward
        run_details.render_details(found)
        figures.plot_roofline(found, downloads.kind_of(found))
        downloads.run_rows(found)


def test_without_a_comparable_record_the_nearest_is_linked():
    request = RunRequest(Problem())
    near = recorded.measured_like(request)
    html = run_report.render_no_record(request.to_query(), near.to_query(), "?page=run&run-n=256")
    text = text_of(html)
    assert "Nothing like N = 16, d = 8, causal, fp32, B × H = 1 × 1 was measured on a GPU" in text
    assert "The nearest one measured is N = 256, d = 64, causal, bf16, B × H = 64 × 32." in text
    assert 'href="?page=run&amp;run-n=256"' in html


def test_downloads_hold_every_figure():
    html = run_details.render_details(live())
    data = json.loads(unescape(re.search(r'data-rows="([^"]*)"', html)[1]))
    assert data["rows"] == live()["rows"] and "<no>" not in html
    assert 'data-name="flashattention-16-8-causal-bf16-live"' in html
    assert "hopper" in unescape(re.search(r'data-script="([^"]*)"', html)[1])


def test_histogram_is_the_counts_in_percent():
    figure = figures.plot_errors(live()["rows"], KIND)
    assert [trace.name for trace in figure.data] == ["Naive PyTorch", "FA-2"]
    assert list(figure.data[0].y) == [75.0, 25.0]
    assert math.isclose(figure.data[0].x[0], 10 ** (-10 + 12.5 / 4))
    assert figures.plot_errors([{"method": "fa2", "refused": "no"}], KIND) is None


def test_roofline_has_a_dot_for_each_method_under_the_roofs():
    figure = figures.plot_roofline(live(), KIND)
    dots = {t.name: (t.x[0], t.y[0]) for t in figure.data if t.mode == "markers"}
    assert dots == {"Naive PyTorch": (200.0, 25.0), "FA-2": (200.0, 100.0)}
    roofs = [t for t in figure.data if t.mode == "lines"]
    for roof, rate in zip(roofs, (4.2e12, 9e12), strict=True):
        assert math.isclose(roof.y[0], rate * roof.x[0] / 1e12)
        assert roof.y[1] == roof.y[2] == 780.0
    assert figures.plot_roofline(live(ceilings=None), KIND) is None
    (label,) = figure.layout.annotations
    low, high = figure.layout.yaxis.range
    assert label.x == 1 and low < label.y < high - 0.3


def test_a_line_of_the_csv_can_be_read_alone():
    lines = downloads.run_rows(live())
    assert len({tuple(line) for line in lines}) == 1, "every line has every column"
    fa2 = lines[1]
    values = ("fa2", 16, 8, 1, 1, "causal", "bf16", "random", 9, "live", "NVIDIA H200", "2.11")
    keys = ("method", "N", "d", "B", "H", "mask", "dtype", "data", "seed")
    assert tuple(fa2[key] for key in (*keys, "source", "device", "torch_version")) == values
    assert fa2["max_abs_error"] == 2e-7 and fa2["peak_bytes_beyond_inputs"] == 2**20
    assert lines[2]["not_run"].startswith("The Hopper kernel") and fa2["not_run"] is None
    slow = downloads.run_rows(interpreted("fa2"))[0]
    assert slow["interpreter_seconds_not_speed"] == 0.25 and "median_ms" not in slow
    line = downloads.run_rows(recorded.nearest(MEASURED))[-1]
    assert (line["source"], line["when"]) == ("recorded", recorded.load()["date"])
    assert line["seed"] is None and line["data"] == "standard normal"


def test_sweep_figures_and_rows_are_the_points():
    sweep, rows = recorded.swept(Sweep(64, "bf16", ("naive", "hopper")))
    drawn = figures.plot_sweep(rows, KIND)
    for figure, key in zip(drawn, ("median_ms", "tflops"), strict=False):
        for trace in figure.data:
            method, mask = trace.name.rsplit(", ", 1)
            mine = {
                r["n"]: r[key]
                for r in rows
                if key in r and METHODS[r["method"]] == method and r["mask"] == mask
            }
            assert dict(zip(trace.x, trace.y, strict=True)) == mine
    assert drawn[0].layout.xaxis.ticktext == ("256", "1 k", "4 k", "16 k", "64 k")
    assert set(drawn[0].layout.yaxis.ticktext) >= {"0.1", "1", "10"}
    assert figures.plot_sweep([], KIND) == (None, None, None)
    about = {"source": "recorded", "when": "2026-11-21", "device": "<GPU>", "versions": {"a": 1}}
    lines = downloads.sweep_rows(rows, KIND, about)
    assert len(lines) == len(rows)
    assert all(line["device"] == "<GPU>" and line["a_version"] == "1" for line in lines)
    html = sweep_report.render_table(rows, sweep, measured("<GPU>"), about)
    assert 'data-name="flashattention-sweep-64-bf16-recorded"' in html and "<GPU>" not in html


def test_sweep_sentences_are_computed():
    def row(method, n, mask, ms):
        return {"method": method, "n": n, "mask": mask, "median_ms": ms}

    refused = {"method": "naive", "n": 512, "mask": "full", "refused": "Too much."}
    rows = [row("fa2", 256, "full", 2.0), row("fa2", 256, "causal", 1.1), refused]
    assert sweep_report.findings(rows) == [
        "Causal takes this share of full's time: FA-2 0.55 (N = 256).",
        "Naive PyTorch from N = 512 on: Too much.",
    ]
    (text,) = sweep_report.findings([rows[0], row("fa2", 256, "window:9,0", 0.5)])
    assert text == "Window:9,0 takes this share of full's time: FA-2 0.25 (N = 256)."
    assert sweep_report.findings([rows[0]]) == []


def test_a_sweep_has_the_columns_that_are_known_and_no_refusal_in_a_cell():
    row = {"method": "fa2", "n": 512, "d": 64, "mask": "full", "dtype": "bf16"}
    row |= {"batch": 32, "heads": 32}
    figures = {"median_ms": 0.5, "p20_ms": 0.4, "p80_ms": 0.6, "runs": 9, "error": 1e-3}
    figures |= {"tflops": 400.0, "peak_bytes": 2**20}

    def table_of(**more) -> str:
        return sweep_report.render_table([row | more], Sweep(), KIND, {"source": "recorded"})

    assert "GPU time p20 p80 TFLOP/s" in text_of(table_of(**figures))
    text = text_of(table_of(**figures, loop_ms=0.55, host_us=31.0))
    assert "p80 call in a loop on the host TFLOP/s" in text and "0.55 ms 31 µs 400" in text
    html = table_of(refused="It needs much.")
    assert "<td>not run</td>" in html and "<td>It needs" not in html and "It needs much." in html


def test_a_sweep_says_what_it_measures():
    text = text_of(sweep_report.render_note("Done.", rows=[], sweep=Sweep(96)))
    assert f"{TOKENS:,} tokens" in text and f"just below {WIDTH:,} (H = {WIDTH // 96}" in text
    scored = Sweep(96, mask="window:9,0", score="alibi", sink=2)
    assert scored.name == "d = 96, bf16, mask = window:9,0, score = alibi, sink = 2"
    text = text_of(sweep_report.render_progress(0, scored))
    assert "full and window:9,0, alibi, sink 2, tiles" in text
