"""The house: rooms stand in one order, imports point down it, what must stay light stays light."""

import fnmatch
import re
import subprocess
import sys
from graphlib import TopologicalSorter
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

from explainer.base.paths import ROOT
from tests import house
from tests.house import PYTHON, imported, name

# Each may import those before it.
ROOMS = (
    *("base", "problem", "algorithms", "trace", "memory", "parallel"),
    *("engine", "check", "learn", "views", "web", "pages"),
)
# The same of assets/js, where main.js stands above all of them.
SCRIPT_ROOMS = (
    *("lib", "model", "views", "site", "story", "run", "masks", "step", "learn", "offline"),
    "main.js",
)
LIGHT = tuple(room for room in ROOMS if room not in ("engine", "views", "web", "pages"))
SHARED = "kernels.spec"  # the one part of the kernels that all rooms may import
SCRIPTS = sorted(ROOT.glob("assets/**/*.js"))
DOCUMENTS = (
    *("README.md", "CONTRIBUTING.md", "kernels/README.md"),
    *(".github/ARCHITECTURE.md", ".github/CHECKER.md", ".github/DECISIONS.md"),
)
MODULE = r"(?<=python -m )(?:explainer|kernels|tests)\.[\w.]+"
FILE = (  # with one of these endings, or in one of these folders
    r"(?<![\w./-])(?:[\w.*-]+/)*[\w*-]+\.(?:py|m?js|json|ya?ml|md|toml|txt)\b"
    r"|(?<![\w./-])(?:assets|explainer|kernels|tests)/[\w./*-]*"
)


def top(names: set[str]) -> set[str]:
    return {n.split(".")[0] for n in names}


def needs_no_kernel(names: set[str]) -> bool:
    """Return True if none of these is PyTorch, Triton, or a part of the kernels but the shared."""
    kernels = {n for n in names if top({n}) == {"kernels"}}
    return not top(names) & {"torch", "triton"} and all(n.startswith(SHARED) for n in kernels)


@pytest.mark.parametrize("path", PYTHON, ids=lambda p: str(p.relative_to(ROOT)))
def test_imports_point_down(path):
    names, own = imported(path), name(path).split(".")
    rooms = {n.split(".")[1] for n in names if n.startswith("explainer.")}
    if own[0] == "kernels":
        assert not top(names) & {"explainer", "gradio"}
        assert own[1:2] != ["spec"] or needs_no_kernel(names)
    elif own == ["explainer", "app"]:
        assert rooms <= {"pages", "web", "engine"} and not top(names) & {"kernels", "torch"}
    elif len(own) > 1:
        assert not {r for r in rooms if ROOMS.index(r) > ROOMS.index(own[1])}
        assert own[1] == "engine" or needs_no_kernel(names)
        assert own[1] in ("web", "pages") or "gradio" not in top(names)


def test_every_file_lies_in_a_room():
    here = {p.name for p in ROOT.glob("explainer/*") if p.name != "__pycache__"}
    assert here - {"app.py", "problem.py", "trace.py", "__init__.py"} == set(ROOMS) - {
        "problem",
        "trace",
    }


def test_the_picture_of_the_house_is_drawn_from_its_code():
    page = house.PAGE.read_text(encoding="utf-8")
    assert house.embed(page) == page, "run python -m tests.house"


@pytest.mark.parametrize("page", DOCUMENTS)
def test_what_a_document_names_is_there(page):
    """Files, folders and modules, and of “`name` in `file`” the name."""
    text = re.sub(r"(?s)```.*?```", "", (ROOT / page).read_text(encoding="utf-8"))
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True).stdout
    files = {Path(line) for line in listed.splitlines()}
    paths = {f"/{path}" for file in files for path in (file, *file.parents)}
    missing = {
        link
        for link in re.findall(r"\]\((?!https?:)([^)#]+)\)", text)
        if not (ROOT / page).parent.joinpath(link).exists()
    }
    for code in re.findall(r"`([^`]+)`", text):
        named = re.findall(FILE, code)
        named += [x.replace(".", "/") + "*" for x in re.findall(MODULE, code)]
        for path in named:
            pattern = "*/" + re.sub("KEY|PAGE", "*", path.removesuffix("/"))
            if not fnmatch.filter(paths, pattern):
                missing.add(path)
    for named, path in re.findall(r"`([\w.]+)` (?:in|of) `([\w./]+\.\w+)`", text):
        found = [file for file in files if f"/{file}".endswith(f"/{path}")]
        word = rf"\b{named.rpartition('.')[2]}\b"
        if not any(re.search(word, (ROOT / file).read_text(encoding="utf-8")) for file in found):
            missing.add(f"{named} in {path}")
    assert not missing


def test_no_module_imports_itself_by_a_circle():
    modules = {name(p) for p in PYTHON}
    graph = {name(p): (imported(p) & modules) - {name(p)} for p in PYTHON if p.stem != "__init__"}
    TopologicalSorter(graph).prepare()  # raises CycleError


def test_scripts_import_down_and_in_no_circle():
    folder = ROOT / "assets" / "js"
    graph = {
        path: {
            other
            for name in re.findall(
                r'^(?:import|export)\b[^;]*? from "(\.[^"]*\.js)"', path.read_text(), re.M
            )
            if folder
            in (other := (path.parent / name).resolve()).parents  # the others are no rooms
        }
        for path in SCRIPTS
    }
    rooms = {path: SCRIPT_ROOMS.index(path.relative_to(folder).parts[0]) for path in SCRIPTS}
    assert {SCRIPT_ROOMS[k] for k in rooms.values()} == set(SCRIPT_ROOMS)
    assert not [
        (p.name, q.name) for p, found in graph.items() for q in found if rooms[q] > rooms[p]
    ]
    TopologicalSorter(graph).prepare()  # raises CycleError


@pytest.mark.parametrize(
    ("names", "absent"),
    [
        (
            [m for p in PYTHON if (m := name(p)).split(".")[1:2] and m.split(".")[1] in LIGHT],
            ("torch", "triton", "gradio", "plotly"),
        ),
        (["app"], ("torch", "triton", "kernels.orders")),
        (
            ["kernels", *(m for p in PYTHON if (m := name(p)).startswith(SHARED))],
            ("torch", "triton", "gradio", "explainer"),
        ),
    ],
    ids=["what is taught", "the web process", "kernels"],
)
def test_a_fresh_import_stays_light(names, absent):
    code = f"import sys, {', '.join(names)}; print(*[m for m in {absent!r} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == ""


def test_pages_fetch_nothing_from_elsewhere():
    found = {}
    for path in [*SCRIPTS, *ROOT.glob("assets/**/*.css")]:
        urls = set(re.findall(r"(?:https?:)?//[\w.-]+\.\w+[^\s\"')]*", path.read_text()))
        urls -= {"http://www.w3.org/2000/svg", "http://www.w3.org/1999/xhtml"}
        urls -= {"http://www.w3.org/1998/Math/MathML"}  # names, not places
        if urls:
            found[path.name] = urls
    assert not found


# Imported only where they are installed: ZeroGPU's package, peers that the benchmark measures, and
# what loads the plugin.
OPTIONAL = {"spaces", "flash_attn", "transformers", "pytest"}


def test_every_library_that_is_imported_is_declared():
    lines = (ROOT / "requirements.txt").read_text(encoding="utf-8").splitlines()
    declared = {re.split(r"[>=<;\s]", line)[0] for line in lines if line and line[0] != "#"}
    homes, found = packages_distributions(), {}
    for path in PYTHON:
        for module in top(imported(path)) - sys.stdlib_module_names - OPTIONAL:
            if not (ROOT / module).exists() and not (ROOT / f"{module}.py").exists():
                names = {x.lower().replace("_", "-") for x in homes.get(module, [module])}
                if not names & declared:
                    found.setdefault(module, name(path))
    assert not found
