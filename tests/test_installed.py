"""What pyproject.toml declares for a wheel, laid out as pip does: its command serves the lesson."""

import shutil
import sys

from explainer.base.paths import ROOT
from tests import installed

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib  # which pytest brings


def test_the_command_of_an_installed_app_answers(tmp_path, monkeypatch):
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    wheel = project["tool"]["hatch"]["build"]["targets"]["wheel"]
    folders = {name: name for name in wheel["packages"]} | wheel["force-include"]
    for source, target in folders.items():
        shutil.copytree(ROOT / source, tmp_path / target)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    module, function = project["project"]["scripts"]["flashattention-tiles"].split(":")
    installed.main([sys.executable, "-c", f"from {module} import {function}; {function}()"])
