"""The assignment: starters that say what is missing, a key that passes, notebooks that run."""

import json
import shutil
import subprocess
import venv
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from explainer.base.paths import ASSETS
from explainer.check import assignment
from explainer.check.__main__ import main
from explainer.check.verdict import check
from tests.check.key import KEY


@pytest.fixture
def folder(tmp_path, capsys):
    assert main(["new", str(tmp_path / "mine")]) == 0
    assert "Five steps" in capsys.readouterr().out
    return tmp_path / "mine"


# Run a notebook's cells as Jupyter does: two magics are all that it has, as %pip is not reached.
JUPYTER = """
import json, pathlib, subprocess, sys

names = {}
for cell in json.loads(pathlib.Path(sys.argv[1]).read_text("utf-8"))["cells"]:
    source = cell["source"]
    if source.startswith("%%writefile "):
        name, _, source = source.removeprefix("%%writefile ").partition("\\n")
        pathlib.Path(name).write_text(source, "utf-8")
    elif source.startswith("!"):
        subprocess.run(source[1:].format(sys=sys), shell=True)
    elif cell["cell_type"] == "code":
        exec(source.replace("%pip", "raise ImportError #"), names)
"""


@pytest.fixture(scope="module")
def colab(tmp_path_factory):
    """Make an environment of NumPy, PyTorch, Triton and what these need; return its Python."""
    home = tmp_path_factory.mktemp("colab")
    venv.create(home, symlinks=True)
    (packages,) = home.glob("lib/python*/site-packages")
    names, brought = ["numpy", "torch", "triton"], set()
    while names:
        if (name := names.pop()) in brought:
            continue
        brought.add(name)
        for top in {file.parts[0] for file in metadata.files(name) or ()} - {"..", "__pycache__"}:
            if not (packages / top).exists():  # several packages may share it
                (packages / top).symlink_to(str(metadata.distribution(name).locate_file(top)))
        needs = map(Requirement, metadata.requires(name) or ())
        names += [x.name for x in needs if not x.marker or x.marker.evaluate({"extra": ""})]
    return home / "bin" / "python"


def filled_in(folder: Path, step: str) -> str:
    source = (folder / f"{step}.py").read_text(encoding="utf-8")
    for blank, answer in KEY[step].items():
        assert source.count(blank) == 1
        source = source.replace(blank, answer)
    return source


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


def test_new_says_that_its_folder_is_missing(capsys):
    assert main(["new"]) == 2 and capsys.readouterr().out.startswith("The folder")


def test_lessons_are_those_of_the_course():
    course = json.loads((ASSETS / "learn" / "course.json").read_text(encoding="utf-8"))
    keys = {key for group in course["groups"] for key in group["lessons"]}
    for path in (ASSETS / "check" / "steps").glob("*.py"):
        lesson = path.read_text(encoding="utf-8").split("lesson=")[1].split()[0]
        assert lesson in keys


@pytest.mark.parametrize("step", KEY)
def test_a_starter_says_what_is_missing(step, folder):
    empty = check(folder / f"{step}.py")
    if step == "step4_backward":  # its forward pass is given
        assert empty.status == 1 and not any(x.right for x in empty.cases if x.name[0] == "d")
    else:
        assert empty.status == 2 and f"{step}.py, line " in empty.sentence


@pytest.mark.parametrize("step", KEY)
def test_a_notebook_alone_passes_with_the_key(step, folder, colab, tmp_path):
    """It brings the checker: the environment has neither this project nor what it depends on."""
    alone, source = tmp_path / "alone", filled_in(folder, step)
    alone.mkdir()
    book = json.loads((folder / f"{step}.ipynb").read_text(encoding="utf-8"))
    assert book["nbformat"] == 4 and book["cells"][0]["cell_type"] == "markdown"
    for cell in book["cells"]:
        if cell["source"].startswith("%%writefile "):
            cell["source"] = f"%%writefile {step}.py\n{source}"
    (alone / "book.ipynb").write_text(json.dumps(book), encoding="utf-8")
    if step == "step5_fast":
        (alone / "step3_triton.py").write_text(filled_in(folder, "step3_triton"), encoding="utf-8")
    command = [colab, "-c", JUPYTER, "book.ipynb"]
    environment = {"PATH": "/usr/bin:/bin", "TMPDIR": str(tmp_path)}
    done = subprocess.run(command, cwd=alone, env=environment, capture_output=True, text=True)
    lines = done.stdout.splitlines()
    assert "exit 0" in lines, done.stdout + done.stderr
    assert step != "step4_backward" or any(line.startswith("  ✓ dQ ") for line in lines)
