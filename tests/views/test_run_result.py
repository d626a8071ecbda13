"""The Run page says what the rows of a run, or of a record, say."""

import json
import math
import re
from html import unescape

import numpy as np
import pytest

from explainer.algorithms import tiling
from explainer.engine import record_rows, recorded
from explainer.engine.job import Job, Lane
from explainer.engine.requests import METHODS, RunRequest
from explainer.engine.results import Result, unknown_machine
from explainer.problem import Problem
from explainer.views import (
    downloads,
    run_claims,
    run_lanes,
    run_masks,
    run_result,
    run_state,
    run_tabs,
)
from kernels.spec.masks import parse
from tests.engine.test_recorded import MEASURED, query_of
from tests.schema import misfit
from tests.strict_html import Strict
from tests.views.results import (
    GPU,
    NO_NAIVE,
    OTHER_TILES,
    SENTENCE,
    TWO_HEADS,
    WORDS,
    changed,
    interpreted,
    live,
    tables_of,
    words_of,
)

ALL = ("naive", "standard", "fa1", "fa2")
CPU = unknown_machine("CPU, Triton interpreter") | {"interpreted": True}


def shown(result: dict) -> run_state.State:
    """The state of a run that has ended, which goes to the browser as JSON."""
    request = RunRequest.from_query(result["query"])
    state = json.dumps(run_result.done(result, recorded.closest(request)), ensure_ascii=False)
    return json.loads(state.replace("\u00a0", " "))


def test_what_is_made_up_here_keeps_to_the_type():
    assert not misfit([live(), interpreted("naive", "fa2", refused=GPU), OTHER_TILES], list[Result])


NOT_TILED = "No kernel with tiles ran, so nothing is compared with Step."
# A result; whether its tiles are said to be Step's, and all to be right; headline and sentence.
STATES = [
    (live(), True, True, "4 times as fast as naive", ""),
    (changed(1, right=False), True, False, "FA-2 is not correct here", ""),
    (OTHER_TILES, False, True, "FA-2 is correct, but its tiles differ from Step's", "(2, 1)"),
    (NO_NAIVE, True, True, "FA-2 runs in 20.0 µs", ""),
    (interpreted("naive"), None, True, "Naive PyTorch is correct", NOT_TILED),
    (
        interpreted("naive", "fa2"),
        True,
        True,
        "FA-2 is correct and matches Step in every tile",
        "Naive PyTorch is correct too.",
    ),
    (
        interpreted(*ALL, refused=GPU),
        True,
        True,
        "FA-1 and FA-2 are correct and match Step in every tile",
        "Naive PyTorch and Standard are correct too. 5 methods need a GPU.",
    ),
    (interpreted("naive", "fa2", same=None), None, True, "FA-2 is correct", "too many tiles"),
    (TWO_HEADS, True, True, "4 times as fast as naive", ""),
    (SENTENCE, True, True, "4 times as fast as naive", ""),
]


@pytest.mark.parametrize(("result", "agrees", "right", "headline", "sentence"), STATES)
def test_what_a_run_says(result, agrees, right, headline, sentence):
    state = shown(result)
    assert (state["agrees"], state["right"]) == (agrees, right)
    assert state["headline"] == headline
    assert sentence in f"{state['sentence']} {state['html']}"
    assert state["provenance"].startswith(WORDS), "of what kind the figures are"


def tiles_of(html: str) -> dict[int, dict[str, str]]:
    """The tiles of a map by their places, each with its attributes."""
    tags = [attributes for _, attributes in Strict(html).tags]
    return {int(x["data-tile"]): x for x in tags if "data-tile" in x}


def test_a_wrong_tile_is_on_the_map():
    wrong = tiles_of(shown(OTHER_TILES)["html"])
    assert [k for k, tile in wrong.items() if tile["data-kind"] == "x"] == [9]
    assert [k for k, tile in wrong.items() if tile["aria-pressed"] == "true"] == [9]
    right = tiles_of(shown(live())["html"])
    assert right[9]["data-step"] == "4", "it opens on Step"
    assert 11 not in right, "it is skipped"


def test_a_run_that_was_timed_opens_with_its_times():
    assert shown(live())["first"] == "fast"
    assert shown(interpreted("naive", "fa2"))["first"] == "claims"
    assert shown(changed(1, right=False))["first"] == "claims"


def bars_of(result: dict) -> list[tuple[float, str]]:
    """The share of the longest and what is said of each bar of Fast."""
    html = shown(result)["html"].partition('data-claim="fast"')[2].partition("</section>")[0]
    return [
        (float(share), unescape(tip))
        for tip, share in re.findall(r'data-tip="([^"]*)"><b>.*?--share:([\d.]+)', html)
    ]


def test_one_bar_is_to_scale_with_another():
    assert bars_of(live()) == [(1, "Naive PyTorch, 80.0 µs"), (0.25, "FA-2, 20.0 µs")]
    long = changed(0, median_ms=8.0)
    long["rows"].append(live()["rows"][1] | {"method": "sdpa_flash", "median_ms": 0.03})
    (naive, cut), (flash, _), _ = bars_of(long)
    assert naive == 1 and cut.endswith(run_claims.t("bar.cut", times=8.0 / (0.03 / flash)))


def test_the_time_of_a_call_stands_beside_gpu_time():
    looped = {"loop_ms": 0.125, "loop_p20_ms": 0.12, "loop_p80_ms": 0.13, "loop_runs": 5}
    looped |= {"loop_calls": 100, "host_us": 31.4, "host_p20_us": 30.0, "host_p80_us": 33.0}
    result = changed(1, **looped, host_runs=100)
    assert not misfit(result, Result)
    assert bars_of(result)[1][1] == "FA-2, 20.0 µs, 0.125 ms a call"
    assert "launch included" in shown(result)["html"], "what a call is beside GPU time"
    assert "launch included" not in shown(live())["html"], "no stroke, no words"
    html = shown(result)["tabs"]["time"]
    ((head, _, row),) = tables_of(html)
    fa2 = dict(zip(head, row, strict=True))
    assert fa2["call in a loop, ms"] == "0.1250" and fa2["GPU time, ms"] == "0.0200"
    assert "in a CUDA graph, ms" not in fa2, "nobody knows it"
    texts = words_of(html)
    assert "of 30 interleaved runs" in texts and "of 5 loops of 100 calls" in texts
    assert "power limit" in texts, "why a call in a loop may take longer (RP 15)"


def test_m_and_l_of_the_kernel_stand_beside_those_of_step():
    (_, *seen), _ = tables_of(shown(live())["tabs"]["tiles"])
    assert len(seen) == 10
    values = ["−0.5000000", "−0.5000000", "1.2500000", "1.0000000"]
    assert seen[1] == ["(1, 0)", "4", *values]
    few = live()
    few["rows"][1]["same"] = few["rows"][1]["same"] | {"tiles": 99, "against": "float64"}
    html = shown(few)["tabs"]["tiles"]
    assert "10 tiles that differ most" in html and "m in float64" in tables_of(html)[0][0]


def test_the_rules_are_said_with_their_numbers():
    html = shown(live())["tabs"]["errors"]
    assert tables_of(html)[0][2] == [
        *("FA-2", "2.0 × 10⁻⁷", "0.83 ×", "4.8 × 10⁻⁷", "3.0 × 10⁻⁷", "2.2 × 10⁻⁷"),
        *("1.0 × 10⁻⁶", "0.20"),
    ]
    assert "u = 2⁻⁸" in html
    signed = changed(1, signed={"error": 1e-4, "allowed": 5e-4})
    assert "at 0.20 of it" in shown(signed)["tabs"]["errors"]
    *parts, error = [float(share) for share in re.findall(r"--share:([\d.]+)", html)]
    assert math.isclose(sum(parts), 1.0) and math.isclose(error, 0.2)


def test_the_histogram_is_the_counts():
    html = shown(live())["tabs"]["errors"]
    assert Strict(html).values("height") == ["0.75", "0.25"]
    tips = [text for text in Strict(html).values("data-tip") if "of the values" in text]
    assert tips[0] == "FA-2: 75.0 % of the values are about 1.3 × 10⁻⁷ from float64"


def test_the_roofline_has_a_point_for_each_method():
    tab = shown(live())["roofline"]
    assert {one["name"]: (one["x"], one["y"]) for one in tab["points"]} == {
        "Naive PyTorch": (200.0, 25.0),
        "FA-2": (200.0, 100.0),
    }
    assert [one["stores"] for one in tab["points"]] == ["stores S and P", ""]
    assert (tab["peak"], tab["hbm"]) == (780.0, 4.2)


def test_why_this_backend_is_said_of_a_run_and_of_a_record():
    html = shown(live())["tabs"]["backend"]
    assert f"✓</b>{METHODS['sdpa_cudnn']}: picked" in html and "&lt;no&gt;</li></ul>" in html
    old = recorded.closest(MEASURED)
    assert old["chooser"], "asked on the card, so that a page without a GPU can say it (RP 13)"
    html = shown(interpreted("naive", "fa2"))["tabs"]["backend"]
    assert "✓" in html and "recorded on NVIDIA H200" in html


@pytest.mark.parametrize("name", record_rows.RECORDS)
def test_every_record_can_stand_for_the_speed_of_a_run(name):
    point = record_rows.KEYS[:-1]  # all but the method
    rows = {tuple(row[key] for key in point): row for row in record_rows.rows_in(name)}
    for row in rows.values():
        found = recorded.nearest(RunRequest.from_query(query_of(name, row)))
        claim = run_claims.fast(found)
        timed = [one for one in found["rows"] if "median_ms" in one]
        assert len(claim["rows"]) == min(run_claims.MOST_BARS, len(timed)) > 0
        downloads.run_rows(found)


def test_a_record_that_is_not_the_problem_is_called_the_nearest():
    far = RunRequest(Problem(5000, 64, 64, 64, dtype="bf16", inputs="random"), ("naive", "fa2"))
    assert run_tabs.record_note(recorded.closest(far)).startswith("the nearest on record: 4,096")
    assert run_tabs.record_note(recorded.closest(MEASURED)).startswith("recorded: 4,096 tokens")


def test_clocks_of_several_points_are_a_range():
    def time_of(after_timing: list[str]) -> str:
        return words_of(shown(live() | {"after_timing": after_timing})["tabs"]["time"])

    text = time_of(["1965 MHz, 3201 MHz, 603.00 W, 52", "1545 MHz, 3201 MHz, 690.4 W, 58", "[N/A]"])
    assert "1,545 to 1,965 MHz (memory 3,201 MHz), at 603 to 690 W" in text
    assert "did not report" in time_of(["nvidia-smi is not there"])


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


# ---- a run on its way


def test_a_refused_run_links_the_nearest_that_fits():
    request = RunRequest(Problem(n=16384, block_q=64, block_k=64), ("naive", "fa2"))
    state = run_state.refused("Too much.", request, CPU)
    near = run_state.nearest_that_fits(request, CPU)
    assert near and near.problem.n < 16384
    assert state["sentence"] == "Too much." and f"run-n={near.problem.n}" in state["link"][1]
    assert run_state.refused("Bad.", None, CPU)["link"] is None
    fits = RunRequest(Problem(), ("hopper",))
    assert run_state.refused("No GPU.", fits, CPU)["link"] is None, "no size helps (RP 14)"


@pytest.mark.parametrize("method", ["standard", "fa1", "fa2", "fa2_split"])
@pytest.mark.parametrize("mask", ["full", "causal", "causal&window:5,0"])
@pytest.mark.parametrize("heads", [1, 3])
def test_lanes_count_the_tiles_of_the_trace(method, mask, heads):
    request = RunRequest(Problem(n=64, mask=mask), (method,), heads=heads)
    visited = int((tiling.kinds(request.problem) != tiling.SKIPPED).sum())
    if method == "standard":
        visited = request.problem.Tr * request.problem.Tc
    total = request.problem.Tr * heads if method != "standard" else visited * heads
    lanes = [Lane(0.0, None, done, total) for done in range(total + 1)]
    work = [run_lanes.work_of(request, method, lane) for lane in lanes]
    done = [one.done for one in work]
    assert done == sorted(done) and done[0] == 0 and work[0].all == heads * visited
    over = run_lanes.work_of(request, method, Lane(0.0, 1.0, total, total))
    assert over.done == over.all == heads * visited
    assert over.cells.count("d") == (256 if method == "standard" else visited)


def test_a_run_on_its_way_says_where_it_is():
    request = RunRequest(Problem(n=64), ("naive", "fa2"))
    lanes = {"naive": Lane(0.0, 1.0), "fa2": Lane(1.0, None, 5, 16)}
    job = Job(request, stage="running", method="fa2", lanes=lanes)
    state = run_state.running(job, {"naive": 1.0, "fa2": 2.0}, 3.0, 4.0, CPU)
    naive, fa2 = run_lanes.make_lanes(request, lanes, {}, is_gpu=False)
    assert naive["state"] == "done" and fa2["status"] == "70 of 136"
    assert state["headline"] == "FA-2 has finished 70 of 136 tiles"
    assert fa2["row"] == 10, "the longest rows first"
    Strict(state["html"])
    assert "rows 40 to 43" in state["html"] and 'data-kind="n" d="M0 10H11v1H0z"' in state["html"]
    assert state["note"][0] == "3 s so far" and 0 < state["progress"] < 1
    late = run_state.running(job, {}, 30.0, 4.0, CPU)
    assert late["note"][1] == "longer than the 4 s expected: this machine is busy"


@pytest.mark.parametrize(
    ("position", "seconds", "button"),
    [(1, 20.4, "2nd in line, about 20 s"), (2, None, "3rd in line"), (11, 1.0, "12th in line")],
)
def test_a_run_that_waits_says_its_place(position, seconds, button):
    assert run_state.waiting(position, seconds)["button"].startswith(button)


# ---- masks


def test_masks_are_drawn_to_scale_and_sorted_by_gain():
    data, view = run_masks.pictures(), run_masks.view()
    Strict(view["html"])
    gains = [one["gain"] for one in data["masks"]]
    assert gains == sorted(gains, reverse=True) and len(gains) == 6
    n = data["n"]
    for one in data["masks"]:
        kept = parse(one["mask"]).keep(n, n).reshape(16, n // 16, 16, n // 16)
        cells = np.array([*one["cells"]]).reshape(16, 16) == "n"
        assert (cells == kept.any(axis=(1, 3))).all()
        rows = {
            r["method"]: r
            for r in record_rows.rows_in(record_rows.MASKS)
            if (r["mask"], r["score"], r["n"]) == (one["mask"], one["score"], n)
        }
        ours, other = (rows[name]["median_ms"] for name in ("hopper", "flex"))
        assert f"{ours:#.3g} ms, FlexAttention {other:#.3g} ms" in view["html"]
        assert (one["ours_ms"], one["other_ms"], one["gain"]) == (ours, other, other / ours)
