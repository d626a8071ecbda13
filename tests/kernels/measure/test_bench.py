"""The benchmark's rows have the keys and types of every other result, without a GPU as with one."""

from __future__ import annotations

import pytest

from explainer.engine.results import PointRow, ran
from kernels import INTERPRETED
from kernels.measure import bench
from kernels.measure.contenders import Problem
from kernels.measure.memory import peak_bytes
from kernels.measure.timing import Times
from tests.schema import misfit


class Small(Problem):
    """Its tensors lie where there is no GPU."""

    def tensors(self, seed=0, device="cpu"):
        return super().tensors(seed, "cpu")


@pytest.mark.skipif(not INTERPRETED, reason="on the CPU the kernels need Triton's interpreter")
@pytest.mark.parametrize("causal", [False, True], ids=["full", "causal"])
def test_rows_keep_to_the_one_vocabulary(monkeypatch, causal):
    """All but the clock is real."""
    monkeypatch.setattr(bench, "peak_bytes", lambda function, device: peak_bytes(function, "cpu"))
    took = Times(2.0, 1.5, 2.5, 3)
    monkeypatch.setattr(bench, "interleave", lambda functions, runs: dict.fromkeys(functions, took))
    names = ("naive", "standard", "fa2", "sdpa_flash")
    rows = bench.measure(Small(40, 16, causal, "fp32", 1, 2), names, 3, {})
    assert not misfit(rows, list[PointRow])
    assert [row["method"] for row in rows] == list(names)
    assert [row["method"] for row in ran(rows)] == ["naive", "standard", "fa2"]
    assert rows[-1]["refused"] == "It needs an NVIDIA GPU."
    assert all(row["mask"] == ("causal" if causal else "full") for row in rows)
    flops = 4 * 2 * 40 * 40 * 16 * (0.5 if causal else 1)
    assert all(row["tflops"] == round(flops / 2.0 / 1e9, 1) for row in ran(rows))
