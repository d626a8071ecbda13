"""The tables that tests go through, in a YAML or JSON file beside the module that uses them."""

import json
from pathlib import Path
from typing import Any


def table(module: str | Path) -> Any:
    """Read the table of a module, named by its file."""
    path = Path(module).with_suffix(".json")
    if path.exists():
        return json.loads(path.read_text(encoding="utf-8"))
    import yaml  # which a machine that runs the kernels alone may lack

    return yaml.safe_load(path.with_suffix(".yaml").read_text(encoding="utf-8"))
