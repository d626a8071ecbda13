"""The records of assets/recorded/: one place that reads them."""

import json
from functools import cache
from typing import Any

from explainer.base.paths import RECORDED
from explainer.base.texts import Texts

t = Texts("kinds")
BENCH = "nvidia_h200"  # of every method over N; the others stand beside it


@cache
def load(name: str = BENCH) -> dict:
    """Load a record by its name: ``rows`` with device, date, versions, command, commit."""
    return json.loads((RECORDED / f"{name}.json").read_text(encoding="utf-8"))


def rows_where(name: str = BENCH, /, **same: object) -> list[Any]:
    """Return the rows of a record in which these keys have these values."""
    return [row for row in load(name)["rows"] if all(row[key] == same[key] for key in same)]


def about(name: str = BENCH) -> str:
    """Where and when, for beside every figure."""
    r = load(name)
    versions = {library: r["versions"][library] for library in ("torch", "triton")}
    where = r["device"] if "GPU" not in r["device"] else t("no_gpu")
    return t("recorded.full", where=where, date=r["date"], **versions)
