"""A line of the log is JSON, and of what others say and of errors it has the place alone."""

import json
import logging
import sys
import traceback

import pytest

from explainer.base.logs import JsonLines, Printed, is_line

TYPED = "Pl4nted"


def line(name: str, message: object, *args, error: BaseException | None = None) -> dict:
    found = (type(error), error, error.__traceback__) if error else None
    record = logging.LogRecord(name, logging.ERROR, "/x/place.py", 7, message, args, found)
    text = JsonLines().format(record) + "\n"
    assert is_line(text) and TYPED not in text.replace("explainer.x", "")
    return json.loads(text)


def broken() -> BaseException:
    try:
        try:
            int(TYPED)
        except ValueError as error:
            raise KeyError(TYPED) from error
    except KeyError as error:
        return error


def test_our_own_messages_are_whole():
    assert (
        line("explainer.engine", "attempt %d of a %s", 1, "run")["message"] == "attempt 1 of a run"
    )


@pytest.mark.parametrize(
    "name, message, said",
    [
        (
            "uvicorn.error",
            f"Exception in ASGI application\n{TYPED}",
            "Exception in ASGI application",
        ),
        ("asyncio", f"Task was destroyed\ntask: <{TYPED}>", "Task was destroyed"),
        ("a.library", f"cannot read {TYPED}", "logged at place:7"),
    ],
)
def test_of_what_others_log_the_place_is_kept_or_their_own_words(name, message, said):
    assert line(name, message)["message"] == said
    assert TYPED not in line(name, "value: %s", TYPED)["message"]


def test_an_error_is_its_class_and_the_lines_it_came_by_with_what_led_to_it():
    found = line("explainer", "a request failed", error=broken())
    assert found["error"] == "KeyError" and "ValueError" in found["trace"]
    assert found["trace"][-1].endswith(" broken") and "test_logs.py" in found["trace"][0]


def test_a_printed_traceback_is_a_line_for_each_error_in_it(caplog, monkeypatch):
    monkeypatch.setattr(sys, "stderr", Printed("stderr"))
    try:
        raise broken()
    except KeyError:
        traceback.print_exc()
    for record in caplog.records:
        assert record.exc_info[0] is KeyError and "test_logs" in record.getMessage()
    assert len(caplog.records) == 2


def test_what_is_printed_is_a_line_that_says_where(caplog):
    print(TYPED, file=Printed("stdout"))
    (record,) = caplog.records
    assert "test_logs" in record.getMessage() and TYPED not in record.getMessage()


@pytest.mark.parametrize("text", ["", "x\n", '{"at": 1', '{"at": 1}', '{"at": \n'])
def test_what_is_no_line(text):
    assert not is_line(text)
