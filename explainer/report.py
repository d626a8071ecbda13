"""What a kernel run found, as HTML: a pure function of the engine's result. Nothing is computed
here that the worker could have measured; every text is escaped."""

from __future__ import annotations

import math
from html import escape
from urllib.parse import urlencode

from explainer import recorded
from explainer.problem import Problem

ORDER_NAMES = {"standard": "Standard", "fa1": "FA-1", "fa2": "FA-2"}
SUPERSCRIPT = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def scientific(x: float) -> str:
    """2.4e-07 → “2.4 × 10⁻⁷”; 0 and what is not finite as they are."""
    if x == 0 or not math.isfinite(x):
        return "0" if x == 0 else "not finite"
    digits, power = f"{x:.1e}".split("e")
    return f"{digits}\u00a0×\u00a010{str(int(power)).translate(SUPERSCRIPT)}"


def amount(n_bytes: float) -> str:
    """Bytes in binary units, three digits."""
    power = 0
    while n_bytes >= 1024 and power < 3:
        n_bytes, power = n_bytes / 1024, power + 1
    digits = f"{n_bytes:,.0f}" if n_bytes >= 100 or power == 0 else f"{n_bytes:.3g}"
    return f"{digits} {('B', 'KiB', 'MiB', 'GiB')[power]}"


def milliseconds(ms: float) -> str:
    """Three digits, in µs below a tenth of a millisecond."""
    return f"{ms * 1000:.1f} µs" if ms < 0.1 else f"{ms:.3g} ms"


def tag(name: str, content: str, **attributes: object) -> str:
    """One element; ``content`` is HTML, attribute values are escaped. class_ → class, a_b → a-b."""
    given = "".join(
        f' {k.rstrip("_").replace("_", "-")}="{escape(str(v))}"' for k, v in attributes.items()
    )
    return f"<{name}{given}>{content}</{name}>"


def div(kind: str, *content: str, **attributes: object) -> str:
    """A ``div`` of this class."""
    return tag("div", "".join(content), class_=kind, **attributes)


def words(text: str, kind: str = "") -> str:
    """A paragraph of plain text."""
    return tag("p", escape(text), class_=kind) if kind else tag("p", escape(text))


def card(name: str, title: str, remark: str, *body: str) -> str:
    """A card with the heading that the Step page's cards have."""
    head = tag("h2", escape(title)) + tag("span", escape(remark), class_="fa-remark")
    return tag("section", div("fa-card-head", head) + "".join(body), class_=f"fa-card fa-{name}")


def bar(label: str, share: float, value: str, kind: str, whisker: tuple | None = None) -> str:
    """One labelled bar; ``share`` of the row's width; ``whisker`` (low, high) shares."""
    fill = tag("i", "", class_=f"fa-fill fa-is-{kind}", style=f"width:{100 * share:.2f}%")
    if whisker:
        low, high = (100 * x for x in whisker)
        style = f"left:{low:.2f}%;width:{max(0.2, high - low):.2f}%"
        fill += tag("i", "", class_="fa-whisker", style=style)
    name, track = tag("span", escape(label)), tag("span", fill, class_="fa-run-track")
    return div("fa-run-bar", name, track, tag("b", escape(value)))


def idle() -> str:
    """Before anything ran."""
    text = (
        "Choose a Problem and press Run: the Triton kernel computes it, its O is compared with "
        "float64 and its m and ℓ, tile by tile, with what the Step page shows."
    )
    return div("fa-run", div("fa-run-idle", words(text)))


def failure(sentence: str) -> str:
    """One sentence in place of a result."""
    return div("fa-run", tag("p", escape(sentence), class_="fa-run-refused", role="alert"))


STAGES = (
    "float64 reference",
    "naive attention",
    "kernel",
    "tile states",
    "comparing with the trace",
    "peak memory",
    "timing",
)


def progress(stage: str, done: int, total: int, position: int = 0) -> str:
    """The job on its way: its place in the queue, or its stage and how far that is."""
    if position:
        text, share = f"Waiting: {position} before this one.", 0.0
    elif not stage:
        text, share = "Starting the kernel's process.", 0.0
    else:
        at = STAGES.index(stage) if stage in STAGES else 0
        share = (at + done / max(1, total)) / len(STAGES)
        text = f"{stage[0].upper()}{stage[1:]}"
        text += f": program {done:,} of {total:,}." if total > 1 else "."
    meter = tag("i", "", style=f"width:{100 * share:.1f}%")
    values = {"aria_valuenow": round(100 * share), "aria_valuemin": 0, "aria_valuemax": 100}
    line = div("fa-run-meter", meter, role="progressbar", aria_label="Run", **values)
    return div("fa-run", div("fa-run-idle", line, words(text)))


def report(result: dict) -> str:
    """All that one run found."""
    query, machine = result["query"], result["machine"]
    good = result["right"]["right"] and result["same"]["agrees"]
    cards = (_right(result), _same(result), _small(result), _fast(result))
    return div(
        "fa-run",
        _verdict(result, good),
        div("fa-run-cards", *cards),
        data_testid="run-result",
        data_query=urlencode(query),
        data_device=machine["device"],
        data_right=str(result["right"]["right"]).lower(),
        data_agrees=str(result["same"]["agrees"]).lower(),
    )


def _verdict(result: dict, good: bool) -> str:
    q, machine = result["query"], result["machine"]
    if good:
        text = "The kernel is right, and it is the picture."
    elif result["right"]["right"]:
        text = "The kernel is right, but its tiles differ from the picture."
    else:
        text = "The kernel's output is not right here."
    problem = (
        f"{ORDER_NAMES[q['order']]} · N = {int(q['n']):,} · d = {q['d']} · Br = {q['br']} · "
        f"Bc = {q['bc']} · {q['mask']} · {q['dtype']} · {result['tiles']:,} tiles"
    )
    versions = " · ".join(f"{k} {v}" for k, v in machine["versions"].items())
    link = tag("a", "Step through it", href=f"?{urlencode(q)}", class_="fa-run-link")
    return div(
        "fa-run-verdict",
        tag("span", "✓" if good else "✗", class_="fa-mark" if good else "fa-mark is-bad"),
        div("fa-run-words", tag("b", escape(text)), tag("span", escape(problem))),
        div("fa-run-where", tag("b", escape(machine["device"])), tag("span", escape(versions))),
        link,
    )


def _right(result: dict) -> str:
    r, dtype = result["right"], result["query"]["dtype"]
    rows = [("this kernel", r["error"], "kernel")]
    if r["naive_error"] is not None:
        rows.append(("naive attention", r["naive_error"], "naive"))
    rows.append(("allowed", r["allowed"], "limit"))
    positive = [x for _, x, _ in rows if x > 0]
    low = math.floor(math.log10(min(positive))) - 1
    span = max(1.0, math.log10(max(positive)) - low) * 1.05
    bars = [
        bar(label, (math.log10(x) - low) / span if x > 0 else 0.0, scientific(x), kind)
        for label, x, kind in rows
    ]
    if r["naive_error"]:
        note = f"{r['error'] / r['naive_error']:.2f} times naive attention's error"
    elif r["naive_error"] == 0:
        note = "naive attention happens to be exact here"
    else:
        note = result["small"]["naive_refused"].removesuffix(".")
    rule = "Allowed: twice naive's error, plus what rounding O itself may cost."
    return card(
        "right",
        "Right?",
        f"largest |O − O in float64|, {dtype}, logarithmic",
        *bars,
        words(f"{note}; lse is off by {scientific(r['lse_error'])} at most."),
        words(rule, "fa-fine"),
    )


def _same(result: dict) -> str:
    s = result["same"]
    mark = tag(
        "span", "✓" if s["agrees"] else "✗", class_="fa-mark" if s["agrees"] else "fa-mark is-bad"
    )
    if s["against"] == "O":
        found = f"O agrees with the trace's to {scientific(s['o_error'])}."
        if not s["agrees"]:
            found = f"O differs from the trace's by {scientific(s['o_error'])}."
        why = "Standard attention keeps no running m and ℓ: its output is compared instead."
        allowed = s["tolerance"]
    else:
        worst = f"|Δm| ≤ {scientific(s['m_error'])}, |Δℓ|/ℓ ≤ {scientific(s['l_error'])}"
        found = f"{s['values']:,} values of m and ℓ in {s['tiles']:,} tiles: {worst}."
        why = (
            "The kernel writes m and ℓ after every tile; the Step page's trace is NumPy."
            if s["against"] == "trace"
            else "Too large for a trace: m and ℓ are compared with their definition in float64."
        )
        allowed = s["tolerance"]
    return card(
        "same",
        "The same as the picture?",
        "kernel against trace",
        div("fa-run-same", mark, words(found)),
        words(why),
        words(f"Rounding alone explains up to {scientific(allowed)}.", "fa-fine"),
    )


def _small(result: dict) -> str:
    s, q = result["small"], result["query"]
    naive, kernel = s["naive_bytes"], s["kernel_bytes"]
    most = max(kernel, naive or 0, 1)
    bars = [bar("this kernel", kernel / most, amount(kernel), "kernel")]
    if naive is None:
        note = s["naive_refused"]
    else:
        bars.append(bar("naive attention", naive / most, amount(naive), "naive"))
        note = f"Naive attention holds {naive / max(1, kernel):,.3g} times as much: S and P."
        if q["order"] == "standard":
            note = "Both hold S and P, N × N each."
    how = (
        "tensors alive at once"
        if result["machine"]["interpreted"]
        else "PyTorch's allocator, in a run of its own"
    )
    held = f"Q, K, V and O themselves are {amount(s['io_bytes'])}."
    remark = f"peak memory beyond the inputs · {how}"
    return card("small", "Small?", remark, *bars, words(note), words(held, "fa-fine"))


def _recorded(query: dict) -> list[str]:
    """What an H200 took for the nearest Problem that was measured there, said to be recorded."""
    problem = Problem.from_query(query)
    rows, about = recorded.nearest(problem)
    if not rows:
        return [words("No GPU here, and nothing near this Problem was recorded on one.")]
    one = next(iter(rows.values()))
    most = max(row["median_ms"] for row in rows.values())
    bars = [
        bar(
            recorded.NAMES[name],
            row["median_ms"] / most,
            milliseconds(row["median_ms"]),
            "naive" if name == "naive" else "kernel",
        )
        for name, row in rows.items()
    ]
    where = (
        f"No GPU here. Recorded on {about['device']}, {about['date']}, torch "
        f"{about['versions']['torch']}, Triton {about['versions']['triton']}: N = {one['n']:,}, "
        f"d = {one['d']}, {one['mask']}, {one['dtype']}, {one['batch']} × {one['heads']} heads."
    )
    return [words(where, "fa-fine"), *bars]


def _fast(result: dict) -> str:
    f = result["fast"]
    if "interpreter_s" in f:
        return card(
            "fast",
            "Fast?",
            "not a speed: interpreter",
            *_recorded(result["query"]),
            words(
                f"Triton's interpreter ran the kernel in NumPy, {result['tiles']:,} tiles in "
                f"{f['interpreter_s']:.2f} s: that is how long you waited, not how fast it is.",
                "fa-fine",
            ),
        )
    most = max(t["p80_ms"] for t in f.values())
    bars = [
        bar(
            {"kernel": "this kernel", "naive": "naive attention"}[name],
            t["median_ms"] / most,
            milliseconds(t["median_ms"]),
            name,
            (t["p20_ms"] / most, t["p80_ms"] / most),
        )
        for name, t in f.items()
    ]
    kernel, naive = f["kernel"], f.get("naive")
    spread = f"p20 to p80: {milliseconds(kernel['p20_ms'])} to {milliseconds(kernel['p80_ms'])}"
    note = f"{spread}."
    if naive:
        note = f"{naive['median_ms'] / kernel['median_ms']:.3g} times as fast as naive attention. "
        note += (
            f"{spread} (naive {milliseconds(naive['p20_ms'])} to {milliseconds(naive['p80_ms'])})."
        )
    how = f"Median of {kernel['runs']} runs, CUDA events, L2 emptied before each; {result['when']}."
    remark = f"one head · {result['machine']['device']}"
    return card("fast", "Fast?", remark, *bars, words(note), words(how, "fa-fine"))
