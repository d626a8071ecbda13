"""Make rows for a CSV that can be read alone: each has its workload, its machine and its source.

Names carry their units. What a row does not know is left empty.
"""

import re
from collections.abc import Mapping, Sequence

from explainer.base import kinds
from explainer.base.fields import FIELDS
from explainer.base.kinds import Kind
from explainer.base.texts import Texts
from explainer.engine.results import Result, Row

# a key of a row → its name in the file
t = Texts("run")
FIGURES = t.named("download.columns")
RANDOM = "standard normal"
# Columns of a run that has them: the fields that an address need not have, but the long text, and
# gain and H, which have columns of their own.
_COLUMNS_APART = ("text", "gain", "hq")
OPTIONAL = tuple(f.key for f in FIELDS.values() if not f.is_written and f.key not in _COLUMNS_APART)


def _machine(about: Mapping) -> dict:
    """Columns of ``about``: its device and its versions."""
    versions = about.get("versions", {})
    return {"device": about.get("device", "")} | {
        f"{name}_version": str(version) for name, version in versions.items()
    }


def _with_all_columns(rows: Sequence[dict]) -> list[dict]:
    """Every row with every column that any of them has, in the order of FIGURES at the end."""
    there = {key for row in rows for key in row}
    keys = [key for key in rows[0] if key not in FIGURES.values()] if rows else []
    keys += [name for name in FIGURES.values() if name in there]
    return [{key: row.get(key) for key in keys} for row in rows]


def _figures(row: Row) -> dict:
    found = {name: row[key] for key, name in FIGURES.items() if key in row}
    for key, gradient in row.get("gradients", {}).items():
        found |= {f"{key}_max_abs_error": gradient["error"], f"{key}_allowed": gradient["allowed"]}
        found[f"{key}_differing_values"] = row["repeat"]["differ"][key]
    if "right" in found:
        found["right"] = "yes" if found["right"] else "no"
    return found


def kind_of(result: Result) -> Kind:
    """Return the kind of a run's figures, live or recorded."""
    if "recorded" in result:
        return kinds.recorded()
    return kinds.measured(result["machine"]["device"], result["when"])


def run_rows(result: Result) -> list[dict]:
    """Return a row for every method of a run, live or recorded."""
    q, live = result["query"], "recorded" not in result
    shared = {
        "N": int(q["n"]),
        "d": int(q["d"]),
        "B": int(q["b"]),
        "H": int(q["h"]),
        "mask": q["mask"],
        "dtype": q["dtype"],
        "data": q.get("data", RANDOM),
        "seed": int(q["seed"]) if "seed" in q else None,
        "gain": float(q.get("gain", 1.0)),
        "Br": int(q["br"]) if "br" in q else None,
        "Bc": int(q["bc"]) if "bc" in q else None,
        "kind": str(kind_of(result)),
        "source": "live" if live else "recorded",
        "when": result["when"],
    }
    if not live:
        shared["data"] = RANDOM
    shared |= {key: q[key] for key in OPTIONAL if key in q} | _machine(result["machine"])
    return _with_all_columns(
        [
            {"method": row["method"]} | shared | {"not_run": row.get("refused")} | _figures(row)
            for row in result["rows"]
        ]
    )


def file_name(*parts: object) -> str:
    """Return a file's name without its ending: "flashattention-4096-64-causal-bf16-live"."""
    return "-".join(["flashattention", *(re.sub(r"[^\w.]+", "_", str(part)) for part in parts)])


def describe_scores(query: Mapping) -> str:
    """Say a query's mask, and what else of its scores and heads it has: "causal, softcap:30, sink
    1.5, Hk = 2, RoPE 10000, dropout 0.1, K and V paged"."""
    names = {"sink": "sink", "hk": "Hk =", "rope": "RoPE", "dropout": "dropout", "kv": "K and V"}
    options = [f"{name} {query[key]}" for key, name in names.items() if key in query]
    return ", ".join(part for part in (query["mask"], query.get("score"), *options) if part)
