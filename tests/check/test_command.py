"""The command line, the pytest plugin and the points of an autograder, as a learner meets them."""

import json
import subprocess
import sys

import pytest

from explainer.base.paths import ROOT
from tests.check.planted import CS336, NUMPY, RIGHT, plant
from tests.tables import table

PYTEST = ["-m", "pytest", "-p", "explainer.check.plugin", "-p", "no:cacheprovider", "-q"]
KEYS = {"right", "first_wrong", "cause", "sentence", "cases"}


def run(*arguments, cwd=None):
    """Run Python with these arguments from another folder; return status and output lines."""
    environment = {"PATH": "/usr/bin:/bin", "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, *map(str, arguments)], cwd=cwd, env=environment, text=True,
        capture_output=True,
    )  # fmt: skip
    return done.returncode, done.stdout.splitlines(), done.stderr


def test_a_wrong_file_exits_1_with_its_map(write):
    status, lines, _ = run("-m", "explainer.check", write(plant("o_not_rescaled", NUMPY)))
    assert status == 1 and "\x1b" not in "".join(lines)
    assert [x.split() for x in lines[2:7]] == [
        ["K0", "K1", "K2", "K3"],
        ["Q0", "✓", "·", "·", "·"],
        ["Q1", "✓", "✗", "·", "·"],
        ["Q2", "▫", "▫", "▫", "·"],
        ["Q3", "▫", "▫", "▫", "▫"],
    ]
    assert "Tile (1, 1): m and ℓ agree, O does not." in lines
    assert "These are the numbers of a loop that does not rescale O by α." in lines
    assert "Look at line 10 of Algorithm 1, FlashAttention-2." in lines
    assert lines[-1] == "2 tiles right, 1 wrong, 7 not reached. exit 1"


def test_json_is_the_last_line(write):
    path = write(plant("o_not_rescaled", NUMPY))
    status, lines, _ = run("-m", "explainer.check", path, "--json")
    found = json.loads(lines[-1])
    assert status == 1 and set(found) == KEYS and found["right"] is False
    first = {"problem": "tiles", "i": 1, "j": 1, "rows": [4, 7], "what": "O"}
    assert found["first_wrong"] == first and found["cause"] == "o_not_rescaled"
    assert found["cases"][0] == {"name": "tiles", "right": False}
    status, lines, _ = run("-m", "explainer.check", write(plant(None, NUMPY)), "--json", "--numpy")
    found = json.loads(lines[-1])
    assert status == 0 and found["right"] and found["first_wrong"] is found["cause"] is None
    status, lines, _ = run("-m", "explainer.check", write("def attention(:"), "--json")
    assert status == 2 and set(json.loads(lines[-1])) == KEYS


def test_an_error_shows_the_tiles_until_then(write):
    source = plant(None, NUMPY).replace(
        "if report:", "if report and i + j == 3: 1 / 0\n            if report:"
    )
    status, lines, _ = run("-m", "explainer.check", write(source))
    assert status == 2
    line = next(n for n, x in enumerate(source.splitlines(), 1) if "1 / 0" in x)
    sentence = f"mine.py, line {line}: ZeroDivisionError: division by zero."
    assert sentence in lines and "  Q2   ✓   ▫   ▫   · " in lines


@pytest.mark.parametrize(
    ("layout", "reshape"),
    [("bnd", "q, k, v = (x[:, None] for x in (q, k, v))"),
     ("nd", "q, k, v = (x[None, None] for x in (q, k, v))")],
)  # fmt: skip
def test_other_layouts_and_names(layout, reshape, write):
    back = {"bnd": "O[:, 0], L[:, 0]", "nd": "O[0, 0], L[0, 0]"}[layout]
    own = (
        f"\n\ndef mine(q, k, v, **rules):\n    {reshape}\n    O, L = attention(q, k, v, **rules)\n"
    )
    path = write(plant(None, NUMPY) + own + f"    return {back}\n")
    status, lines, _ = run("-m", "explainer.check", path, "--function", "mine", "--layout", layout)
    assert status == 0, lines


@pytest.mark.parametrize(("name", "said"), table(__file__))
def test_what_is_no_file_with_a_function_is_said(name, said, tmp_path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "mine.ipynb").write_text("{}", encoding="utf-8")
    source = "import numpy\nfrom math import exp\ndef flash(): ...\ndef helper(): ...\n"
    (tmp_path / "other.py").write_text(source, encoding="utf-8")
    status, lines, error = run("-m", "explainer.check", tmp_path / name)
    assert status == 2 and said in lines[0] and not error


def test_a_file_to_write_in_no_folder_is_refused_first(write, tmp_path):
    path = write(plant(None, NUMPY))
    where = tmp_path / "none" / "points.json"
    status, lines, error = run("-m", "explainer.check", path, "--points", where)
    assert status == 2 and not lines and f"there is no folder {where.parent}" in error


def test_a_function_without_causal_is_checked_without_a_mask(write):
    source = plant(None, NUMPY).replace("*, causal=False, ", "*, ").replace("causal,\n", "False,\n")
    status, lines, _ = run("-m", "explainer.check", write(source), "--json")
    found = json.loads(lines[-1])
    assert status == 0 and [x["name"] for x in found["cases"]][:2] == ["full", "ragged"]
    broken = source.replace("o * alpha[:, None] + p @ vj", "o + p @ vj")
    status, lines, _ = run("-m", "explainer.check", write(broken), "--json")
    assert status == 1 and json.loads(lines[-1])["cause"] == "o_not_rescaled"


def test_adapters_import_the_package_of_their_project(tmp_path):
    (tmp_path / "pyproject.toml").touch()
    for folder in ("package", "tests"):
        (tmp_path / folder).mkdir()
    (tmp_path / "package" / "flash.py").write_text(plant(None, CS336), encoding="utf-8")
    adapters = tmp_path / "tests" / "adapters.py"
    adapters.write_text(
        "from package.flash import get_flashattention_autograd_function_pytorch\n", "utf-8"
    )
    assert run("-m", "explainer.check", adapters)[0] == 0


def test_gradescope_reads_the_points(write, tmp_path):
    for key, score in ((None, 8.0), ("l_not_rescaled", 0.0)):
        points = tmp_path / "results.json"
        run("-m", "explainer.check", write(plant(key, CS336)), "--points", points)
        found = json.loads(points.read_text())
        assert "Q1" in found["output"] and len(found["tests"]) == 8
        for test in found["tests"]:
            assert set(test) == {"name", "score", "max_score", "output"}
        total = sum(test["score"] for test in found["tests"])
        assert total == 8.0 if score else total < 4.0


def test_pytest_has_a_test_for_each_case(write, tmp_path):
    path = write(plant("lse_base_2", NUMPY))
    files = ("--flashattention", path, "--flashattention", RIGHT / "numpy_loop.py")
    status, lines, _ = run(*PYTEST, *files, cwd=tmp_path)
    assert status == 1 and "14 failed, 14 passed" in lines[-1]
    assert sum("Q1" in line for line in lines) == 1
    assert any("returns lse in base 2" in line for line in lines)


def test_the_fixture_fails_with_the_map(write, tmp_path):
    path = write(plant("never_divided", NUMPY))
    (tmp_path / "test_mine.py").write_text(
        f"def test_wrong(check_attention):\n    check_attention({str(path)!r})\n"
        f"def test_right(check_attention):\n"
        f"    assert check_attention({str(RIGHT / 'numpy_loop.py')!r}).right\n"
    )
    status, lines, _ = run(*PYTEST, cwd=tmp_path)
    assert status == 1 and "1 failed, 1 passed" in lines[-1]
    assert any("never divides O by ℓ" in line for line in lines)
