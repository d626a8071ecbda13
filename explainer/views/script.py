"""Write a run as a Python file that repeats it with the kernels alone, without this app."""

from collections.abc import Mapping, Sequence

from explainer.engine import admission
from explainer.engine.requests import ORDERS, RunRequest
from explainer.views.downloads import describe_scores
from explainer.views.templates import ENVIRONMENT


def write_script(query: Mapping[str, str], measured: Sequence[str] = ()) -> str:
    """Write the file for a run's query, whose block sizes are numbers; ``measured``: lines that
    say what the run found. A query without a seed is a recorded one."""
    problem = RunRequest.from_query({"n": query["n"], **query}).problem
    is_random = query.get("data") == "random"
    methods = tuple(query["methods"].split(","))
    orders = [name for name in methods if name in ORDERS]
    tiles = sum(admission.tiles_to_run(problem, name) for name in orders)
    text = ENVIRONMENT.get_template("run/run_again.txt").render(
        query=query,
        problem=problem,
        methods=methods,
        rules={**problem.rules, **problem.dropped},
        scores=describe_scores(query),
        seed=problem.seed if "seed" in query else 0,
        tiles=int(query["b"]) * int(query["h"]) * tiles,
        most=admission.INTERPRETER_TILES * len(orders or [""]),
        measured=map(_plain, measured),
        is_random=is_random,
        is_drawn=is_random and "seed" in query,
        is_backward=query.get("pass") == "backward",
    )
    return f"{text}\n"


def _plain(line: str) -> str:
    """A line that cannot end the docstring it stands in."""
    return line.replace("\\", "/").replace('"', "'")
