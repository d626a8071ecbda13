"""`make run` with a Python that does not do says so in one sentence."""

import os
import subprocess
import sys

import pytest

from explainer.base.paths import ROOT


@pytest.mark.parametrize("version", ["3, 9", "3, 15", "4, 0", None], ids=str)
def test_a_python_that_does_not_do(tmp_path, version):
    python = tmp_path / "python"
    if version:  # None: there is no such program
        patched = f"import sys; sys.version_info = ({version}, 0); $2"
        python.write_text(f'#!/bin/sh\nexec {sys.executable} -c "{patched}"\n')
        python.chmod(0o755)
    command = ["make", "run", f"PYTHON={python}", f"VENV={tmp_path / 'venv'}"]
    alone = {key: value for key, value in os.environ.items() if not key.startswith("MAKE")}
    made = subprocess.run(command, cwd=ROOT, env=alone, capture_output=True, text=True)
    assert made.returncode and not (tmp_path / "venv").exists()
    (sentence,) = made.stdout.splitlines()
    assert sentence.startswith("Python 3.10 to 3.14") and str(python) in sentence
