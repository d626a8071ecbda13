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
UNITS = {"byte": 1, "Kbyte": 1e3, "Mbyte": 1e6, "Gbyte": 1e9}
SHAPES = ((256, 64, 64), (4096, 128, 32))
KERNELS = [name for order in ncu_target.ORDERS for name in NAMES[order]] * len(SHAPES)


@pytest.fixture(autouse=True)
def few_shapes(request, monkeypatch):
    if "small" in request.node.name:
        monkeypatch.setattr(ncu_target, "SHAPES", SHAPES)


def csv_of(names: list[str]) -> str:
    """Nsight Compute's text of these launches: each amount is the number of its launch, + 1,000."""
    lines = ["==PROF== Connected to process 1234 (python3)"]
    lines.append('"ID","Kernel Name","Metric Name","Metric Unit","Metric Value"')
    for launch, name in enumerate(names):
        units = zip(ncu_record.METRICS, itertools.cycle(UNITS))
        for metric, unit in (*units, (ncu_record.DURATION, "us")):
            lines.append(f'"{launch}","{name}(int)","{metric}","{unit}","{1000 + launch:,}"')
    return "\n".join(lines) + "\n"


def test_a_small_csv_becomes_a_record(tmp_path):
    source, target = tmp_path / "ncu.csv", tmp_path / "out.json"
    source.write_text(csv_of(KERNELS))
    ncu_record.main(str(source), str(target))
    found, launch = json.loads(target.read_text()), 1000
    for row, (shape, order) in zip(
        found["rows"], itertools.product(SHAPES, ncu_target.ORDERS), strict=True
    ):
        assert (row["n"], row["d"], row["side"], row["order"]) == (*shape, order)
        assert list(row["measured_bytes"]) == NAMES[order]
        for name, moved in row["measured_bytes"].items():
            factors = (*UNITS.values(), 1)
            assert list(moved.values()) == [launch * factor for factor in factors]
            assert row["measured_ns"][name] == launch * 1000
            launch += 1
    asked = (*ncu_record.METRICS, ncu_record.DURATION)
    assert all(metric in found["command"] for metric in asked)
    assert {"device", "date", "versions", "commit", "notes"} <= set(found)


@pytest.mark.parametrize(
    ("names", "words"),
    [
        (KERNELS[:-1], "4096, 128, 32, standard: 2 launches"),
        (KERNELS + KERNELS[:2], "2 launches too many"),
    ],
)
def test_a_small_csv_of_other_launches_is_refused(names, words):
    with pytest.raises(ValueError, match=f"^{words}$"):
        ncu_record.rows(csv_of(names))


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
