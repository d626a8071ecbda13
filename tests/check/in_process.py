"""A learner's file run in the process of the tests: what child.py does, without a new process for
each of some thousand functions."""

import sys
import warnings
from contextlib import contextmanager
from pathlib import Path
from unittest import mock

from explainer.check import child
from explainer.check.runner import NotRunnable


class Loaded:
    """Stand in for a Runner."""

    def __init__(self, path: Path, **options) -> None:
        options = {"function": None, "arrays": None, "layout": "bhnd", **options}
        with _as_it_was():
            self.file = child.File(path, options)
        self.path, self.about = path, self.file.about()

    def call(self, op: str, rules: dict, dtype: str, arrays: dict) -> tuple[dict, dict]:
        reply, out = {}, {}
        about = {"op": op, "rules": rules, "dtype": dtype}
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                child.answer(self.file, about, arrays, reply, out)
        except Exception as error:
            failure = child.failure(error, self.path)
            text = f"{failure['line']}: {failure['type']}: {failure['text']}"
            raise NotRunnable(text, failure["line"], reply, out) from error
        return reply, out


@contextmanager
def _as_it_was():
    path, arguments = sys.path[:], sys.argv[:]
    with mock.patch("sys.addaudithook"):
        yield
    sys.path[:], sys.argv[:] = path, arguments


def load(source: str, folder: Path, name: str = "learner", **options) -> Loaded:
    """Load a source as a file of its own."""
    path = folder / f"{name}.py"
    path.write_text(source, encoding="utf-8")
    return Loaded(path, **options)
