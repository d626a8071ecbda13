"""The development tools that run on node: ``python -m tests.tools node`` or ``versions``."""

import json
import subprocess
import sys
from pathlib import Path

from playwright._impl._driver import compute_driver_executable

ROOT = Path(__file__).resolve().parents[1]
NODE = compute_driver_executable()[0]  # Playwright brings a node of its own
MODULES = Path(sys.prefix) / "node_modules"


def run_node(script: str, *arguments: str | Path) -> str:
    """Run a script of an npm package; return what it writes to stdout. Findings are no error."""
    assert (MODULES / script).exists(), f"{script} is missing: `make test` fetches it"
    command = [NODE, MODULES / script, *arguments]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0 or done.stdout, done.stderr
    return done.stdout


def versions() -> list[str]:
    """Return the npm packages with their versions; package.json alone says these."""
    packages = json.loads((ROOT / "package.json").read_text(encoding="utf-8"))["devDependencies"]
    return [f"{name}@{version}" for name, version in packages.items()]


if __name__ == "__main__":
    print(*(versions() if sys.argv[1] == "versions" else [NODE]))
