"""Read the measurements made earlier on a GPU, with where and when: assets/recorded/*.json.

They come in the form of a live run, so that the same page draws them, marked as recorded.
"""

import math
import re
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import lru_cache
from typing import Any, cast

from explainer.algorithms.traffic import compulsory_bytes, requested_bytes
from explainer.base.amounts import listed
from explainer.base.records import BENCH, about, load, rows_where
from explainer.base.texts import Texts
from explainer.engine.record_rows import (
    BACKWARD,
    DETERMINISTIC,
    KEYS,
    MASKS,
    method_of,
    rows_in,
)
from explainer.engine.requests import METHODS, RunRequest, Sweep
from explainer.engine.results import Choice, PointRow, Result, Row
from explainer.memory.mask_work import flops as pass_flops
from kernels.spec.fields import PASSES
from kernels.spec.formats import ITEMSIZE
from kernels.spec.masks import Mask, flops, parse

t = Texts("engine")
POINT = ("n", "d", "mask", "dtype")  # what is the same in all rows of a point
MOST_N, MOST_WORK = 2, 10  # how many times longer, and how much more work, is still comparable


def _candidates(pass_: str) -> list[tuple[str, PointRow]]:
    """Return the rows of every record that times this pass, each with its record's name."""
    names = (BACKWARD,) if pass_ == "backward" else (BENCH, MASKS)
    return [(name, row) for name in names for row in rows_in(name)]


def _differing(request: RunRequest) -> Callable[[PointRow], list[str]]:
    """Return a function of a row: the keys of a query in which the recorded problem is not the one
    requested."""
    p = request.problem
    here = {"mask": str(p.mask), "score": str(p.score), "dtype": p.dtype, "d": p.d, "n": p.n}
    here |= {"batch": request.batch, "heads": request.heads, "sink": p.sink, "dropout": p.dropout}
    shared = ["kv_heads"] if p.shares else []
    return lambda row: [key for key, value in here.items() if row[key] != value] + shared


def _predicates(mask: Mask) -> str:
    """Return a mask's text without its numbers."""
    return re.sub(r"[\d:,]", "", mask.text)


@lru_cache(256)  # counted over as many rows as a record is long
def _visible_share(mask: Mask, n: int) -> float:
    return mask.visible(n, n) / n**2


def _distance(request: RunRequest) -> Callable[[tuple[str, PointRow]], tuple[float, ...]]:
    """Return a function of a candidate: how far its problem is from the one requested, in what
    counts most first: the scores, the mask, or its predicates and the share of scores that it
    keeps, precision, d and N in octaves, FLOPs in octaves."""
    p = request.problem
    work = flops(p.mask, request.batch * request.heads, p.n, p.n, p.d)
    own_share = _visible_share(p.mask, p.n)

    def distance(at: tuple[str, PointRow]) -> tuple[float, ...]:
        row, mask = at[1], parse(at[1]["mask"])
        there = flops(mask, row["batch"] * row["heads"], row["n"], row["n"], row["d"])
        return (
            row["score"] != str(p.score),
            mask != p.mask
            and 1
            + 2 * (_predicates(mask) != _predicates(p.mask))
            + round(abs(math.log2(_visible_share(mask, row["n"]) / own_share)), 1),
            row["dtype"] != p.dtype,
            abs(math.log2(row["n"] / p.n)) + 2 * abs(math.log2(row["d"] / p.d)),
            abs(math.log2(there / work)),
        )

    return distance


def closest(request: RunRequest) -> Result:
    """Return the measured problem that comes nearest, as a run's result; ``differs`` names the
    fields in which it is another one. Of the backward pass the times are of that pass alone."""
    return _result(request, *min(_candidates(request.pass_), key=_distance(request)))


def nearest(request: RunRequest) -> Result | None:
    """Return the measured problem that can stand beside this one, as a run's result; None without
    one.

    Comparable: it differs in N, batch and heads alone, N is at most MOST_N times as long or as
    short, and the FLOPs of all heads are within a factor of MOST_WORK.
    """

    def fits(at: tuple[str, PointRow]) -> bool:
        if not {"n", "batch", "heads"}.issuperset(differing(at[1])):
            return False
        *_, octaves, work = distance(at)
        return octaves <= math.log2(MOST_N) and work <= math.log2(MOST_WORK)

    distance, differing = _distance(request), _differing(request)
    fitting = list(filter(fits, _candidates(request.pass_)))
    return _result(request, *min(fitting, key=distance)) if fitting else None


def _result(request: RunRequest, name: str, best: PointRow) -> Result:
    record = load(name)
    point = {key: best[key] for key in KEYS if key != "method"}
    rows_there = [row for row in rows_in(name) if point.items() <= row.items()]
    pass_ = "backward" if name == BACKWARD else "forward"
    same = _by_method(rows_there)
    wanted = {"naive", *request.methods, "fa2", "hopper", "sdpa_flash", "sdpa_cudnn"}
    if name != BENCH:
        wanted |= same.keys()  # a smaller record has no row that leads away from the point
    rows = [_row(same[method], pass_) for method in METHODS if method in wanted and method in same]
    shape = {key: str(best[key]) for key in POINT}
    shape |= {"score": best["score"]} if best["score"] != "none" else {}
    shape |= {"b": str(best["batch"]), "h": str(best["heads"]), "data": "random"}
    shape["methods"] = ",".join(row["method"] for row in rows)
    shape |= {"pass": pass_} if pass_ != PASSES[0] else {}
    elements = best["batch"] * best["heads"] * best["n"] * best["d"]
    return {
        "recorded": about(name),
        "when": record["date"],
        "asked": request.to_query(),
        "query": shape,
        "differs": _differing(request)(best),
        "machine": {"device": record["device"], "versions": record["versions"]},
        "naive_error": next((r["naive_error"] for r in rows if "naive_error" in r), None),
        "io_bytes": 4 * elements * ITEMSIZE[best["dtype"]],
        "rows": rows,
        "ceilings": load()["ceilings"].get(best["dtype"]),
        "after_timing": _clocks(best, name),
        "chooser": _choice(best, pass_),
    }


def _choice(row: PointRow, pass_: str) -> Choice | None:
    """Return which backend PyTorch picks for this point, with its reasons against the others; None
    where a score or another mask would need a dense mask of N × N."""
    if row["score"] != "none":
        return None
    point = {"d": row["d"], "mask": row["mask"], "dtype": row["dtype"], "pass": pass_}
    found = rows_where("choices_nvidia_h200", **point)
    return {"picked": found[0]["picked"], "reasons": found[0]["reasons"]} if found else None


def _by_method(rows: Iterable[PointRow]) -> dict[str, PointRow]:
    """Return {method: row}; of one that was also timed in deterministic mode that time stands
    beside."""
    found = {method_of(row): row for row in rows}
    for name in [key for key in found if key.endswith(DETERMINISTIC)]:
        other = found.pop(name)
        plain = name.removesuffix(DETERMINISTIC)
        found[plain] = cast(PointRow, found[plain] | {"deterministic_ms": other["median_ms"]})
    return found


def _row(r: PointRow, pass_: str) -> Row:
    """The same without its problem, which a run's query says; with its FLOPs, and its bytes."""
    row = cast(Row, {key: r[key] for key in Row.__annotations__ if key in r})
    row["method"] = method_of(r)
    if "refused" in r:
        return row
    for key in ("error", "naive_error"):  # of the gradients, the largest
        if isinstance(row.get(key), dict):
            row[key] = max(cast(Any, row[key]).values())
    mask, heads, shape = parse(r["mask"]), r["batch"] * r["heads"], (r["n"], r["d"])
    row["flops"] = pass_flops(mask, heads, *shape, pass_)
    if "block_m" in r:
        order = r["method"] if r["method"] != "hopper" else "fa2"
        tile = r["block_m"], r["block_n"]
        row["bytes"] = heads * requested_bytes(*shape, r["mask"], r["dtype"], order, *tile)
        row["least_bytes"] = heads * compulsory_bytes(*shape, r["dtype"], order, r["mask"])
    else:  # the records count what PyTorch's operators move, each one's inputs and outputs once
        once = heads * compulsory_bytes(*shape, r["dtype"], "fa2", r["mask"], pass_)
        row["least_bytes"] = row.pop("bytes", once)
    return row


def _clocks(point: PointRow, name: str = BENCH) -> list[str]:
    """Read what nvidia-smi reported right after this point was timed, as in a live result."""
    return [
        clocks["after_timing"]
        for clocks in load(name)["clocks"]
        if all(clocks.get(key, point[key]) == point[key] for key in POINT)
    ]


def swept(sweep: Sweep) -> tuple[Sweep, list[PointRow]]:
    """The recorded sweep nearest to this one (d in octaves; bf16 for fp32; causal for any other
    mask, without score, sink, shared keys and dropout), and its rows: of what was asked only where
    the first is ``sweep`` itself."""
    rows: list[PointRow] = load()["rows"]
    d = min({row["d"] for row in rows}, key=lambda d: abs(math.log2(d / sweep.d)))
    there = {row["mask"] for row in rows}
    near = replace(
        sweep,
        d=d,
        dtype=sweep.dtype if sweep.dtype in ("fp16", "bf16") else "bf16",
        mask=sweep.mask if str(sweep.mask) in there else "causal",
        score="none",
        sink=None,
        kv_heads=None,
        dropout=0.0,
    )
    return near, [
        row
        for row in rows_where(d=near.d, dtype=near.dtype)
        if row["n"] <= near.longest and row["mask"] in near.masks and row["method"] in near.methods
    ]


def labelled_rows(sweep: Sweep) -> list[Any]:
    """The rows of :func:`swept`, each with where and when it was ``recorded`` and, where this sweep
    was not, ``instead_of`` what it stands."""
    near, rows = swept(sweep)
    more = {"recorded": about()}
    if near != sweep:
        more["instead_of"] = sweep.name
    return [row | more for row in rows]


def what() -> str:
    """What the record holds, for a sentence."""
    rows = load()["rows"]
    d, dtypes = ({row[key] for row in rows} for key in ("d", "dtype"))
    lengths = [row["n"] for row in rows]
    sizes, types = listed([str(x) for x in sorted(d)]), listed(sorted(dtypes))
    return t("record", d=sizes, dtypes=types, least=min(lengths), most=max(lengths))
