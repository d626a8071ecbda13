"""All scripts are checked by TypeScript, strictly, and all of Python by Pyright."""

import json
import re
from pathlib import Path

import pytest

from tests.tools import ROOT, run_node


def check_scripts(*arguments: str | Path) -> list[str]:
    """Return TypeScript's findings, "path(line,column): error …" each."""
    found = run_node("typescript/bin/tsc", "--pretty", "false", *arguments)
    return [line for line in found.splitlines() if re.match(r"\S+\(\d+,\d+\): error", line)]


def check_python(*files: Path) -> list[str]:
    """Return Pyright's errors, "path:line: message" each."""
    found = json.loads(run_node("pyright/index.js", "--outputjson", *files))
    return [
        f"{Path(one['file']).relative_to(ROOT) if not files else one['file']}:"
        f"{one['range']['start']['line'] + 1}: {one['message']}"
        for one in found["generalDiagnostics"]
        if one["severity"] == "error"
    ]


@pytest.mark.parametrize("check", [check_scripts, check_python])
def test_there_is_no_finding(check):
    assert check() == []


def test_a_wrong_type_in_a_script_is_found(tmp_path):
    settings = json.loads((ROOT / "tsconfig.json").read_text(encoding="utf-8"))
    settings |= {"include": ["*.js"]}
    (tmp_path / "tsconfig.json").write_text(json.dumps(settings))
    types = ROOT / "assets" / "js" / "model" / "types.js"
    (tmp_path / "wrong.js").write_text(
        f'/** @param {{import("{types}").Trace}} trace */\n'
        "export const width = (trace) => trace.header.problem.blok_q + trace.header.version;\n"
        "export const next = (step) => step + 1;\n"
    )
    found = [line for line in check_scripts("--project", tmp_path) if "wrong.js" in line]
    assert "'blok_q' does not exist" in found[0] and "implicitly has an 'any'" in found[1]
    assert len(found) == 2, found


def test_a_wrong_type_in_python_is_found(tmp_path):
    wrong = tmp_path / "wrong.py"
    wrong.write_text('from math import sqrt\nsqrt("4")\n')
    assert len(check_python(wrong)) == 1
