"""The README's figures are the records'."""

from __future__ import annotations

import itertools
import json

from explainer.base.paths import ASSETS, ROOT
from kernels.measure import twelve_points


def rows(ms: dict[str, float], **more) -> list[dict]:
    """Every point by each of these, N / 1024 as slow as said."""
    made = []
    for d, mask, n in itertools.product(
        twelve_points.DIMENSIONS, twelve_points.MASKS, twelve_points.LENGTHS
    ):
        for name, one in ms.items():
            row = {"d": d, "mask": mask, "n": n, "dtype": "bf16", "method": name}
            time = one * n / 1024
            made.append(row | {"median_ms": time, "tflops": 500.0} | more.get(name, {}))
    return made


ALL = {"hopper": 0.2, "fa2": 0.3, "sdpa_flash": 0.4, "sdpa_cudnn": 0.21, "fa4": 0.19}


def test_ratios_are_of_both_times():
    loops = {"hopper": {"loop_ms": 0.25}, "sdpa_cudnn": {"loop_ms": 0.2}}
    found = twelve_points.twelve_points(rows(ALL, **loops))
    assert len(found["points"]) == 12
    assert (found["geomean_to_cudnn"], found["least_to_flash"]) == (1.05, 2.0)
    assert (found["least_to_fa4"], found["geomean_loop_to_cudnn"]) == (0.95, 0.8)
    assert "geomean_loop_to_flash" not in found and "least_loop_to_fa4" not in found
    point = found["points"][0]
    assert point["loop_ms"] == {"hopper": 0.25, "sdpa_cudnn": 0.2}
    assert (point["to_fa4"], point["loop_to_cudnn"]) == (0.95, 0.8)


def test_an_incomplete_record_has_no_points():
    assert twelve_points.twelve_points(rows(ALL)[1:]) is None


def test_the_readme_says_what_the_records_say():
    forward, backward = (
        json.loads((ASSETS / "recorded" / f"{name}nvidia_h200.json").read_text(encoding="utf-8"))
        for name in ("", "backward_")
    )
    points = twelve_points.twelve_points(forward["rows"])
    of = {"forward": [], "backward": []}
    for short, name in twelve_points.OTHERS.items():
        of["forward"].append((points[f"geomean_to_{short}"], points[f"least_to_{short}"]))
        ratios = backward["ratios"][name]["hopper"]
        of["backward"].append((ratios["geomean"], ratios["least"]))
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    for pass_, found in of.items():
        cells = " | ".join(f"{mean:.2f} ({least:.2f})" for mean, least in found)
        assert f"| {pass_} | {cells} |" in readme
