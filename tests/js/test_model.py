"""``node --test`` on the browser's pure modules, against traces and states that Python writes."""

import os
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from urllib.parse import parse_qsl

import pytest

from explainer.algorithms.schedule import schedule
from explainer.base.amounts import amount
from explainer.engine import record_rows
from explainer.problem import Problem
from explainer.web.wire import pack
from kernels.spec.fields import ORDERS
from tests.by_hand import drawn
from tests.js.backward_fixtures import backward
from tests.js.fixtures import row_view, walk, write, write_race, write_zoom
from tests.js.links_fixtures import links
from tests.js.mask_fixtures import masks
from tests.js.pictures_fixtures import pictures
from tests.tables import table
from tests.tools import NODE

HERE = Path(__file__).parent
FILES = sorted(HERE.glob("*.test.mjs"))
PROBLEMS = table(__file__)
# Too many numbers to travel: tiles only; ragged in both directions.
LONG = [Problem(n=1024, d=16, block_q=128, block_k=96, order=order) for order in ORDERS]
LONGEST = Problem(n=4096, d=64, block_q=128, block_k=64)
# Every size a strip of the Step page can have, unit borders, and halves that must go to the even.
BYTES = sorted(
    {*range(0, 2**17, 4), *(k * 2**17 for k in range(2**12))}
    | {2**p + k for p in range(2, 46) for k in (-5, -1, 0, 1, 3 * 2**p // 8, 9 * 2**p // 128)}
)


def write_all(folder: Path, make: Callable, problems: dict[str, Problem]) -> None:
    """Write what is made of each Problem, by the maker's name, and its trace."""
    for name, problem in problems.items():
        packed = pack(problem, "backward" if make is backward else "forward")
        write(folder, f"{make.__name__}-{name}", make(problem), trace=packed)


def named(*kinds: str) -> dict[str, Problem]:
    queries = [query for kind in kinds for query in PROBLEMS[kind]]
    return {query or "default": Problem.from_query(dict(parse_qsl(query))) for query in queries}


@pytest.fixture(scope="module")
def fixtures(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("fixtures")
    walks = named("walk", "any") | {f"long-{p.order}": p for p in LONG}
    for k, problem in enumerate(drawn(20)):
        write_race(folder, str(k), problem)
        walks |= {f"drawn{k}-{order}": replace(problem, order=order) for order in ORDERS}
    write_all(folder, walk, walks)
    write(folder, "walk-longest", walk(LONGEST, every=97), trace=pack(LONGEST))
    for problem in LONG:
        steps = [k for k, v in enumerate(schedule(problem)) if v.kind != "skipped"]
        write_zoom(folder, problem.order, problem, steps[:: len(steps) // 6] + steps[-1:])
    write_all(folder, row_view, named("row_view", "any"))
    write_all(folder, links, named("links"))
    write_all(folder, backward, named("backward"))
    amounts = [(n, amount(n)) for n in BYTES]
    tables = {"masks": masks(), "pictures": pictures(), "records": record_rows.table()}
    tables |= {"amounts": amounts, "answers": table(f"{HERE / 'answers.test.mjs'}")}
    for name, content in tables.items():
        write(folder, f"{name}-all", content)
    return folder


@pytest.mark.parametrize("file", FILES, ids=lambda f: f.name)
def test_the_model_agrees_with_numpy(file, fixtures):
    command = [NODE, "--test-reporter=spec", str(file)]
    environment = os.environ | {"FIXTURES": str(fixtures), "FORCE_COLOR": "0"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout[-8_000:] + done.stderr
    assert "fail 0" in done.stdout and "pass 0" not in done.stdout
