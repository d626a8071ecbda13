"""What is recorded keeps to the types of live results (test_jobs.py): one vocabulary."""

import json
from typing import get_type_hints

import pytest

from explainer.engine import recorded
from explainer.engine.requests import METHODS, RunRequest, Sweep
from explainer.engine.results import (
    Machine,
    PointRow,
    Result,
    Row,
    has_gpu,
    ran,
    refused_methods,
    timed,
    unknown_machine,
    with_older_names,
)
from explainer.problem import Problem
from explainer.views.downloads import FIGURES
from tests.schema import misfit

ROWS = recorded.load()["rows"]


def test_every_recorded_row_keeps_to_the_type():
    assert len(ROWS) > 600
    assert not misfit(ROWS, list[PointRow])
    for row in ROWS:
        assert row["method"] in METHODS and row["mask"] in ("full", "causal")
        assert ("refused" in row) != ("error" in row)
    assert timed(ROWS) == ran(ROWS)


@pytest.mark.parametrize("dtype", ["bf16", "fp16"])
@pytest.mark.parametrize("n", [16, 1024, 65_536])
def test_a_recorded_result_keeps_to_the_type(n, dtype):
    asked = RunRequest(Problem(n=n, dtype=dtype, inputs="random"), tuple(METHODS))
    found = recorded.closest(asked)
    assert not misfit(found, Result)
    assert found == json.loads(json.dumps(found))
    shape = set(get_type_hints(PointRow)) - set(get_type_hints(Row))
    assert not any(shape & set(row) for row in found["rows"]), "the query says the problem"
    assert all("flops" in row for row in ran(found["rows"]))


def test_what_a_file_has_is_a_key_of_a_row():
    assert set(FIGURES) <= set(get_type_hints(PointRow))


def test_older_names_stand_beside():
    _, rows = recorded.swept(Sweep(64, "bf16", tuple(METHODS)))
    for row, told in zip(rows, with_older_names(rows), strict=True):
        assert told["contender"] == told["method"] == row["method"]
        assert told.get("not_available") == row.get("refused")
        assert {k: told[k] for k in row} == row and ("refused" in row) == ("not_available" in told)


def test_a_machine_is_whole_from_its_first_word():
    machine = unknown_machine("ZeroGPU")
    assert not misfit(machine, Machine)
    assert has_gpu(machine) is True and has_gpu(None) is None
    assert has_gpu(machine | {"interpreted": True}) is False
    assert has_gpu(machine | {"available": False}) is False


def test_each_reason_is_said_once_with_its_methods():
    """Of RP 13: one sentence for all methods, or the same line for each of them."""
    no_gpu = "It needs an NVIDIA GPU."
    rows = [{"method": name, "refused": no_gpu} for name in ("hopper", "sdpa_flash")]
    rows += [{"method": "naive"}, {"method": "fa1", "refused": "It has no tile of 7."}]
    assert refused_methods(rows) == [
        f"Not run: {METHODS['hopper']} and {METHODS['sdpa_flash']}. {no_gpu}",
        f"Not run: {METHODS['fa1']}. It has no tile of 7.",
    ]
