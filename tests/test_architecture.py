"""Imports point down the floors of DESIGN.md, and what must stay light stays light."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
FLOORS = {
    1: ("own", "problem", "formats", "inputs", "tiling", "hardware", "request", "workload"),
    2: (
        "schedule",
        "traffic",
        "trace",
        "wire",
        "sram",
        "listing",
        "tour",
        "agreement",
        "recorded",
        "admission",
        *(
            "records",
            "grid",
            "timeline",
            "pace",
            "footprint",
            "capacity",
            "choices",
            "decode",
            "series",
        ),
        *("warps", "warp_loops", "placed", "learn"),
    ),
    3: (
        *("bundle", "export", "routes", "compressed", "entry", "logs", "gate", "theme", "player"),
        *("html", "script", "figures", "report", "sweeps", "charts", "drawings", "picker"),
        *("verdict", "details", "downloads"),
        *("memory_report", "tiles_report", "parallel_report", "code", "warp_player"),
        *("learn_report", "learn_player"),
        *("engine", "child", "worker", "jobs", "judging", "zero"),
    ),
    4: ("pages",),
}
FLOOR_OF = {name: floor for floor, names in FLOORS.items() for name in names}
OWN = sorted(
    [*ROOT.glob("explainer/**/*.py"), *ROOT.glob("kernels/*.py"), ROOT / "app.py"],
)


def imported(path: Path) -> set[str]:
    """Absolute names of the modules that a file imports, wherever in the file."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found |= {f"{node.module}.{alias.name}" for alias in node.names} | {node.module}
    return found


def module(path: Path) -> str:
    """Which entry of ``FLOOR_OF`` a file of explainer/ is."""
    return path.relative_to(ROOT / "explainer").parts[0].removesuffix(".py")


@pytest.mark.parametrize("path", OWN, ids=lambda p: str(p.relative_to(ROOT)))
def test_imports_point_down(path):
    names = imported(path)
    ours = {n.split(".")[1] for n in names if n.startswith("explainer.")}
    if path.parent.name == "kernels":
        assert not ours and not any(n.split(".")[0] in ("explainer", "gradio") for n in names)
    elif path.name == "app.py":
        assert not any(n.split(".")[0] in ("kernels", "torch", "triton") for n in names)
    elif path.name != "__init__.py":
        floor = FLOOR_OF[module(path)]
        higher = {n: FLOOR_OF[n] for n in ours if FLOOR_OF[n] > floor}
        assert not higher, f"floor {floor} imports {higher}"
        if floor < 3:
            assert not any(n.split(".")[0] in ("gradio", "kernels", "torch") for n in names)
        elif module(path) not in ("jobs", "worker", "judging"):
            assert not any(n.split(".")[0] in ("kernels", "torch") for n in names)


@pytest.mark.parametrize(
    ("imports", "absent"),
    [
        (
            [f"explainer.{n}" for f in (1, 2) for n in FLOORS[f]],
            ("torch", "triton", "gradio", "plotly"),
        ),
        (["app"], ("torch", "triton", "kernels")),
        (["kernels"], ("gradio", "explainer")),
    ],
    ids=["floors 1 and 2", "the web process", "kernels"],
)
def test_a_fresh_import_stays_light(imports, absent):
    code = f"import sys, {', '.join(imports)}; print(*[m for m in {absent!r} if m in sys.modules])"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == ""


def test_pages_fetch_nothing_from_elsewhere():
    found = {}
    for path in [*ROOT.glob("assets/**/*.js"), *ROOT.glob("assets/**/*.css")]:
        urls = set(re.findall(r"(?:https?:)?//[\w.-]+\.\w+[^\s\"')]*", path.read_text()))
        urls -= {"http://www.w3.org/2000/svg", "http://www.w3.org/1999/xhtml"}
        urls -= {"http://www.w3.org/1998/Math/MathML"}  # names, not places
        if urls:
            found[path.name] = urls
    assert not found


def test_files_stay_short():
    long = {
        str(path.relative_to(ROOT)): lines
        for path in [*OWN, *ROOT.glob("assets/**/*.js"), *ROOT.glob("tests/**/*.py")]
        if (lines := len(path.read_text().splitlines())) > 360
    }
    assert not long
