"""What the named endpoints give, as types: clients read them as the JSON schema of an answer."""

from typing import Any

from pydantic import BaseModel, TypeAdapter, create_model

from explainer.algorithms.transfers import Transfer
from explainer.engine.results import PointRow, Result
from explainer.web.files import STATS, WHOLE

Numbers = (
    list[float | None] | list[list[float | None]]
)  # one a row, or rows of a matrix; −∞ is None


class _Answer(Result):
    kind: str  # of its figures: measured, or recorded, where and when


class RunAnswer(_Answer, total=False):
    """A run's result, or in its place a record: ``refused``, why nothing was run. ``record``: a
    comparable measurement."""

    refused: str
    record: _Answer


class SweepRow(PointRow, total=False):
    """A point; ``instead_of``: the sweep that was requested, where this is of another one."""

    kind: str
    recorded: str
    instead_of: str
    contender: str
    not_available: str


class _Visit(BaseModel):
    i: int | None
    j: int | None
    kind: str
    stage: str | None
    phases: list[str]
    transfers: list[Transfer]


class _Trace(BaseModel):
    kind: str
    problem: dict[str, str]
    bytes: dict[str, dict[str, list[int]]]  # by convention and tensor: read, written


def _of_both_passes(names: dict[str, tuple[str, ...]]) -> dict[str, Any]:
    return {name: (Numbers | None, None) for of_pass in names.values() for name in of_pass}


Visit = create_model("Visit", __base__=_Visit, **_of_both_passes(STATS))
OF_TRACE: dict[str, Any] = {"pass": (str, ...), "visits": (list[Visit], ...)}
TraceAnswer = create_model("TraceAnswer", __base__=_Trace, **OF_TRACE, **_of_both_passes(WHOLE))

SCHEMAS = {
    "run": TypeAdapter(RunAnswer).json_schema(),
    "trace": TraceAnswer.model_json_schema(),
    "sweep": TypeAdapter(list[SweepRow]).json_schema(),
}
