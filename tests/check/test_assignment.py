"""The assignment: starters that say what is missing, a key that passes, notebooks that run."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from explainer.base.paths import ASSETS, ROOT
from explainer.check import assignment
from explainer.check.__main__ import main
from explainer.check.verdict import check
from tests.check.key import KEY


@pytest.fixture
def folder(tmp_path, capsys):
    assert main(["new", str(tmp_path / "mine")]) == 0
    assert "Five steps" in capsys.readouterr().out
    return tmp_path / "mine"


def fill_in(folder: Path, step: str) -> Path:
    path = folder / f"{step}.py"
    source = path.read_text(encoding="utf-8")
    for blank, answer in KEY[step].items():
        assert source.count(blank) == 1
        source = source.replace(blank, answer)
    path.write_text(source, encoding="utf-8")
    return path


def test_new_writes_five_steps_and_no_answer(folder, capsys):
    assert {path.name for path in folder.iterdir()} == {
        "README.md",
        *(f"{step}{suffix}" for step in KEY for suffix in (".py", ".ipynb")),
    }
    assert main(["new", str(folder)]) == 2 and "not empty" in capsys.readouterr().out
    written = "".join(path.read_text(encoding="utf-8") for path in folder.iterdir())
    for step in KEY.values():
        assert not any(answer in written for answer in step.values())


def test_new_takes_what_pip_left_beside_the_steps_for_none(tmp_path, monkeypatch):
    """pip compiles the steps, so that an installed copy has a folder of bytecode among them."""
    steps = tmp_path / "steps"
    shutil.copytree(assignment.STEPS, steps)
    (steps / "__pycache__").mkdir(exist_ok=True)
    monkeypatch.setattr(assignment, "STEPS", steps)
    assert main(["new", str(tmp_path / "mine")]) == 0
    with pytest.raises(SystemExit):
        main(["new", "--help"])


def test_lessons_are_those_of_the_course():
    course = json.loads((ASSETS / "learn" / "course.json").read_text(encoding="utf-8"))
    keys = {key for group in course["groups"] for key in group["lessons"]}
    for path in (ASSETS / "check" / "steps").glob("*.py"):
        lesson = path.read_text(encoding="utf-8").split("lesson=")[1].split()[0]
        assert lesson in keys


@pytest.mark.parametrize("step", KEY)
def test_a_starter_says_what_is_missing_and_the_key_passes(step, folder):
    path = folder / f"{step}.py"
    empty = check(path)
    if step == "step4_backward":  # its forward pass is given
        assert empty.status == 1 and not any(x.right for x in empty.cases if x.name[0] == "d")
    else:
        assert empty.status == 2 and f"{step}.py, line " in empty.sentence
    if step == "step5_fast":
        fill_in(folder, "step3_triton")
    found = check(fill_in(folder, step), seconds=120.0)
    assert found.right, (found.sentence, found.printed)
    assert step != "step4_backward" or {"dQ", "dK", "dV"} <= {x.name for x in found.cases}


@pytest.mark.parametrize("step", ["step1_softmax", "step2_forward"])
def test_a_notebook_runs_offline(step, folder):
    """Run its cells as Jupyter does: two magics are all that it has."""
    book = json.loads((folder / f"{step}.ipynb").read_text(encoding="utf-8"))
    assert book["nbformat"] == 4 and book["cells"][0]["cell_type"] == "markdown"
    outputs = []
    for cell in (x["source"] for x in book["cells"] if x["cell_type"] == "code"):
        if cell.startswith("%%writefile "):
            name, _, source = cell.removeprefix("%%writefile ").partition("\n")
            (folder / name).write_text(source, encoding="utf-8")
            fill_in(folder, Path(name).stem)
        elif cell.startswith("!python "):
            command = [sys.executable, *cell.removeprefix("!python ").split()]
            done = subprocess.run(
                command, cwd=folder, env={"PYTHONPATH": str(ROOT)}, capture_output=True, text=True
            )
            outputs.append(done.stdout.splitlines()[-1])
        else:
            exec(cell.replace("%pip", "raise ImportError #"), {})
    assert outputs == ["exit 0"]
