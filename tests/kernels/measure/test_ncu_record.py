"""The record of Nsight Compute has every shape and algorithm, and each kernel by its name."""

import json

from explainer.base.paths import RECORDED
from kernels.measure import ncu_record, ncu_target

RECORD = RECORDED / "traffic_nvidia_h200.json"
NAMES = {
    "fa2": ["fa2_kernel"],
    "fa1": ["fa1_kernel"],
    "standard": ["scores_kernel", "softmax_kernel", "output_kernel"],
}


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
