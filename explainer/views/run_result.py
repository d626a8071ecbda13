"""What the Run page shows of a run that has ended: headline, four claims and six tabs."""

from explainer.engine.requests import METHODS, STORE_S, YOURS
from explainer.engine.results import Result, naive_ms, ran, timed
from explainer.views import run_claims, run_tabs, verdict
from explainer.views.downloads import describe_scores, kind_of
from explainer.views.run_state import State, state_of
from explainer.views.templates import render_words


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
        **_words(result, main, claims),
        provenance=kind_of(result).text,
        claims=claims,
        tabs=run_tabs.tabs(result, record, main, note),
        query=verdict.step_query(result),
        agrees=agrees,
        right=is_right,
        device=result["machine"]["device"],
        first=first,
    )


def _words(result: Result, main: str, claims: list[run_claims.Claim]) -> dict[str, str]:
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
