"""What the Run page shows of a run that has ended: headline, four claims and six tabs."""

from explainer.engine.requests import METHODS, STORE_S, YOURS
from explainer.engine.results import Result, naive_ms, ran, timed
from explainer.views import run_claims, run_tabs, verdict
from explainer.views.downloads import describe_scores, file_name, kind_of, run_rows
from explainer.views.run_state import State, state_of
from explainer.views.templates import render, render_words


def done(result: Result, record: Result) -> State:
    """The state of a run that has a live result. ``record``: the recorded problem nearest to it,
    for its speed where nothing was timed here.

    Beside a state's own keys: ``tabs``, the HTML of each by its name, ``roofline`` (run_tabs.py),
    ``data`` and ``file``, what can be saved and its name, ``query``, the Step page's keys of the
    Problem, ``agrees`` and ``right``, ``device``, and ``first``, the view that the page opens with:
    "claims", or "fast" where the run was timed.
    """
    main, kind = run_claims.main_method(result["rows"]), kind_of(result)
    is_timed = bool(timed(result["rows"]))
    source = result if is_timed else record
    note = kind.text if is_timed else run_tabs.record_note(record)
    claims = {
        "correct": run_claims.correct(result, main),
        "same": run_claims.same(result, main),
        "fast": run_claims.fast(source),
        "small": run_claims.small(result, main),
    }
    is_right, agrees = verdict.is_right(result), verdict.agrees(result)
    roofline = run_tabs.roofline(source)
    facts = {"main": main, "note": note, "names": METHODS, "roofline": roofline}
    shape = (result["query"][key] for key in ("n", "d", "mask", "dtype"))
    return state_of(
        "done",
        **_words(result, main, claims),
        html=render("run/claims", claims=claims, **facts),
        provenance=kind.text,
        tabs=run_tabs.render_tabs(result, record, main, note),
        roofline=roofline,
        data={**result, "kind": str(kind), "table": run_rows(result)},
        file=file_name(*shape, "live"),
        query=verdict.step_query(result),
        agrees=agrees,
        right=is_right,
        device=result["machine"]["device"],
        first="fast" if is_timed and is_right and agrees is not False else "claims",
    )


def _words(result: Result, main: str, claims: dict[str, run_claims.Claim]) -> dict[str, str]:
    """Return the ``headline`` and the ``sentence`` below it."""
    rows, compared = ran(result["rows"]), run_claims.compared(result)
    live = {row["method"]: row for row in timed(rows)}
    own = (*run_claims.OURS, "naive", YOURS)
    matching = [name for name, same in compared if same]
    by_tiles = [name for name in matching if name not in STORE_S]
    subjects = by_tiles or matching or [main]
    lists = {
        "wrong": [row["method"] for row in rows if not row["right"]],
        "differing": [name for name, same in compared if same and not same["agrees"]],
        "subjects": subjects,
        "others": [row["method"] for row in rows if row["method"] not in subjects],
    }
    return render_words(
        "run/headline",
        **{key: [METHODS[name] for name in names] for key, names in lists.items()},
        names=METHODS,
        claims=claims,
        mine=live.get(run_claims.fastest_of_ours(rows)),
        best=min(
            (row for name, row in live.items() if name not in own),
            key=lambda row: row["median_ms"],
            default=None,
        ),
        naive=naive_ms(rows),
        n=int(result["query"]["n"]),
        scores=describe_scores(result["query"]),
        is_backward=verdict.has_backward(result),
        is_cpu=result["machine"].get("interpreted"),
        compared=compared,
        matching=matching,
        by_tiles=by_tiles,
        missing=len(result["rows"]) - len(rows),
    )
