"""``flashattention-check new DIR``: the assignment in five steps, as files and as notebooks.

A notebook brings the checker along, so that it runs where this package is not installed, as in
Colab: no package index has it.
"""

import ast
import base64
import importlib.metadata
import io
import json
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

from explainer.base.paths import ASSETS, ROOT

STEPS = ASSETS / "check" / "steps"
CARRIED = (
    "*.json",
    "check/*.json",
    "check/*.html",
    "check/*.txt",
    "css/tokens.css",
    "css/yours.css",
    "texts/*.json",
)
# Colab shows the title instead of the code; Jupyter collapses the cell by its metadata.
UNPACK = """#@title Run this cell first: it unpacks the checker.
import sys

try:
    import explainer.check
except ImportError:
    import base64, io, os, tempfile, zipfile

    archive = "{archive}"
    folder = tempfile.mkdtemp(prefix="flashattention-check-")
    zipfile.ZipFile(io.BytesIO(base64.b64decode(archive))).extractall(folder)
    os.environ["PYTHONPATH"] = os.pathsep.join([folder, os.environ.get("PYTHONPATH", "")])"""
TRITON = """try:
    import triton
except ImportError:
    %pip install -q triton"""


def create(folder: Path) -> None:
    """Write the five steps into a new folder. Raises FileExistsError if it has something in it."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise FileExistsError(str(folder))
    unpack = UNPACK.format(archive=base64.b64encode(archive()).decode())
    folder.mkdir(parents=True, exist_ok=True)
    for path in sorted(x for x in STEPS.iterdir() if x.is_file()):  # pip leaves __pycache__ there
        shutil.copy(path, folder / path.name)
        if path.suffix == ".py":
            text = json.dumps(notebook(path, unpack), ensure_ascii=False, indent=1)
            (folder / path.name).with_suffix(".ipynb").write_text(text, encoding="utf-8")


def archive() -> bytes:
    """Return a zip of what a check needs beside NumPy, PyTorch and Triton, as in a clone."""
    content = io.BytesIO()
    how = {"compression": zipfile.ZIP_DEFLATED, "strict_timestamps": False}  # a file may be of 1970
    with zipfile.ZipFile(content, "w", **how) as packed:
        for path in _modules():
            packed.write(path, path.relative_to(ROOT))
        for path in (x for pattern in CARRIED for x in ASSETS.glob(pattern)):
            packed.write(path, Path("assets", path.relative_to(ASSETS)))
        for file in importlib.metadata.files("cachetools") or ():  # its license among them
            if file.suffix != ".pyc":
                packed.write(str(file.locate()), str(file))
    return content.getvalue()


def _modules() -> Iterator[Path]:
    """Return the files of this project that a check imports, in a process that imports no other."""
    program = "import sys, explainer.check.__main__; print(*sys.modules, sep='\\n')"
    found = subprocess.check_output([sys.executable, "-c", program], cwd=ROOT, text=True)
    for name in found.split():
        if name.split(".")[0] in ("explainer", "kernels"):
            path = ROOT.joinpath(*name.split("."))
            yield path / "__init__.py" if path.is_dir() else path.with_suffix(".py")


def notebook(path: Path, unpack: str) -> dict:
    """Return the notebook of a step: its task, its file in a cell to be edited, its check."""
    source = path.read_text(encoding="utf-8")
    task = ast.get_docstring(ast.parse(source)) or ""
    title, _, rest = task.partition("\n")
    hidden = {"cellView": "form", "jupyter": {"source_hidden": True}}
    cells = [
        _cell("markdown", f"# {title}\n{rest.partition('Check: ')[0]}"),
        _cell("code", unpack, hidden),
        *([_cell("code", TRITON)] if "Triton" in source else []),
        _cell("code", f"%%writefile {path.name}\n{source}"),
        _cell("code", f"!{{sys.executable}} -m explainer.check {path.name}"),
        *([_cell("code", f"!{{sys.executable}} {path.name}")] if "__main__" in source else []),
    ]
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    return {"cells": cells, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}


def _cell(kind: str, source: str, metadata: dict | None = None) -> dict:
    own = {"execution_count": None, "outputs": []} if kind == "code" else {}
    name = f"{kind}-{len(source)}"  # an id, which version 4.5 wants
    return {"cell_type": kind, "id": name, "metadata": metadata or {}, "source": source, **own}
