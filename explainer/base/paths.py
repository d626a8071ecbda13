"""Where the project's own files are."""

from pathlib import Path

# The folder that holds `explainer` and `kernels`: a clone, or site-packages.
ROOT = Path(__file__).resolve().parents[2]
# A wheel has the assets inside of `explainer` (pyproject.toml), a clone beside it.
_INSTALLED = ROOT / "explainer" / "assets"
ASSETS = _INSTALLED if _INSTALLED.is_dir() else ROOT / "assets"
RECORDED = ASSETS / "recorded"
