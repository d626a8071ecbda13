"""``flashattention-check new DIR``: the assignment in five steps, as files and as notebooks."""

from __future__ import annotations

import ast
import json
import shutil
from pathlib import Path

from explainer.base.paths import ASSETS

STEPS = ASSETS / "check" / "steps"
INSTALL = """try:
    import explainer.check
except ImportError:
    %pip install -q flashattention-tiles"""


def create(folder: Path) -> None:
    """Write the five steps into a new folder. Raises FileExistsError if it has something in it."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise FileExistsError(str(folder))
    folder.mkdir(parents=True, exist_ok=True)
    for path in sorted(x for x in STEPS.iterdir() if x.is_file()):  # pip leaves __pycache__ there
        shutil.copy(path, folder / path.name)
        if path.suffix == ".py":
            text = json.dumps(notebook(path), ensure_ascii=False, indent=1)
            (folder / path.name).with_suffix(".ipynb").write_text(text, encoding="utf-8")


def notebook(path: Path) -> dict:
    """Return the notebook of a step: its task, its file in a cell to be edited, its check."""
    source = path.read_text(encoding="utf-8")
    task = ast.get_docstring(ast.parse(source)) or ""
    title, _, rest = task.partition("\n")
    cells = [
        _cell("markdown", f"# {title}\n{rest}"),
        _cell("code", INSTALL),
        _cell("code", f"%%writefile {path.name}\n{source}"),
        _cell("code", f"!python -m explainer.check {path.name}"),
    ]
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    return {"cells": cells, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}


def _cell(kind: str, source: str) -> dict:
    own = {"execution_count": None, "outputs": []} if kind == "code" else {}
    name = f"{kind}-{len(source)}"  # an id, which version 4.5 wants
    return {"cell_type": kind, "id": name, "metadata": {}, "source": source, **own}
