"""The six tabs below the claims of a run, as plain JSON: Errors, Tiles, Time, Roofline, Backend,
Script."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from explainer.algorithms.algorithm import COMPULSORY, CONVENTIONS
from explainer.base.amounts import (
    amount,
    format_places,
    listed,
    milliseconds,
    rounded,
    scientific,
)
from explainer.base.cards import peak_tflops
from explainer.base.texts import Texts
from explainer.engine.requests import METHODS, STORE_S
from explainer.engine.results import (
    A_DECADE,
    LOWEST,
    Result,
    Row,
    Same,
    naive_ms,
    ran,
    refused_methods,
    timed,
)
from explainer.views import downloads, run_claims, verdict
from explainer.views.script import write_script
from explainer.views.times import describe_times

t = Texts("run_result")
Tab = dict[str, Any]
SELDOM = 5e-4  # a tail of a histogram thinner than this is not drawn
NAMES = ("dQ", "dK", "dV")


def table(head: Sequence[str], rows: Sequence[Sequence[str]], title: str) -> dict[str, Any]:
    """Make a table without the columns that nothing is known for."""
    known = [k for k in range(len(head)) if any(row[k] not in ("", "–") for row in rows)]
    rows = [[row[k] for k in known] for row in rows]
    return {"title": title, "head": [head[k] for k in known], "rows": rows}


def _cell(values: Mapping, key: str, write: Callable[[Any], str] = "{:,}".format) -> str:
    """Write one of the values, a dash where it is not known."""
    return write(values[key]) if key in values else "–"


def errors(result: Result, main: str) -> Tab:
    """How large the errors are, what rounding may cost, and the rules of the judgement."""
    judged = {row["method"]: row for row in ran(result["rows"])}
    shown = {name: judged[name] for name in dict.fromkeys((main, "naive")) if name in judged}
    rules = verdict.rules(result)
    cost = judged[main]
    terms = [(t.named("cost.terms")[key], cost["terms"][key]) for key in verdict.TERMS]
    whole = max(cost["allowed"], 1e-300)
    name = METHODS[main]
    return {
        "histogram": _histogram(shown, main, verdict.has_backward(result)),
        "cost": {
            "title": t("cost", name=name, allowed=scientific(cost["allowed"])),
            "parts": [
                {
                    "share": value / whole,
                    "text": t("cost.part", label=label, share=100 * value / whole),
                }
                for label, value in sorted(terms, key=lambda x: -x[1])
            ],
            "error": min(1.0, cost["error"] / whole) if math.isfinite(cost["error"]) else 1.0,
            "text": t("cost.error", name=name, error=scientific(cost["error"])),
        },
        "table": table(rules["head"], rules["rows"], rules["caption"]),
        "texts": [*rules["texts"], *refused_methods(result["rows"])],
    }


def _histogram(rows: dict[str, Row], main: str, is_backward: bool) -> dict[str, Any]:
    """Bins of log₁₀ |error|, as shares of all values, from the first to the last that counts."""
    counts = {name: row["histogram"]["counts"] for name, row in rows.items()}
    used = [k for c in counts.values() for k, x in enumerate(c) if x > SELDOM * max(1, sum(c))]
    first, last = (min(used), max(used)) if used else (0, A_DECADE)
    values = sum(counts[main]) + rows[main]["histogram"]["exact"]
    series = []
    for name, row in rows.items():
        exact = row["histogram"]["exact"]
        total = max(1, sum(counts[name]) + exact)
        label = METHODS[name]
        if exact / total >= 0.005:
            label = t("histogram.exact", name=label, share=100 * exact / total)
        shares = [count / total for count in counts[name][first : last + 1]]
        texts = [
            t("histogram.tip", name=METHODS[name], share=100 * share, error=scientific(_middle(k)))
            for k, share in enumerate(shares, first)
        ]
        series.append({"name": label, "main": name == main, "shares": shares, "texts": texts})
    of = t("gradients.all") if is_backward else "O"
    low, high = (LOWEST + k / A_DECADE for k in (first, last + 1))
    title = t("histogram", values=values, of=of)
    return {"title": title, "low": low, "high": high, "series": series}


def _middle(k: int) -> float:
    return 10 ** (LOWEST + (k + 0.5) / A_DECADE)


def tiles(result: Result) -> Tab:
    """Each kernel's tiles beside Step's, its block sizes and bytes, and what a second run gives."""
    lines: list[tuple[bool | None, str]] = []
    maps, grids = [], []
    for name, same in run_claims.compared(result):
        lines.append(_compared(name, same, verdict.has_backward(result)))
        if same and "map" in same:
            maps.append(run_claims.tile_map(result, same, METHODS[name]))
        if same and "seen" in same:
            grids.append(_seen(METHODS[name], same))
    against = {same["against"] for _, same in run_claims.compared(result) if same}
    why = t.named("tiles.why")
    key = "backward" if verdict.has_backward(result) else "trace"
    notes = [why[key if x == "trace" else x] for x in sorted(against)]
    cells = [
        (
            METHODS[row["method"]],
            f"{row['block_m']} × {row['block_n']}" if "block_m" in row else "–",
            _cell(result["tiles"], row["method"]),
            *(_cell(row, key, amount) for key in ("peak_bytes", "bytes", "least_bytes")),
        )
        for row in ran(result["rows"])
    ]
    return {
        "lines": lines,
        "maps": maps,
        "notes": notes,
        "grids": [*grids, table(t.row("tiles.head"), cells, t("tiles.bytes"))],
        "repeat": _repeated(result) if verdict.has_backward(result) else None,
    }


def _seen(name: str, same: Same) -> dict[str, Any]:
    """List m and ℓ as the kernel reported them beside what they were compared with."""
    key = "trace" if same["against"] == "trace" else "float64"
    rows = []
    for x in same["seen"]:
        values = (x["m"], x["m_expected"], x["l"], x["l_expected"])
        digits = (format_places(value, 7) for value in values)
        rows.append((f"({x['i']}, {x['j']})", str(x["row"]), *digits))
    head = t.named("seen.head")[key].split(", ")
    is_all = len(rows) == same["tiles"]
    title = t("seen", name=name) if is_all else t("seen.most", name=name, n=len(rows))
    return {"title": title, "head": head, "rows": rows}


def _compared(name: str, same: Any, both: bool) -> tuple[bool | None, str]:
    """Say how one kernel's tiles compare with Step's."""
    label = METHODS[name]
    if same is None:
        return None, t("tiles.many_backward" if both else "tiles.many", name=label)
    if "errors" in same:
        if same["largest"] is None:
            return False, t("tiles.elsewhere", name=label)
        apart = ", ".join(f"|Δ{key}| ≤ {scientific(same['errors'][key] or 0.0)}" for key in NAMES)
        share = 100 * same["largest"]
        return same["agrees"], t("tiles.gradients", name=label, apart=apart, share=share)
    if same["against"] == "O":
        return same["agrees"], t("tiles.o", name=label, error=scientific(same["o_error"]))
    if same["against"] in ("reports", "probes") and not same["agrees"]:
        (i, j), count = same["map"]["first"] or (0, 0), same["map"]["cells"].count("x")
        return False, t("tiles.differ", name=label, n=count, i=i, j=j)
    if same["against"] == "probes":
        return True, t("tiles.probed", name=label, tiles=same["tiles"])
    if same["m_error"] is None or same["l_error"] is None:
        return False, t("tiles.elsewhere", name=label)
    m, l = scientific(same["m_error"]), scientific(same["l_error"])
    values = {"values": same["values"], "tiles": same["tiles"], "m": m, "l": l}
    return same["agrees"], t("tiles.values", name=label, **values)


def _repeated(result: Result) -> dict[str, Any]:
    """How many numbers of the gradients differ in a bit when they are computed once more."""
    rows = ran(result["rows"])
    cells = [
        (METHODS[row["method"]] + mode, *(f"{differ[name]:,}" for name in NAMES))
        for row in rows
        for mode, differ in (
            ("", row["repeat"]["differ"]),
            (t("repeat.mode"), row["repeat"]["deterministic"]),
        )
        if differ is not None
    ]
    differing = [METHODS[r["method"]] for r in rows if any(r["repeat"]["differ"].values())]
    if differing:
        text = t("repeat.differ", names=listed(differing))
    else:
        is_serial = result["machine"].get("interpreted")
        text = t("repeat.interpreted" if is_serial else "repeat.same")
    title = t("repeat", values=rows[0]["repeat"]["values"])
    return {**table(["", *NAMES], cells, title), "text": text}


def time(result: Result) -> Tab:
    """Every figure as a table, with downloads, and what the times are; of a recorded run too."""
    head, rows = t.row("all.head"), result["rows"]
    cells = [_cells(row, result) for row in ran(rows)]
    texts = []
    if is_timed := timed(rows):
        texts = describe_times(is_timed, result["after_timing"])
        if any("loop_ms" in row for row in is_timed):
            texts.append(t("times.busy"))
        slow = next((row for row in is_timed if "deterministic_ms" in row), None)
        if slow:
            ms = slow["deterministic_ms"]
            name, ratio = METHODS[slow["method"]], ms / slow["median_ms"]
            texts.append(t("times.deterministic", name=name, time=milliseconds(ms), ratio=ratio))
    else:
        seconds = [
            f"{METHODS[row['method']]} {row['interpreter_s']:.2f} s"
            for row in rows
            if "interpreter_s" in row
        ]
        texts = [t("slow", took=listed(seconds)) if seconds else t("slow.none")]
    shape = (result["query"][key] for key in ("n", "d", "mask", "dtype"))
    kind = str(downloads.kind_of(result))
    texts += refused_methods(rows)
    return {
        "table": table(head, cells, t("all", kind=downloads.kind_of(result).text)),
        "texts": texts,
        "name": downloads.file_name(*shape, "recorded" if "recorded" in result else "live"),
        "data": {**result, "kind": kind, "table": downloads.run_rows(result)},
    }


def _cells(row: Row, result: Result) -> tuple[str, ...]:
    """Return a method's cells of the table; times are in ms, as far as 1 µs counts."""
    peak = peak_tflops(result["machine"]["device"], result["query"]["dtype"])
    naive, speed = naive_ms(result["rows"]), row.get("tflops")
    shortest = min((r["p20_ms"] for r in timed(result["rows"])), default=1.0)
    slowest = min((r["tflops"] for r in timed(result["rows"])), default=1.0)
    digits = max(2, min(4, 2 - math.floor(math.log10(shortest))))
    in_ms, whole = (f"{{:,.{places}f}}".format for places in (digits, 0))
    return (
        METHODS[row["method"]],
        *(
            _cell(row, key, in_ms)
            for key in ("median_ms", "p20_ms", "p80_ms", "loop_ms", "graph_ms")
        ),
        *(_cell(row, key, whole) for key in ("host_us", "first_ms")),
        _cell(row, "tflops", "{:,.1f}".format if slowest < 100 else whole),
        f"{100 * speed / peak:.0f} %" if speed and peak else "–",
        f"{naive / row['median_ms']:.2f}" if naive and speed else "–",
        _cell(row, "interpreter_s", "{:.2f}".format),
    )


def roofline(source: Result | None, note: str) -> Tab | None:
    """TFLOP/s over FLOPs per compulsory byte under the card's measured ceilings; None without."""
    rows = timed(source["rows"]) if source else []
    if not source or not rows or not source["ceilings"]:
        return None
    peak, hbm = (source["ceilings"][key] / 1e12 for key in ("flops", "hbm_bytes_per_s"))
    main = run_claims.fastest_of_ours(rows)
    points = [
        {
            "method": row["method"],
            "name": METHODS[row["method"]],
            "main": row["method"] == main,
            "x": row["flops"] / row["least_bytes"],
            "y": row["tflops"],
            "value": rounded(row["tflops"]),
            "stores": t("roofline.stores") if row["method"] in STORE_S else "",
            "text": t(
                "roofline.tip",
                name=METHODS[row["method"]],
                speed=rounded(row["tflops"]),
                x=rounded(row["flops"] / row["least_bytes"]),
                least=amount(row["least_bytes"]),
            ),
        }
        for row in rows
    ]
    return {
        "points": points,
        "peak": peak,
        "hbm": hbm,
        "labels": [t("roofline.peak", peak=peak), t("roofline.hbm", rate=hbm)],
        "axes": t.row("roofline.axes"),
        "texts": [note, t("roofline.note", least=CONVENTIONS[COMPULSORY])],
    }


def backend(result: Result, record: Result) -> Tab | None:
    """Which backend PyTorch's SDPA picks, and its reason against each other one: here, or as it was
    asked on the record's card; None where neither knows."""
    is_live = bool(result.get("chooser"))
    choice = result["chooser"] if is_live else record["chooser"]
    if not choice:
        return None
    picked = choice["picked"]
    lines: list[tuple[bool, str]] = []
    if picked:
        why = t("backend.math" if picked == "sdpa_math" else "backend.picked")
        lines.append((True, f"{METHODS[picked]}: {why}"))
    lines += [
        (False, f"{METHODS[name]}: {reason or t('backend.could')}")
        for name, reason in choice["reasons"].items()
        if name != picked
    ]
    if is_live:
        note = t("backend.live", device=result["machine"]["device"])
    else:
        note = t("backend.recorded", of=record_note(record), source=record["recorded"])
    return {"lines": lines, "note": note}


def record_note(record: Result) -> str:
    """Name the recorded problem, and say where it is only the nearest one."""
    q = record["query"]
    shape = {"n": int(q["n"]), "d": q["d"], "dtype": q["dtype"]}
    shape["scores"] = downloads.describe_scores(q)
    heads = f"{q['b']} × {q['h']}"
    return t("record.nearest" if record["differs"] else "record.same", heads=heads, **shape)


def script(result: Result) -> Tab:
    """A Python file that repeats the run, and its name."""
    lines = [t("script.live", device=result["machine"]["device"], when=result["when"])]
    for row in ran(result["rows"]):
        speed = f", {row['median_ms']:.4g} ms" if "median_ms" in row else ""
        lines.append(f"  {row['method']}: {row['error']:.2e}{speed}")
    return {
        "code": write_script(result["query"], lines),
        "name": "run_again.py",
        "text": t("script"),
    }
