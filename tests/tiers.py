"""Which tests run when: one table, and the record by which it decides.

``make test`` runs all tests but those of a group whose code has not changed since they last passed;
``make test-all`` runs everything and then writes, per group, what the code was:
``tests/passed.json``, committed with the change that it judged. A group whose record is missing or
older runs, so a clone needs no history to decide, and what is not recorded is never left out.
Another Python, system or version of a library is another environment, in which nothing has passed.
"""

from __future__ import annotations

import fnmatch
import hashlib
import json
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PASSED = ROOT / "tests" / "passed.json"
# What any test may depend on.
EVERYWHERE = ("requirements.txt", "tests/*.txt", "tests/conftest.py", "pyproject.toml")
LIBRARIES = ("gradio", "numpy", "playwright", "torch", "triton")


@dataclass(frozen=True)
class Group:
    """Tests that run when what they cover changes. ``tests``: patterns of their names, as pytest
    writes them without the case; ``covers``: globs of the files whose change lets them run, beside
    the tests' own."""

    tests: tuple[str, ...]
    covers: tuple[str, ...]


def rooms(*names: str) -> tuple[str, ...]:
    """Return the globs of these folders and files, whole."""
    return tuple(f"{name}/**/*" if (ROOT / name).is_dir() else name for name in names)


# What every page is made of.
FRAME = rooms(
    *("app.py", "explainer/*.py", "explainer/base", "explainer/algorithms", "explainer/web"),
    *(f"explainer/pages/{name}.py" for name in ("browser", "components", "header", "theme")),
    *("kernels/spec", "assets/css", "assets/texts", "assets/vendor", "assets/*.json"),
    *("assets/js/main.js", "assets/js/lib", "assets/js/model", "assets/js/site"),
    *(f"explainer/learn/{name}.py" for name in ("__init__", "blocks", "content", "course", "tour")),
    *(
        f"explainer/learn/{name}.py"
        for name in ("folder", "glossary", "presets", "registry", "widgets")
    ),
    *("tests/browser/*.py",),
)
FIGURES = rooms(
    *(
        "explainer/views/*",
        "explainer/views/stories",
        "explainer/pages",
        "explainer/memory",
        "explainer/parallel",
    ),
    *("explainer/engine", "assets/recorded"),
)
STEP = FRAME + rooms(
    *("assets/js/views", "assets/js/masks", "assets/js/step", "explainer/memory/tile_budget.py"),
    *("explainer/pages/step.py", "explainer/views/templates"),
)
LEARN = FRAME + rooms(
    *("explainer/learn", "explainer/views/learn*", "explainer/views/templates", "assets/learn"),
    *("explainer/pages/learn.py", "assets/js/learn", "assets/js/views", "assets/recorded"),
    *("explainer/memory", "explainer/parallel"),
)
# A learner's function is shown by Run, and by a lane of Step where the app was started with a file.
YOURS = rooms(
    *("explainer/check", "assets/check"),
    *("assets/js/step/lane.js", "assets/js/step/race.js", "tests/check/*.py"),
)
RUN = FRAME + FIGURES + YOURS + rooms("kernels", "assets/js/run", "assets/js/story")
# What the kernels and their judges are made of.
NUMBERS = rooms(
    *("kernels", "explainer/*.py", "explainer/algorithms", "explainer/base", "explainer/engine"),
    *("explainer/memory", "explainer/parallel", "assets/recorded", "assets/*.json", "tests/*.py"),
)
PRODUCT = rooms(
    *("app.py", "explainer", "kernels", "assets", "README.md", "Makefile", "constraints.txt"),
    *("tests/*.py", "tests/browser/*.py", "tests/check/*"),
)
SCREENS = tuple(dict.fromkeys(STEP + LEARN + RUN + rooms("assets/js/story", "assets/js/offline")))

GROUPS = {
    "random packed and paged cases": Group(
        ("tests/kernels/test_varlen.py::test_random*",), rooms("kernels", "tests/kernels/*.py")
    ),
    "every lesson fits every screen": Group(
        (
            *("tests/browser/learn/test_learn_fits.py::*", "tests/browser/learn/*phone.py::*"),
            "tests/browser/learn/*presentation.py::*",
        ),
        LEARN,
    ),
    "axe, on every view": Group(("tests/browser/site/test_accessible.py::*",), SCREENS),
    "reference pictures": Group(
        ("tests/browser/site/test_visual.py::*",), SCREENS + rooms("tests/browser/site/shots")
    ),
    "Step in a browser": Group(("tests/browser/step/test_*.py::*",), STEP),
    "Learn in a browser": Group(("tests/browser/learn/test_*.py::*",), LEARN),
    "the site as files": Group(("tests/browser/site/test_static.py::*",), SCREENS),
    "Run in a browser": Group(("tests/browser/run/test_*.py::*",), RUN),
    "Memory and Parallel in a browser": Group(
        tuple(f"tests/browser/{name}/test_*.py::*" for name in ("memory", "parallel", "stories")),
        FRAME + FIGURES + rooms("assets/js/story", "assets/js/views"),
    ),
    # What any of the product may change.
    "the rest of the site in a browser": Group(("tests/browser/site/test_*.py::*",), PRODUCT),
    "the server, and the package as installed": Group(
        tuple(f"tests/{name}.py::*" for name in ("web/test_*", "pages/test_*", "test_installed")),
        PRODUCT,
    ),
    "attention over ranks, of many problems": Group(
        ("tests/kernels/test_ring_many.py::*",), rooms("kernels", "tests/kernels/*.py")
    ),
    "a learner's function: mistakes planted, right variants": Group(
        (
            "tests/check/test_mistakes.py::*",
            "tests/check/test_variants.py::*",
            "tests/check/test_method.py::*",
        ),
        NUMBERS
        + rooms("explainer/check", "assets/check", "assets/texts", "tests/check/right")
        + rooms("explainer/web/kernel_file.py"),
    ),
    "kernels in the interpreter": Group(("tests/kernels/test_*.py::*",), NUMBERS),
    "the engine": Group(("tests/engine/test_*.py::*",), NUMBERS + rooms("explainer/views/*")),
    "lessons, computed": Group(
        ("tests/learn/test_*.py::*", "tests/learn/lessons/test_*.py::*"),
        tuple(dict.fromkeys(LEARN + FIGURES + NUMBERS)),
    ),
    "scripts, in node": Group(
        ("tests/js/test_*.py::*",),
        rooms("assets", "explainer", "kernels/spec", "tests/*.py", "tests/browser/*.py"),
    ),
    "types": Group(
        ("tests/test_types.py::*",),
        rooms(
            *("app.py", "assets/js", "assets/texts", "explainer", "kernels"),
            *("*.json", "tests/*.py"),
        ),
    ),
    "Hopper kernels, compiled and played by the PTX machine": Group(
        ("tests/kernels/hopper/test_*.py::*",),
        rooms("kernels", "explainer/base/paths.py", "tests/kernels/*.py", "tests/compiler.py"),
    ),
}


def group_of(name: str) -> str | None:
    """Return the group that claims the test of this name, None for one that always runs."""
    plain = name.partition("[")[0]
    for key, group in GROUPS.items():
        if any(fnmatch.fnmatchcase(plain, pattern) for pattern in group.tests):
            return key
    return None


def files(patterns: Iterable[str]) -> list[Path]:
    """Return the files that any of the globs names, without what programs leave behind and without
    the record itself, which changes with every run that passed."""
    found = {path for pattern in patterns for path in ROOT.glob(pattern) if path.is_file()}
    left = sorted(p for p in found - {PASSED} if "__pycache__" not in p.parts)
    return [p for p in left if p.suffix != ".pyi"]


def environment() -> str:
    """Name the system, the Python and the libraries that tests run with."""
    found = [sys.platform, "{}.{}".format(*sys.version_info)]
    for name in LIBRARIES:
        try:
            found.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            found.append(f"no {name}")
    return ", ".join(found)


@cache
def digest(key: str) -> str:
    """Return the digest of all that the group covers, of its own tests and of the environment."""
    group = GROUPS[key]
    own = {f"{pattern.rpartition('/')[0]}/*" for pattern in group.tests}
    total = hashlib.sha256(environment().encode())
    for path in files({*EVERYWHERE, *group.covers, *own}):
        content = hashlib.sha256(path.read_bytes()).hexdigest()
        total.update(f"{path.relative_to(ROOT).as_posix()} {content}\n".encode())
    return total.hexdigest()


def unchanged() -> set[str]:
    """Return the groups that passed with the code as it is."""
    passed = json.loads(PASSED.read_text(encoding="utf-8")) if PASSED.exists() else {}
    return {key for key in GROUPS if passed.get(key) == digest(key)}


def choose(items: list) -> tuple[list, dict[str, list]]:
    """Return the tests that run, and by group those that need not."""
    left_out: dict[str, list] = {key: [] for key in sorted(unchanged())}
    run = []
    for item in items:
        left_out.get(group_of(item.nodeid) or "", run).append(item)
    return run, left_out


def record() -> None:
    """Write that every group has passed with the code as it is."""
    content = {key: digest(key) for key in GROUPS}
    PASSED.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    if sys.argv[1:] == ["record"]:
        record()
    for name in sorted(unchanged()):
        print(f"passed with the code as it is: {name}")
