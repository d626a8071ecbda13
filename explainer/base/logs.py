"""Structured logs: one JSON object a line, and nothing that a visitor typed.

Texts of errors quote values, and so do those that libraries log or print; of both only what cannot
hold any is kept: the error's class and the lines of code that it came by. Our own loggers are
trusted to give names and numbers alone.

By hand: python-json-logger and structlog write JSON, but neither leaves values out of a traceback
nor hears what Gradio prints.
"""

from __future__ import annotations

import io
import json
import logging
import sys
import threading
import time
import traceback
import warnings
from types import TracebackType

OURS = "explainer"
PLAIN_MESSAGES = ("uvicorn", "asyncio")  # what these say first is their own words
MOST_LINES = 30  # of code in a trace
_HELPERS = ("traceback", "contextlib", __name__)


def trace(error: BaseException) -> list[str]:
    """Where an error came by, and those that led to it, without their texts: the raise is last."""
    frames = [
        f"{f.filename}:{f.lineno} {f.name}" for f in traceback.extract_tb(error.__traceback__)
    ]
    before = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    led = [*trace(before), type(before).__name__] if before else []
    return [*led, *frames][-MOST_LINES:]


class JsonLines(logging.Formatter):
    """Time (UTC), level, logger, message, the fields of an access record; and of an error its class
    and its lines of code."""

    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, object] = {
            "at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(record.created)),
            "level": record.levelname.lower(),
            "from": record.name,
            "message": self._message(record),
        }
        line |= getattr(record, "fields", {})
        if record.exc_info and record.exc_info[1]:
            line["error"] = type(record.exc_info[1]).__name__
            line["trace"] = trace(record.exc_info[1])
        return json.dumps(line)

    @staticmethod
    def _message(record: logging.LogRecord) -> str:
        room = record.name.split(".")[0]
        if room == OURS:
            return record.getMessage()
        if room in PLAIN_MESSAGES:  # the pattern alone; asyncio's next lines quote
            return str(record.msg).partition("\n")[0][:200]
        return f"logged at {record.module}:{record.lineno}"


def is_line(text: str) -> bool:
    """Whether this is a whole line of such a log."""
    try:
        return text.startswith('{"at": ') and text.endswith("\n") and bool(json.loads(text))
    except ValueError:
        return False


class Printed(io.TextIOBase):
    """What somebody prints, as a line that says who; of a traceback one for each error."""

    encoding = "utf-8"

    def __init__(self, name: str) -> None:
        self._name = name

    def fileno(self) -> int:
        return getattr(sys, f"__{self._name}__").fileno()

    def write(self, text: str) -> int:
        frame, traced = sys._getframe(1), False
        while (name := frame.f_globals.get("__name__")) in _HELPERS and frame.f_back:
            frame, traced = frame.f_back, traced or name == "traceback"
        error = sys.exc_info()[1] if "Traceback (most recent" in text else None
        if error or (text.strip() and not traced):
            logging.getLogger(f"{OURS}.printed").log(
                logging.ERROR if error else logging.WARNING,
                "by %s:%d",
                name,
                frame.f_lineno,
                exc_info=error,
            )
        return len(text)


def _at_start(kind: type, error: BaseException, _: TracebackType | None) -> None:
    """The main thread starts the process and then waits: its errors quote no visitor."""
    if not issubclass(kind, KeyboardInterrupt):
        logging.getLogger(OURS).critical("nobody caught: %s", error, exc_info=error)


def _uncaught(found: threading.ExceptHookArgs | sys.UnraisableHookArgs) -> None:
    logging.getLogger(OURS).error("an error that nobody caught", exc_info=found.exc_value)


def _warned(message, category, filename, lineno, file=None, line=None) -> None:
    logging.getLogger(f"{OURS}.warned").warning("%s at %s:%d", category.__name__, filename, lineno)


def configure() -> None:
    """Whatever this process says from here on is JSON lines on stderr; what is meant for stdout
    is written to ``sys.__stdout__``."""
    handler = logging.StreamHandler(sys.__stderr__)
    handler.setFormatter(JsonLines())
    root = logging.getLogger()
    root.handlers = [handler]
    root.setLevel(logging.WARNING)
    logging.getLogger(OURS).setLevel(logging.INFO)
    logging.raiseExceptions = False  # else a record that cannot be formatted is printed
    warnings.showwarning = _warned
    sys.stdout, sys.stderr = Printed("stdout"), Printed("stderr")
    sys.excepthook = _at_start
    threading.excepthook = sys.unraisablehook = _uncaught
