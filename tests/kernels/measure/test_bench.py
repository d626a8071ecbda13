"""The benchmark's rows have the keys and types of every other result, without a GPU as with one."""

from functools import partial

import pytest

from explainer.engine.results import PointRow, ran
from kernels.measure import bench
from kernels.measure.contenders import GPU_ALONE, random_tensors
from kernels.measure.memory import peak_bytes
from kernels.measure.timing import Times
from kernels.spec.cases import BenchmarkCase
from tests.kernels.attention_checks import interpreter_only
from tests.schema import misfit


@interpreter_only
@pytest.mark.parametrize("mask", ["full", "causal"])
def test_rows_keep_to_the_one_vocabulary(monkeypatch, mask):
    """All but the clocks is real."""
    monkeypatch.setattr(bench, "random_tensors", partial(random_tensors, device="cpu"))
    monkeypatch.setattr(bench, "peak_bytes", lambda function, device: peak_bytes(function, "cpu"))
    took = Times(2.0, 1.5, 2.5, 3)
    monkeypatch.setattr(bench, "interleave", lambda functions, runs: dict.fromkeys(functions, took))
    called = {"loop_ms": 2.5, "loop_runs": 3, "loop_calls": 10, "host_us": 30.0, "host_runs": 5}
    monkeypatch.setattr(
        bench, "call_times", lambda functions, gpu_ms, graphs: dict.fromkeys(gpu_ms, called)
    )
    names = ("naive", "standard", "fa2", "sdpa_flash")
    rows = bench.measure(BenchmarkCase(40, 16, mask, "fp32", 1, 2), names, 3, {})
    assert not misfit(rows, list[PointRow])
    assert [row["method"] for row in rows] == list(names)
    assert [row["method"] for row in ran(rows)] == ["naive", "standard", "fa2"]
    assert rows[-1]["refused"] == GPU_ALONE["sdpa_flash"]
    assert all(row["mask"] == mask for row in rows)
    assert all(row.items() >= called.items() for row in ran(rows)) and "loop_ms" not in rows[-1]
    flops = 4 * 2 * 40 * 40 * 16 * (0.5 if mask == "causal" else 1)
    assert all(row["tflops"] == round(flops / 2.0 / 1e9, 1) for row in ran(rows))


def test_what_is_compiled_for_each_problem_is_measured_at_the_readmes():
    problems = bench.cases(bench.parse([]))
    readme = [p for p in problems if bench._is_of_twelve(p)]
    assert problems[:12] == readme, "first of all"
    assert len(problems) == 72 and bench.cases(bench.parse(["--twelve"])) == readme
