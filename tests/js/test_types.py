"""The types of a trace and a frame, written in comments, are checked without a build step."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from explainer.problem import Problem
from explainer.web.wire import has_numbers, pack
from tests.js.fixtures import header
from tests.js.problems import LONG
from tests.js.test_model import HERE, NODE

TSC = Path(sys.prefix) / "node_modules" / "typescript" / "bin" / "tsc"
MODULES = [
    (HERE / name).resolve()
    for name in re.findall(r'from "(.*)"', (HERE / "model.mjs").read_text(encoding="utf-8"))
]
TYPES = (HERE / "../../assets/js/model/types.js").resolve()
STRICT = [
    *("--noEmit", "--allowJs", "--checkJs", "--strict", "--noImplicitAny", "false"),
    *("--target", "es2024", "--lib", "es2024,dom,dom.iterable"),
    *("--module", "esnext", "--moduleResolution", "bundler", "--moduleDetection", "force"),
    *("--pretty", "false"),
]


def complaints(*files: Path) -> str:
    """What TypeScript has to say of these modules and of those that they import."""
    assert TSC.exists(), "TypeScript is missing: `make test` fetches it"
    command = [NODE, str(TSC), *STRICT, *map(str, files)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0 or done.stdout, done.stderr
    return done.stdout


def test_the_model_has_the_types_that_it_says():
    assert complaints(TYPES, *MODULES) == ""


def test_a_wrong_type_is_found(tmp_path):
    wrong = tmp_path / "wrong.js"
    model = next(path for path in MODULES if "export function frame(" in path.read_text("utf-8"))
    wrong.write_text(
        f'import {{ frame }} from "{model}";\n'
        f'/** @param {{import("{TYPES}").Trace}} trace */\n'
        "export const width = (trace) => trace.header.problem.blok_q + trace.header.version;\n"
        f'/** @param {{import("{TYPES}").Trace}} trace */\n'
        'export const known = (trace) => frame(trace, 0, "load").stats[0].m_new + 1;\n'
    )
    found = complaints(wrong)
    assert "'blok_q' does not exist" in found and "possibly 'undefined'" in found
    assert len(found.splitlines()) == 2, found


# What only an algorithm with several lanes has.
LANES = {"v_lane?", "lane_S?", "lane_P?"}


def keys(name: str) -> set[str]:
    """The fields of the object type ``name``."""
    text = TYPES.read_text(encoding="utf-8")
    body = re.search(rf"@typedef \{{\{{([^{{}}]*)\}}\}} {name}\b", text)[1]
    return set(re.findall(r"(\w+\??): ", body)) - LANES


SEVERAL = Problem(q_heads=2)
SPLIT = Problem(order="fa2_split")


@pytest.mark.parametrize("problem", [Problem(), LONG[0], SEVERAL, SPLIT], ids=str)
def test_the_types_name_what_python_writes(problem):
    found = header(pack(problem))
    assert keys("Header") == set(found) | {"dsink?"}
    several = found["problem"].pop("heads", None)  # where there are several
    assert bool(several) == (problem.q_heads > 1)
    assert keys("Problem") == set(found["problem"]) | {"heads?", "dropout?", "rope?"}
    assert not several or keys("Heads") == set(several)
    assert keys("Sram") | keys("Card") == {
        *found["sram"],
        *(key for card in found["sram"]["cards"].values() for key in card),
    }
    values = keys("Values") if has_numbers(problem) else set()
    lanes = {name.rstrip("?") for name in LANES} if problem is SPLIT else set()
    assert keys("Skeleton") | values | lanes == set(found["arrays"])
    assert all(keys("Directory") == set(entry) for entry in found["arrays"].values())


@pytest.mark.parametrize("score", ["none", "softcap:3"])
def test_the_types_name_what_python_writes_of_a_backward_pass(score):
    found = header(pack(Problem(score=score, sink=1), "backward"))
    assert {name.rstrip("?") for name in keys("Header")} == set(found)
    slope = {"slope"} if score != "none" else set()
    values = (keys("BackwardValues") - {"slope?"}) | slope
    assert keys("Skeleton") | values == set(found["arrays"])
