"""Every recorded time as one table, which the chart of the Run page is drawn from in the browser.

The three records come together here: every method over N, the backward pass alone, and masks with
scores. A live sweep sends rows of the same columns.
"""

from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any, cast

from explainer.base.records import BENCH, load
from explainer.base.texts import Texts
from explainer.engine.requests import METHODS, STORE_S, TOKENS
from explainer.engine.results import PointRow
from kernels.spec.fields import PASSES
from kernels.spec.formats import ITEMSIZE

t = Texts("engine")
MASKS, BACKWARD = "masks_nvidia_h200", "backward_nvidia_h200"
RECORDS = (BENCH, BACKWARD, MASKS)
DETERMINISTIC = "_deterministic"  # at the end of a method's name in the backward record
PLAIN = {"score": "none", "sink": None, "kv_heads": None, "dropout": 0.0}
REPEATED = ("fa2", "hopper")  # were timed in deterministic mode as well
KEYS = ("n", "d", "mask", "score", "dtype", "batch", "heads", "method")
FIGURES = (
    *("median_ms", "p20_ms", "p80_ms", "runs", "loop_ms", "graph_ms", "host_us"),
    *("tflops", "peak_bytes"),
)
# record: its place in RECORDS, null of what was measured live; error: of O, or the largest of the
# three gradients, which follow apart; needs_bytes: of S and P, where these are more than the card
# has free
GRADIENTS = ("dQ", "dK", "dV")
COLUMNS = ("record", "pass", *KEYS, *FIGURES, "error", *GRADIENTS, "refused", "needs_bytes")


def method_of(row: PointRow) -> str:
    """Return the method by its name in METHODS; in deterministic mode DETERMINISTIC follows.

    The backward record calls our readable kernels "readable".
    """
    return row["method"].replace("readable", "fa2")


def rows_of(rows: Iterable[PointRow], record: int | None = None) -> list[list[Any]]:
    """Return rows of a record, or of a sweep, as values in the order of COLUMNS."""
    which = PASSES[record == RECORDS.index(BACKWARD)]
    return [_values(row, record, which) for row in rows]


def _values(row: Mapping[str, Any], record: int | None, which: str) -> list[Any]:
    error = row.get("error")
    apart = error if isinstance(error, dict) else {}
    more = {
        **apart,
        "record": record,
        "pass": which,
        "method": method_of(cast(PointRow, row)),
        "error": max(apart.values()) if apart else error,
    }
    if "refused" in row and row["method"] in STORE_S:
        scores = row["batch"] * row["heads"] * row["n"] ** 2
        more["needs_bytes"] = 2 * scores * ITEMSIZE[row["dtype"]]
    values: dict[str, Any] = {**PLAIN, **row, **more}
    return [_short(values.get(column)) for column in COLUMNS]


def _short(value: Any) -> Any:
    """Five digits of a float: more than a time repeats."""
    return float(f"{value:.5g}") if isinstance(value, float) else value


@cache
def rows_in(name: str) -> list[PointRow]:
    """Return the rows of a record, each with PLAIN; of a point timed twice the first."""
    record, first = load(name), {}
    for row in (*record["rows"], *record.get("lengths", ())):
        first.setdefault(tuple(row.get(key) for key in KEYS), cast(PointRow, PLAIN | row))
    return [*first.values()]


def table() -> dict[str, Any]:
    """Return where and when each record was measured, the methods' labels, and the rows of all."""
    both = {name + DETERMINISTIC: t("deterministic", method=METHODS[name]) for name in REPEATED}
    return {
        "records": [
            {key: load(name)[key] for key in ("device", "date", "versions", "method")}
            for name in RECORDS
        ],
        "methods": METHODS | both,
        "tokens": TOKENS,
        "columns": COLUMNS,
        "rows": [row for k, name in enumerate(RECORDS) for row in rows_of(rows_in(name), k)],
    }
