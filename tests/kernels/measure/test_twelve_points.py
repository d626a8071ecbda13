"""The README's figures are the records'."""

import json

from explainer.base.paths import ASSETS, ROOT
from kernels.measure import twelve_points


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
