"""Send values to a worker process of this program, one a line of its standard input."""

import base64
import pickle
from typing import Any


def to_line(value: object) -> str:
    """Write a value as one line, without its end."""
    return base64.b64encode(pickle.dumps(value)).decode()


def from_line(line: str | bytes) -> Any:
    """Read the value of a line that :func:`to_line` has written: never of another program's."""
    return pickle.loads(base64.b64decode(line))
