"""The README's table is the record's."""

from __future__ import annotations

import itertools
import json

import pytest

from kernels.measure import readme_table

ROWS = json.loads(readme_table.RECORD.read_text(encoding="utf-8"))["rows"]


def rows(ms: dict[str, float], **more) -> list[dict]:
    """Every point by each of these, N / 1024 as slow as said."""
    made = []
    for d, mask, n in itertools.product(
        readme_table.DIMENSIONS, readme_table.MASKS, readme_table.LENGTHS
    ):
        for name, one in ms.items():
            row = {"d": d, "mask": mask, "n": n, "dtype": "bf16", "method": name}
            time = one * n / 1024
            made.append(row | {"median_ms": time, "tflops": 500.0} | more.get(name, {}))
    return made


ALL = {"hopper": 0.2, "fa2": 0.3, "sdpa_flash": 0.4, "sdpa_cudnn": 0.21, "fa4": 0.19}


def test_ratios_are_of_both_times():
    loops = {"hopper": {"loop_ms": 0.25}, "sdpa_cudnn": {"loop_ms": 0.2}}
    told = readme_table.twelve_points(rows(ALL, **loops))
    assert len(told["points"]) == 12
    assert (told["geomean_to_cudnn"], told["least_to_flash"]) == (1.05, 2.0)
    assert (told["least_to_fa4"], told["geomean_loop_to_cudnn"]) == (0.95, 0.8)
    assert "geomean_loop_to_flash" not in told and "least_loop_to_fa4" not in told
    point = told["points"][0]
    assert point["loop_ms"] == {"hopper": 0.25, "sdpa_cudnn": 0.2}
    assert (point["to_fa4"], point["loop_to_cudnn"]) == (0.95, 0.8)


def test_an_incomplete_record_has_no_points():
    assert readme_table.twelve_points(rows(ALL)[1:]) is None
    with pytest.raises(ValueError, match="lacks one of the twelve points"):
        readme_table.table(rows(ALL)[1:])


def test_the_table_has_what_the_record_has():
    head, _, first, *_, mean, least = readme_table.table(rows(ALL)).split("\n")
    assert head.endswith("| FA-4 | TFLOP/s | × flash | × cuDNN | × FA-4 |")
    assert first == "| 64 | 1,024 | full | 200 | 300 | 400 | 210 | 190 | 500 | 2.00 | 1.05 | 0.95 |"
    assert "geometric mean" in mean and least.endswith("| 2.00 | 1.05 | 0.95 |")
    less = {name: ms for name, ms in ALL.items() if name != "fa4"}
    loops = {name: {"loop_ms": 0.25} for name in ("hopper", "sdpa_cudnn")}
    head, _, first, *_ = readme_table.table(rows(less, **loops)).split("\n")
    assert "FA-4" not in head
    assert "| 200 / 250 | 300 / – | 400 / – | 210 / 250 |" in first
    assert first.endswith("| 2.00 / – | 1.05 / 1.00 |")


def test_the_readme_has_the_records_table():
    readme = (readme_table.ROOT / "README.md").read_text(encoding="utf-8")
    again = "run `python -m kernels.measure.readme_table --readme`"
    assert readme_table.replace_table(readme, readme_table.table(ROWS)) == readme, again


def test_a_readme_without_a_table_is_refused():
    with pytest.raises(ValueError, match="has no table"):
        readme_table.replace_table("no table", "| d |")
