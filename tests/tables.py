"""The tables that tests go through, in a YAML file beside the module that uses them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml


def table(module: str) -> Any:
    """Read the table of a module, named by its file."""
    return yaml.safe_load(Path(module).with_suffix(".yaml").read_text(encoding="utf-8"))
