"""``node --test`` on the browser's pure modules, against traces and states that Python writes.

Each file of tests must also refuse what is wrong: faults are planted in the fixtures.
"""

from __future__ import annotations

import json
import os
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from explainer.algorithms.schedule import schedule
from explainer.base.amounts import amount
from explainer.engine import record_rows
from explainer.problem import Problem
from explainer.web.wire import pack
from kernels.spec.fields import ORDERS
from tests.by_hand import drawn
from tests.js.backward_fixtures import BACKWARD, backward
from tests.js.fixtures import row_view, walk, write, write_race, write_zoom
from tests.js.links_fixtures import links
from tests.js.mask_fixtures import masks
from tests.js.pictures_fixtures import pictures
from tests.js.problems import LINKS, LONG, LONGEST, PROBLEMS, STORIES, problem_of
from tests.tools import NODE

HERE = Path(__file__).parent
FILES = sorted(HERE.glob("*.test.mjs"))
# Every size a strip of the Step page can have, unit borders, and halves that must go to the even.
BYTES = sorted(
    {*range(0, 2**17, 4), *(k * 2**17 for k in range(2**12))}
    | {2**p + k for p in range(2, 46) for k in (-5, -1, 0, 1, 3 * 2**p // 8, 9 * 2**p // 128)}
)


def node(file: Path, folder: Path) -> subprocess.CompletedProcess:
    """One file of tests on one folder of fixtures."""
    command = [NODE, "--test-reporter=spec", str(file)]
    environment = os.environ | {"FIXTURES": str(folder), "FORCE_COLOR": "0"}
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120)


MAKERS = {"walk": walk, "row_view": row_view, "links": links, "backward": backward}


def write_all(folder: Path, kind: str, problems: dict[str, Problem]) -> None:
    """Write the case of this kind of each Problem, and its trace."""
    for name, problem in problems.items():
        packed = pack(problem, "backward" if kind == "backward" else "forward")
        write(folder, f"{kind}-{name}", MAKERS[kind](problem), trace=packed)


def named(queries: list[str]) -> dict[str, Problem]:
    return {query or "default": problem_of(query) for query in queries}


@pytest.fixture(scope="module")
def fixtures(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("fixtures")
    walks = named([*PROBLEMS, BACKWARD[0]]) | {f"long-{p.order}": p for p in LONG}
    for k, problem in enumerate(drawn(20)):
        write_race(folder, str(k), problem)
        walks |= {f"drawn{k}-{order}": replace(problem, order=order) for order in ORDERS}
    write_all(folder, "walk", walks)
    write(folder, "walk-longest", walk(LONGEST, every=97), trace=pack(LONGEST))
    for problem in LONG:
        steps = [k for k, v in enumerate(schedule(problem)) if v.kind != "skipped"]
        write_zoom(folder, problem.order, problem, steps[:: len(steps) // 6] + steps[-1:])
    for kind, queries in (("row_view", STORIES), ("links", LINKS), ("backward", BACKWARD)):
        write_all(folder, kind, named(queries))
    amounts = [(n, amount(n)) for n in BYTES]
    tables = {"masks": masks(), "pictures": pictures(), "records": record_rows.table()}
    for name, table in (tables | {"amounts": amounts}).items():
        write(folder, f"{name}-all", table)
    return folder


@pytest.mark.parametrize("file", FILES, ids=lambda f: f.name)
def test_the_model_agrees_with_numpy(file, fixtures):
    done = node(file, fixtures)
    assert done.returncode == 0, done.stdout[-8_000:] + done.stderr
    assert "fail 0" in done.stdout and "pass 0" not in done.stdout


# Where a fixture is spoilt: its kind, and the way to the value that changes.
FAULTS = [
    *("walk places/-1/rows/12/m_new", "walk places/0/rows/0/m_new", "walk places/-1/reads"),
    *("walk transfers/0/0/0", "walk places/2/phase", "walk places", "walk after/0/O/0/0"),
    *("walk places/-1/acc/0", "walk hidden/-1/0", "walk transfers/1", "walk tiles/1"),
    *("walk kinds/0/0", "walk places/0/finished", "walk sram/h100/0"),
    *("links reached/Q.0.0/1", "links moved/3/read", "links products/9/5"),
    *("links arriving/4/after/1/2", "backward places/30/grads/dK/1/0/0"),
    *("backward places/40/added/0", "backward places/3/stats/4/D", "backward dense/dS/9/5"),
    *("pictures arrows/7/on", "pictures arrows/3/q/0", "race byte/fa1/4"),
    *("row_view rows/9/forgotten_l", "zoom visits/0/after/0/0"),
]


def spoil(value: Any, way: list[str]) -> Any:
    """Return the value with another number, word, truth or length of a list there."""
    if way:
        key = way[0] if isinstance(value, dict) else int(way[0])
        value[key] = spoil(value[key], way[1:])
        return value
    if isinstance(value, bool):
        return not value
    return value[:-1] if isinstance(value, str | list) else (value or 0) + 1


@pytest.fixture(scope="module")
def right(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small case of each kind, in which nothing is wrong."""
    folder = tmp_path_factory.mktemp("right")
    write_race(folder, "one", Problem())
    write_zoom(folder, "one", LONG[-1], [3])
    write(folder, "pictures-all", pictures())
    for kind in MAKERS:
        write_all(folder, kind, named(["" if kind == "links" else BACKWARD[0]]))
    write_all(folder, "walk", named([""]))
    return folder


@pytest.mark.parametrize("fault", FAULTS)
def test_a_planted_fault_is_found(fault, right):
    kind, way = fault.split()
    *_, path = sorted(right.glob(f"{kind}-*.json"))
    unchanged = path.read_text()
    path.write_text(json.dumps(spoil(json.loads(unchanged), way.split("/"))))
    done = node(HERE / f"{kind}.test.mjs", right)
    path.write_text(unchanged)
    assert done.returncode == 1 and "AssertionError" in done.stdout, done.stdout
    assert kind == "pictures" or path.stem in done.stdout  # an arrow names its vectors
