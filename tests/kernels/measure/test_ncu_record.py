"""Nsight Compute's CSV → rows: a small one made here, and the one that the page shows."""

from __future__ import annotations

import itertools
import json

import pytest

from explainer.base.paths import RECORDED
from kernels.measure import ncu_record, ncu_target

RECORD = RECORDED / "traffic_nvidia_h200.json"
NAMES = {
    "fa2": ["fa2_kernel"],
    "fa1": ["fa1_kernel"],
    "standard": ["scores_kernel", "softmax_kernel", "output_kernel"],
}
UNITS = [("byte", 1), ("Kbyte", 1e3), ("Mbyte", 1e6), ("Gbyte", 1e9), ("byte", 1)]


def made(shapes, *, without: int | None = None, more: int = 0) -> tuple[str, list[dict]]:
    """(CSV of these shapes, the rows that it stands for); amounts all differ."""
    lines = ["==PROF== Connected to process 1234 (python3)", "==PROF== Profiling ..."]
    lines.append('"ID","Kernel Name","Metric Name","Metric Unit","Metric Value"')
    expected, launch, amount = [], 0, 1000

    def add(name: str, metric: str, unit: str, value: int) -> None:
        if launch != without:
            lines.append(f'"{launch}","{name}(int, float)","{metric}","{unit}","{value:,}"')

    for (n, d, side), order in itertools.product(shapes, ncu_target.ORDERS):
        moved, lasted = {}, {}
        for name in NAMES[order]:
            moved[name], lasted[name] = {}, None
            for (metric, key), (unit, factor) in zip(
                ncu_record.METRICS.items(), UNITS, strict=True
            ):
                amount += 1
                moved[name][key] = round(amount * factor)
                add(name, metric, unit, amount)
            if launch % 2:
                lasted[name] = (4_000 + launch) * 1000
                add(name, ncu_record.DURATION, "us", 4_000 + launch)
            launch += 1
        row = {"n": n, "d": d, "side": side, "order": order}
        expected.append(row | {"measured_bytes": moved, "measured_ns": lasted})
    for _ in range(more):
        add("fa2_kernel", "dram__bytes_read.sum", "byte", 1)
        launch += 1
    return "\n".join(lines) + "\n", expected


@pytest.fixture
def shapes(monkeypatch):
    monkeypatch.setattr(ncu_target, "SHAPES", ((256, 64, 64), (4096, 128, 32)))
    return ncu_target.SHAPES


def test_rows_of_a_small_csv(shapes):
    text, expected = made(shapes)
    assert len(expected) == 6 and '"1,001"' in text
    assert ncu_record.rows(text) == expected


def test_a_launch_too_few(shapes):
    with pytest.raises(ValueError, match=r"^4096, 128, 32, standard: 2 launches$"):
        ncu_record.rows(made(shapes, without=9)[0])


def test_a_launch_too_many(shapes):
    with pytest.raises(ValueError, match=r"^2 launches too many$"):
        ncu_record.rows(made(shapes, more=2)[0])


def test_the_file_that_is_written(shapes, tmp_path):
    text, expected = made(shapes)
    source, target = tmp_path / "ncu.csv", tmp_path / "out.json"
    source.write_text(text)
    ncu_record.main(str(source), str(target))
    found = json.loads(target.read_text())
    assert found["rows"] == expected
    assert found["command"].startswith("ncu ") and found["command"].endswith("ncu_target")
    asked = (*ncu_record.METRICS, ncu_record.DURATION)
    assert all(metric in found["command"] for metric in asked)
    assert {"device", "date", "versions", "commit", "notes"} <= set(found)


def test_the_record_is_of_every_shape_and_order():
    record = json.loads(RECORD.read_text())
    assert record["device"] == "NVIDIA H200" and record["command"].startswith("ncu ")
    found = [(r["n"], r["d"], r["side"], r["order"]) for r in record["rows"]]
    assert found == [(*s, o) for s in ncu_target.SHAPES for o in ncu_target.ORDERS]
    for r in record["rows"]:
        assert list(r["measured_bytes"]) == NAMES[r["order"]]  # which kernel a launch was
        assert list(r["measured_ns"]) == NAMES[r["order"]] and min(r["measured_ns"].values()) > 1000
        for values in r["measured_bytes"].values():
            assert set(values) == set(ncu_record.METRICS.values())
            # K, V and Q come from HBM at least once: caches are flushed before
            assert values["dram_read"] > 0 and values["l2_to_sm"] > 0
