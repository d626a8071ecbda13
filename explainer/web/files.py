"""Make files of a Problem: a page that plays it with no server, its trace as JSON or arrays.

The page contains the player, its traces and the listings; it loads nothing, from anywhere.
"""

import base64
import io
import json
from dataclasses import replace
from typing import Any
from urllib.parse import urlencode

import numpy as np
import orjson  # Gradio brings it
from markupsafe import Markup

from explainer.algorithms.algorithm import CONVENTIONS
from explainer.algorithms.listings import listings
from explainer.algorithms.registry import BACKWARD, lanes_of
from explainer.algorithms.schedule import check_size, without_backward
from explainer.algorithms.sizes import trace_numbers
from explainer.algorithms.traffic import summed
from explainer.base.fields import refused
from explainer.base.texts import Texts
from explainer.learn import glossary
from explainer.problem import Problem
from explainer.trace import TRACES
from explainer.views.downloads import describe_scores
from explainer.views.templates import render
from explainer.web import bundle, wire
from explainer.web.stylesheets import PLAYER, join_stylesheets
from explainer.web.wire import KIND, pack

t = Texts("web")
# pass → the arrays of a trace, and of one of its visits
WHOLE = {
    "forward": ("Q", "K", "V", "S", "O", "lse"),
    "backward": ("Q", "K", "V", "O", "lse", "dO", "D", "dQ", "dK", "dV"),
}
STATS = {
    "forward": (*wire.ROW_STATS, "S", "P", "O"),
    "backward": ("D", "scores", "slope", "P", "dP", "dS", "part_dQ", "dQ", "dK", "dV"),
}
PLACE = ("i", "j", "kind", "stage", "phases", "transfers")  # of a visit
MOST_EXPORTED = 6_000_000  # numbers in a file
MOST_ARRAYS = 12_000  # in a file of arrays, each of which has a header of its own


def _name(problem: Problem) -> str:
    return "&".join(f"{key}={value}" for key, value in problem.to_query().items())


def in_every_order(problem: Problem) -> list[Problem]:
    """Return the Problem in every loop order that a page races it against."""
    return [replace(problem, order=order) for order in lanes_of(problem.order)]


def animation(problem: Problem, start: dict[str, str]) -> str:
    """Make one HTML page that plays this Problem offline, opened at the place ``start`` of its
    address: forward in every order, backward in its own, where it has one.

    Raises ProblemError for a Problem with more than 65,536 tiles.
    """
    check_size(problem)
    title = t(
        "file.title",
        n=problem.n,
        d=problem.d,
        br=problem.block_q,
        bc=problem.block_k,
        scores=describe_scores(problem.to_query()),
    )
    packed = {_name(p): pack(p) for p in in_every_order(problem)}
    if not without_backward(problem):
        packed[f"{_name(problem)}&pass=backward"] = pack(problem, "backward")
    content = {
        "traces": {name: base64.b64encode(x).decode() for name, x in packed.items()},
        "listings": _listings(problem),
        "glossary": glossary.data(),
        "start": urlencode(problem.to_query() | start),
    }
    return render(
        "site/offline",
        title=title,
        remark=t("file.remark", kind=KIND),
        style=Markup(join_stylesheets(PLAYER)),
        content=Markup(in_script(content)),
        script=Markup(bundle.offline().replace("</", "<\\/")),
    )


def _listings(problem: Problem) -> dict[str, dict]:
    """Return the code that the page shows: of every lane, backward of its own order."""
    found = {key: listings()[key] for key in lanes_of(problem.order)}
    own = BACKWARD[problem.order].key
    return found | {"backward": {own: listings()["backward"][own]}}


def in_script(content: object) -> str:
    """Return JSON that can stand in a script element."""
    return json.dumps(content, ensure_ascii=False).replace("<", "\\u003c")


def check_exported(problem: Problem, most: int = MOST_EXPORTED, pass_: str = "forward") -> None:
    """Raise ProblemError for more numbers than a file may have."""
    check_size(problem)
    if (found := trace_numbers(problem, pass_)) > most:
        where = t("file.numbers_at", d=problem.d, bc=problem.block_k)
        raise refused({"n": problem.n}, t("file.numbers", found=found, most=most), where)


def as_json(problem: Problem, pass_: str = "forward") -> bytes:
    """Write the whole trace as JSON, each number in the fewest digits that give the float32 back;
    −inf and NaN as null. Raises ProblemError as ``trace`` does, and for too many numbers."""

    def plain(x):
        return x if x is None else np.ascontiguousarray(x)

    check_exported(problem, pass_=pass_)
    run = TRACES[pass_](problem)
    visits = [
        {name: getattr(v, name) for name in PLACE}
        | {name: plain(getattr(v, name)) for name in STATS[pass_]}
        for v in run.visits
    ]
    whole = {name: plain(getattr(run, name)) for name in WHOLE[pass_]}
    bytes_of = {way: summed(problem, way, pass_) for way in CONVENTIONS}  # [read, written]
    header = {"kind": str(KIND), "problem": problem.to_query(), "pass": pass_, "bytes": bytes_of}
    return orjson.dumps({**header, **whole, "visits": visits}, option=orjson.OPT_SERIALIZE_NUMPY)


def as_npz(problem: Problem, pass_: str = "forward") -> bytes:
    """Write the whole trace as NumPy arrays: Q K V S O lse, and ``v0007_m_new`` and so on for a
    visit; ``kind`` says what the numbers are, ``problem`` is the query string and ``pass`` the
    pass. Raises ProblemError as ``as_json`` does, and for too many arrays."""
    check_exported(problem, pass_=pass_)
    stats = STATS[pass_]
    if (visits := problem.Tr * problem.Tc) * len(stats) > MOST_ARRAYS:
        given = {"br": problem.block_q, "bc": problem.block_k}
        why = t("file.arrays", tiles=visits, most=MOST_ARRAYS // len(stats))
        raise refused(given, why, t("file.arrays_at", n=problem.n))
    run = TRACES[pass_](problem)
    # Any: to NumPy's type stubs an array of this dict could be the argument allow_pickle.
    arrays: dict[str, Any] = {
        "kind": np.array(str(KIND)),
        "problem": np.array(urlencode(problem.to_query())),
    }
    arrays |= {name: getattr(run, name) for name in WHOLE[pass_]} | {"pass": np.array(pass_)}
    for k, v in enumerate(run.visits):
        arrays[f"v{k:04d}_tile"] = np.array([-1 if x is None else x for x in (v.i, v.j)])
        for name in stats:
            if getattr(v, name) is not None:
                arrays[f"v{k:04d}_{name}"] = getattr(v, name)
    out = io.BytesIO()
    np.savez_compressed(out, **arrays)
    return out.getvalue()
