"""``node --test`` on the browser's pure modules, against traces and states that Python writes.

Each file of tests must also refuse what is wrong: faults are planted in the fixtures.
"""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from explainer.algorithms.schedule import schedule
from explainer.base.amounts import amount
from explainer.engine import record_rows
from explainer.problem import Problem
from kernels.spec.fields import ORDERS
from tests.by_hand import drawn
from tests.js.backward_fixtures import BACKWARD, write_backward
from tests.js.fixtures import write, write_race, write_row_view, write_walk, write_zoom
from tests.js.links_fixtures import write_links
from tests.js.mask_fixtures import write_masks
from tests.js.pictures_fixtures import write_pictures
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


@pytest.fixture(scope="module")
def fixtures(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("fixtures")
    for query in PROBLEMS:
        write_walk(folder, query or "default", problem_of(query))
    for problem in LONG:
        write_walk(folder, f"long-{problem.order}", problem)
        steps = [k for k, v in enumerate(schedule(problem)) if v.kind != "skipped"]
        write_zoom(folder, problem.order, problem, steps[:: len(steps) // 6] + steps[-1:])
    write_walk(folder, "longest", LONGEST, every=97)
    for query in STORIES:
        write_row_view(folder, query or "default", problem_of(query))
    for query in LINKS:
        write_links(folder, query or "default", problem_of(query))
    write_walk(folder, BACKWARD[0], problem_of(BACKWARD[0]))  # its forward
    for query in BACKWARD:
        write_backward(folder, query, problem_of(query))
    for k, problem in enumerate(drawn(20)):
        write_race(folder, str(k), problem)
        for order in ORDERS:
            query = problem.to_query() | {"order": order}
            write_walk(folder, f"drawn{k}-{order}", Problem.from_query(query))
    write_masks(folder)
    write_pictures(folder)
    write(folder, "records-all", record_rows.table())
    write(folder, "amounts-all", [(n, amount(n)) for n in BYTES])
    return folder


@pytest.mark.parametrize("file", FILES, ids=lambda f: f.name)
def test_the_model_agrees_with_numpy(file, fixtures):
    done = node(file, fixtures)
    assert done.returncode == 0, done.stdout[-8_000:] + done.stderr
    assert "fail 0" in done.stdout and "pass 0" not in done.stdout


def last(case: dict, key: str):
    """``key`` of the last place of a walk."""
    return case["places"][-1][key]


FAULTS = {
    "a statistic off by one bit": (
        "walk",
        lambda c: next(iter(last(c, "rows").values())).update(m_new=1e-30),
    ),
    "a number shown too early": ("walk", lambda c: c["places"][0]["rows"]["0"].update(m_new=0.5)),
    "one byte more": ("walk", lambda c: c["places"][-1].update(reads=last(c, "reads") + 1)),
    "bytes of another tensor": ("walk", lambda c: last(c, "perTensor").update(Q=[1, 0])),
    "another phase": ("walk", lambda c: c["places"][2].update(phase="sum")),
    "a place left out": ("walk", lambda c: c["places"].pop(5)),
    "another accumulator": ("walk", lambda c: c["after"][0]["O"][0].__setitem__(0, 3.0)),
    "an accumulator not yet divided": ("walk", lambda c: c["places"][-1].update(acc=["after", 0])),
    "a hidden score shown": ("walk", lambda c: c["hidden"][-1].__setitem__(0, True)),
    "another transfer": ("walk", lambda c: c["transfers"][1].pop()),
    "another map": ("walk", lambda c: c["tiles"].__setitem__(1, c["tiles"][0])),
    "another kind of tile": ("walk", lambda c: c["kinds"][0].__setitem__(0, "skipped")),
    "a finished row block too many": ("walk", lambda c: c["places"][0].update(finished=1)),
    "another card": ("walk", lambda c: c["sram"].update(h100=[False, 1])),
    "a row that a cell does not reach": ("links", lambda c: c["reached"]["Q.0.0"][1].pop()),
    "a block too many": ("links", lambda c: c["moved"][3]["read"].append("V.3")),
    "another product": ("links", lambda c: c["products"][9].__setitem__(5, 3.5)),
    "another output": ("links", lambda c: c["arriving"][4]["after"][1].__setitem__(2, 0.2)),
    "another sum of dK": (
        "backward",
        lambda c: c["places"][30]["grads"]["dK"][1][0].__setitem__(0, 3.0),
    ),
    "nothing added": ("backward", lambda c: c["places"][40].update(added=[0, 0, 0, 0])),
    "a D too early": ("backward", lambda c: c["places"][3]["stats"]["4"].update(D=0.5)),
    "another dS": ("backward", lambda c: c["dense"]["dS"][9].__setitem__(5, 3.0)),
    "another length": ("pictures", lambda c: c["arrows"][7].update(on=0.3)),
    "a tip beside its step": ("pictures", lambda c: c["arrows"][3].update(q=[0.3, 0.5])),
    "a visit late": ("race", lambda c: c["byte"]["fa1"].__setitem__(4, 0)),
    "another l without α": ("row_view", lambda c: c["rows"][9].update(forgotten_l=1.0)),
    "another O of one visit": ("zoom", lambda c: c["visits"][0]["after"][0].__setitem__(0, 3.0)),
}


@pytest.fixture(scope="module")
def right(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small case of each kind, in which nothing is wrong."""
    folder = tmp_path_factory.mktemp("right")
    write_race(folder, "one", Problem())
    write_zoom(folder, "one", LONG[-1], [3])
    write_pictures(folder)
    write_row_view(folder, "one", Problem(inputs="random", seed=9))
    write_links(folder, "default", Problem())
    for query in (BACKWARD[0], ""):
        write_walk(folder, query or "default", problem_of(query))
    write_backward(folder, BACKWARD[0], problem_of(BACKWARD[0]))
    return folder


@pytest.mark.parametrize("fault", FAULTS)
def test_a_planted_fault_is_found(fault, right):
    kind, change = FAULTS[fault]
    *_, path = sorted(right.glob(f"{kind}-*.json"))
    unchanged = path.read_text()
    case = json.loads(unchanged)
    change(case)
    path.write_text(json.dumps(case))
    done = node(HERE / f"{kind}.test.mjs", right)
    path.write_text(unchanged)
    assert done.returncode == 1 and "AssertionError" in done.stdout, done.stdout
    assert kind == "pictures" or path.stem in done.stdout  # an arrow names its vectors
