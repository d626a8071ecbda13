"""A learner's file."""

import pytest


@pytest.fixture
def write(tmp_path):
    """write(source): the path of a learner's file of this source."""

    def write(source: str):
        path = tmp_path / "mine.py"
        path.write_text(source, encoding="utf-8")
        return path

    return write
