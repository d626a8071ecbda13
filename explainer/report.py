"""What a run found, as HTML: a pure function of the result. Nothing is computed here that the
worker could have measured; every text is escaped. A recorded result has the same form."""

from __future__ import annotations

import json
import math
from html import escape
from urllib.parse import urlencode

from explainer.hardware import peak_tflops
from explainer.html import (
    absent,
    amount,
    bar,
    card,
    div,
    mark,
    milliseconds,
    rounded,
    scientific,
    table,
    tag,
    words,
)
from explainer.request import METHODS, ORDERS
from explainer.script import script

KINDS = {"naive": "naive", "standard": "naive", "fa1": "fa1", "fa2": "kernel", "hopper": "hopper"}


def _kind(method: str) -> str:
    return KINDS.get(method, "sdpa")


def idle() -> str:
    """Before anything ran."""
    text = (
        "Choose a problem and press Run: every method computes it, its O is compared with float64, "
        "and the Triton kernels' m and ℓ, tile by tile, with what the Step page shows."
    )
    return div("fa-run", div("fa-run-idle", words(text)))


def failure(sentence: str) -> str:
    """One sentence in place of a result."""
    return div("fa-run", tag("p", escape(sentence), class_="fa-run-refused", role="alert"))


def progress(stage: str, done: int, total: int, position: int = 0) -> str:
    """The job on its way: its place in the queue, or its stage and how far that is."""
    if position:
        text, share = f"Waiting: {position} before this one.", 0.0
    elif not stage:
        text, share = "Starting the kernel's process.", 0.0
    else:
        share = done / max(1, total)
        text = f"{stage[0].upper()}{stage[1:]}"
        text += f": program {done:,} of {total:,}." if total > 1 else "."
    return div("fa-run", div("fa-run-idle", meter(share), words(text)))


def meter(share: float) -> str:
    """A bar that says how far something is."""
    values = {"aria_valuenow": round(100 * share), "aria_valuemin": 0, "aria_valuemax": 100}
    inner = tag("i", "", style=f"width:{100 * share:.1f}%")
    return div("fa-run-meter", inner, role="progressbar", aria_label="Run", **values)


def report(result: dict) -> str:
    """The verdict and the four questions of a live run."""
    ran = [row for row in result["rows"] if "refused" not in row]
    right = all(row["right"] for row in ran)
    agrees = all(row["same"]["agrees"] for row in ran if row.get("same"))
    cards = (_right(result), _same(result), _fast(result), _small(result))
    return div(
        "fa-run",
        _verdict(result, right, agrees),
        div("fa-run-cards", *cards),
        data_testid="run-result",
        data_query=urlencode(_lesson(result)),
        data_device=result["machine"]["device"],
        data_right=str(right).lower(),
        data_agrees=str(agrees).lower(),
    )


def recorded(result: dict) -> str:
    """The same questions answered from the record, and said to be from there."""
    q = result["query"]
    text = (
        f"Nearest problem there: N = {int(q['n']):,}, d = {q['d']}, {q['mask']}, {q['dtype']}, "
        f"{q['b']} × {q['h']} heads."
    )
    about = result["recorded"]
    head = div(
        "fa-run-words",
        tag("b", escape(about[0].upper() + about[1:])),
        tag("span", escape(text)),
    )
    return div(
        "fa-run",
        div("fa-run-verdict is-recorded", head),
        div("fa-run-cards", _fast(result), _small(result)),
        data_testid="run-recorded",
    )


def details(result: dict) -> str:
    """Every figure as a table, to be read, downloaded or measured again; and SDPA's choice."""
    chooser = _chooser(result["chooser"]) if result.get("chooser") else ""
    data = json.dumps(result, allow_nan=False)
    name = f"flashattention-{result['query']['n']}-{result['query']['d']}"
    buttons = [
        ("CSV", {"data_download": "csv"}),
        ("JSON", {"data_download": "json"}),
        ("Copy a script", {"data_copy": "script"}),
    ]
    tools = "".join(tag("button", text, type="button", **given) for text, given in buttons)
    caption = "All figures" + (f", {result['recorded']}" if "recorded" in result else "")
    body = table(*_filled(HEAD, [_cells(row, result) for row in result["rows"]]), caption)
    return div(
        "fa-run",
        chooser,
        card("all", "All figures", result.get("recorded", result.get("when", "")), body)
        + div("fa-run-tools", tools),
        data_rows=data,
        data_name=name,
        data_script=script(result["query"]),
    )


HEAD = (
    "Method", "max error", "relative", "mean error", "lse error", "median", "p20", "p80",
    "first call", "TFLOP/s", "of peak", "× naive", "peak memory", "bytes asked", "FLOP / byte",
)  # fmt: skip


def _filled(head: tuple[str, ...], rows: list[tuple[str, ...]]) -> tuple:
    """The same without the columns that nothing is known for."""
    kept = [k for k in range(len(head)) if any(row[k] not in ("", "–") for row in rows)]
    return tuple(head[k] for k in kept), [tuple(row[k] for k in kept) for row in rows]


def _cells(row: dict, result: dict) -> tuple[str, ...]:
    name = METHODS[row["method"]]
    if "refused" in row:
        return (name, row["refused"], *[""] * (len(HEAD) - 2))
    peak = peak_tflops(result["machine"]["device"], result["query"]["dtype"])
    naive = _naive_ms(result)

    def cell(key: str, form) -> str:
        return form(row[key]) if row.get(key) is not None else "–"

    speed = row.get("tflops")
    asked = row.get("bytes")
    return (
        name,
        *(cell(key, scientific) for key in ("error", "relative", "bias", "lse_error")),
        *(cell(key, milliseconds) for key in ("median_ms", "p20_ms", "p80_ms", "first_ms")),
        cell("tflops", rounded),
        f"{100 * speed / peak:.0f} %" if speed and peak else "–",
        f"{naive / row['median_ms']:.3g}" if naive and speed else "–",
        cell("peak_bytes", amount),
        amount(asked) if asked else "not known",
        rounded(row["flops"] / asked) if asked else "–",
    )


def _lesson(result: dict) -> dict:
    """The Step page's keys of a run's query."""
    return {k: v for k, v in result["query"].items() if k not in ("b", "h", "methods")}


def _verdict(result: dict, right: bool, agrees: bool) -> str:
    q, machine = result["query"], result["machine"]
    several = sum("refused" not in row for row in result["rows"]) > 2
    if right and agrees:
        text = "The kernel is right, and it is the picture."
        if several:
            text = "Every method is right, and the kernels are the picture."
    elif right:
        text = "Right, but the kernel's tiles differ from the picture."
    else:
        wrong = [METHODS[r["method"]] for r in result["rows"] if not r.get("right", True)]
        text = f"Not right here: {', '.join(wrong)}."
    tiles = max(result["tiles"].values(), default=0)
    problem = (
        f"B = {q['b']} · H = {q['h']} · N = {int(q['n']):,} · d = {q['d']} · Br = {q['br']} · "
        f"Bc = {q['bc']} · {q['mask']} · {q['dtype']} · {tiles:,} tiles a head"
    )
    versions = " · ".join(f"{k} {v}" for k, v in machine["versions"].items())
    link = tag("a", "Step through it", href=f"?{urlencode(_lesson(result))}", class_="fa-run-link")
    return div(
        "fa-run-verdict",
        mark(right and agrees),
        div("fa-run-words", tag("b", escape(text)), tag("span", escape(problem))),
        div("fa-run-where", tag("b", escape(machine["device"])), tag("span", escape(versions))),
        link,
    )


def _right(result: dict) -> str:
    rows = [row for row in result["rows"] if "refused" not in row]
    sizes = [x for row in rows for x in (row["error"], row["allowed"]) if x > 0]
    low = math.floor(math.log10(min(sizes, default=1e-7))) - 0.5
    span = max(1.0, math.log10(max(sizes, default=1.0)) - low) * 1.05

    def place(x: float) -> float:
        return max(0.0, (math.log10(x) - low) / span) if x > 0 else 0.0

    bars = [
        bar(
            METHODS[row["method"]],
            place(row["error"]),
            (scientific(row["error"]), "✓" if row["right"] else "✗"),
            _kind(row["method"]),
            limit=place(row["allowed"]),
        )
        for row in rows
    ]
    heads = result["heads_judged"]
    where = "the only head" if heads == 1 and result["query"]["h"] == "1" else f"{heads} heads"
    naive = result["naive_error"]
    note = f"Naive attention's own error in {result['query']['dtype']} is " + (
        f"{scientific(naive)}." if naive is not None else f"not known. {result['naive_refused']}"
    )
    rule = "▏allowed: twice naive's error, plus what rounding O itself may cost."
    remark = f"largest |O − O in float64| of {where}, logarithmic"
    return card("right", "Right?", remark, *bars, words(note), words(rule, "fa-fine"))


def _same(result: dict) -> str:
    rows = [r for r in result["rows"] if r["method"] in ORDERS and "refused" not in r]
    lines = []
    for row in rows:
        s, name = row.get("same"), METHODS[row["method"]]
        if s is None:
            text = f"{name}: too many tiles for a list of them, so only its O was judged."
            lines.append(words(text))
            continue
        if s["against"] == "O":
            found = f"O is the trace's to {scientific(s['o_error'])}."
        elif s["m_error"] is None:
            found = "m and ℓ stand in other tiles than in the picture."
        else:
            found = (
                f"{s['values']:,} values of m and ℓ in {s['tiles']:,} tiles: "
                f"|Δm| ≤ {scientific(s['m_error'])}, |Δℓ|/ℓ ≤ {scientific(s['l_error'])}."
            )
        lines.append(div("fa-run-same", mark(s["agrees"]), words(f"{name}: {found}")))
    if not rows:
        lines.append(words("None of the methods with tiles was chosen: FA-2, FA-1 or Standard."))
    against = {row["same"]["against"] for row in rows if row.get("same")}
    why = {
        "trace": "The kernel writes m and ℓ after every tile; the Step page's trace is NumPy.",
        "float64": "Too large for a trace: m and ℓ are compared with their definition in float64.",
        "O": "Standard attention keeps no running m and ℓ: its output is compared.",
    }
    notes = [words(why[key]) for key in ("trace", "float64", "O") if key in against]
    allowed = [row["same"]["tolerance"] for row in rows if row.get("same")]
    if allowed:
        text = f"Rounding alone explains up to {scientific(min(allowed))}."
        notes.append(words(text, "fa-fine"))
    return card("same", "The same as the picture?", "kernel against trace", *lines, *notes)


def _naive_ms(result: dict) -> float | None:
    times = [r.get("median_ms") for r in result["rows"] if r["method"] == "naive"]
    return times[0] if times else None


def _fast(result: dict) -> str:
    timed = [row for row in result["rows"] if row.get("median_ms")]
    if not timed:
        return _not_fast(result)
    naive, most = _naive_ms(result), max(row["p80_ms"] for row in timed)
    bars = []
    for row in result["rows"]:
        label = METHODS[row["method"]]
        if "refused" in row:
            bars.append(absent(label, row["refused"]))
            continue
        ratio = f"{naive / row['median_ms']:.3g} ×" if naive else ""
        cells = (milliseconds(row["median_ms"]), ratio, f"{rounded(row['tflops'])} TF")
        whisker = (row["p20_ms"] / most, row["p80_ms"] / most)
        share = row["median_ms"] / most
        bars.append(bar(label, share, cells, _kind(row["method"]), whisker=whisker))
    device, dtype = result["machine"]["device"], result["query"]["dtype"]
    peak, best = peak_tflops(device, dtype), max(timed, key=lambda row: row["tflops"])
    notes = []
    if peak:
        share = f"{100 * best['tflops'] / peak:.0f} %"
        text = f"{METHODS[best['method']]} reaches {share} of the card's {peak:g} TFLOP/s ({dtype})"
        notes.append(words(f"{text}, data sheet."))
    else:
        notes.append(words(f"{device} is not in the table of cards: its peak is not known here."))
    first = [
        f"{METHODS[r['method']]} {milliseconds(r['first_ms'])}" for r in timed if "first_ms" in r
    ]
    if first:
        notes.append(words(f"First call, compiling included: {', '.join(first)}.", "fa-fine"))
    how = "Median, p20 to p80 of interleaved runs, CUDA events, L2 emptied before each"
    notes.append(words(f"{how}; {result.get('recorded') or result['when']}.", "fa-fine"))
    remark = f"{'× naive, ' if naive else ''}TFLOP/s · {device}"
    return card("fast", "Fast?", remark, *bars, *notes)


def _not_fast(result: dict) -> str:
    rows = [row for row in result["rows"] if "interpreter_s" in row]
    seconds = sum(row["interpreter_s"] for row in rows)
    text = (
        f"Triton's interpreter ran {len(rows)} kernel{'s' * (len(rows) != 1)} in NumPy, in "
        f"{seconds:.2f} s: that is how long you waited, not how fast they are."
    )
    below = "What a GPU took for the nearest problem that was measured there is recorded below."
    return card("fast", "Fast?", "not a speed: interpreter", words(text), words(below))


def _small(result: dict) -> str:
    rows = result["rows"]
    ran = [row for row in rows if "refused" not in row]
    most = max([row["peak_bytes"] for row in ran] + [1])
    bars = [
        absent(METHODS[row["method"]], row["refused"])
        if "refused" in row
        else bar(
            METHODS[row["method"]],
            row["peak_bytes"] / most,
            (amount(row["peak_bytes"]),),
            _kind(row["method"]),
        )
        for row in rows
    ]
    q = result["query"]
    itemsize = 4 if q["dtype"] == "fp32" else 2
    matrix = int(q["b"]) * int(q["h"]) * int(q["n"]) ** 2 * itemsize
    notes = [
        words(f"One N × N matrix for every head is {amount(matrix)}; S and P are two."),
        words(f"Q, K, V and O themselves are {amount(result['io_bytes'])}.", "fa-fine"),
    ]
    interpreted = result["machine"].get("interpreted")
    how = "tensors alive at once" if interpreted else "PyTorch's allocator"
    return card("small", "Small?", f"peak memory beyond the inputs · {how}", *bars, *notes)


def _chooser(choice: dict) -> str:
    picked = choice["picked"]
    lines = []
    for name, reason in choice["reasons"].items():
        if name == picked:
            text = "picked."
        else:
            text = reason or "could run; PyTorch prefers the one it picked."
        lines.append(words(f"{METHODS[name]}: {text}"))
    if picked == "sdpa_math":
        lines.append(words(f"{METHODS[picked]}: picked, since no fused backend takes this input."))
    title = "What does scaled_dot_product_attention pick here?"
    return card("chooser", title, "PyTorch's own reasons", *lines)
