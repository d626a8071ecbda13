"""Parse the address of a computed answer, once: the value that is estimated, cached, sent to a
worker process and answered."""

from collections.abc import Mapping
from dataclasses import dataclass

from explainer.base.fields import parse_pass
from explainer.problem import Problem
from explainer.web import mask_map
from kernels.spec.fields import PASSES

Query = Mapping[str, str]
PLACE = ("pass", "step", "phase", "mode", "clock")
OPTIONS = {
    "visit": ("at",),
    "export.html": PLACE,
    "code": ("kind", "arch", "d", "br", "bc", "mask"),
}
NO_PROBLEM = Problem()  # of an answer that is of none


@dataclass(frozen=True)
class AnswerRequest:
    """One answer of this ``kind``: of a Problem and a pass, where the kind has them, and of the
    ``options`` of the address that it depends on besides."""

    kind: str
    problem: Problem = NO_PROBLEM
    pass_: str = PASSES[0]
    options: tuple[tuple[str, str], ...] = ()

    @property
    def query(self) -> dict[str, str]:
        """The options by their keys."""
        return dict(self.options)


def parse_request(kind: str, query: Query) -> AnswerRequest:
    """Parse what an address asks of this kind of answer. Raises ProblemError."""
    if kind in ("learn", "memory", "parallel"):  # each widget and chapter has controls of its own
        return AnswerRequest(kind, options=tuple(sorted(query.items())))
    options = tuple((key, query[key]) for key in OPTIONS.get(kind, ()) if key in query)
    if kind == "code":
        return AnswerRequest(kind, options=options)
    if kind == "mask":
        return AnswerRequest(kind, mask_map.parse_problem(query))
    if kind == "presets":
        return AnswerRequest(kind, mask_map.parse_problem(query, mask_map.SIZES))
    return AnswerRequest(kind, Problem.from_query(query), parse_pass(query), options)
