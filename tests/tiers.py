"""Which tests run when: the table in tiers.yaml, and the record by which it decides.

``make test`` runs all tests but those of a group whose code has not changed since they last passed;
``make test-all`` runs everything and then writes, per group, what the code was:
``tests/passed.json``, committed with the change that it judged. A group whose record is missing or
older runs, so a clone needs no history to decide, and what is not recorded is never left out.
Another Python, system or version of a library is another environment, in which nothing has passed.
"""

import fnmatch
import hashlib
import json
import sys
from collections.abc import Iterable, Iterator
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from tests.tables import table

ROOT = Path(__file__).resolve().parent.parent
PASSED = ROOT / "tests" / "passed.json"
# What any test may depend on.
EVERYWHERE = ("requirements.txt", "tests/*.txt", "tests/conftest.py", "pyproject.toml")
LIBRARIES = ("gradio", "numpy", "playwright", "torch", "triton")


TABLE = table(__file__)
GROUPS = TABLE["groups"]


def globs(names: Iterable[str]) -> Iterator[str]:
    """Yield the globs of files, of whole folders and of the table's sets of them."""
    for name in names:
        if name in TABLE["sets"]:
            yield from globs(TABLE["sets"][name])
        else:
            yield f"{name}/**/*" if (ROOT / name).is_dir() else name


def group_of(name: str) -> str | None:
    """Return the group that claims the test of this name, None for one that always runs."""
    plain = name.partition("[")[0]
    for key, group in GROUPS.items():
        if any(fnmatch.fnmatchcase(plain, pattern) for pattern in group["tests"]):
            return key
    return None


def files(names: Iterable[str]) -> list[Path]:
    """Return the files that any of the names stands for, without what programs leave behind and
    without the record itself, which changes with every run that passed."""
    found = {path for pattern in globs(names) for path in ROOT.glob(pattern) if path.is_file()}
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
    own = {f"{pattern.rpartition('/')[0]}/*" for pattern in group["tests"]}
    total = hashlib.sha256(environment().encode())
    for path in files({*EVERYWHERE, *group["covers"], *own}):
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
