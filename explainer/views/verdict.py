"""Tell who is right in a run, and whether its tiles are the picture's."""

from explainer.engine.requests import RunRequest
from explainer.engine.results import Result, ran


def agrees(result: Result) -> bool | None:
    """Return whether the kernels' tiles are the picture's; None when nothing was compared."""
    compared = [same["agrees"] for row in ran(result["rows"]) if (same := row.get("same"))]
    return all(compared) if compared else None


def is_right(result: Result) -> bool:
    """Return whether every method that ran is right."""
    return all(row["right"] for row in ran(result["rows"]))


def has_backward(result: Result) -> bool:
    """Return whether both passes were run, and the gradients judged."""
    return "pass" in result["query"]


def step_query(result: Result) -> dict:
    """Return the Step page's keys of a run's query."""
    query = result["query"]
    pass_ = {key: query[key] for key in ("pass",) if key in query}
    return RunRequest.from_query(query).problem.to_query() | pass_
