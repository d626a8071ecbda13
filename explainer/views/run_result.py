"""What the Run page shows of a run that has ended: headline, four claims and six tabs."""

from explainer.base.amounts import listed, milliseconds
from explainer.base.texts import Texts
from explainer.engine.requests import METHODS, STORE_S, YOURS
from explainer.engine.results import Result, Row, ran, timed
from explainer.views import run_claims, run_tabs, verdict
from explainer.views.downloads import describe_scores, kind_of
from explainer.views.run_state import State, state_of

t = Texts("run_result")
LEVEL = 1.05  # times within which two methods are level


def done(result: Result, record: Result) -> State:
    """The state of a run that has a live result. ``record``: the recorded problem nearest to it,
    for its speed where nothing was timed here.

    Beside a state's own keys: ``claims`` (run_claims.py), ``tabs`` (run_tabs.py), ``query``, the
    Step page's keys of the Problem, ``agrees`` and ``right``, ``device``, and ``first``, the view
    that the page opens with: "claims", or "fast" where the run was timed.
    """
    main = run_claims.main_method(result["rows"])
    is_timed = bool(timed(result["rows"]))
    old = None if is_timed else record
    note = run_tabs.record_note(record) if old else kind_of(result).text
    headline, sentence = _headline(result, main)
    claims = [
        run_claims.correct(result, main),
        run_claims.same(result, main),
        run_claims.fast(result, old, note),
        run_claims.small(result, main),
    ]
    is_right, agrees = verdict.is_right(result), verdict.agrees(result)
    first = "fast" if is_timed and is_right and agrees is not False else "claims"
    return state_of(
        "done",
        headline,
        sentence,
        provenance=kind_of(result).text,
        claims=claims,
        tabs=run_tabs.tabs(result, record, main, note),
        query=verdict.step_query(result),
        agrees=agrees,
        right=is_right,
        device=result["machine"]["device"],
        first=first,
    )


def _headline(result: Result, main: str) -> tuple[str, str]:
    """Return the headline and the sentence below it."""
    rows = ran(result["rows"])
    wrong = [row for row in rows if not row["right"]]
    if wrong:
        names = [METHODS[row["method"]] for row in wrong]
        key = "headline.wrong" if len(names) == 1 else "headline.wrong_many"
        return t(key, names=listed(names)), run_claims.wrong_sentence(wrong)
    compared = run_claims.compared(result)
    differing = [METHODS[name] for name, same in compared if same and not same["agrees"]]
    if differing:
        key = "headline.differs" if len(differing) == 1 else "headline.differ"
        claim = run_claims.same(result, main)
        return t(key, names=listed(differing)), claim["sentence"]
    if timed(rows) and run_claims.fastest_of_ours(rows):
        return _speed(result)
    return _correct(result, rows, main)


def _correct(result: Result, rows: list[Row], main: str) -> tuple[str, str]:
    """Say which kernels are right and match Step, then what else ran."""
    compared = run_claims.compared(result)
    matching = [name for name, same in compared if same]
    by_tiles = [name for name in matching if name not in STORE_S]
    subjects = by_tiles or matching or [main]
    one = len(subjects) == 1
    if by_tiles:
        key = "headline.tiles" if one else "headline.tiles_many"
    elif matching:
        key = "headline.matches"
    else:
        key = "headline.right"
    headline = t(key, names=listed([METHODS[name] for name in subjects]))
    others = [METHODS[row["method"]] for row in rows if row["method"] not in subjects]
    parts = []
    if others:
        parts.append(t("also.one" if len(others) == 1 else "also", names=listed(others)))
    if not compared:
        parts.append(t("also.no_kernel"))
    elif not matching:
        parts.append(t("also.many"))
    missing = len(result["rows"]) - len(rows)
    if missing:
        is_cpu = result["machine"].get("interpreted")
        is_gpu_wanted = is_cpu and not verdict.has_backward(result)
        parts.append(t("also.gpu" if is_gpu_wanted else "also.missing", n=missing))
    return headline, " ".join(parts)


def _speed(result: Result) -> tuple[str, str]:
    """Say how the fastest kernel of ours compares with naive attention and with the best other."""
    rows = {row["method"]: row for row in timed(result["rows"])}
    main = run_claims.fastest_of_ours([*rows.values()])
    mine = rows[main]["median_ms"]
    own = (*run_claims.OURS, "naive", YOURS)
    others = [row for name, row in rows.items() if name not in own]
    best = min(others, key=lambda row: row["median_ms"], default=None)
    naive = f"{rows['naive']['median_ms'] / mine:.2g}" if "naive" in rows else ""
    if best is None:
        headline = (
            t("speed.naive", times=naive)
            if naive
            else t("speed", name=METHODS[main], time=milliseconds(mine))
        )
    else:
        headline = _beside(best["median_ms"] / mine, METHODS[best["method"]], naive)
    q = result["query"]
    loop = rows[main].get("loop_ms")
    values = {"scores": describe_scores(q), "n": int(q["n"]), "name": METHODS[main]}
    values["time"] = milliseconds(mine)
    values["passes"] = t("speed.passes") if verdict.has_backward(result) else ""
    if loop:
        return headline, t("speed.call", call=milliseconds(loop), **values)
    return headline, t("speed.time", **values)


def _beside(ratio: float, name: str, naive: str) -> str:
    """Say how our kernel compares with the best other, and with naive attention where that is
    known."""
    more = {"name": name} | ({"naive": naive} if naive else {})
    if 1 / LEVEL < ratio < LEVEL:
        return t("speed.naive_level" if naive else "speed.level", **more)
    if ratio > 1:
        return t("speed.naive_faster" if naive else "speed.faster", ratio=ratio, **more)
    return t("speed.naive_slower" if naive else "speed.slower", ratio=1 / ratio, **more)
