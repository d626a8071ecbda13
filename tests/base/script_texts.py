"""Read with TypeScript what scripts take from assets/texts."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from explainer.base.paths import ASSETS, ROOT
from tests.tools import NODE

SCRIPTS = ASSETS / "js"
READER = Path(__file__).with_suffix(".mjs")
TYPESCRIPT = Path(sys.prefix) / "node_modules" / "typescript"


@dataclass(frozen=True)
class Use:
    """One call that writes a text: the keys that it may have, and the names of its values; None for
    a phrase, whose values are those of a frame."""

    page: str
    keys: tuple[str, ...]
    values: frozenset[str] | None
    file: str

    def matches(self, keys: set[str]) -> set[str]:
        """Return those of ``keys`` that this use may mean; a … of a key stands for any word."""
        form = "|".join(r"\w+".join(map(re.escape, key.split("…"))) for key in self.keys)
        return {key for key in keys if re.fullmatch(form, key)}


def read(*files: Path) -> list[dict]:
    """Return {file, uses} of these scripts, or of all."""
    command = [NODE, READER, TYPESCRIPT, ROOT / "tsconfig.json", *files]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def uses_of(script: dict) -> list[Use]:
    file = Path(script["file"]).name
    return [
        Use(
            use["page"],
            tuple(use["keys"]),
            None if use["values"] is None else frozenset(use["values"]),
            file,
        )
        for use in script["uses"]
    ]


@cache
def scripts() -> list[dict]:
    return read()


@cache
def uses() -> list[Use]:
    return [use for script in scripts() for use in uses_of(script)]
